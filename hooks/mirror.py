"""Render the memory store as Markdown, by command, by hook and by the watcher, each through `refresh`.

What stands in the mirror and where it lies is in `mirror_file`, which needs Jinja and is loaded only where something
has to be rendered. A pinned database has no mirror.
"""

from __future__ import annotations

import os

from ..memory.errors import MemError, UsageError
from ..memory.named import TYPE_CHECKING
from ..memory.project import Project, find_project
from . import stage
from .env import Env

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def refresh(project: Project, env: Env) -> bool:
    """Bring the mirror up to date with the store, and the report if one was made, so that no forgotten text stays in
    either; return whether the mirror's bytes changed. Raises MemError."""
    if project.pinned or not os.path.isfile(project.store_path):
        return False
    from . import mirror_file, report

    try:
        report.refresh(project, env)
        return mirror_file.refresh(project, env)
    except OSError as error:
        raise MemError(f"the mirror can't be written: {error}", reason="unwritable") from error


def after_write(project: Project, env: Env) -> None:
    """Refresh after a command changed the store: what is kept is kept, so a failure is a line and not an exit code."""
    try:
        refresh(project, env)
    except MemError as error:
        env.say(f"mem: the store has changed, but the mirror is out of date: {error.message}")


def hook(argv: list[str], env: Env) -> int:
    """Refresh the mirror. Before a commit return 1 if that changed a tracked file; nothing is staged.

    Nothing that goes wrong here stops a commit.
    """
    folder = ""
    try:
        project = find_project(env.cwd, environ=env.environ)
        folder = project.folder
        if project.pinned or not os.path.isfile(project.store_path) or stage.is_deferred(project, argv, env.environ):
            return 0
        from ..memory import config as settings
        from .mirror_state import is_settled, place

        config = settings.load(project, env.environ)
        if is_settled(project, env, config, place(project, config)):
            return 0
        if not refresh(project, env) or not stage.is_gate(argv, env.environ):
            return 0
        from . import mirror_file, mirror_template

        path = mirror_file.target(project, config)
        tracked = mirror_template.is_tracked(project, env, path)
    except (MemError, OSError) as error:
        from .log import note

        if folder:
            note(folder, f"mirror: {error}", env.now())
        return 0
    if tracked:
        name = stage.to_add([path], env.cwd, env.environ)
        env.say(f"mem: {name} was out of date and has been rendered anew, so the commit was not made.")
        env.say(f"     Look at it, then: git add {name} && git commit")
    return int(tracked)


def arguments(parser: ArgumentParser) -> None:
    """Add the options of `mem mirror`."""
    parser.add_argument("--check", action="store_true", help="exit 1 if the mirror is out of date; write nothing")
    parser.add_argument("--stdout", action="store_true", help="print the mirror instead of writing it")
    parser.add_argument("--template", default="", metavar="FILE", help="use this Jinja template, this once")


def run(args: Namespace, env: Env) -> int:
    """Carry out `mem mirror`."""
    from ..memory import config as settings
    from . import files, mirror_file
    from .command import answer, open_project

    project = open_project(args, env)
    config = settings.load(project, env.environ)
    if args.template:
        text, warning = mirror_file.render_with(project, env, config, args.template), ""
    elif args.stdout or args.check:
        text, warning, _ = mirror_file.render(project, env, config)
    else:
        return _write(project, args, env)
    if warning:
        env.say(f"mem: {warning}")
    if args.stdout:
        answer(env, args, {"text": text}, text.rstrip("\n"))
        return 0
    _refuse_pinned(project)
    path = mirror_file.target(project, config)
    if not args.check:
        changed = files.write_atomic(path, text.encode())
        answer(env, args, {"path": path, "changed": changed}, f"{path}: {'written' if changed else 'unchanged'}")
        return 0
    fresh = files.read(path) == text.encode() or not os.path.exists(project.store_path)
    answer(env, args, {"path": path, "fresh": fresh}, f"{path}: {'up to date' if fresh else 'out of date'}")
    return 0 if fresh else 1


def _write(project: Project, args: Namespace, env: Env) -> int:
    from ..memory import config as settings
    from . import mirror_file, mirror_template
    from .command import answer

    _refuse_pinned(project)
    config = settings.load(project, env.environ)
    warning = mirror_template.choose(project, env, config).warning
    if warning:
        env.say(f"mem: {warning}")
    path = mirror_file.target(project, config)
    changed = refresh(project, env)
    known = os.path.exists(project.store_path)
    said = f"{path}: {'written' if changed else 'unchanged'}" if known else "nothing is remembered yet"
    answer(env, args, {"path": path, "changed": changed}, said)
    return 0


def _refuse_pinned(project: Project) -> None:
    if project.pinned:
        raise UsageError("a database named by --db or MEM_DB has no mirror; add --stdout to print one")
