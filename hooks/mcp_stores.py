"""Open stores for as long as the server lives, one a database file however its path is spelled."""

from __future__ import annotations

import os

from ..memory import config as settings
from ..memory import registry
from ..memory.api import Store
from ..memory.errors import StoreError, UsageError
from ..memory.project import Project, personal
from .command import has_store, open_store
from .env import Env


class Stores:
    """A cache of stores by (device, inode); for one thread."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._open: dict[tuple[int, int], Store] = {}
        self._keys: dict[str, tuple[int, int]] = {}

    def reader(self, project: Project) -> Store | None:
        """Return the project's store, None where it has none. Raises StoreError."""
        return self.writer(project) if has_store(project) else None

    def writer(self, project: Project) -> Store:
        """Return the project's store, made where it has none. Raises StoreError."""
        key = _key(project.store_path)
        known = self._open.get(key) if key else None
        if known is None:
            known = self._fresh(project)
        known.limits = settings.limits(settings.load(project, self._env.environ))
        return known

    def _fresh(self, project: Project) -> Store:
        """Open a store; one that was open at the same path and has been replaced since is closed."""
        old = self._keys.get(project.store_path)
        if old in self._open:
            self._open.pop(old).close()
        try:
            opened = open_store(project, self._env, write=True)
        except StoreError as error:
            if error.reason != "readonly":
                raise
            opened = Store.open(project.store_path, create=False, readonly=True, clock=self._env.clock)
        key = _key(project.store_path)
        if key:
            self._open[key] = opened
            self._keys[project.store_path] = key
        return opened

    def close(self) -> None:
        """Close them all."""
        for store in self._open.values():
            store.close()
        self._open.clear()


def in_scope(here: Project, scope: str, env: Env) -> list[tuple[Project, str]]:
    """Return the projects that a scope means, each with the warning that its memories carry: "" for the one at hand.

    Raises UsageError for a scope that there is not, and for the personal scope beside a pinned store.
    """
    if scope == "project":
        return [(here, "")]
    mine = (personal(env.environ), "from your personal store")
    if scope == "personal":
        if here.pinned:
            raise UsageError("a pinned store and scope personal name two stores; drop one")
        return [(mine[0], "" if here.store_path == mine[0].store_path else mine[1])]
    if scope != "all":
        raise UsageError("scope is project, personal or all")
    others = [
        (Project(entry.root, entry.store, "default"), f"from another project: {entry.name}")
        for entry in registry.registered(env.environ)
    ]
    return [(here, ""), *((other, warning) for other, warning in [mine, *others] if not _same(other, here))]


def _same(one: Project, other: Project) -> bool:
    return one.store_path == other.store_path or (
        _key(one.store_path) is not None and _key(one.store_path) == _key(other.store_path)
    )


def _key(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
