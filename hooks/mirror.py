"""Render the memory store as Markdown, by command, by hook and by the watcher: one function, `refresh`.

The text depends on the store, the cursor, the template and the project's name alone, so the same state gives the same
bytes, and a file whose bytes would not change is not touched. What is written stays inside the project. A pinned
database has no mirror.
"""

from __future__ import annotations

import argparse
import os

from ..memory import config as settings
from ..memory.api import Store
from ..memory.errors import MemError, UsageError
from ..memory.named import TYPE_CHECKING
from ..memory.project import Project, expand_path, find_project
from ..memory.record import Cursor, printable
from . import files, log, stage
from .command import answer, open_project
from .env import Env
from .mirror_template import SHIPPED, choose, is_tracked, markdown_name, read

if TYPE_CHECKING:
    from typing import Any


_OURS = ("config.toml", ".gitignore", "hooks.log", "sessions.json")


def refresh(project: Project, env: Env) -> bool:
    """Bring the mirror up to date with the store and return whether its bytes changed; without a store do nothing.

    A template that fails is passed over for the shipped one with a line in the log: a mirror that keeps forgotten text
    is worse than a plain one. Raises MemError (`mirror.path` out of bounds, store unreadable) and OSError.
    """
    if project.pinned or not os.path.isfile(project.store_path):
        return False
    config = settings.load(project, env.environ)
    path = target(project, config)
    # The one who renders last must also have read last; else two commands at once could leave the older state.
    with files.Lock(os.path.join(project.folder, "mirror.lock")):
        text, warning = render(project, env, config)
        if warning:
            log.note(project.folder, f"mirror: {warning}", env.now())
        os.makedirs(os.path.dirname(path), exist_ok=True)
        mode = 0o600 if os.path.dirname(path) == project.folder else None
        return files.write_atomic(path, text.encode(), mode=mode)


def render(project: Project, env: Env, config: settings.Config) -> tuple[str, str]:
    """Return the mirror's text and a warning about the template, "" where there is none. Raises StoreError."""
    from ..templates import TemplateFailed, render_source, source

    chosen = choose(project, env, config)
    values = _values(project, env, config)
    try:
        return render_source(chosen.text, chosen.name, **values), chosen.warning
    except TemplateFailed as error:
        return render_source(source(SHIPPED), SHIPPED, **values), f"{error.message}; the shipped template serves"


def target(project: Project, config: settings.Config) -> str:
    """Return where the mirror lies. Raises UsageError for a place out of the project, in .git or of another file."""
    named = str(config["mirror.path"])
    head, _, rest = named.partition("/")
    if head == ".mem":  # the store's folder, wherever this worktree's project keeps it
        path, root = os.path.join(project.folder, rest), project.folder
    else:
        path, root = os.path.join(project.root or project.folder, named), project.root or project.folder
    path, beside_store = os.path.normpath(path), root == project.folder
    place, home = os.path.realpath(path), os.path.realpath(root)
    if place == home or not files.inside(root, path):
        raise UsageError(f"mirror.path {printable(named)!r} leads out of the project; name a file in it")
    below = place[len(home) :].lower().split(os.sep)
    others = _OURS if beside_store else ("memory.md", os.path.normpath(str(config["share.file"])).lower())
    if ".git" in below or os.sep.join(below[1:]) in others or ".db" in below[-1] or below[-1].endswith(".lock"):
        raise UsageError(f"mirror.path {printable(named)!r} belongs to git or memhooks; name a file of its own")
    return path


def hook(argv: list[str], env: Env) -> int:
    """Refresh the mirror. Before a commit return 1 if that changed a tracked file; nothing is staged.

    Nothing that goes wrong here stops a commit.
    """
    project = find_project(env.cwd, environ=env.environ)
    if not os.path.isfile(project.store_path) or stage.is_deferred(project, argv, env.environ):
        return 0
    try:
        if not refresh(project, env) or not stage.is_gate(argv, env.environ):
            return 0
        path = target(project, settings.load(project, env.environ))
        tracked = is_tracked(project, env, path)
    except (MemError, OSError) as error:
        log.note(project.folder, f"mirror: {error}", env.now())
        return 0
    if tracked:
        name = printable(os.path.relpath(path, env.cwd))
        env.say(f"mem: {name} was out of date and has been rendered anew, so the commit was not made.")
        env.say(f"     Look at it, then: git add {name} && git commit")
    return int(tracked)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem mirror`."""
    parser.add_argument("--check", action="store_true", help="exit 1 if the mirror is out of date; write nothing")
    parser.add_argument("--stdout", action="store_true", help="print the mirror instead of writing it")
    parser.add_argument("--template", default="", metavar="FILE", help="use this Jinja template, this once")


def run(args: argparse.Namespace, env: Env) -> int:
    """Carry out `mem mirror`."""
    project = open_project(args, env)
    if args.template:
        config = settings.load(project, env.environ)
        text, warning = _with_template(project, env, config, args.template), ""
    elif args.stdout or args.check:
        text, warning = render(project, env, settings.load(project, env.environ))
    else:
        return _write(project, args, env)
    if warning:
        env.say(f"mem: {warning}")
    if args.stdout:
        answer(env, args, {"text": text}, text.rstrip("\n"))
        return 0
    _refuse_pinned(project)
    path = target(project, settings.load(project, env.environ))
    if not args.check:
        changed = files.write_atomic(path, text.encode())
        answer(env, args, {"path": path, "changed": changed}, f"{path}: {'written' if changed else 'unchanged'}")
        return 0
    fresh = files.read(path) == text.encode() or not os.path.exists(project.store_path)
    answer(env, args, {"path": path, "fresh": fresh}, f"{path}: {'up to date' if fresh else 'out of date'}")
    return 0 if fresh else 1


def _write(project: Project, args: argparse.Namespace, env: Env) -> int:
    _refuse_pinned(project)
    config = settings.load(project, env.environ)
    warning = choose(project, env, config).warning
    if warning:
        env.say(f"mem: {warning}")
    path = target(project, config)
    changed = refresh(project, env)
    known = os.path.exists(project.store_path)
    said = f"{path}: {'written' if changed else 'unchanged'}" if known else "nothing is remembered yet"
    answer(env, args, {"path": path, "changed": changed}, said)
    return 0


def _refuse_pinned(project: Project) -> None:
    if project.pinned:
        raise UsageError("a database named by --db or MEM_DB has no mirror; add --stdout to print one")


def _with_template(project: Project, env: Env, config: settings.Config, named: str) -> str:
    from ..templates import render_source

    path = os.path.join(env.cwd, expand_path(named, env.environ))
    try:
        text = read(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"the template {printable(named)} can't be read: {error}") from error
    return render_source(text, markdown_name(path), **_values(project, env, config))


def _values(project: Project, env: Env, config: settings.Config) -> dict[str, Any]:
    """Return what a template is given: `project` (name, root, workspace), `memories` by creation, `cursor`."""
    shown = _shown(project, env, config)
    if not os.path.isfile(project.store_path):
        return {"project": shown, "memories": [], "cursor": Cursor(shown.workspace)}
    with Store.open(project.store_path, create=False, readonly=True, clock=env.clock) as store:
        memories = sorted(store.list(), key=lambda one: (not one.pinned, one.created_at, one.id))
        return {"project": shown, "memories": memories, "cursor": store.cursor(shown.workspace)}


def _shown(project: Project, env: Env, config: settings.Config) -> Project:
    """All worktrees share the mirror beside the store, so it shows the main worktree's name and workspace."""
    home = os.path.dirname(project.folder)
    if not str(config["mirror.path"]).startswith(".mem/") or not project.git_dir or home == project.root:
        return project
    return find_project(home, environ={**env.environ, "MEM_DB": ""}) if os.path.isdir(home) else project
