"""`mem config`: show and change settings."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from ..memory.config import SETTINGS, check, load, parse, project_file, read_file, user_file
from ..memory.errors import MemError, UsageError
from ..memory.project import Project
from ..memory.schema import make_folder
from .command import answer, open_project
from .env import Env
from .files import inside, write_atomic


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("action", choices=("list", "get", "set", "unset"), nargs="?", default="list")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("value", nargs="?", metavar="VALUE")
    parser.add_argument("--user", action="store_true", help="for all your projects instead of this one")


def run(args: Namespace, env: Env) -> int:
    """List all settings, get one, or write one to config.toml."""
    project = open_project(args, env)
    if args.action == "list":
        config = load(project, env.environ)
        lines = [f"{name} = {config[name]!r}  # {setting.help}" for name, setting in SETTINGS.items()]
        answer(env, args, config, "\n".join(lines))
        return 0
    if args.name not in SETTINGS:
        raise UsageError(f"there is no setting {args.name!r}; `mem config list` shows them")
    if args.action == "get":
        value = load(project, env.environ)[args.name]
        answer(env, args, value, str(value))
        return 0
    path = _target(project, env, user=args.user)
    if args.action == "set" and args.value is None:
        raise UsageError("say what to set it to: mem config set NAME VALUE")
    value = None
    if args.action == "set":
        value = check(args.name, parse(args.name, args.value), "the value", error=UsageError)
    _write(path, args.name, value)
    answer(env, args, {"name": args.name, "value": value, "file": path}, f"{args.name} is written to {path}")
    return 0


def _target(project: Project, env: Env, *, user: bool) -> str:
    if user:
        return user_file(env.environ)
    path = project_file(project)
    if not path:
        raise UsageError("there is no project here to keep a setting for; --user keeps it for all")
    if not inside(os.path.dirname(project.folder), path):
        raise UsageError(f"{path} is a link out of the project; remove it", reason="link_out")
    return path


def _write(path: str, name: str, value: object) -> None:
    """Write one setting (None takes it out), with all that the file holds kept; comments do not survive."""
    import tomli_w

    tables = read_file(path)
    table, _, key = name.partition(".")
    inner = tables.setdefault(table, {})
    if not isinstance(inner, dict):
        raise MemError(f"{path}: {table} must be a table", reason="config")
    if value is None and key not in inner:
        return
    inner[key] = value
    if value is None:
        del inner[key]
    make_folder(os.path.dirname(path))
    write_atomic(path, tomli_w.dumps(tables).encode(), mode=0o600)
