"""The mirror as a file: where it may lie, what is in it, and how it is brought up to date.

The text depends on the store, the cursor, the template and the project's name alone, so the same state gives the same
bytes, and a file whose bytes would not change is not touched. What is written stays inside the project.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ..memory import config as settings
from ..memory.api import Store
from ..memory.config import Config
from ..memory.errors import UsageError
from ..memory.project import Project, expand_path, find_project
from ..memory.record import Cursor, printable
from . import files, log, mirror_state
from .env import Env
from .mirror_template import SHIPPED, choose, markdown_name, read

_OURS = ("config.toml", ".gitignore", "hooks.log", "sessions.json", "mirror.json", "watch.json")


class Rendered(NamedTuple):
    """A mirror's text, a warning about its template ("" mostly), and when a memory in it expires ("" for never)."""

    text: str
    warning: str
    until: str


def refresh(project: Project, env: Env) -> bool:
    """Bring the mirror up to date with the store and return whether its bytes changed; without a store do nothing.

    A template that fails is passed over for the shipped one with a line in the log: a mirror that keeps forgotten text
    is worse than a plain one. Raises MemError (`mirror.path` out of bounds, store unreadable) and OSError.
    """
    if project.pinned or not os.path.isfile(project.store_path):
        return False
    config = settings.load(project, env.environ)
    path = target(project, config)
    import jinja2  # noqa: F401 - before the lock: it takes longer than all that is done under it

    # The one who renders last must also have read last; else two commands at once could leave the older state.
    with files.Lock(os.path.join(project.folder, "mirror.lock")):
        seen = mirror_state.look(project, env, config, path)
        made = render(project, env, config)
        if made.warning:
            log.note(project.folder, f"mirror: {made.warning}", env.now())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = 0o600 if os.path.dirname(path) == project.folder else None
        changed = files.write_atomic(path, made.text.encode(), mode=mode)
        if not changed and not made.warning:
            mirror_state.note(project, seen, made.until)
        return changed


def render(project: Project, env: Env, config: Config) -> Rendered:
    """Return the mirror's text as it should be. Raises StoreError."""
    from ..templates import TemplateFailed, render_source, source

    chosen = choose(project, env, config)
    values = _values(project, env, config)
    until = min((one.expires_at for one in values["memories"] if one.expires_at), default="")
    try:
        return Rendered(render_source(chosen.text, chosen.name, **values), chosen.warning, until)
    except TemplateFailed as error:
        text = render_source(source(SHIPPED), SHIPPED, **values)
        return Rendered(text, f"{error.message}; the shipped template serves", until)


def target(project: Project, config: Config) -> str:
    """Return where the mirror lies. Raises UsageError for a place out of the project, in .git or of another file."""
    named, path = str(config["mirror.path"]), mirror_state.place(project, config)
    beside_store = named.startswith(".mem/") or not project.root
    root = project.folder if beside_store else project.root
    real, home = os.path.realpath(path), os.path.realpath(root)
    if real == home or not files.inside(root, path):
        raise UsageError(f"mirror.path {printable(named)!r} leads out of the project; name a file in it")
    below = real[len(home) :].lower().split(os.sep)
    others = _OURS if beside_store else ("memory.md", os.path.normpath(str(config["share.file"])).lower())
    if ".git" in below or os.sep.join(below[1:]) in others or ".db" in below[-1] or below[-1].endswith(".lock"):
        raise UsageError(f"mirror.path {printable(named)!r} belongs to git or memhooks; name a file of its own")
    return path


def render_with(project: Project, env: Env, config: Config, named: str) -> str:
    """Return the mirror's text by the template that a person names. Raises UsageError, TemplateFailed, StoreError."""
    from ..templates import render_source

    path = os.path.join(env.cwd, expand_path(named, env.environ))
    try:
        text = read(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"the template {printable(named)} can't be read: {error}") from error
    return render_source(text, markdown_name(path), **_values(project, env, config))


def _values(project: Project, env: Env, config: Config) -> dict[str, Any]:
    """Return what a template is given: `project` (name, root, workspace), `memories` by creation, `cursor`."""
    shown = _shown(project, env, config)
    if not os.path.isfile(project.store_path):
        return {"project": shown, "memories": [], "cursor": Cursor(shown.workspace)}
    with Store.open(project.store_path, create=False, readonly=True, clock=env.clock) as store:
        memories = sorted(store.list(), key=lambda one: (not one.pinned, one.created_at, one.id))
        return {"project": shown, "memories": memories, "cursor": store.cursor(shown.workspace)}


def _shown(project: Project, env: Env, config: Config) -> Project:
    """All worktrees share the mirror beside the store, so it shows the main worktree's name and workspace."""
    home = os.path.dirname(project.folder)
    if not str(config["mirror.path"]).startswith(".mem/") or not project.git_dir or home == project.root:
        return project
    return find_project(home, environ={**env.environ, "MEM_DB": ""}) if os.path.isdir(home) else project
