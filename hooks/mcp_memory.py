"""The tool `project_memory`: remember, recall, list, correct and forget, over the stores that are open."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from typing import Any

from ..memory import anchors, sections
from ..memory import store as rows
from ..memory.api import Store
from ..memory.embed import shipped
from ..memory.errors import NotFound, StoreError, UsageError
from ..memory.project import Project
from ..memory.recall import Filters, context, search
from ..memory.record import Hit, Memory, check_kind, check_tags, printable, timestamp
from ..memory.tokens import fit
from ..memory.words import match_expression
from . import mirror, share
from .env import Env
from .mcp_arguments import Arguments, invalid
from .mcp_stores import Stores, in_scope
from .show import FENCE, age

RECALL_TOKENS = 500
RECALL_LIMIT = 10
LIST_LIMIT = 50
_SECTIONS = 3
_SHOWN_LINES = 240  # characters of a section that recall shows; the tool for reading has the rest

_BY_MEANING = 1000  # memories of a store in which a query that no word answers is looked for by meaning: a few ms

Answer = dict[str, Any]
Later = dict[tuple[str, str], Callable[[], object]]  # by the store's path and what is to be done


class MemoryTool:
    """What the actions need: the stores, the outside world, and whether a project's root may be touched."""

    def __init__(self, stores: Stores, env: Env, may_touch: Callable[[str], bool]) -> None:
        self._stores, self._env, self._may_touch = stores, env, may_touch

    def call(self, args: Arguments, here: Project, client: str) -> tuple[Answer, Later]:
        """Do what `action` says; return the answer's fields and what is to be done afterwards. Raises MemError."""
        action = args.needed("action", "project_memory")
        if action == "recall":
            return self._recall(args, here)
        if action == "list":
            return self._list(args, here), {}
        if action not in ("remember", "correct", "forget"):
            raise invalid("action is remember, recall, list, correct or forget")
        scope = args.text("scope", "project")
        if scope == "all":
            raise invalid(f"{action} writes to one store: scope is project or personal")
        project = self._in_scope(here, scope)[0][0]
        writes = {"remember": self._remember, "correct": self._correct, "forget": self._forget}
        answer = writes[action](args, project, client)
        later: Later = {(project.store_path, "mirror"): lambda: mirror.refresh(project, self._env)}
        if answer.get("shared"):
            later[project.store_path, "share file"] = lambda: share.bury(project, self._env)
        return answer, later

    def _remember(self, args: Arguments, project: Project, client: str) -> Answer:
        content = args.needed("content", "remember")
        store = self._stores.writer(project)
        fields = _fields(args) | {"actor": args.text("written_by") or client}
        memory = store.remember(content=content, anchors=anchors.pending(project, content), **fields)
        return {"status": "remembered", "id": memory.id, **_where(project)}  # no word of the text: it may be "rejected"

    def _correct(self, args: Arguments, project: Project, client: str) -> Answer:
        key, content = args.needed("id", "correct"), args.needed("content", "correct")
        fields = _fields(args) | {"actor": args.text("written_by") or client}
        mentioned = anchors.pending(project, content)
        memory = self._held(project, key).correct(
            key, content, anchors=mentioned or None, commit=anchors.current_commit(project), **fields
        )
        return {"status": "corrected", "id": memory.id, "supersedes": memory.supersedes, **_where(project)}

    def _forget(self, args: Arguments, project: Project, _: str) -> Answer:
        key = args.needed("id", "forget")
        gone = self._held(project, key).forget(key)
        answer: Answer = {"status": "forgotten", "ids": list(gone.ids), **_where(project)}
        if gone.shared:
            answer |= {"shared": True, "note": "git's history of the share file still has it"}
        return answer

    def _held(self, project: Project, key: str) -> Store:
        """Return the store that an id must be in. Raises NotFound where there is none."""
        store = self._stores.reader(project)
        if store is None:
            raise NotFound(f"no memory has the id {printable(key)[:40]}: the project has no store yet")
        return store

    def _recall(self, args: Arguments, here: Project) -> tuple[Answer, Later]:
        query = args.needed("query", "recall")
        limit = _bounded(args.number("limit", 5), RECALL_LIMIT)
        filters = Filters(kind=_kind(args), area=args.text("area"), tag=_one_tag(args))
        found: list[tuple[Hit, str, Store]] = []
        for project, warning in self._in_scope(here, args.text("scope", "project")):
            for hit, store in self._hits(project, warning, query, limit=limit, filters=filters):
                found.append((hit, warning, store))
        found = found[:limit]
        texts = [_shown_text(hit.memory) for hit, _, _ in found]
        shown = [found[i] for i in fit(texts, RECALL_TOKENS)]
        memories = [_row(hit.memory, self._env.now(), store, warning, body=True) for hit, warning, store in shown]
        answer: Answer = {"status": "ok", "note": FENCE, "memories": memories, **_where(here)}
        parts = self._sections(here, query) if not any(filters) else []
        if parts:
            answer["notebook"] = parts
        if len(shown) < len(found):
            kept = {hit.memory.id for hit, _, _ in shown}
            left = [hit.memory.id for hit, _, _ in found if hit.memory.id not in kept]
            answer["left_out"] = {"ids": left, "note": f"over {RECALL_TOKENS} tokens together; `mem get ID` shows one"}
        return answer, _stamps([(hit, store) for hit, _, store in shown])

    def _in_scope(self, here: Project, scope: str) -> list[tuple[Project, str]]:
        """Return the stores that a scope means; of other projects, those in the folders that may be touched."""
        found = in_scope(here, scope, self._env)
        return [(one, warning) for one, warning in found if one is here or not one.root or self._may_touch(one.root)]

    def _hits(
        self, project: Project, warning: str, query: str, *, limit: int, filters: Filters
    ) -> list[tuple[Hit, Store]]:
        """Return what one store has, by words, and by meaning where the words are nowhere. A store other than the one
        at hand that can't be read is passed over: it must not hide what this project knows."""
        try:
            store = self._stores.reader(project)
            if store is None:
                return []
            hits = search(store.db, query, limit=limit, now=store.now(), filters=filters)
            if not hits and not warning and _is_small(store):
                hits = context(store.db, query, limit=limit, now=store.now(), embedder=shipped(), filters=filters)
        except (StoreError, sqlite3.Error):
            if not warning:
                raise
            return []
        return [(hit, store) for hit in hits]

    def _sections(self, here: Project, query: str) -> list[Answer]:
        store = self._stores.reader(here)
        if store is None:
            return []
        found = sections.search(store.db, match_expression(query), _SECTIONS)
        return [
            {"lines": f"{one.path}:{one.first_line}-{one.last_line}", "heading": printable(one.heading),
             "text": _cut(printable(one.text), _SHOWN_LINES)}
            for one in found
        ]  # fmt: skip

    def _list(self, args: Arguments, here: Project) -> Answer:
        limit = _bounded(args.number("limit", LIST_LIMIT), 1000)
        kind, area, tag = _kind(args), args.text("area"), _one_tag(args)
        listed: list[Answer] = []
        total = 0
        for project, warning in self._in_scope(here, args.text("scope", "project")):
            try:
                store = self._stores.reader(project)
                if store is None:
                    continue
                if kind or area or tag:
                    memories = store.list(kind=kind, area=area, tag=tag)
                    total += len(memories)
                else:
                    memories, count = _newest(store, limit)
                    total += count
            except StoreError:
                if not warning:
                    raise
                continue
            room = max(0, limit - len(listed))
            listed += [_row(one, self._env.now(), store, warning, body=False) for one in memories[:room]]
        return {"status": "ok", "memories": listed, "total": total, **_where(here)}


def _shown_text(memory: Memory) -> str:
    """Return what counts against the budget: a derived title is not shown beside the content that it comes from."""
    return memory.content if memory.title_derived else f"{memory.title}\n{memory.content}"


def _stamps(shown: list[tuple[Hit, Store]]) -> Later:
    """Return the notes that memories were recalled, one a store: each waits for the disk, and no answer should."""
    later: Later = {}
    for store in {store.path: store for _, store in shown}.values():
        hits = [hit for hit, own in shown if own is store]
        later[store.path, f"recalled {[hit.memory.id for hit in hits]}"] = partial(store.stamp, hits)
    return later


def _newest(store: Store, limit: int) -> tuple[list[Memory], int]:
    """Return the newest memories and how many there are. An id begins with its time: no row is sorted."""
    now = timestamp(store.now())
    where = "+status = 'active' AND (expires_at = '' OR expires_at > ?)"  # the + keeps SQLite off that index
    found = rows.select(store.db, where, (now, limit), "ORDER BY id DESC LIMIT ?")
    return found, len(found) if len(found) < limit else rows.count_active(store.db, now)


def _is_small(store: Store) -> bool:
    """Return whether a search by meaning takes a few milliseconds; counting them all would take as long."""
    return not rows.select(store.db, "+status = 'active'", (_BY_MEANING,), "LIMIT 1 OFFSET ?")


def _fields(args: Arguments) -> dict[str, Any]:
    """Return what a memory is given beside its content, by the store's names."""
    fields: dict[str, Any] = {
        name: args.text(own) for name, own in (("title", "title"), ("kind", "type"), ("area", "area")) if args.has(own)
    }
    if args.has("tags"):
        fields["tags"] = args.listed("tags")
    return {name: value for name, value in fields.items() if value != ""}


def _kind(args: Arguments) -> str:
    return check_kind(args.text("type")) if args.text("type") else ""


def _one_tag(args: Arguments) -> str:
    tags = check_tags(args.listed("tags"), 10) if args.has("tags") else ()
    if len(tags) > 1:
        raise UsageError("one tag filters; give one", reason="invalid_arguments")
    return tags[0] if tags else ""


def _bounded(value: int | None, most: int) -> int:
    if value is None or value < 1:
        raise invalid(f"limit is a number from 1 to {most}")
    return min(value, most)


def _where(project: Project) -> Answer:
    return {"store": project.store_path}


def _row(memory: Memory, now: float, store: Store | None, warning: str, *, body: bool) -> Answer:
    """Return what an agent needs of a memory: no empty fields, a derived title not twice, doubts said."""
    row: Answer = {"id": memory.id}
    if not (body and memory.title_derived):
        row["title"] = printable(memory.title)
    if body:
        row["content"] = printable(memory.content)
    row["type"] = memory.kind
    optional = {
        "area": memory.area, "tags": list(memory.tags), "written_by": memory.actor, "source": memory.source_ref,
        "shared_by_a_teammate": bool(memory.origin), "pinned": memory.pinned, "warning": warning,
        "stale": anchors.describe(store.db, memory.id) if store and body else "",
    }  # fmt: skip
    row |= {name: printable(value) if isinstance(value, str) else value for name, value in optional.items() if value}
    row["age"] = age(memory.updated_at, now)
    if memory.confidence < 1:
        row["confidence"] = memory.confidence
    return row


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
