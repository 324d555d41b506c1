"""`mem state`: where work on this branch stands."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..memory.errors import UsageError
from ..memory.record import CURSOR_FIELDS, Cursor, printable
from .command import answer, has_store, open_project, open_store
from .env import Env


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("show", "set", "clear"), nargs="?", default="show")
    for name in CURSOR_FIELDS:
        parser.add_argument(f"--{name}", metavar="TEXT")
    parser.add_argument("--clear", action="append", choices=CURSOR_FIELDS, metavar="FIELD", default=[])


def run(args: Namespace, env: Env) -> int:
    """Show, set or clear the cursor of the workspace at hand."""
    project = open_project(args, env)
    given = {name: getattr(args, name) for name in CURSOR_FIELDS if getattr(args, name) is not None}
    if args.action == "show" and (given or args.clear):
        raise UsageError("`mem state set` takes these flags; `show` takes none")
    if args.action == "clear":
        if given:
            raise UsageError("`mem state clear` takes --clear FIELD, or nothing to clear all")
        given = dict.fromkeys(args.clear or CURSOR_FIELDS, "")
    elif args.action == "set":
        given |= dict.fromkeys(args.clear, "")
        if not given:
            raise UsageError("say what to set: " + ", ".join(f"--{name} TEXT" for name in CURSOR_FIELDS))
    cursor = Cursor(project.workspace)
    if has_store(project) or (given and args.action == "set"):
        with open_store(project, env, write=bool(given)) as store:
            cursor = store.set_cursor(project.workspace, **given) if given else store.cursor(project.workspace)
    answer(env, args, cursor._asdict(), _text(cursor))
    return 0


def _text(cursor: Cursor) -> str:
    lines = [f"{name}: {printable(getattr(cursor, name))}" for name in CURSOR_FIELDS if getattr(cursor, name)]
    return "\n".join([f"workspace: {printable(cursor.workspace)}", *lines])
