"""One watched project: what to do when an input changed, each action being the very function that a hook calls.

`look` compares the inputs with those that each action last succeeded on, runs what differs, and goes on until nothing
does. An action that fails is logged and tried again, later and later; the others go on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from ..memory import schema, store, vectors
from ..memory.embed import shipped
from ..memory.errors import MemError, NotFound
from ..memory.project import Project, busy, find_project
from . import codestate, files, log, mirror, refresh, report, share
from .env import Env
from .notebook_file import of_project, refresh_sections
from .watch_inputs import Reader, State, watched_files

_ROUNDS = 5  # actions change each other's inputs; after share, index, mirror nothing is left
_RETRY_MOST = 60.0  # seconds between two tries of an action that fails


class Action(NamedTuple):
    """What to run when one of `inputs` changed. `deferred` says that it waits while git is in the middle of something,
    `needs_store` that without a store there is nothing to do."""

    name: str
    inputs: tuple[str, ...]
    run: Callable[[Project, Env], object]
    deferred: bool = False
    needs_store: bool = True


class Failure(NamedTuple):
    """An action that failed: on which inputs, how often in a row, and when (monotonic) to try again."""

    inputs: tuple[State, ...]
    tries: int
    again: float
    message: str


def index(project: Project, env: Env) -> bool:
    """Bring anchors and vectors up to date if HEAD moved or a vector is missing; return whether there was work."""
    db = schema.connect(project.store_path, readonly=True)
    try:
        head = store.meta(db, project.head_key) if project.git_dir else ""
        covered, active = vectors.coverage(db, shipped())
    finally:
        db.close()
    if covered == active and (not project.git_dir or head == codestate.current_head(project, env.environ)):
        return False
    refresh.in_background(project, env)
    return True


def sections(project: Project, env: Env) -> None:
    """Bring the notebook's rows up to date; the guard's objections go to the log."""
    if project.root:
        for line in refresh_sections(of_project(project), env):
            log.note(project.folder, f"watch: {line}", env.now())


ACTIONS = (
    Action("share", ("share", "allowed", "store", "settings", "head"), share.refresh, deferred=True, needs_store=False),
    Action("index", ("head", "store"), index, deferred=True),
    Action("notebook", ("notebook", "allowed", "store"), sections),
    Action("mirror", ("store", "mirror", "settings", "head"), mirror.refresh),
    Action("report", ("store", "report", "head"), report.refresh),
)


def lock_path(project: Project) -> str:
    """Return the file whose lock a project's watcher holds."""
    return os.path.join(project.folder, "watch.lock")


class Watched:
    """The state of one project under watch. Holds the lock by which a project has one watcher."""

    def __init__(self, root: str, env: Env, *, actions: tuple[Action, ...] = ACTIONS) -> None:
        self.root = root
        self.env = env._replace(cwd=root)
        self.actions = actions
        self.reader = Reader()
        self.done: dict[str, tuple[State, ...]] = {}
        self.failures: dict[str, Failure] = {}
        self.counts = dict.fromkeys(("looks", "errors", *(action.name for action in actions)), 0)
        self.last_error = ""
        self.project = self._find()
        self.files = watched_files(self.project, self.env)
        self._lock: tuple[files.Lock, os.stat_result] | None = None

    @property
    def lock_path(self) -> str:
        """Where this project's lock lies; the holder's pid stands in it, for people and for `mem watch stop`."""
        return lock_path(self.project)

    def hold(self) -> None:
        """Take the project's lock, or make sure that it is still the one on disk: the folder may have been made anew.

        Raises Locked where another watcher has it.
        """
        try:
            now = os.stat(self.lock_path)
        except OSError:
            now = None
        if self._lock and (not os.path.isdir(self.project.folder) or (now and os.path.samestat(now, self._lock[1]))):
            return
        self.release()
        if not os.path.isdir(self.project.folder):
            return
        # Someone who asks whether a watcher runs holds the lock for a moment.
        lock = files.Lock(self.lock_path, timeout=0.25).__enter__()
        with open(self.lock_path, "w", encoding="ascii") as file:
            file.write(f"{os.getpid()}\n")
        self._lock = (lock, os.stat(self.lock_path))

    def release(self) -> None:
        """Let go of the lock."""
        if self._lock:
            self._lock[0].__exit__(None, None, None)
            self._lock = None

    def verify(self) -> None:
        """Forget what was seen, so that the next look does everything once more."""
        self.done.clear()

    def look(self, now: float) -> list[str]:
        """Run what changed inputs call for and return the names of the actions that ran; `now` is monotonic.

        Raises UsageError where the project's folder is gone or its settings can't be read, NotFound where the folder
        holds no project any more.
        """
        self.counts["looks"] += 1
        self.project = self._find()
        self.files = watched_files(self.project, self.env)
        ran: list[str] = []
        for _ in range(_ROUNDS):
            before = len(ran)
            state = self._state()
            for action in self.actions:
                if self._run(action, tuple(state[name] for name in action.inputs), now):
                    ran.append(action.name)
                    state = self._state()
            if len(ran) == before:
                break
        return ran

    def _state(self) -> dict[str, State]:
        return self.reader.read(self.project, self.files, self.env.now())

    def _find(self) -> Project:
        found = find_project(self.root, environ={**self.env.environ, "MEM_DB": ""})
        # What an unmounted folder or a deleted .git leaves lies in a project above, or in none.
        if os.path.realpath(self.root) not in (found.root, os.path.dirname(found.folder)):
            raise NotFound(f"{self.root} holds no project any more")
        return found

    def _run(self, action: Action, inputs: tuple[State, ...], now: float) -> bool:
        """Run one action if its inputs (read before: what changes meanwhile differs on the next round) are not those
        that it last succeeded on; return whether it did."""
        if action.needs_store and not os.path.isfile(self.project.store_path):
            self.done.pop(action.name, None)
            return False
        if action.deferred and self.project.git_dir and busy(self.project.git_dir):
            return False
        failure = self.failures.get(action.name)
        if self.done.get(action.name) == inputs or (failure and failure.inputs == inputs and now < failure.again):
            return False
        try:
            # Found anew, later than the inputs were read: a branch that changed in between is seen by the next round.
            self.project = self._find()
            action.run(self.project, self.env)
        except Exception as error:  # noqa: BLE001 - one action that fails must not end the watch
            self._failed(action, inputs, error, now)
            return False
        self.failures.pop(action.name, None)
        self.done[action.name] = inputs
        self.counts[action.name] += 1
        return True

    def _failed(self, action: Action, inputs: tuple[State, ...], error: Exception, now: float) -> None:
        known = error if isinstance(error, MemError | OSError) else f"{type(error).__name__}: {error}"
        message = f"{action.name}: {known}"
        before = self.failures.get(action.name)
        tries = before.tries + 1 if before else 1
        self.failures[action.name] = Failure(inputs, tries, now + min(2.0**tries, _RETRY_MOST), message)
        self.counts["errors"] += 1
        self.last_error = message
        if not before or before.message != message:
            log.note(self.project.folder, f"watch: {message}", self.env.now())
            self.env.say(f"mem watch: {message}")
