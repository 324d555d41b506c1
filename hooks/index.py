"""The index hook (post-commit, post-merge, post-checkout, post-rewrite) and `mem index`.

The hook starts no git and writes nothing: it compares HEAD with the HEAD that the store has recorded, and leaves all
work to one detached child. It is driven by state, so a hook that deferred or was missed is made up for by the next.
"""

from __future__ import annotations

import os

from ..memory.named import TYPE_CHECKING
from ..memory.project import Project, find_project, head
from . import stage
from .env import Env

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from .refresh import Done, Progress

_WORKER = "--refresh"  # the detached child's own flag


def hook(argv: list[str], env: Env) -> int:
    """Start a refresh in the background if HEAD is not the one recorded. `argv` is what git gave its hook."""
    project = find_project(env.cwd, environ=env.environ)
    if not os.path.isfile(project.store_path) or not project.git_dir:
        return 0
    if argv[:1] == [_WORKER]:
        from .refresh import in_background

        in_background(project, env, ended=argv[1] if len(argv) > 1 else "")
        return 0
    ended = stage.just_ended(argv, env.environ)
    if not stage.moves_nothing(argv, env.environ) and not stage.is_busy(project, ended) and _has_moved(project):
        from .detach import program, spawn

        spawn([*program(), "hook", "index", _WORKER, ended], cwd=project.root, environ=env.environ)
    return 0


def arguments(parser: ArgumentParser) -> None:
    from .command import whole_number

    parser.add_argument("--cached-only", action="store_true", help="pass over a model that is not in the cache")
    parser.add_argument("--rebuild", action="store_true", help="make all vectors anew")
    parser.add_argument("-n", type=whole_number(10_000_000), metavar="N", help="embed at most N memories")


def run(args: Namespace, env: Env) -> int:
    """Bring vectors, anchors and the notebook's rows up to date, in the foreground."""
    from .command import answer, open_project

    project = open_project(args, env)
    if not os.path.isfile(project.store_path):
        answer(env, args, {"embedded": 0, "remaining": 0}, "no store yet; `mem remember` or `mem init` makes one")
        return 0
    from .files import Lock
    from .refresh import lock_path
    from .refresh import run as refresh

    with Lock(lock_path(project)):
        done = refresh(
            project, env, limit=args.n, rebuild=args.rebuild, cached_only=args.cached_only,
            progress=_bar(env) if env.stderr.isatty() else None,
        )  # fmt: skip
    for line in done.skipped:
        env.say(line)
    answer(env, args, _value(done), _text(done))
    return 0


def _has_moved(project: Project) -> bool:
    """Say whether HEAD is another than the store has recorded; where git's files do not tell, a child has to ask."""
    now = head(project.git_dir, project.common_dir)
    if not now:
        return os.path.isdir(os.path.join(project.common_dir, "reftable"))
    from ..memory import schema

    db = schema.connect(project.store_path, readonly=True, timeout=0.25)
    try:
        row = db.execute("SELECT value FROM meta WHERE key = ?", (project.head_key,)).fetchone()
    finally:
        db.close()
    return row is None or row[0] != now


def _bar(env: Env) -> Progress:
    def show(done: int, total: int) -> None:
        filled = 30 * done // max(total, 1)
        env.stderr.write(f"\rindexing [{'#' * filled}{'.' * (30 - filled)}] {done:,}/{total:,}")
        env.stderr.write("\n" if done >= total else "")
        env.stderr.flush()

    return show


def _value(done: Done) -> dict[str, object]:
    value: dict[str, object] = {"model": done.model, "embedded": done.embedded, "remaining": done.remaining}
    if done.code:
        value |= {"head": done.code.head, "touched": done.code.touched, "anchors_changed": done.code.anchors}
    return value


def _text(done: Done) -> str:
    memories = "memory" if done.embedded == 1 else "memories"
    line = f"{done.embedded:,} {memories} embedded by {done.model or 'no model'}, {done.remaining:,} remaining"
    return line + (f"; {done.code.anchors:,} anchors changed as of {done.code.head[:7]}" if done.code else "")
