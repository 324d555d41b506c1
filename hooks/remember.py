"""`mem remember`, `correct`, `forget` and `confirm`: what changes a memory."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import Any

from ..memory import anchors as anchoring
from ..memory import config as settings
from ..memory.errors import UsageError
from ..memory.intake import compose
from ..memory.project import Project
from ..memory.record import KINDS, printable, short
from .command import answer, has_store, open_project, open_store, read_text, user_name
from .env import Env
from .mirror import after_write
from .share import bury
from .show import memory_json


def _shape_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--title", help="a title, else the first line or sentence")
    parser.add_argument("--kind", help="one of " + ", ".join(KINDS))
    parser.add_argument("--area", help="the part of the project it is about")
    parser.add_argument("--tag", action="append", metavar="TAG", help="a tag; may be repeated")
    parser.add_argument("--actor", help="who learned it (default: $USER)")
    parser.add_argument("--source-type", metavar="TYPE", help="where it comes from (default: manual)")
    parser.add_argument("--source-ref", metavar="REF", help="a commit, an issue, a URL")
    parser.add_argument("--confidence", type=float, metavar="0..1", help="how sure it is")
    parser.add_argument("--expires", metavar="WHEN", help="a date, or a span such as 30d")
    parser.add_argument("--pin", action="store_true", default=None, help="always in the digest")
    parser.add_argument("--shared", "--share", action="store_true", default=None, help="share it with the team by git")
    parser.add_argument("--file", action="append", metavar="PATH", help="a file it is about; may be repeated")


def _scope_argument(parser: ArgumentParser) -> None:
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def remember_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what to remember; - reads standard input")
    _shape_arguments(parser)
    _scope_argument(parser)


def remember(args: Namespace, env: Env) -> int:
    """Keep a fact and print its id."""
    project = open_project(args, env)
    text = read_text(args.text, env)
    fields, anchors = _fields(args, env), _anchors(args, project, env, text)
    if not has_store(project):  # what is refused makes no store
        limits = settings.limits(settings.load(project, env.environ))
        compose({"content": text, **fields}, limits=limits, now=env.now())
    with open_store(project, env, write=True) as store:
        memory = store.remember(content=text, anchors=anchors, **fields)
    after_write(project, env)
    answer(env, args, memory_json(memory), f"remembered {short(memory.id)}: {printable(memory.title)}")
    return 0


def correct_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    parser.add_argument("text", metavar="TEXT", help="what is true instead; - reads standard input")
    _shape_arguments(parser)
    _scope_argument(parser)


def correct(args: Namespace, env: Env) -> int:
    """Replace a memory; what no flag names is taken over from the old one."""
    project = open_project(args, env)
    text = read_text(args.text, env)
    with open_store(project, env, write=False) as store:
        anchors = _anchors(args, project, env, text) if args.file else None
        commit = anchoring.current_commit(project)
        memory = store.correct(args.id, text, anchors=anchors, commit=commit, **_fields(args, env))
    after_write(project, env)
    old = short(memory.supersedes)
    answer(env, args, memory_json(memory), f"{short(memory.id)} replaces {old}: {printable(memory.title)}")
    return 0


def forget_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    _scope_argument(parser)


def forget(args: Namespace, env: Env) -> int:
    """Erase a memory and its history from every file of ours."""
    project = open_project(args, env)
    with open_store(project, env, write=False) as store:
        forgotten = store.forget(args.id)
    after_write(project, env)
    if forgotten.shared:
        bury(project, env)
    lines = [f"forgot {', '.join(map(short, forgotten.ids))}"]
    if forgotten.shared:
        lines.append("the share file now says so; git's history of it still has the text")
    if forgotten.scrub_pending:
        lines.append("another program reads the store: its last traces go with the next command")
    answer(env, args, forgotten._asdict(), "; ".join(lines))
    return 0


def confirm_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")


def confirm(args: Namespace, env: Env) -> int:
    """Anchor a memory to its files as they are at HEAD; a file that is gone is let go of."""
    project = open_project(args, env)
    with open_store(project, env, write=False) as store:
        memory = store.confirm(args.id, commit=anchoring.current_commit(project))
        paths = list(anchoring.of(store.db, memory.id))
    after_write(project, env)
    there = [path for path in paths if os.path.lexists(os.path.join(project.root, path))]
    gone = [path for path in paths if path not in there]
    said = f" for {_listed(there)} as at HEAD" if there else ""
    said += f"; no longer anchored to {_listed(gone)}, which is gone" if gone else ""
    answer(env, args, memory_json(memory), f"{short(memory.id)} holds{said}")
    return 0


def _listed(paths: list[str]) -> str:
    return ", ".join(map(printable, paths))


def _fields(args: Namespace, env: Env) -> dict[str, Any]:
    given = {
        "title": args.title, "kind": args.kind, "area": args.area, "tags": args.tag, "source_type": args.source_type,
        "source_ref": args.source_ref, "confidence": args.confidence, "expires": args.expires, "pinned": args.pin,
        "shared": args.shared, "actor": args.actor or user_name(env),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value is not None}


def _anchors(args: Namespace, project: Project, env: Env, text: str) -> dict[str, str]:
    """Return the anchors of a text: the files that --file names, and those that it mentions."""
    if args.file and not project.git_dir:
        raise UsageError("--file needs a git repository: a memory is anchored to a file's blob at HEAD")
    return anchoring.pending(project, text, cwd=env.cwd, files=args.file or [])
