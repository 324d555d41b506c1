"""Whether the mirror can be out of date at all, as cheaply as a hook may ask: by the stamps of the files it comes from.

A rendering leaves in `.mem/mirror.json` what those files looked like before it read them. A file that was written less
than two seconds before is not trusted to get another stamp when it is written again.
"""

from __future__ import annotations

import json
import os

from ..memory import private
from ..memory.config import Config, project_file, user_file
from ..memory.project import Project, data_home
from .env import Env

_NAME = "mirror.json"
RACY_SECONDS = 2.0  # the coarsest stamps that file systems give (FAT)

Seen = list[object]


def place(project: Project, config: Config) -> str:
    """Return where `mirror.path` points, not yet judged: below `.mem` is the store's folder, wherever this worktree's
    project keeps it."""
    head, _, rest = str(config["mirror.path"]).partition("/")
    if head == ".mem":
        return os.path.normpath(os.path.join(project.folder, rest))
    return os.path.normpath(os.path.join(project.root or project.folder, str(config["mirror.path"])))


def look(project: Project, env: Env, config: Config, path: str) -> Seen:
    """Return what the mirror at `path` depends on, by stamps; [] where that can't tell (yet)."""
    named = str(config["mirror.template"])
    own = os.path.join(data_home(env.environ), "templates", "memory.md.j2")
    names = [project.store_path, project.store_path + "-wal", path, project_file(project), user_file(env.environ), own]
    names += [os.path.join(project.root, named)] if named else []
    seen: Seen = [path, project.root, project.workspace, _head(project), config["mirror.trust"]]
    for name in names:
        try:
            found = os.stat(name)
        except (OSError, ValueError):
            seen.append(None)
            continue
        if found.st_mtime > env.now() - RACY_SECONDS:
            return []
        is_empty_log = name.endswith("-wal") and not found.st_size  # as good as none: readers make and remove it
        seen.append(None if is_empty_log else [found.st_ino, found.st_size, found.st_mtime_ns])
    return seen


def note(project: Project, seen: Seen, until: str) -> None:
    """Keep what was `seen` before a rendering that holds `until` a memory expires (a timestamp, "" for never)."""
    if seen:
        private.write(os.path.join(project.folder, _NAME), json.dumps({"seen": seen, "until": until}))


def is_settled(project: Project, env: Env, config: Config, path: str) -> bool:
    """Return whether the mirror at `path` is what a rendering would give."""
    from ..memory.record import timestamp

    try:
        with open(os.path.join(project.folder, _NAME), encoding="utf-8") as file:
            kept = json.load(file)
        seen = look(project, env, config, path)
        return bool(seen) and kept["seen"] == seen and not "" < kept["until"] <= timestamp(env.now())
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _head(project: Project) -> str:
    """Return what the main worktree's HEAD says: the mirror beside the store shows its branch."""
    try:
        with open(os.path.join(project.common_dir, "HEAD"), encoding="utf-8", errors="replace") as file:
            return file.readline(4096)
    except OSError:
        return ""
