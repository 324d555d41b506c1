"""`.mem-allow`: the tracked list of findings that people have looked at and let pass.

One line each, `rule fingerprint  # why`, sorted, without line numbers and dates, so that two branches merge without a
conflict. A fingerprint is the first 16 hex digits of the SHA-256 of rule, NUL and value; it does not show the value.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..memory.errors import UsageError
from ..memory.named import NamedTuple
from ..memory.record import clean, printable
from .judge import Problem

ALLOW_FILE = ".mem-allow"
_WHY_LIMIT = 200
_HEX = frozenset("0123456789abcdef")


class Allowance(NamedTuple):
    """One line of `.mem-allow`."""

    rule: str
    fingerprint: str
    why: str = ""


class Allowed(NamedTuple):
    """A problem that a line of `.mem-allow` lets pass; `new` says that this commit adds the line."""

    problem: Problem
    why: str
    new: bool


def fingerprint(rule: str, value: str) -> str:
    """Return the 16 hex digits by which a finding is allowed."""
    import hashlib  # 4 ms, and only findings need it

    return hashlib.sha256(f"{rule}\0{value}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def parse(data: bytes) -> dict[tuple[str, str], str]:
    """Return the allowances in a `.mem-allow` as {(rule, fingerprint): why}. A line in no such form allows nothing."""
    found = {}
    for line in data.decode("utf-8", "replace").splitlines():
        words, _, why = line.partition("#")
        fields = words.split()
        if len(fields) == 2 and _is_fingerprint(fields[1]):
            found[fields[0], fields[1]] = printable(why.strip())
    return found


def passes(folder: str) -> Callable[[str, str], bool]:
    """Return the question whether the `.mem-allow` on disk in `folder` ("" has none) lets a value pass that a rule
    objects to: for text that is no commit yet."""
    from .files import read

    lines = parse(read(os.path.join(folder, ALLOW_FILE)) or b"") if folder else {}
    return lambda rule, value: (rule, fingerprint(rule, value)) in lines


def _is_fingerprint(word: str) -> bool:
    return len(word) == 16 and _HEX.issuperset(word)


def check(rule: str, print16: str, why: str) -> Allowance:
    """Return an allowance whose parts are in order. Raises UsageError."""
    if not rule or not rule.isascii() or any(not (char.isalnum() or char in "-_.") for char in rule):
        raise UsageError("an allowance names a rule and a fingerprint as the guard printed them")
    if not _is_fingerprint(print16):
        raise UsageError(f"{printable(print16)!r} is no fingerprint; the guard prints its 16 hex digits")
    return Allowance(rule, print16, " ".join(clean(why, "the reason", _WHY_LIMIT).split()))


def added(data: bytes, allowance: Allowance) -> bytes:
    """Return the bytes of a `.mem-allow` with one allowance more: sorted, comments and foreign lines on top."""
    rule, print16, why = allowance
    text = data.decode("utf-8", "surrogateescape")
    end = "\r\n" if "\r\n" in text else "\n"
    ours: list[str] = []
    others: list[str] = []
    for line in text.splitlines():
        parsed = parse(line.encode("utf-8", "surrogateescape"))
        if (rule, print16) not in parsed:
            (ours if parsed else others).append(line)
    ours.append(f"{rule} {print16}" + (f"  # {why}" if why else ""))
    return "".join(line + end for line in [*others, *sorted(ours)]).encode("utf-8", "surrogateescape")
