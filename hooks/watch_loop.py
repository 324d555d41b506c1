"""The watcher's loop: wait for an event, a signal or the next look that is due anyway; look; go on.

The loop sleeps in one select call. Events come from watchdog's threads and signals from the kernel, both as a byte in
a pipe, so neither waits for a lock that the other holds.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from types import FrameType

from ..memory import private
from ..memory.errors import Locked, MemError
from ..memory.record import timestamp
from . import log
from .env import Env
from .watch_events import Pending, Place, add, due
from .watch_eyes import Eyes
from .watch_inputs import places
from .watch_project import Watched

RESCAN = 5.0  # seconds between looks without an event
BLIND = 1.0  # the same where the system tells of no events
VERIFY = 600.0  # seconds between doing everything once more, whatever was seen
_FLUSH = 0.8  # seconds that work may take after a signal to end
STATUS = "watch.json"
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


class OutOfTime(BaseException):
    """The time to flush after a signal is over; transactions roll back, and the next start makes up for it."""


class Loop:
    """Watches projects until a signal. `find` returns their roots and is asked again on every rescan; with `keep` the
    loop goes on where there is nothing to watch (yet)."""

    def __init__(self, env: Env, find: Callable[[], Sequence[str]], *, keep: bool = False) -> None:
        self.env = env
        self.find = find
        self.keep = keep
        self.projects: dict[str, Watched] = {}
        self.taken: set[str] = set()
        self.told: dict[str, tuple[object, ...]] = {}
        self.pending: Pending | None = None
        self.stopped_by = 0
        self.started = env.now()
        self.last_event = ""
        self.events = 0
        self._reader, self._writer = os.pipe()
        for descriptor in (self._reader, self._writer):
            os.set_blocking(descriptor, False)
        self.eyes = Eyes(self.nudge)

    def nudge(self, name: str) -> None:
        """Note an event on the file called `name`. Called by watchdog's thread."""
        if name:
            self.last_event = f"{timestamp(self.env.now())[:19]}Z {name}"
            self.events += 1
        self.pending = add(self.pending, time.monotonic())
        try:
            os.write(self._writer, b"e")
        except BlockingIOError:
            return  # the pipe is full of reasons to wake up

    def run(self) -> int:
        """Watch until SIGTERM, SIGINT or SIGHUP and return the signal's number, 0 where nothing is left to watch."""
        self._listen()
        try:
            self._rescan()
            if self.eyes.is_blind:
                self._say(f"no more file watches ({self.eyes.reason}); looking every {BLIND:g} s instead")
            next_scan, next_verify = self._later(self._interval()), self._later(VERIFY)
            while not self.stopped_by and (self.projects or self.keep):
                self._sleep(next_scan)
                now = time.monotonic()
                if now >= next_verify:
                    for watched in self.projects.values():
                        watched.verify()
                    next_verify = now + VERIFY
                if now >= next_scan:
                    self._rescan()
                    next_scan = self._later(self._interval())
                elif self.pending and now >= due(self.pending):
                    self._look()
            self._look()  # flush, whatever was seen of it
        except OutOfTime:
            pass
        finally:
            self._leave()
        return self.stopped_by

    def _listen(self) -> None:
        for name in _SIGNALS:
            signal.signal(getattr(signal, name), self._stop)
        signal.signal(signal.SIGALRM, _raise_out_of_time)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if not self.stopped_by:
            signal.setitimer(signal.ITIMER_REAL, _FLUSH)
        self.stopped_by = number

    def _sleep(self, until: float) -> None:
        if self.pending:
            until = min(until, due(self.pending))
        ready, _, _ = select.select([self._reader], [], [], max(0.0, until - time.monotonic()))
        if ready:
            os.read(self._reader, 65536)

    def _later(self, seconds: float) -> float:
        return time.monotonic() + seconds

    def _interval(self) -> float:
        return BLIND if self.eyes.is_blind else RESCAN

    def _rescan(self) -> None:
        """Take up projects that are new, and look at all."""
        for root in self.find():
            if root not in self.projects and os.path.isdir(root):
                self._take(root)
        self._look()

    def _take(self, root: str) -> None:
        try:
            watched = Watched(root, self.env)
            watched.hold()
        except Locked:
            if root not in self.taken:
                self._say(f"{root} has a watcher already")
            self.taken.add(root)
        except (MemError, OSError) as error:
            if root not in self.taken:
                self._say(f"{root}: {error}")
            self.taken.add(root)
        else:
            self.taken.discard(root)
            self.projects[root] = watched

    def _look(self) -> None:
        # First, so that an event that comes while we look makes us look again.
        self.pending = None
        # Watched before looking: what happens from here on is an event, what happened before is seen.
        self.eyes.sync(self._places())
        ran = False
        for root, watched in list(self.projects.items()):
            try:
                names = watched.look(time.monotonic())
                watched.hold()
            except Locked:
                self._say(f"{root} has another watcher now")
                watched.release()
                del self.projects[root]
            except (MemError, OSError) as error:
                watched.last_error = f"{root}: {error}"  # unmounted, or settings that can't be read: the next look sees
            else:
                ran = ran or bool(names)
                self._tell(watched)
        if ran:
            gc.collect()  # templates leave cycles, and left to itself the collector lets megabytes of them pile up
        if ran and self.eyes.sync(self._places()):  # we made a folder ourselves
            self.nudge("")

    def _places(self) -> set[Place]:
        return {place for one in self.projects.values() for place in places(one.project, one.files)}

    def _tell(self, watched: Watched) -> None:
        """Write what `mem watch status` shows, if that is news."""
        path = os.path.join(watched.project.folder, STATUS)
        news = (self.events, watched.last_error, *(n for name, n in watched.counts.items() if name != "looks"))
        if self.stopped_by or (self.told.get(watched.root) == news and os.path.exists(path)):
            return
        if os.path.isdir(watched.project.folder):
            private.write(path, json.dumps(self.status(watched), ensure_ascii=False) + "\n")
            self.told[watched.root] = news

    def status(self, watched: Watched) -> dict[str, object]:
        """Return what `mem watch status` shows of one project."""
        return {
            "pid": os.getpid(), "started_at": timestamp(self.started), "root": watched.root,
            "mode": "polling" if self.eyes.is_blind else "events", "last_event": self.last_event,
            "last_look": timestamp(self.env.now()), "last_error": watched.last_error,
            "counts": {"events": self.events, **watched.counts},
        }  # fmt: skip

    def _say(self, line: str) -> None:
        self.env.say(f"mem watch: {line}")
        for watched in self.projects.values():
            log.note(watched.project.folder, f"watch: {line}", self.env.now())

    def _leave(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.set_wakeup_fd(-1)
        self.eyes.close()
        for watched in self.projects.values():
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(watched.project.folder, STATUS))
            watched.release()
        os.close(self._reader)
        os.close(self._writer)


def _raise_out_of_time(number: int, frame: FrameType | None) -> None:
    raise OutOfTime
