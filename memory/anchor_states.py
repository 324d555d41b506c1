"""How anchors fare as the code moves: what HEAD makes of each, and how that is written.

The comparison is pure; what git says is handed in. Used by the index hook alone, so that a session's start need not
load it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple


class Anchor(NamedTuple):
    """One row: memory id, path from the root, blob id (or pending), state, and the commit since when it is not."""

    memory: str
    path: str
    blob: str
    state: str = "fresh"
    since: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether git has still to say which blob is meant."""
        return not self.blob or self.blob.startswith("@")


class Seen(NamedTuple):
    """What git says about HEAD: its id, blob ids by path (absent: no such file), new names by old ones, and by path
    the commits since the last look that changed it first, and last."""

    head: str
    blobs: Mapping[str, str]
    renames: Mapping[str, str]
    changed_in: Mapping[str, str]
    last_in: Mapping[str, str]


def every(db: sqlite3.Connection) -> list[Anchor]:
    """Return the anchors of all active memories."""
    rows = db.execute(
        "SELECT a.memory, a.path, a.blob, a.state, a.since FROM anchors a JOIN memories m ON m.id = a.memory"
        " WHERE m.status = 'active' ORDER BY a.memory, a.path"
    )
    return [Anchor._make(row) for row in rows]


def compare(anchor: Anchor, seen: Seen) -> Anchor | None:
    """Return the anchor as HEAD makes it, None for one that never was a file. Pure; `anchor.blob` is resolved."""
    path = anchor.path
    blob = seen.blobs.get(path, "")
    if not blob and path in seen.renames:
        path = seen.renames[path]
        blob = seen.blobs.get(path, "")
    if anchor.is_pending:
        return anchor._replace(path=path, blob=blob) if blob else None
    if not blob:
        since = anchor.since if anchor.state == "orphaned" else ""
        return anchor._replace(state="orphaned", since=since or seen.last_in.get(anchor.path, seen.head))
    if blob == anchor.blob:
        return anchor._replace(path=path, state="fresh", since="")
    since = anchor.since if anchor.state == "stale" else ""
    since = since or seen.changed_in.get(path) or seen.changed_in.get(anchor.path) or seen.head
    return anchor._replace(path=path, state="stale", since=since)


def add(db: sqlite3.Connection, anchor: Anchor) -> int:
    """Write an anchor that was found, if its memory is still there; return how many rows are new."""
    return db.execute(
        "INSERT OR IGNORE INTO anchors(memory, path, blob, state, since)"
        " SELECT ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM memories WHERE id = ? AND status = 'active')",
        (*anchor, anchor.memory),
    ).rowcount


def settle(db: sqlite3.Connection, old: Anchor, new: Anchor | None) -> bool:
    """Write how an anchor changed, unless somebody else changed it since it was read; say whether it changed."""
    if new is None:
        db.execute("DELETE FROM anchors WHERE memory = ? AND path = ? AND blob = ?", old[:3])
    elif new != old:
        db.execute(
            "UPDATE OR REPLACE anchors SET path = ?, blob = ?, state = ?, since = ?"
            " WHERE memory = ? AND path = ? AND blob = ?",
            (new.path, new.blob, new.state, new.since, *old[:3]),
        )
    return new != old


def unread(db: sqlite3.Connection, after: int, limit: int = 500) -> list[tuple[int, str, str]]:
    """Return (rowid, id, text) of active memories behind the row `after` that have no anchor yet: those whose text
    the index hook has still to look through for paths."""
    rows = db.execute(
        "SELECT rowid, id, title || ' ' || content FROM memories WHERE rowid > ? AND status = 'active'"
        " AND NOT EXISTS (SELECT 1 FROM anchors WHERE memory = memories.id) ORDER BY rowid LIMIT ?",
        (after, limit),
    )
    return [(int(row[0]), str(row[1]), str(row[2])) for row in rows]
