"""`mem notebook`: read, search, write, patch and check MEMORY.md from the command line."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from ..memory import notebook, patch
from ..memory.errors import MemError, NotFound, UsageError
from ..memory.record import printable
from ..memory.tokens import estimate
from . import notebook_file as book_file
from .command import answer
from .env import Env

_TEXT_LIMIT = 4 * notebook.MAX_CHARS


def arguments(parser: ArgumentParser) -> None:
    # Options may stand between the action and its text, where argparse would take the text for empty.
    parser.add_argument(
        "action", choices=("read", "search", "write", "patch", "check"),
        help="read lines; search them; write TEXT as the whole; patch one place; check for what the guard refuses",
    )  # fmt: skip
    parser.add_argument("text", nargs="*", metavar="TEXT", help="query, new text or patch; - reads standard input")
    parser.add_argument("--offset", type=int, default=0, metavar="N", help="read: first line, from 1; 0 is the start")
    parser.add_argument("--limit", type=int, metavar="N", help="read: number of lines")
    parser.add_argument("--head-only", action="store_true", help="read: the headings with their line numbers")
    parser.add_argument(
        "--max-results", type=int, default=notebook.SEARCH_LIMIT, metavar="N", help="search: at most 50"
    )
    parser.add_argument(
        "--from", dest="source", default="", metavar="FILE", help="write, patch: take the text from FILE"
    )
    parser.add_argument(
        "--allowed-dir", action="append", default=[], metavar="DIR",
        help="folder that may be read and written; may be repeated (default: the project)",
    )  # fmt: skip


def run(args: Namespace, env: Env) -> int:
    """Do what `action` says to the notebook of the project at hand."""
    limits = book_file.bounds(args.allowed_dir, env, project=args.project)
    folder = book_file.choose_folder(args.project, limits, env)
    book = book_file.locate(folder, limits, book_file.choose_project(folder, limits, env, db=args.db))
    action = {"read": _read, "search": _search, "write": _write, "patch": _patch, "check": _check}[args.action]
    if args.text and args.action in ("read", "check"):
        raise UsageError(f"mem notebook {args.action} takes no text")
    return action(args, env, book, limits)


def _read(args: Namespace, env: Env, book: book_file.Notebook, _: book_file.Bounds) -> int:
    text = book_file.load(book)
    if args.head_only:
        found = notebook.outline(text)
        value = {"path": book.path, "headings": [heading._asdict() for heading in found]}
        answer(env, args, value, "\n".join(f"{one.line}: {'#' * one.level} {printable(one.title)}" for one in found))
        return 0
    page = notebook.read(text, offset=args.offset, limit=args.limit)
    if args.json:
        answer(env, args, {"path": book.path, **page._asdict()}, "")
    else:
        env.stdout.write(page.text)
    return 0


def _search(args: Namespace, env: Env, book: book_file.Notebook, _: book_file.Bounds) -> int:
    found = notebook.search(book_file.load(book), " ".join(args.text), limit=args.max_results)
    rows = [{"line": number, "text": line} for number, line in found.lines]
    lines = [f"{number}: {printable(line)}" for number, line in found.lines]
    answer(env, args, {"path": book.path, "matches": rows, "total": found.total}, "\n".join(lines))
    return 0


def _write(args: Namespace, env: Env, book: book_file.Notebook, limits: book_file.Bounds) -> int:
    done = book_file.overwrite(book, _given(args, env, limits), env, typed=not args.source)
    return _answer_written(args, env, book, done)


def _patch(args: Namespace, env: Env, book: book_file.Notebook, limits: book_file.Bounds) -> int:
    given = _given(args, env, limits)

    def edit(old: str) -> book_file.Written:
        return book_file.Written(*patch.apply(old, given), changed=False)

    return _answer_written(args, env, book, book_file.change(book, env, edit, absent_ok=False))


def _answer_written(args: Namespace, env: Env, book: book_file.Notebook, done: book_file.Written) -> int:
    for line in book_file.refresh_sections(book, env):
        env.say(f"mem: {line}")
    value: dict[str, Any] = {
        "path": book.path, "changed": done.changed, "first": done.first, "last": done.last,
        "tokens": estimate(done.text),
    }  # fmt: skip
    state = f"lines {done.first} to {done.last}" if done.last >= done.first else f"lines at {done.first} taken out"
    answer(env, args, value, f"{printable(book.path)}: {state if done.changed else 'nothing to change'}")
    return 0


def _given(args: Namespace, env: Env, limits: book_file.Bounds) -> str:
    """Return the text that the caller gives: as words, from a file, or from standard input, line ends as they are."""
    if args.source:
        if args.text:
            raise UsageError("give a text or --from FILE, not both")
        return book_file.read_source(args.source, limits, env)
    text = " ".join(args.text) if args.text else "-"
    if text != "-":
        text += "" if text.endswith("\n") else "\n"  # words have no last line end; a file should
    else:
        raw = getattr(env.stdin, "buffer", None)  # a text stream would turn CRLF into LF
        text = env.stdin.read(_TEXT_LIMIT) if raw is None else raw.read(_TEXT_LIMIT).decode("utf-8", "surrogateescape")
    if any("\udc80" <= char <= "\udcff" for char in text):
        raise UsageError("the text is not UTF-8", reason="invalid_text")
    return text


def _check(args: Namespace, env: Env, book: book_file.Notebook, _: book_file.Bounds) -> int:
    """Say what the guard would refuse, and how large the notebook is; exit 1 for a finding."""
    from ..memory import dream
    from ..memory.policy import explain, mask, scan

    try:
        text = book_file.load(book)
    except NotFound:
        text = ""
    rows = []
    allowed = book_file.passes(book)
    for found in scan(text):
        value = text[found.start : found.end]
        if allowed(found.rule, value):
            continue
        line, column = notebook.place(text, found.start)
        shown = mask(value) if found.category == "secret" else printable(value)[:60]
        rows.append({"line": line, "column": column, "rule": found.rule, "shown": shown, "mend": explain(found.rule)})
    due = dream.check(text, env.now())
    lines = [
        f"{book.name}:{one['line']}:{one['column']}: {one['rule']} ({one['shown']!r})  {one['mend']}" for one in rows
    ]
    if rows:
        raise MemError("\n".join(lines), reason="findings")
    total, tokens = len(patch.split_lines(text)), estimate(text)
    value_json = {"path": book.path, "findings": rows, "lines": total, "tokens": tokens, "dream_due": due.due}
    state = "due for `mem dream`" if due.due else "no dream due"
    answer(env, args, value_json, f"{printable(book.path)}: clean, {total:,} lines, about {tokens:,} tokens, {state}")
    return 0
