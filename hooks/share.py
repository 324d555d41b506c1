"""Exchange memories with the team through a tracked file: `mem share` and the hooks around a commit and a merge.

Before a commit the store's shared memories are written to the file, and a commit that lacks them is not made, as
fixers do; nothing is staged. After a merge, checkout or rewrite what came with the file is merged into the store.
"""

from __future__ import annotations

import os

from ..memory.errors import MemError, NotFound, Rejected
from ..memory.named import TYPE_CHECKING
from ..memory.project import Project, find_project
from . import stage
from .env import Env

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def hook(argv: list[str], env: Env) -> int:
    """Write the share file before a commit and return 1 if that changed it; read it after git moved HEAD.

    A share file that can't be read stops the commit, since its loss would be the team's. Nothing else does.
    """
    is_gate, folder = stage.is_gate(argv, env.environ), ""
    try:
        project = find_project(env.cwd, environ=env.environ)
        folder = project.folder
        if project.pinned or not project.root or stage.is_deferred(project, argv, env.environ):
            return 0
        from .share_state import is_settled

        if is_settled(project, env, is_gate=is_gate):
            return 0
        if is_gate:
            return _gate(project, env)
        refresh(project, env)
    except (MemError, OSError) as error:
        if isinstance(error, MemError) and error.reason == "broken_line":
            env.say(f"mem: the share file: {error.message}")
            return int(is_gate)
        from .log import note

        if folder:
            note(folder, f"share: {error}", env.now())
    return 0


def refresh(project: Project, env: Env) -> bool:
    """Merge the share file into the store and the mirror if it is another than last time; return whether it changed
    anything. What the hooks and the watcher call. Raises BrokenLine, StoreError, OSError."""
    from . import mirror, sharefile

    result = sharefile.read(project, env, sharefile.locate(project, env))
    if result.refused:
        env.say(f"mem: {len(result.refused)} shared memories were kept out; `mem quarantine` says which and why")
    if any(one.rule == "cap_reached" for one in result.skipped):
        env.say("mem: shared memories wait in the file: the store is full (`mem config set limits.memories N`)")
    if result.changed:
        mirror.refresh(project, env)
    return result.changed


def bury(project: Project, env: Env) -> tuple[str, ...]:
    """Turn the lines of forgotten shared memories into tombstones and return the paths that changed.

    What `mem forget` calls; without a share file there is nothing to do. Raises BrokenLine, StoreError, OSError.
    """
    if project.pinned or not project.root:
        return ()
    from . import sharefile

    path = sharefile.locate(project, env)
    return sharefile.write(project, env, path).changed if os.path.exists(path) else ()


def _gate(project: Project, env: Env) -> int:
    from . import sharefile

    written = sharefile.write(project, env, sharefile.locate(project, env), tidy=False)
    for line in written.left_out:
        env.say(f"mem: {line}")
    if not written.changed:
        return 0
    names = stage.to_add(written.changed, env.cwd, env.environ)
    env.say(f"mem: {names} did not hold what is shared and now does, so the commit was not made.")
    env.say(f"     Look at it, then: git add {names} && git commit")
    return 1


def arguments(parser: ArgumentParser) -> None:
    """Add the words of `mem share`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="in|out|on|off")
    for name, text in (("in", "merge the share file into the store"), ("out", "merge the store into the share file")):
        action = actions.add_parser(name, help=text)
        action.add_argument("file", nargs="?", default="", metavar="FILE", help="default: share.file")
    for name, text in (("on", "share a memory with the team"), ("off", "stop sharing it, and take it out of the file")):
        action = actions.add_parser(name, help=text)
        action.add_argument("id", metavar="ID")


def run(args: Namespace, env: Env) -> int:
    """Carry out `mem share`."""
    from .command import open_project

    project = open_project(args, env)
    if args.action == "in":
        return _in(project, args, env)
    if args.action == "out":
        return _out(project, args, env)
    return _mark(project, args, env, shared=args.action == "on")


def _in(project: Project, args: Namespace, env: Env) -> int:
    from ..memory import exchange
    from . import mirror, sharefile
    from .command import answer

    path = sharefile.locate(project, env, args.file)
    if args.file and not os.path.isfile(path):
        raise NotFound(f"there is no file {path}")
    result = sharefile.read(project, env, path, always=True)
    if result.changed:
        mirror.refresh(project, env)
    answer(env, args, exchange.as_json(result), sharefile.summary(result))
    return 0


def _out(project: Project, args: Namespace, env: Env) -> int:
    from . import sharefile
    from .command import answer

    path = sharefile.locate(project, env, args.file)
    written = sharefile.write(project, env, path)
    for line in written.left_out:
        env.say(f"mem: {line}")
    said = "\n".join(f"{one}: written" for one in written.changed) or f"{path}: nothing to write"
    answer(env, args, {"path": path, "changed": list(written.changed), "left_out": len(written.left_out)}, said)
    return 0


def _mark(project: Project, args: Namespace, env: Env, *, shared: bool) -> int:
    from ..memory import exchange
    from ..memory import store as rows
    from ..memory.record import short
    from . import sharefile
    from .command import answer, open_store

    with open_store(project, env, write=False) as store:
        memory = store.get(args.id)
        if shared and memory.status == "active":
            found = exchange.judge({"title": memory.title, "content": memory.content, "tags": list(memory.tags)})
            if found:
                rule, category = found[1].rule, found[1].category
                raise Rejected(f"{short(memory.id)} can't be shared: {rule}", reason=f"{category}_detected")
        rows.mark_shared(store.db, memory.id, shared)
    value: dict[str, object] = {"id": memory.id, "shared": shared}
    text = f"{short(memory.id)} is shared: the next commit takes it along (or `mem share out` now)"
    if not shared:
        is_gone = bool(project.root) and sharefile.drop(project, sharefile.locate(project, env), memory.id)
        text = f"{short(memory.id)} is no longer shared"
        text += "; its line is out of the file, but git's history and teammates may still have it" if is_gone else ""
    answer(env, args, value, text)
    return 0
