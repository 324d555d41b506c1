"""The five tools at work: arguments in, an answer out, and what a write leaves to be done afterwards.

An answer is text for the model and the same as an object for programs. A refusal is an answer too, `isError` with
`status` "rejected", a reason and a message; nothing is ever refused in silence.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ..memory import dream, notebook, patch
from ..memory.errors import MemError
from ..memory.project import Project
from ..memory.record import printable
from ..memory.schema import as_store_error
from ..memory.tokens import estimate
from . import log
from . import notebook_file as book_file
from .env import Env
from .mcp_arguments import Arguments, invalid
from .mcp_memory import Later, MemoryTool
from .mcp_stores import Stores

Answer = dict[str, Any]


class Tools:
    """One server's tools, its bounds and its open stores; for one thread."""

    def __init__(self, env: Env, limits: book_file.Bounds, *, project: str = "", db: str = "") -> None:
        self._env, self._limits, self._project, self._db = env, limits, project, db
        self._stores = Stores(env)
        self._memory = MemoryTool(self._stores, env, lambda root: not limits.given or limits.hold(root))
        self._later: Later = {}
        self._tools: dict[str, Callable[[Arguments], tuple[Answer, str | None]]] = {
            "get_project_memory": self._get,
            "search_project_memory": self._search,
            "set_project_memory": self._set,
            "update_project_memory": self._update,
        }

    def call(self, name: str, given: Mapping[str, Any], client: str) -> dict[str, Any]:
        """Return the result of a call, as MCP shapes it. `client` is who writes unless the call says otherwise."""
        try:
            args = Arguments(name, given)
            if name == "project_memory":
                answer, later = self._memory.call(args, self._choose(args)[0], client)
                self._later |= later
                return result(answer)
            answer, text = self._tools[name](args)
            return result(answer, text)
        except MemError as error:
            return rejected(error)
        except sqlite3.Error as error:
            return rejected(as_store_error(error, ""))
        except OSError as error:
            where = f"{printable(str(error.filename))}: " if error.filename else ""
            return rejected(MemError(f"{where}{error.strerror or 'input or output failed'}", reason="io"))

    def settle(self) -> None:
        """Do what calls left: mirrors, the notebooks' rows, and which memories were recalled, each once. What fails
        leaves a line in the log."""
        later, self._later = self._later, {}
        for (store_path, _), work in later.items():
            try:
                work()
            except (MemError, OSError, sqlite3.Error) as error:
                log.note(os.path.dirname(store_path), f"mcp: {error}", self._env.now())

    def close(self) -> None:
        """Close the stores."""
        self._stores.close()

    def _choose(self, args: Arguments) -> tuple[Project, str]:
        path = args.text("project_path") or self._project
        folder = book_file.choose_folder(path, self._limits, self._env)
        return book_file.choose_project(folder, self._limits, self._env, db=self._db), folder

    def _book(self, args: Arguments) -> book_file.Notebook:
        project, folder = self._choose(args)
        return book_file.locate(folder, self._limits, project)

    def _get(self, args: Arguments) -> tuple[Answer, str | None]:
        book = self._book(args)
        text = book_file.load(book)
        if args.flag("head_only"):
            found = notebook.outline(text)
            rows = [f"{one.line}: {'#' * one.level} {printable(one.title)}" for one in found]
            answer: Answer = {"status": "ok", "path": book.path, "headings": rows}
            return answer, "\n".join(rows) or "(no headings)"
        page = notebook.read(text, offset=args.number("offset", 0) or 0, limit=args.number("limit"))
        return {"status": "ok", "path": book.path, **page._asdict()}, page.text or "(empty)"

    def _search(self, args: Arguments) -> tuple[Answer, str | None]:
        query = args.needed("query", "search_project_memory")
        most = args.number("max_results", notebook.SEARCH_LIMIT)
        book = self._book(args)
        found = notebook.search(book_file.load(book), query, limit=notebook.SEARCH_LIMIT if most is None else most)
        rows = [{"line": number, "text": printable(line)} for number, line in found.lines]
        answer = {"status": "ok", "path": book.path, "matches": rows, "total": found.total}
        more = found.total - len(rows)
        lines = [f"{row['line']}: {row['text']}" for row in rows] + ([f"({more} more)"] if more else [])
        return answer, "\n".join(lines) or "no line matches"

    def _set(self, args: Arguments) -> tuple[Answer, str | None]:
        if args.has("project_info") == args.has("project_info_file"):
            raise invalid("give project_info or project_info_file, one of them")
        book = self._book(args)
        if args.has("project_info"):
            text = args.text("project_info")
        else:
            text = book_file.read_source(args.text("project_info_file"), self._limits, self._env)
        typed = args.has("project_info")
        return self._written(book, book_file.overwrite(book, text, self._env, typed=typed)), None

    def _update(self, args: Arguments) -> tuple[Answer, str | None]:
        given = args.needed("patch_content", "update_project_memory")
        book = self._book(args)

        def edit(old: str) -> book_file.Written:
            return book_file.Written(*patch.apply(old, given), changed=False)

        return self._written(book, book_file.change(book, self._env, edit, absent_ok=False)), None

    def _written(self, book: book_file.Notebook, done: book_file.Written) -> Answer:
        self._later[book.project.store_path, "sections"] = lambda: book_file.refresh_sections(book, self._env)
        answer: Answer = {
            "status": "written" if done.changed else "unchanged", "path": book.path,
            "first_line": done.first, "last_line": done.last, "tokens": estimate(done.text),
        }  # fmt: skip
        if dream.check(done.text, self._env.now()).due:
            answer["dream"] = "due: the notebook is large; run `mem dream --plan` and tidy it"
        return answer


def result(answer: Answer, text: str | None = None, *, is_error: bool = False) -> dict[str, Any]:
    """Return an answer as MCP shapes it: `text` for the model, the object for programs."""
    shown = json.dumps(answer, ensure_ascii=False) if text is None else text
    return {"content": [{"type": "text", "text": shown}], "structuredContent": answer, "isError": is_error}


def rejected(error: MemError) -> dict[str, Any]:
    """Return a refusal, with the pieces to read where a page was too large."""
    answer: Answer = {"status": "rejected", "reason": error.reason, "message": error.message}
    if isinstance(error, notebook.TooLarge):
        answer["pieces"] = [piece._asdict() for piece in error.pieces]
    return result(answer, is_error=True)
