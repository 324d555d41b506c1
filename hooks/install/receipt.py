"""What files were before we changed them: a copy and a receipt each, in MEM_HOME/backups, for the user's eyes alone."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from typing import Any, NamedTuple

from ...memory.errors import Conflict
from ..files import read, write_atomic


class Receipt(NamedTuple):
    """`original` is what the file held before we came, None where there was none; `after` is the sha256 of what we
    left; `folders` are those that we made for it, innermost first."""

    original: bytes | None
    after: str
    folders: tuple[str, ...]

    def left_as(self, data: bytes | None) -> bool:
        """Return whether `data` is what we left."""
        return data is not None and _digest(data) == self.after


class Receipts:
    """The receipts in one folder, by the path of the file they are about."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def get(self, path: str) -> Receipt | None:
        """Return the receipt for `path`, None where there is none that can be read."""
        try:
            data = read(self._name(path))
            fields: dict[str, Any] = json.loads(data or b"")
            original = None if fields["original"] is None else base64.b64decode(fields["original"])
            return Receipt(original, str(fields["after"]), tuple(fields["folders"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, path: str, before: bytes | None) -> None:
        """Copy what `path` holds before it is changed, unless that is our own work. Raises Conflict where no copy can
        be made: then nothing may be changed either."""
        known = self.get(path)
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            if before is not None and not (known and known.left_as(before)):
                write_atomic(self.copy_name(path), before, mode=0o600)
        except OSError as error:
            raise Conflict(f"no backup can be kept in {self.folder}: {error.strerror}; set MEM_HOME") from None

    def close(self, path: str, before: bytes | None, after: bytes | None, folders: list[str]) -> None:
        """Note what we left at `path`; forget the receipt once the file is what it was before we came."""
        known = self.get(path)
        original = known.original if known else before
        made = [*folders, *(known.folders if known else ())]
        with contextlib.suppress(OSError):
            if after == original:
                for name in (self._name(path), self.copy_name(path)):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(name)
                return
            fields = {
                "path": path,
                "original": None if original is None else base64.b64encode(original).decode("ascii"),
                "after": _digest(after or b""),
                "folders": made,
            }
            write_atomic(self._name(path), json.dumps(fields, indent=1).encode(), mode=0o600)

    def copy_name(self, path: str) -> str:
        """Return where the plain copy of `path` lies: the one that a person would look for."""
        return os.path.join(self.folder, f"{_key(path)}-{os.path.basename(path).lstrip('.')[:100]}")

    def _name(self, path: str) -> str:
        return os.path.join(self.folder, f"{_key(path)}.json")


def _key(path: str) -> str:
    return hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
