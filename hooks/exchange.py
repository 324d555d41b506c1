"""`mem export` and `mem import`: memories as NDJSON, to standard output and from a file or standard input."""

from __future__ import annotations

import argparse
import os

from ..memory import exchange, ndjson
from ..memory.errors import UsageError
from ..memory.record import printable
from . import allowances, files, mirror, sharefile
from .command import answer, has_store, open_project, open_store
from .env import Env

_LIMIT = 256 << 20  # bytes of one import


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem export`."""
    parser.add_argument("--include-superseded", action="store_true", help="history too")
    parser.add_argument("-o", "--output", default="", metavar="FILE", help="write FILE, 0600, instead of printing")
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def export(args: argparse.Namespace, env: Env) -> int:
    """Print every memory as a line of JSON, by creation; without a store print nothing."""
    project = open_project(args, env)
    lines: list[str] = []
    if has_store(project):
        with open_store(project, env, write=False) as store:
            lines = list(exchange.export_lines(store, include_superseded=args.include_superseded))
    text = "".join(line + "\n" for line in lines)
    if args.output:
        files.write_atomic(os.path.join(env.cwd, args.output), text.encode(), mode=0o600)
        env.say(f"{len(lines)} memories written to {printable(args.output)}")
    else:
        env.stdout.write(text)
    return 0


def import__arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem import`."""
    parser.add_argument("file", metavar="FILE", help="an export; - reads standard input")
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def import_(args: argparse.Namespace, env: Env) -> int:
    """Merge an export into the store, all of it or nothing, and say what came of it."""
    project = open_project(args, env)
    lines = ndjson.split(_read(args.file, env))
    ndjson.parse(lines)  # a file that is none makes no store
    with open_store(project, env, write=True) as store:
        result = exchange.import_lines(store, lines, allowed=allowances.passes(project.root))
    mirror.after_write(project, env)
    answer(env, args, exchange.as_json(result), sharefile.summary(result))
    return 0


def _read(name: str, env: Env) -> bytes:
    if name == "-":
        return env.stdin.read(_LIMIT).encode("utf-8", "surrogateescape")
    try:
        with open(os.path.join(env.cwd, name), "rb") as file:
            data = file.read(_LIMIT + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{printable(name)} can't be read: {why}", reason="unreadable") from error
    if len(data) > _LIMIT:
        raise UsageError(f"{printable(name)} is larger than {_LIMIT >> 20} MB")
    return data
