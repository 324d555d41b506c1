"""Hook files in shell: our marked block goes in after the first line and comes out again; all else stays as it is.

The block runs before what was there, in the same shell: an exit code of ours that is not 0 ends the hook (guard and
fixers only); what was there then runs with its own arguments, standard input, `$0` and exit code. Works on bytes.
"""

from __future__ import annotations

import re

from ...memory.errors import Conflict
from ...templates import source

# Each git hook and what it runs. The gates come first to last: what must not be committed, then what is out of date.
GATES = ("pre-commit", "pre-merge-commit")
GIT_HOOKS = {
    "pre-commit": ("guard", "share", "mirror"),
    "pre-merge-commit": ("guard", "share", "mirror"),
    "post-commit": ("index",),
    "post-merge": ("share", "index", "mirror"),
    "post-checkout": ("share", "index", "mirror"),
    "post-rewrite": ("share", "index", "mirror"),
}

_BEGIN = b"# >>> memhooks"
_END = b"# <<< memhooks <<<\n"
_WHOLE = b" (made this file)"
_SHELL = re.compile(rb"#![ \t]*(?:/usr/bin/env[ \t]+(?:-S[ \t]+)?)?(?:\S*/)?(?:ba|da|z|k)?sh(?:[ \t][^\r\n]*)?\n")
_BLOCK = re.compile(rb"^# >>> memhooks[^\n]*\n.*?^# <<< memhooks <<<\n", re.MULTILINE | re.DOTALL)


def block(hook: str, names: tuple[str, ...], *, program: str, beside: str = "", whole: bool = False) -> bytes:
    """Return the block for one git hook that runs `names`.

    `program` is the fallback's path as a shell word, `beside` the name of a foreign hook file that the block hands over
    to, `whole` says that the block is all of the file.
    """
    if hook in GATES:
        shim, line = "guard", '"$memhooks_program" hook {} </dev/null || exit $?'
    else:
        shim, line = "refresh", f'  "$memhooks_program" hook {{}} {hook} "$@" </dev/null || :'
    body = source(f"shims/{shim}.sh").replace("@RUN@", "\n".join(line.format(name) for name in names))
    if beside:
        body += source("shims/chain.sh").replace("@BESIDE@", f'"$(dirname -- "$0")/{beside}"')
    head = f"# >>> memhooks >>> `mem uninstall` takes these lines out again{_WHOLE.decode() if whole else ''}\n"
    return head.encode() + body.replace("@PROGRAM@", program).encode() + _END


def can_hold(data: bytes) -> bool:
    """Return whether `data` is a shell script into which lines can be put: a POSIX shell's, or text without `#!`."""
    if b"\0" in data or b"\r\n" in data[:200]:
        return False
    if data.startswith(b"#!"):
        return bool(_SHELL.match(data))
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def insert(data: bytes | None, content: bytes) -> bytes:
    """Return a hook file with the block `content` in it, after the `#!` line; a new file gets one of its own."""
    if data is None:
        return b"#!/bin/sh\n" + content
    head = data.index(b"\n") + 1 if data.startswith(b"#!") else 0
    return data[:head] + content + data[head:]


def remove(data: bytes, name: str) -> bytes | None:
    """Return a hook file without our block, None where the block was all of it.

    Raises Conflict for half a block: then a person has to look.
    """
    found = _BLOCK.findall(data)
    after = _BLOCK.sub(b"", data)
    if _BEGIN in after:
        raise Conflict(f"{name} holds the beginning of a memhooks block but not its end; take it out by hand")
    if found and _WHOLE in found[0].split(b"\n", 1)[0] and after.strip() in (b"", b"#!/bin/sh"):
        return None
    return after


def blocks(data: bytes | None) -> int:
    """Return how many of our blocks a hook file holds."""
    return len(_BLOCK.findall(data or b""))


def comes_first(data: bytes) -> bool:
    """Return whether nothing but the `#!` line stands before our block: it could end the hook before ours runs."""
    found = _BLOCK.search(data)
    head = data[: found.start()] if found else b""
    return not head or (head.startswith(b"#!") and head.index(b"\n") + 1 == len(head))


def is_ours(data: bytes | None) -> bool:
    """Return whether a hook file holds a block of ours, or half of one."""
    return _BEGIN in (data or b"")
