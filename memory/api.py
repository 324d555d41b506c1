"""The public store, by which commands remember, correct, forget and find; session hooks read past it, to load less."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping

from . import anchors as anchoring
from . import recall, schema, store, vectors
from .embed import shipped
from .errors import Ambiguous, NotFound, Rejected, Superseded, UsageError
from .intake import admit, compose
from .named import TYPE_CHECKING
from .record import (
    CURSOR_FIELDS,
    CURSOR_LIMIT,
    DEFAULT_LIMITS,
    Cursor,
    Forgotten,
    Hit,
    Limits,
    Memory,
    check_id,
    clean,
    short,
    timestamp,
)
from .schema import translated

if TYPE_CHECKING:
    from typing import Any, Self

    from .digest import Digest
    from .embed import Embedder, Vector
    from .project import Project

# `list` means the method of that name inside the class.
Memories = list[Memory]
Hits = list[Hit]

_SHORT_WAIT_MS = 250  # for what can be done another time


class Store:
    """One project's memories. A context manager; not for use by two threads at once."""

    def __init__(self, db: sqlite3.Connection, path: str, *, limits: Limits, clock: Callable[[], float]) -> None:
        self.db = db
        self.path = path
        self.limits = limits
        self._clock = clock

    @classmethod
    def open(
        cls, path: str, *, create: bool = True, readonly: bool = False, timeout: float = 5.0,
        limits: Limits = DEFAULT_LIMITS, clock: Callable[[], float] = time.time,
    ) -> Self:  # fmt: skip
        """Open the store at `path`, making it where `create` says so; `timeout` is in seconds.

        Raises NotFound without `create`, and StoreError (Locked, Corrupt, Foreign, NewerSchema).
        """
        db = schema.connect(path, create=create, readonly=readonly, timeout=timeout)
        try:
            if not readonly and store.meta(db, store.SCRUB_PENDING):
                with store.patience(db, _SHORT_WAIT_MS):
                    store.scrub(db)
        except sqlite3.Error as error:
            db.close()
            raise schema.as_store_error(error, path) from error
        return cls(db, path, limits=limits, clock=clock)

    def close(self) -> None:
        """Close the store; the last one to close empties the write-ahead log."""
        self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def now(self) -> float:
        """Return the time by this store's clock, in seconds since the epoch."""
        return self._clock()

    @translated
    def remember(self, *, anchors: Mapping[str, str] | None = None, **fields: Any) -> Memory:
        """Keep a fact and return it; the same text twice returns the first.

        `fields` are content, title, kind, area, tags, actor, source_type, source_ref, confidence, expires, pinned and
        shared. `anchors` maps paths of the repository to the blob ids that the fact is true for.
        Raises Rejected (too_long, secret_detected, instruction_detected, cap_reached) and UsageError.
        """
        memory = compose(fields, limits=self.limits, now=self.now())
        vector = _embed(memory)
        with store.transaction(self.db):
            known = store.same_text(self.db, memory.title, memory.content, now=memory.created_at)
            if known:
                return known
            self._refuse_over_cap()
            store.insert(self.db, memory)
            vectors.put(self.db, memory.id, memory.version, *vector)
            anchoring.attach(self.db, memory.id, anchors or {})
        return memory

    @translated
    def remember_many(self, records: Iterable[Mapping[str, Any]], *, check: bool = True) -> Memories:
        """Keep many facts in one transaction and return them in the order given, the first one for a repeated text.

        With `check=False` neither policy nor cap is asked: for tests and benchmarks.
        """
        memories = [compose(dict(fields), limits=self.limits, now=self.now(), check=check) for fields in records]
        embedded = [_embed(memory) for memory in memories]
        kept = []
        with store.transaction(self.db):
            for memory, vector in zip(memories, embedded, strict=True):
                known = store.same_text(self.db, memory.title, memory.content, now=memory.created_at)
                if not known:
                    if check:
                        self._refuse_over_cap()
                    store.insert(self.db, memory)
                    vectors.put(self.db, memory.id, memory.version, *vector)
                kept.append(known or memory)
        return kept

    @translated
    def correct(
        self, key: str, content: str, *, anchors: Mapping[str, str] | None = None, commit: str = "", **fields: Any
    ) -> Memory:
        """Replace a memory by a new one and return that; the old one stays as history, out of recall.

        What `fields` and `anchors` do not name is taken over, its files as of `commit`, or of the HEAD last recorded.
        Raises NotFound, Ambiguous, Superseded, and what `remember` raises.
        """
        old = self._active(key)
        given = {name: value for name, value in fields.items() if value is not None}
        taken = {name: getattr(old, name) for name in ("kind", "area", "tags", "confidence", "pinned", "shared")}
        title = {} if old.title_derived else {"title": old.title}
        new = compose(taken | title | given | {"content": content}, limits=self.limits, now=self.now())
        if "expires" not in given and old.expires_at > new.created_at:  # what is written now is not over already
            new = new._replace(expires_at=old.expires_at)
        new = new._replace(supersedes=old.id, actor=new.actor or old.actor)
        vector = _embed(new)
        with store.transaction(self.db):
            if self._active(old.id).version != old.version:
                raise Superseded(f"{short(old.id)} changed meanwhile; look at it again")
            known = store.same_text(self.db, new.title, new.content, now=new.created_at)
            if known and known.id != old.id:
                raise Rejected(f"{short(known.id)} says that already; forget one of the two", reason="same_text")
            moved = anchoring.of(self.db, old.id, commit) if anchors is None else anchors
            store.supersede(self.db, old, new)
            vectors.put(self.db, new.id, new.version, *vector)
            anchoring.attach(self.db, new.id, moved)
        return new

    @translated
    def forget(self, key: str) -> Forgotten:
        """Erase a memory and all that it superseded, so that no word which stood only there is left in the store.

        The default mirror beside the store is deleted with it. Raises NotFound, Ambiguous, and Superseded for history,
        which names the memory to forget.
        """
        memory = self._active(key)
        with store.transaction(self.db):
            gone = store.lineage(self.db, memory)
            store.erase(self.db, gone, timestamp(self.now()))
            store.set_meta(self.db, store.SCRUB_PENDING, timestamp(self.now()))
        mirror = os.path.join(os.path.dirname(self.path), "memory.md")
        if os.path.basename(os.path.dirname(self.path)) == ".mem" and os.path.isfile(mirror):
            os.unlink(mirror)
        return Forgotten(tuple(one.id for one in gone), memory.shared, not self.scrub())

    @translated
    def confirm(self, key: str, *, commit: str = "") -> Memory:
        """Anchor a memory to its files as of `commit`, or of the HEAD last recorded, and return it; the next refresh
        lets go of a file that is not there. Raises UsageError for a memory without files."""
        memory = self._active(key)
        anchors = anchoring.of(self.db, memory.id, commit)
        if not anchors:
            raise UsageError(f"{short(memory.id)} is about no file; `mem correct` with --file says which")
        with store.transaction(self.db):
            anchoring.attach(self.db, memory.id, anchors)
        return memory

    @translated
    def get(self, key: str) -> Memory:
        """Return the memory whose id is `key`, or begins or ends with it (4 and more). Raises NotFound, Ambiguous."""
        key = check_id(key)
        found = store.find(self.db, key)
        if not found:
            raise NotFound(f"no memory has the id {key}")
        if len(found) > 1:
            raise Ambiguous(f"{key} fits {', '.join(short(one.id) for one in found)}; give more digits")
        return found[0]

    @translated
    def list(self, *, kind: str = "", area: str = "", tag: str = "", include_superseded: bool = False) -> Memories:
        """Return the memories that are not expired, newest first, by kind, tag, and area with what lies below it."""
        where = "(status = 'active' AND (expires_at = '' OR expires_at > ?)"
        where += " OR status = 'superseded')" if include_superseded else ")"
        values: list[object] = [timestamp(self.now())]
        if kind:
            where += " AND kind = ?"
            values.append(kind)
        if area:
            where += " AND (area = ? OR substr(area, 1, length(?) + 1) = ? || '/')"
            values += [area] * 3
        if tag:
            where += " AND EXISTS (SELECT 1 FROM json_each(tags) WHERE json_each.value = ?)"
            values.append(tag)
        return store.select(self.db, where, tuple(values), "ORDER BY created_at DESC, id DESC")

    @translated
    def search(
        self, query: str, *, limit: int = 10, mode: str = "fused", embedder: Embedder | None = None,
        prefix: bool = False, **filters: str,
    ) -> Hits:  # fmt: skip
        """Return the memories that fit `query` best, best first. `mode` is "lexical", "semantic" or "fused"; meaning is
        judged by `embedder`, else by the shipped model.

        With `prefix` the last word is still being typed. `filters` are those of `recall.Filters`. No query raises;
        "semantic" raises Incomplete where vectors are missing or malformed.
        """
        model = None if mode == "lexical" else embedder or shipped()
        chosen = recall.Filters(**filters)
        return recall.search(
            self.db, query, limit=limit, mode=mode, now=self.now(), embedder=model, filters=chosen, prefix=prefix
        )

    @translated
    def context(self, query: str, *, limit: int = 10, embedder: Embedder | None = None) -> Hits:
        """Return what fits `query` well enough to be shown unasked, by words and meaning together; often nothing."""
        return recall.context(self.db, query, limit=limit, now=self.now(), embedder=embedder or shipped())

    def stamp(self, hits: Iterable[Hit]) -> None:
        """Note that memories were recalled; best effort, since a read must not fail for a note."""
        try:
            with store.patience(self.db, _SHORT_WAIT_MS), store.transaction(self.db):
                store.stamp_recalled(self.db, [hit.memory.id for hit in hits], timestamp(self.now()))
        except sqlite3.OperationalError:
            return

    @translated
    def digest(self, project: Project, *, tokens: int = 400) -> Digest:
        """Return what an agent should know at the start of a session, within `tokens` by `tokens.estimate`."""
        from .digest import build

        return build(self.db, project, now=self.now(), tokens=tokens)

    @translated
    def cursor(self, workspace: str) -> Cursor:
        """Return where work on a workspace stands."""
        return store.cursor(self.db, workspace)

    @translated
    def set_cursor(self, workspace: str, **fields: str) -> Cursor:
        """Set fields of a workspace's cursor ("" clears one) and return it. Raises what `remember` raises."""
        for name, text in fields.items():
            if name not in CURSOR_FIELDS:
                raise UsageError(f"a cursor has no field {name!r}; it has {', '.join(CURSOR_FIELDS)}")
            fields[name] = clean(text, name, CURSOR_LIMIT)
            admit(fields[name], f"{name} is refused")
        with store.transaction(self.db):
            new = store.cursor(self.db, workspace)._replace(updated_at=timestamp(self.now()), **fields)
            store.put_cursor(self.db, new)
        return new if any(new[1:-1]) else Cursor(workspace)

    def _active(self, key: str) -> Memory:
        memory = self.get(key)
        if memory.status == "active":
            return memory
        line, last = {memory.id}, memory
        while last.status != "active":
            newer = store.find(self.db, last.superseded_by) if last.superseded_by else []
            if len(newer) != 1 or newer[0].id in line:  # an import may bring a piece of a lineage
                raise Superseded(f"{short(memory.id)} is history, and what replaced it is not in this store")
            last = newer[0]
            line.add(last.id)
        raise Superseded(f"{short(memory.id)} is history; the memory that replaced it is {short(last.id)}")

    def _refuse_over_cap(self) -> None:
        if store.count_active(self.db, timestamp(self.now())) >= self.limits.memories:
            raise Rejected(
                f"the store holds {self.limits.memories:,} memories, its limit. Make room with `mem forget ID`"
                " (`mem dream --plan` names candidates), or raise it: `mem config set limits.memories"
                f" {self.limits.memories * 2}`",
                reason="cap_reached",
            )

    def scrub(self) -> bool:
        """Write the database anew without forgotten text; return False while another program's snapshot holds it."""
        return store.scrub(self.db)


def _embed(memory: Memory) -> tuple[Embedder, Vector]:
    """Return the shipped model and the memory's vector by it; other models are served by `mem index`."""
    model = shipped()
    return model, model.embed_memory("" if memory.title_derived else memory.title, memory.content)
