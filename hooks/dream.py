"""`mem dream`: whether the notebook is due for tidying, what can go, and the stamp when it is done.

Nothing here judges by a model: the plan is what an agent or a person works from. As a hook after a tool's use it says
once a session that a dream is due, where the tool wrote to memory.
"""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from typing import Any

from ..memory import dream, notebook, patch
from ..memory.errors import MemError, NotFound
from ..memory.project import Project, data_home, find_project
from ..memory.record import printable, short
from . import notebook_file as book_file
from .command import answer
from .env import Env, read_event

# What every session loads anyway, so that the notebook need not say it again.
INSTRUCTION_FILES = ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md")
_WRITERS = ("set_project_memory", "update_project_memory", "project_memory")


def arguments(parser: ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="say whether the notebook is due: over 50 KB, a day old")
    what.add_argument("--plan", action="store_true", help="list what can go, with lines and reasons")
    what.add_argument("--apply", action="store_true", help="stamp the notebook: the plan was carried out")


def run(args: Namespace, env: Env) -> int:
    """Check, plan or stamp the notebook of the project at hand."""
    book = _book(env, project=args.project, db=args.db)
    if args.check:
        found = dream.check(_text(book), env.now())
        state = "due" if found.due else "not due"
        answer(env, args, {"path": book.path, **found._asdict()}, f"{state}: {found.reason}")
    elif args.plan:
        _answer_plan(args, env, book)
    else:
        done = book_file.change(book, env, lambda old: _stamped(old, env.now()), absent_ok=False)
        book_file.refresh_sections(book, env)
        stamp = notebook.front_value(done.text, dream.STAMP)
        value = {"path": book.path, "last_dream": stamp, "size": len(done.text.encode())}
        answer(env, args, value, f"{printable(book.path)}: dreamed {stamp}")
    return 0


def _book(env: Env, *, project: str = "", db: str = "") -> book_file.Notebook:
    limits = book_file.bounds((), env, project=project)
    folder = book_file.choose_folder(project, limits, env)
    return book_file.locate(folder, limits, book_file.choose_project(folder, limits, env, db=db))


def _text(book: book_file.Notebook) -> str:
    try:
        return book_file.load(book)
    except NotFound:
        return ""


def _stamped(old: str, now: float) -> book_file.Written:
    new = dream.stamp(old, now)
    return book_file.Written(new, 1, notebook.front_matter_end(patch.bodies(new)), False)


def _answer_plan(args: Namespace, env: Env, book: book_file.Notebook) -> None:
    root = book.project.root or os.path.dirname(book.path)
    plan = dream.plan(
        _text(book), now=env.now(), path=book.name, others=_others(root, book), old=_old(book.project, env)
    )
    lines = [_line(item) for item in plan.items]
    lines.append(f"{plan.size:,} bytes now; aim at about {plan.target:,}")
    items = [item._asdict() for item in plan.items]
    value = {"path": book.path, "size": plan.size, "target": plan.target, "items": items}
    answer(env, args, value, "\n".join(lines))


def _line(item: dream.Item) -> str:
    place = f"memory {short(item.id)}" if item.id else f"{item.path}:{item.first}-{item.last}"
    return f"{place}  {item.action}: {item.reason}  [{printable(item.text)}]"


def _others(root: str, book: book_file.Notebook) -> dict[str, str]:
    """Return the instruction files that are there, each file once, whatever links lead to it."""
    found: dict[str, str] = {}
    seen = {book.path}
    for name in INSTRUCTION_FILES:
        path = os.path.realpath(os.path.join(root, name))
        if path in seen:
            continue
        seen.add(path)
        try:
            data = book_file.read_regular(path)
            if data is not None:
                found[name] = book_file.decode(data, path)
        except MemError:
            continue  # a file that is no text holds nothing already
    return found


def _old(project: Project, env: Env) -> tuple[dream.Old, ...]:
    """Return the memories that have expired or whose files moved on. Raises StoreError."""
    if not os.path.isfile(project.store_path):
        return ()
    from ..memory import anchors, store
    from ..memory.api import Store
    from ..memory.record import timestamp

    with Store.open(project.store_path, create=False, clock=env.clock) as opened:
        now = timestamp(env.now())
        active = store.select(opened.db, "status = 'active'", (), "ORDER BY id")
        states = anchors.notes(opened.db, [memory.id for memory in active])
    found = []
    for memory in active:
        if memory.expires_at and memory.expires_at <= now:
            found.append(dream.Old(memory, "expired", f"expired {memory.expires_at[:10]}; forget it"))
        elif memory.id in states:
            found.append(dream.Old(memory, "stale", f"{states[memory.id]}; confirm, correct or forget it"))
    return tuple(found)


def hook(argv: list[str], env: Env) -> int:
    """After a tool's use: where it wrote to memory and a dream is due, tell the model so, once a session."""
    from .clients import answer as envelope
    from .clients import detect

    event = read_event(env)
    cwd = event.get("cwd")
    env = env._replace(cwd=cwd) if isinstance(cwd, str) and os.path.isdir(cwd) else env
    if not wrote_memory(str(event.get("tool_name", "")), event.get("tool_input")):
        return 0
    project = find_project(env.cwd, environ=env.environ)
    path = os.path.join(project.root or env.cwd, notebook.NAME)
    if not os.path.isfile(path) or os.path.getsize(path) <= dream.DUE_BYTES:
        return 0
    found = dream.check(_text(_book(env)), env.now())
    if found.due and _first_time(path, str(event.get("session_id", "")), env):
        text = (
            f"{notebook.NAME} is due for consolidation ({found.reason}). When the work at hand is done, run the dream "
            "command, or `mem dream --plan` and tidy what it lists."
        )
        printed = envelope(detect(argv, env.environ, event), str(event.get("hook_event_name") or "PostToolUse"), text)
        if printed:
            env.print(printed)
    return 0


def wrote_memory(tool: str, given: object) -> bool:
    """Return whether a tool's use may have changed the notebook, by its name and input."""
    if tool.rpartition("__")[2].rpartition(".")[2] in _WRITERS:
        return True
    fields: dict[str, Any] = given if isinstance(given, dict) else {}
    path = fields.get("file_path") or fields.get("path") or ""
    if isinstance(path, str) and os.path.basename(path) == notebook.NAME:
        return True
    command = fields.get("command") or fields.get("input") or fields.get("patch") or ""
    text = command if isinstance(command, str) else json.dumps(command)
    return notebook.NAME in text or "mem notebook" in text


def _first_time(path: str, session: str, env: Env) -> bool:
    """Return whether this session has not been told yet, and note that it has. Best effort."""
    from zlib import crc32

    from ..memory import private
    from .files import read

    record = os.path.join(data_home(env.environ), "cache", f"dream-{crc32(os.fsencode(path)):08x}")
    if session and read(record) == session.encode("utf-8", "replace"):
        return False
    private.write(record, session)
    return True
