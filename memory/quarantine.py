"""The quarantine: what the share file brought and the guard kept out of the store, without its text.

The table `quarantine` belongs to this module. Functions that write run in the caller's transaction.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from .errors import Ambiguous, NotFound
from .named import NamedTuple
from .record import check_id, short


class Kept(NamedTuple):
    """One record that was kept out: its id, the file it stood in, the rule, a masked value, and when it was first
    seen."""

    id: str
    source: str
    rule: str
    masked: str
    seen_at: str


def entries(db: sqlite3.Connection) -> list[Kept]:
    """Return what was kept out, newest first."""
    rows = db.execute("SELECT id, source, rule, masked, seen_at FROM quarantine ORDER BY seen_at DESC, id")
    return [Kept._make(row) for row in rows]


def replace(db: sqlite3.Connection, source: str, now_kept: Iterable[Kept]) -> None:
    """Make the quarantine of one source what was kept out now; a mended record leaves it, an old one keeps its time."""
    seen = {one.id: one.seen_at for one in entries(db) if one.source == source}
    db.execute("DELETE FROM quarantine WHERE source = ?", (source,))
    for one in now_kept:
        row = one._replace(seen_at=seen.get(one.id, one.seen_at))
        db.execute("INSERT OR REPLACE INTO quarantine VALUES (?, ?, ?, ?, ?)", row)


def count(db: sqlite3.Connection) -> int:
    """Return how many records are kept out."""
    return int(db.execute("SELECT count(*) FROM quarantine").fetchone()[0])


def drop(db: sqlite3.Connection, key: str) -> None:
    """Delete the entry whose id is `key`, or begins or ends with it.

    Raises UsageError for what is no id, NotFound, Ambiguous.
    """
    key = check_id(key)
    found = [one.id for one in entries(db) if one.id.startswith(key) or one.id.endswith(key)]
    if not found:
        raise NotFound(f"nothing in quarantine has the id {key}")
    if len(found) > 1 and key not in found:
        raise Ambiguous(f"{key} fits {', '.join(map(short, found))}; give more digits")
    db.execute("DELETE FROM quarantine WHERE id = ?", (key if key in found else found[0],))
