"""The watchdog observer over the folders that matter: every event that does calls `nudge`, nothing else happens here.

Folders that are made, deleted or replaced by another are watched again on `sync`. Where the system gives no more
watches, `is_blind` says so, and the caller looks more often instead.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .watch_events import Place, matters

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent


class Handler:
    """What watchdog calls, on a thread of its own, for each event in one place."""

    def __init__(self, place: Place, nudge: Callable[[str], None]) -> None:
        self.place = place
        self.nudge = nudge

    def dispatch(self, event: FileSystemEvent) -> None:
        """Pass on the name of what changed, where that matters."""
        for path in (event.src_path, event.dest_path):
            name = os.path.basename(os.fsdecode(path)) if path else ""
            if name and matters(event.event_type, name, self.place):
                self.nudge(name)
                return


class Eyes:
    """The observer and what it watches: {place: (watchdog's handle, inode of the folder)}."""

    def __init__(self, nudge: Callable[[str], None]) -> None:
        from watchdog.observers import Observer

        logging.getLogger("watchdog").addHandler(logging.NullHandler())  # its warnings would land on standard error
        logging.getLogger("watchdog").propagate = False
        self.nudge = nudge
        self.is_blind = False
        self.reason = ""
        self._watched: dict[Place, tuple[Any, tuple[int, int]]] = {}
        self._observer: Any = None
        try:
            self._observer = Observer()
            self._observer.start()
        except OSError as error:
            self._give_up(error)

    def sync(self, wanted: Iterable[Place]) -> bool:
        """Watch the places that are there and no others; return whether one was added: what happened in it before is
        to be looked at."""
        present = {place: identity for place in wanted if (identity := _identity(place.path))}
        for place, (handle, identity) in list(self._watched.items()):
            if present.get(place) != identity:
                del self._watched[place]
                self._drop(handle)
        added = False
        for place in present.keys() - self._watched.keys():
            if not self.is_blind:
                added |= self._watch(place, present[place])
        return added

    def close(self) -> None:
        """End the observer's threads."""
        if self._observer and self._observer.is_alive():
            self._observer.stop()
            self._observer.join(0.5)

    def _watch(self, place: Place, identity: tuple[int, int]) -> bool:
        try:
            handle = self._schedule(place)
        except FileNotFoundError:
            return False  # gone again; the next look sees
        except OSError as error:
            self._give_up(error)
            return False
        self._watched[place] = (handle, identity)
        return True

    def _schedule(self, place: Place) -> Any:
        from watchdog import events

        # Opening and reading make up most of what happens to files; the kernel need not tell us. Where files are closed
        # after a change, that is enough, and a log in the same folder that is written all day costs nothing.
        kinds: list[Any] = [events.FileCreatedEvent, events.FileDeletedEvent, events.FileMovedEvent,
                            events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent,
                            events.FileClosedEvent]  # fmt: skip
        if place.in_place or sys.platform != "linux":  # elsewhere no system tells that a file was closed
            kinds.append(events.FileModifiedEvent)
        handler: Any = Handler(place, self.nudge)
        path = os.path.realpath(place.path)
        return self._observer.schedule(handler, path, recursive=place.recursive, event_filter=kinds)

    def _drop(self, handle: Any) -> None:
        try:
            self._observer.unschedule(handle)
        except (KeyError, OSError):  # its thread ended with the folder
            return

    def _give_up(self, error: OSError) -> None:
        self.is_blind = True
        self.reason = error.strerror or str(error)
        for handle, _ in self._watched.values():
            self._drop(handle)
        self._watched.clear()


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if os.path.isdir(path) else None
