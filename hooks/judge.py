"""One file's bytes to the problems in them: the policy's findings, and what only the guard objects to.

Pure but for the scanner that is passed in. A Problem never leaves this process with its value: what is shown is the
mask and the fingerprint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..memory.named import NamedTuple
from ..memory.record import Finding
from .blobtext import Place, Text, is_our_store, is_sqlite, places, texts
from .memory_files import SHARE_FILE, is_store_file

Scan = Callable[[str], list[Finding]]

# Rules of the guard itself, beside those of the policy.
STAGED_STORE = "staged-store"
CONFLICT_MARKER = "conflict-marker"
UNREADABLE = "unreadable"
OWN_RULES = {
    STAGED_STORE: "a memory store is private and binary, and merges badly; take it out of the commit with"
    " `git rm --cached`, and share memories by `mem share on ID` instead",
    CONFLICT_MARKER: "the file holds markers of an unresolved merge; resolve them, or for the mirror run `mem mirror`",
    UNREADABLE: "what can't be read can't be judged, so it is refused; mend the file or take it out of the commit",
}
REASONS = {  # category of a problem -> reason of the refusal
    "secret": "secret_detected",
    "instruction": "instruction_detected",
    "store": "store_staged",
    "conflict": "conflict_marker",
    "unreadable": "unreadable",
}


_WAL = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")  # sqlite.org/fileformat2.html, section 4.1
# Rules that go by a token's look and the words beside it. In the raw pages of a database the end of one cell runs into
# the next, and every id beside a word is such a token; the rows are read on their own.
LOOSE_RULES = ("generic-credential", "generic-token")


class Problem(NamedTuple):
    """What is wrong in one place of one file. `value` is the objectionable text itself and is never printed; `detail`
    is for people; `copy` is "" for the index, else which other bytes these are ("working copy")."""

    path: str
    where: Place
    rule: str
    category: str
    value: str
    detail: str = ""
    copy: str = ""


class Candidate(NamedTuple):
    """One thing to judge: the `data` of `path` as staged, or of its working copy; `mirror` marks our own rendering."""

    path: str
    data: bytes
    copy: str = ""
    mirror: bool = False


def judge(candidate: Candidate, scan: Scan) -> list[Problem]:
    """Return the problems in a candidate's bytes in every reading of them, each value once a line."""
    return list(_once(_problems(candidate, scan)))


def judge_texts(path: str, readings: Iterable[Text], scan: Scan) -> list[Problem]:
    """Return the problems in texts that were read from `path` by other means, each value once a place."""
    candidate = Candidate(path, b"")
    return list(_once(problem for text in readings for problem in _scanned(candidate, text, scan)))


def unreadable(path: str, why: str, copy: str = "") -> Problem:
    """Return the problem of a file that can't be read; `why` is for people."""
    return Problem(path, Place(0, 0), UNREADABLE, "unreadable", path, why, copy)


def _problems(candidate: Candidate, scan: Scan) -> Iterator[Problem]:
    path, data, copy, mirror = candidate
    if is_store_file(path) or is_our_store(data):
        yield Problem(path, Place(0, 0), STAGED_STORE, "store", path, "", copy)
    if is_sqlite(data):
        yield from _rows(candidate, scan)
    pages = is_sqlite(data) or data.startswith(_WAL)
    for text in texts(path, data):
        yield from (
            problem for problem in _scanned(candidate, text, scan) if not pages or problem.rule not in LOOSE_RULES
        )
    if mirror or path.rsplit("/", 1)[-1] == SHARE_FILE:
        line = _conflict(data)
        if line:
            yield Problem(path, Place(line, 1), CONFLICT_MARKER, "conflict", path, "", copy)


def _rows(candidate: Candidate, scan: Scan) -> Iterator[Problem]:
    import sqlite3  # only where a database is staged

    from .storetext import row_texts

    try:
        for text in row_texts(candidate.data):
            yield from _scanned(candidate, text, scan)
    except sqlite3.Error as error:
        yield unreadable(candidate.path, f"a SQLite file whose rows can't be read: {error}", candidate.copy)


def _scanned(candidate: Candidate, text: Text, scan: Scan) -> Iterator[Problem]:
    findings = sorted(scan(text.text), key=lambda finding: finding.start)
    where = places(text, [finding.start for finding in findings])
    for finding, place in zip(findings, where, strict=True):
        value = text.text[finding.start : finding.end]
        yield Problem(candidate.path, place, finding.rule, finding.category, value, "", candidate.copy)


def _once(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Drop what another reading of the same bytes said already: the same rule and value on the same line, or
    anywhere where a reading has no lines of its own (rows of a database, and its raw bytes)."""
    lines: set[tuple[str, str, int]] = set()
    rows: set[tuple[str, str]] = set()
    for problem in problems:
        key = (problem.rule, problem.value)
        if key in rows or (*key, problem.where.line) in lines:
            continue
        if problem.where.place:
            rows.add(key)
        lines.add((*key, problem.where.line))
        yield problem


def _conflict(data: bytes) -> int:
    """Return the line of the first marker of a conflict, 0 without one."""
    if b"<<<<<<< " not in data and b">>>>>>> " not in data:
        return 0
    for number, line in enumerate(data.splitlines(), 1):
        if line.startswith((b"<<<<<<< ", b">>>>>>> ")):
            return number
    return 0
