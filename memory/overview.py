"""Everything that a report tells about a store, read in one snapshot. Dates are those of the rows; no clock is read.

The same state of the store at the same `now` gives the same overview; `now` decides only what has expired.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from datetime import date
from typing import NamedTuple

from . import quarantine, store, vectors
from .embed import shipped
from .quarantine import Kept
from .record import CURSOR_FIELDS, Cursor, Memory, seconds, timestamp

_SOON = 30 * 86400  # seconds within which an expiry is worth a look
_YOUNG = 45  # days that are still shown one by one


class Moved(NamedTuple):
    """An anchor that no longer holds: the memory, its file, "stale" or "orphaned", and the commit since when."""

    memory: Memory
    path: str
    state: str
    since: str


class Period(NamedTuple):
    """How many memories of one month (YYYY-MM), or of one day (YYYY-MM-DD) in a young store, are active, and how many
    are history."""

    name: str
    active: int
    history: int


class Overview(NamedTuple):
    """`active` (not expired) and `history` are by creation; `covered` counts active memories with a current vector."""

    active: tuple[Memory, ...]
    history: tuple[Memory, ...]
    expired: tuple[Memory, ...]
    expiring: tuple[Memory, ...]
    recalled: tuple[Memory, ...]
    never_recalled: int
    moved: tuple[Moved, ...]
    anchored: int
    covered: int
    embeddable: int
    periods: tuple[Period, ...]
    cursors: tuple[Cursor, ...]
    forgotten: int
    sections: int
    quarantine: tuple[Kept, ...]


def gather(db: sqlite3.Connection, now: float) -> Overview:
    """Return the overview of the store as it is. Raises sqlite3.Error."""
    stamp = timestamp(now)
    with store.snapshot(db):
        alive = store.select(db, "status = 'active'")
        history = store.select(db, "status = 'superseded'")
        active = [one for one in alive if not one.expires_at or one.expires_at > stamp]
        covered, embeddable = vectors.coverage(db, shipped())
        by_id = {one.id: one for one in active}
        anchors = db.execute("SELECT memory, path, state, since FROM anchors ORDER BY path, memory").fetchall()
        moved = [Moved(by_id[row[0]], *row[1:]) for row in anchors if row[2] != "fresh" and row[0] in by_id]
        cursors = db.execute("SELECT * FROM cursors ORDER BY workspace").fetchall()
        counts = [
            int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608 - names of ours
            for table in ("tombstones", "sections")
        ]
        kept_out = tuple(quarantine.entries(db))
    return Overview(
        active=tuple(active),
        history=tuple(history),
        expired=tuple(one for one in alive if one.expires_at and one.expires_at <= stamp),
        expiring=tuple(one for one in active if one.expires_at and seconds(one.expires_at) < now + _SOON),
        recalled=tuple(sorted((one for one in active if one.recall_count), key=_use)),
        never_recalled=sum(not one.recall_count for one in active),
        moved=tuple(moved),
        anchored=len({row[0] for row in anchors} & by_id.keys()),
        covered=covered,
        embeddable=embeddable,
        periods=_periods(active, history),
        cursors=tuple(one for row in cursors if any(getattr(one := Cursor._make(row), name) for name in CURSOR_FIELDS)),
        forgotten=counts[0],
        sections=counts[1],
        quarantine=kept_out,
    )


def _use(memory: Memory) -> tuple[int, str]:
    return -memory.recall_count, memory.id


def _periods(active: list[Memory], history: list[Memory]) -> tuple[Period, ...]:
    """Return every period from the first memory's to the last one's, the empty ones included."""
    days = sorted(one.created_at[:10] for one in (*active, *history))
    if not days:
        return ()
    first, last = date.fromisoformat(days[0]), date.fromisoformat(days[-1])
    width = 10 if (last - first).days < _YOUNG else 7  # characters of a stamp that name a day, or a month
    span = (date.fromordinal(day).isoformat()[:width] for day in range(first.toordinal(), last.toordinal() + 1))
    counts = [Counter(one.created_at[:width] for one in group) for group in (active, history)]
    return tuple(Period(name, counts[0][name], counts[1][name]) for name in dict.fromkeys(span))
