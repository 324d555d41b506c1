"""Read an object straight from git's object folder: what `git add` has just written lies there as a file of its own.

It saves a commit the start of a git process. Whatever is not a plain loose blob (packed, borrowed, damaged, above the
limit) is left to git. Source: gitformat-loose(5).
"""

from __future__ import annotations

import os
import zlib


def read_blob(objects: str, blob: str, limit: int) -> bytes | None:
    """Return the bytes of the loose blob `blob` (its hex id) in the folder `objects`, None where git must be asked."""
    try:
        with open(os.path.join(objects, blob[:2], blob[2:]), "rb") as file:
            if os.fstat(file.fileno()).st_size > limit:
                return None
            packed = file.read()
        stream = zlib.decompressobj()
        content = stream.decompress(packed, limit)
    except (OSError, ValueError, zlib.error):
        return None
    head = content[: content.find(b"\0", 0, 32) + 1]
    # eof also says that the checksum at the stream's end was right.
    if not stream.eof or stream.unused_data or head != b"blob %d\0" % (len(content) - len(head)):
        return None
    return content[len(head) :]
