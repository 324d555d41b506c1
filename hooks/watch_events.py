"""When the watcher looks, and which events make it look. Pure: times are seconds of a monotonic clock.

An event is only a reason to look; what changed is found by comparing content. So an event too many costs a few calls
of stat, and one too few is made up for by the next look.
"""

from __future__ import annotations

from typing import NamedTuple

QUIET = 0.2  # seconds without an event after which the watcher looks
MOST = 1.0  # seconds after the first event by which it looks however busy the folder is
KINDS = frozenset({"created", "modified", "moved", "deleted", "closed"})  # not: opened, closed without a write


class Pending(NamedTuple):
    """A look that is due: when the first and the last event came."""

    first: float
    last: float


class Place(NamedTuple):
    """A folder to watch. An event matters if its file's name holds one of `names` and ends in none of `never`; of
    `recursive` places any name matters. `in_place` says that files change without being closed (a database)."""

    path: str
    names: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    recursive: bool = False
    in_place: bool = False


def add(pending: Pending | None, now: float) -> Pending:
    """Return the look that is due after another event at `now`."""
    return Pending(pending.first if pending else now, now)


def due(pending: Pending) -> float:
    """Return when to look: once it is quiet, or at the latest a second after the first event."""
    return min(pending.last + QUIET, pending.first + MOST)


def matters(kind: str, name: str, place: Place) -> bool:
    """Return whether an event on a file called `name` in `place` is a reason to look.

    A name need only hold a watched one: an editor that saves by rename makes `.MEMORY.md.x1` first, and that event
    comes at once, while watchdog holds a rename back for half a second. The temporary file itself is never read.
    """
    if kind not in KINDS or name.endswith(place.never):
        return False
    return place.recursive or any(known in name for known in place.names)
