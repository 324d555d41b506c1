"""What the watcher goes by: the folders that matter, and the state of the files from which everything is derived.

The working tree itself is never walked. A state is compared, not interpreted: it says *whether* something is another
than last time. A file that was written within the last two seconds is not trusted to keep its stamp when it changes
once more, so its state differs again on the next look, and it is looked at twice.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import NamedTuple

from ..memory import config as settings
from ..memory.errors import MemError
from ..memory.notebook import NAME as NOTEBOOK
from ..memory.project import Project, busy, data_home, head
from . import mirror_file, mirror_template, sharefile
from .allowances import ALLOW_FILE
from .env import Env
from .mirror_state import RACY_SECONDS
from .watch_events import Place

_LIMIT = 64 << 20  # bytes of one file that are compared by content; beyond, by stamp

State = tuple[object, ...]


class Files(NamedTuple):
    """The files of one project that the watcher compares; "" for what it does not have."""

    notebook: str
    share: str
    allowed: str
    mirror: str
    report: str
    settings: tuple[str, ...]


class Reader:
    """Reads states; remembers the digests of files that did not change."""

    def __init__(self) -> None:
        self._digests: dict[str, tuple[State, str]] = {}

    def read(self, project: Project, files: Files, now: float) -> dict[str, State]:
        """Return the state of every input by name; `now` is the wall clock in seconds."""
        wal = _stamp(project.store_path + "-wal", now)
        return {
            # An empty write-ahead log is as good as none: readers make and remove it.
            "store": (*_stamp(project.store_path, now), *(wal if wal and wal[1] else ())),
            "notebook": self._content(files.notebook, now),
            "share": self._content(files.share, now),
            "allowed": self._content(files.allowed, now),
            "mirror": self._content(files.mirror, now),
            "report": self._content(files.report, now),
            "settings": tuple(_stamp(path, now) for path in files.settings),
            "head": _head(project),
        }

    def _content(self, path: str, now: float) -> State:
        stamp = _stamp(path, now) if path else ()
        if not stamp:
            self._digests.pop(path, None)
            return ()
        known = self._digests.get(path)
        if known and known[0] == stamp and not stamp[-1]:
            return (known[1],)
        try:
            with open(path, "rb") as file:
                data = file.read(_LIMIT + 1)
        except OSError as error:
            return ("unreadable", error.errno)
        digest = hashlib.sha256(data).hexdigest() if len(data) <= _LIMIT else repr(stamp)
        self._digests[path] = (stamp, digest)
        return (digest,)


def watched_files(project: Project, env: Env) -> Files:
    """Return the files that matter to a project. Raises UsageError for settings that can't be."""
    config = settings.load(project, env.environ)
    own = os.path.join(data_home(env.environ), "templates", mirror_template.SHIPPED)
    named = os.path.join(project.root or project.folder, str(config["mirror.template"]))
    try:
        mirrored = mirror_file.target(project, config)
    except MemError:
        mirrored = ""
    try:
        share = sharefile.locate(project, env)
    except MemError:
        share = ""
    root = project.root
    return Files(
        notebook=os.path.join(root, NOTEBOOK) if root else "",
        share=share,
        allowed=os.path.join(root, ALLOW_FILE) if root else "",
        mirror=mirrored,
        report=os.path.join(project.folder, "report.html"),
        settings=(settings.project_file(project), settings.user_file(env.environ), named, own),
    )


def places(project: Project, files: Files) -> list[Place]:
    """Return the folders to watch, those that are not there (yet) included."""
    store = os.path.basename(project.store_path)
    found = [
        Place(
            project.folder, (store, "config.toml", "memory.md", "report.html"), (".tmp", "-shm", ".lock", ".log"),
            in_place=True,
        )
    ]  # fmt: skip
    by_folder: dict[str, set[str]] = {os.path.dirname(project.folder): {os.path.basename(project.folder)}}
    for path in (files.notebook, files.share, files.allowed, files.mirror):
        if path and os.path.dirname(path) != project.folder:
            by_folder.setdefault(os.path.dirname(path), set()).add(os.path.basename(path))
    found += [Place(folder, tuple(sorted(names))) for folder, names in sorted(by_folder.items()) if folder]
    if project.git_dir:
        states = ("HEAD", "packed-refs", "rebase-merge", "rebase-apply", "sequencer", "BISECT_LOG", "reftable")
        found.append(Place(project.git_dir, states))
        found.append(Place(os.path.join(project.common_dir, "refs", "heads"), recursive=True))
    return found


def _head(project: Project) -> State:
    """Return the commit, what names it, and what git is in the middle of."""
    if not project.git_dir:
        return ()
    names = [os.path.join(project.git_dir, name) for name in ("HEAD", "rebase-merge/head-name")]
    return (head(project.git_dir, project.common_dir), busy(project.git_dir), *map(_first_line, names),
            _inode(os.path.join(project.common_dir, "reftable", "tables.list")))  # fmt: skip


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(4096)
    except OSError:
        return ""


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except (OSError, ValueError):
        return 0


def _stamp(path: str, now: float) -> State:
    """Return inode, size, time of a regular file and whether that time is too young to be trusted, () for none."""
    try:
        found = os.stat(path) if path else None
    except (OSError, ValueError):
        found = None
    if found is None or not stat.S_ISREG(found.st_mode):
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mtime > now - RACY_SECONDS
