"""The notebook's sections as derived rows, and the search over them.

A section runs from a heading to the next one; its heading is kept with those above it ("Build › CI"). Rows can always
be made anew from the file, so a refresh replaces what changed and nothing else. A section that the policy objects to
has no row, unless people let the finding pass: it would reach an agent by recall otherwise.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from . import policy, words
from .named import NamedTuple
from .store import transaction

_BODY_LIMIT = 20_000  # characters of one section that are indexed; the rest is found by reading it


class Section(NamedTuple):
    """A heading (with its parents), the lines it spans and its text, heading included."""

    heading: str
    first_line: int
    last_line: int
    text: str


class SectionHit(NamedTuple):
    """A section that answers a query; `score` is higher for better, comparable within one answer only."""

    path: str
    heading: str
    first_line: int
    last_line: int
    text: str
    score: float


class Skipped(NamedTuple):
    """A section that was left out: where it is and the rule that objects, never its text."""

    heading: str
    line: int
    rule: str


class Refreshed(NamedTuple):
    """What a refresh did: rows now there, rows written, and what was left out."""

    sections: int
    written: int
    skipped: tuple[Skipped, ...]


def split(text: str) -> list[Section]:
    """Return the sections of `text` that hold words, the lines above the first heading included as one."""
    from . import notebook, patch  # a search has no use for them

    lines = patch.bodies(text)
    start = notebook.front_matter_end(lines) + 1
    found: list[Section] = []
    chain: list[notebook.Heading] = []
    for heading in [*notebook.headings(lines), notebook.Heading(len(lines) + 1, 1, "")]:
        body = "\n".join(lines[start - 1 : heading.line - 1]).strip()
        if body and any(line.strip() for line in lines[start - 1 + bool(chain) : heading.line - 1]):
            found.append(Section(" › ".join(one.title for one in chain), start, heading.line - 1, body))
        chain = [one for one in chain if one.level < heading.level] + [heading]
        start = heading.line
    return found


def refresh(
    db: sqlite3.Connection, path: str, text: str, *, allowed: Callable[[str, str], bool] = lambda rule, value: False
) -> Refreshed:
    """Make the rows of `path` (relative to the project's root) those of `text`, in one transaction; "" removes them.

    `allowed(rule, value)` says which findings people let pass. Raises sqlite3.Error. Called outside a transaction.
    """
    from zlib import crc32

    kept: list[tuple[Section, str]] = []
    skipped: list[Skipped] = []
    for section in split(text):
        body = section.text
        found = [one for one in policy.scan(body) if not allowed(one.rule, body[one.start : one.end])]
        if found:
            line = section.first_line + section.text.count("\n", 0, found[0].start)
            skipped.append(Skipped(section.heading, line, found[0].rule))
        else:
            kept.append((section, f"{crc32(section.text.encode('utf-8', 'replace')):08x}{len(section.text):x}"))
    with transaction(db):
        written = _replace_rows(db, path, kept)
    return Refreshed(len(kept), written, tuple(skipped))


def _replace_rows(db: sqlite3.Connection, path: str, kept: list[tuple[Section, str]]) -> int:
    """Write the rows whose heading or text is new, move those whose lines are, delete the others."""
    rows = db.execute("SELECT rowid, heading, hash, first_line, last_line FROM sections WHERE path = ?", (path,))
    present: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for rowid, heading, digest, first, last in rows.fetchall():
        present.setdefault((heading, digest), []).append((rowid, first, last))
    written = 0
    for section, digest in kept:
        same = present.get((section.heading, digest))
        if same:
            rowid, first, last = same.pop()
            if (first, last) != (section.first_line, section.last_line):
                span = (section.first_line, section.last_line, rowid)
                db.execute("UPDATE sections SET first_line = ?, last_line = ? WHERE rowid = ?", span)
            continue
        cursor = db.execute(
            "INSERT INTO sections(path, heading, first_line, last_line, hash) VALUES (?, ?, ?, ?, ?)",
            (path, section.heading, section.first_line, section.last_line, digest),
        )
        body = section.text[:_BODY_LIMIT]
        db.execute(
            "INSERT INTO section_words(rowid, heading, body, parts) VALUES (?, ?, ?, ?)",
            (cursor.lastrowid, section.heading, body, words.index_parts(section.heading, body, "")),
        )
        written += 1
    gone = [rowid for left in present.values() for rowid, _, _ in left]
    for rowid in gone:
        db.execute("DELETE FROM sections WHERE rowid = ?", (rowid,))
        db.execute("DELETE FROM section_words WHERE rowid = ?", (rowid,))
    if gone:  # deleted terms stay in the index's segments until they are merged
        db.execute("INSERT INTO section_words(section_words) VALUES ('optimize')")
    return written


def search(db: sqlite3.Connection, match_expression: str, limit: int) -> list[SectionHit]:
    """Return up to `limit` sections that match, best first. An empty expression matches nothing."""
    if not match_expression or limit < 1:
        return []
    rows = db.execute(
        "SELECT s.path, s.heading, s.first_line, s.last_line, w.body, -bm25(section_words, 2.0, 1.0, 0.5) AS score "
        "FROM section_words AS w JOIN sections AS s ON s.rowid = w.rowid WHERE section_words MATCH ? "
        "ORDER BY score DESC, s.path, s.first_line LIMIT ?",
        (match_expression, limit),
    )
    return [SectionHit(*row) for row in rows.fetchall()]
