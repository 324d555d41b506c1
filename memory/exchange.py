"""Memories out of a store and into it as NDJSON: the same merge for a file that a person names and for a team's.

Merging is by id: a tombstone holds over any version, else the higher version, then the later time, then the greater
bytes (`ndjson.rank`), so that stores which have seen the same lines hold the same memories, in whatever order they
came. What is local (recall counts, pins) stays as it is. Import is all or nothing; a share goes record by record.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator

from . import ndjson, policy, schema, vectors
from . import store as rows
from .embed import Vector, shipped
from .errors import Rejected, UsageError
from .named import TYPE_CHECKING, NamedTuple
from .ndjson import Line
from .record import Finding, Memory, short, timestamp
from .store import Tombstone

if TYPE_CHECKING:
    from .api import Store

_KEPT = ("pinned", "shared", "last_recalled_at", "recall_count", "origin")
_BATCH = 25  # records a transaction of a share, so that no other writer waits for long


Allowed = Callable[[str, str], bool]


class Refusal(NamedTuple):
    """A record that was kept out: its line, id, the rule or reason, a masked value (never the text), why in words, and
    the category ("secret", "instruction", or "" for a reason that is no finding)."""

    line: int
    id: str
    rule: str
    masked: str
    why: str
    category: str = ""


class ImportResult(NamedTuple):
    """What an import did, in records. `skipped` are records of a status that this program does not know, or whose text
    another memory has; `refused` is empty but for a share."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    forgotten: int = 0
    skipped: tuple[Refusal, ...] = ()
    refused: tuple[Refusal, ...] = ()

    @property
    def changed(self) -> bool:
        """Return whether the store is another one than before."""
        return bool(self.added or self.updated or self.forgotten)


class _Incoming(NamedTuple):
    line: Line
    memory: Memory | None
    stone: Tombstone | None


def export_lines(store: Store, *, include_superseded: bool = False) -> Iterator[str]:
    """Yield the store's memories by creation, one line each without its end, all fields included."""
    statuses = "status IN ('active', 'superseded')" if include_superseded else "status = 'active'"
    for memory in rows.select(store.db, statuses):
        yield ndjson.dump(ndjson.to_raw(memory))


def import_lines(store: Store, lines: Iterable[str], *, allowed: Allowed = lambda rule, value: False) -> ImportResult:
    """Merge records into the store, all or none. `allowed(rule, value)` says which findings people let pass.

    Raises BrokenLine, Rejected (secret_detected, instruction_detected, too_long, cap_reached) with the line's number.
    """
    merge = _Merge(store, origin=None)
    incoming, refused = _admit(merge, lines, allowed)
    if refused:
        first = refused[0]
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        reason = f"{first.category}_detected" if first.category else first.rule
        raise Rejected(f"line {first.line}: {first.why}{more}; nothing was imported", reason=reason)
    return _merged(merge, incoming, len(incoming) or 1)


def share_lines(
    store: Store, lines: Iterable[str], *, origin: str, allowed: Allowed = lambda rule, value: False
) -> ImportResult:
    """Merge a team's records into the store, one by one: a refused one is told in `refused` and stays out.

    New memories get `origin` and count as shared; over the cap they wait in the file. `allowed(rule, value)` says which
    findings people let pass. Raises BrokenLine.
    """
    merge = _Merge(store, origin=origin)
    incoming, refused = _admit(merge, lines, allowed)
    return _merged(merge, incoming, _BATCH)._replace(refused=tuple(refused))


def _admit(merge: _Merge, lines: Iterable[str], allowed: Allowed) -> tuple[list[_Incoming], list[Refusal]]:
    """Parse, reduce and judge: return what may come in (oldest first) and what is refused.

    What the store holds already is not judged again: judging is what costs.
    """
    store, now = merge.store, timestamp(merge.store.now())
    incoming: list[_Incoming] = []
    refused: list[Refusal] = []
    for line in ndjson.reduce(ndjson.parse(lines)).values():
        if line.raw.get("status") == "forgotten":
            incoming.append(_Incoming(line, None, ndjson.to_stone(line.raw, now)))
            continue
        try:
            memory = ndjson.to_memory(line.raw, limits=store.limits, now=now, local=merge.origin is None)
        except (Rejected, UsageError) as error:
            finding = judge(line.raw, allowed=allowed)
            plain = Refusal(line.number, line.raw["id"], error.reason, "", error.message)
            refused.append(_refusal(line, finding) if finding else plain)
            continue
        one = _Incoming(line, memory, None)
        finding = None if memory and merge.is_settled(one) else judge(line.raw, allowed=allowed)
        if finding:
            refused.append(_refusal(line, finding))
        elif memory is None:
            merge.skip(one, "unknown_status", "a status that this program does not know")
        else:
            incoming.append(one)
    incoming.sort(key=lambda one: (one.memory.created_at if one.memory else "", one.line.raw["id"]))
    return incoming, refused


def judge(raw: ndjson.Raw, *, allowed: Allowed = lambda rule, value: False) -> tuple[str, Finding] | None:
    """Return the first text of a record that may not be kept and why, as a commit is judged; secrets first."""
    found = [
        (text, finding)
        for text in ndjson.texts(raw)
        for finding in policy.scan(text)
        if not allowed(finding.rule, text[finding.start : finding.end])
    ]
    return min(found, key=lambda one: one[1].category != "secret", default=None)


def _refusal(line: Line, found: tuple[str, Finding]) -> Refusal:
    text, finding = found
    shown = policy.mask(text[finding.start : finding.end])
    why = f"{finding.rule} ({shown!r}). {policy.explain(finding.rule)}"
    return Refusal(line.number, line.raw["id"], finding.rule, shown, why, finding.category)


def _merged(merge: _Merge, incoming: list[_Incoming], batch: int) -> ImportResult:
    store = merge.store
    try:
        result = merge.run(incoming, batch)
        if result.forgotten:
            store.scrub()
    except sqlite3.Error as error:
        raise schema.as_store_error(error, store.path) from error
    return result


class _Merge:
    """One merge into a store. `origin` is None for an import, else what a share's new memories come from."""

    def __init__(self, store: Store, *, origin: str | None) -> None:
        self.store = store
        self.db = store.db
        self.origin = origin
        self.skipped: list[Refusal] = []
        self.counts = dict.fromkeys(("added", "updated", "unchanged", "forgotten", "skipped"), 0)
        self.room = 0
        self.embedder = shipped()

    def is_settled(self, one: _Incoming) -> bool:
        """Return whether the store has nothing to learn from a record."""
        return self._outcome(one)[0] == "unchanged"

    def skip(self, one: _Incoming, rule: str, why: str) -> None:
        """Note that a record was passed over."""
        self.skipped.append(Refusal(one.line.number, one.line.raw["id"], rule, "", why))

    def run(self, incoming: list[_Incoming], batch: int) -> ImportResult:
        """Write what holds over the store's own records, `batch` of them a transaction; vectors are made before."""
        wanted = [one for one in incoming if not self.is_settled(one)]
        self.counts["unchanged"] = len(incoming) - len(wanted)
        for start in range(0, len(wanted), batch):
            part = wanted[start : start + batch]
            made = {one.id: self._vector(one) for _, one, _ in part if one and one.status == "active"}
            with rows.transaction(self.db):
                active = rows.count_active(self.db, timestamp(self.store.now()))
                self.room = self.store.limits.memories - active
                for one in part:
                    self.counts[self._write(one, made)] += 1
        counts = self.counts
        return ImportResult(
            counts["added"], counts["updated"], counts["unchanged"], counts["forgotten"], tuple(self.skipped)
        )

    def _vector(self, memory: Memory) -> Vector:
        return self.embedder.embed_memory("" if memory.title_derived else memory.title, memory.content)

    def _outcome(self, one: _Incoming) -> tuple[str, Memory | None]:
        """Return what becomes of a record (a name of `counts`) and the store's own memory of that id."""
        found = rows.select(self.db, "id = ?", (one.line.raw["id"],))
        mine = found[0] if found else None
        if mine and self.origin is not None and not mine.shared:
            return "unchanged", mine  # what is private here is nothing that a team's file may touch
        grave = self.db.execute("SELECT version FROM tombstones WHERE id = ?", (one.line.raw["id"],)).fetchone()
        if one.memory is None:
            known = grave is not None and one.stone is not None and grave[0] >= one.stone.version
            return "forgotten" if mine or not known else "unchanged", mine
        if grave:
            return "unchanged", mine
        if mine is None:
            return "added", None
        same = one.memory._replace(**{name: getattr(mine, name) for name in _KEPT}) == mine
        # Both in our form: a line may leave out what a memory always has, such as its title.
        ours, theirs = (ndjson.rank(ndjson.to_raw(memory, local=False)) for memory in (mine, one.memory))
        return "updated" if not same and theirs > ours else "unchanged", mine

    def _write(self, one: _Incoming, made: dict[str, Vector]) -> str:
        outcome, mine = self._outcome(one)
        if outcome == "unchanged":
            return outcome
        if one.memory is None:
            return self._bury(one.stone, mine)
        memory = one.memory
        if mine:
            memory = memory._replace(**{name: getattr(mine, name) for name in _KEPT})
            rows.replace(self.db, memory)
        else:
            why = self._no_room(memory)
            if why:
                self.skip(one, why, why)
                return "skipped"
            memory = memory if self.origin is None else memory._replace(origin=self.origin, shared=True)
            rows.insert(self.db, memory)
        if memory.status == "active":
            self._retire(memory)
            vectors.put(self.db, memory.id, memory.version, self.embedder, made[memory.id])
        return outcome

    def _bury(self, stone: Tombstone | None, mine: Memory | None) -> str:
        assert stone is not None  # a record is a memory or a tombstone
        if mine:
            rows.erase(self.db, rows.lineage(self.db, mine), stone.forgotten_at)
            rows.set_meta(self.db, rows.SCRUB_PENDING, stone.forgotten_at)
        rows.entomb(self.db, stone._replace(shared=stone.shared or self.origin is not None))
        return "forgotten" if mine else "unchanged"

    def _no_room(self, memory: Memory) -> str:
        """Return why a new memory stays out, "" if it may come in. An import over the cap raises Rejected."""
        if memory.status != "active":
            return ""
        if rows.same_text(self.db, memory.title, memory.content):
            return "same_text"
        self.room -= 1
        if self.room >= 0:
            return ""
        if self.origin is not None:
            return "cap_reached"
        limit = self.store.limits.memories
        raise Rejected(
            f"{short(memory.id)} would be over the limit of {limit:,} memories; nothing was imported. Raise it:"
            f" `mem config set limits.memories {limit * 2}`",
            reason="cap_reached",
        )

    def _retire(self, new: Memory) -> None:
        """Make history of the memory that `new` replaced where that came without its own line."""
        old = rows.select(self.db, "id = ? AND status = 'active'", (new.supersedes,)) if new.supersedes else []
        for one in old:
            stamp = max(new.created_at, one.updated_at)
            gone = one._replace(status="superseded", superseded_by=new.id, version=one.version + 1, updated_at=stamp)
            rows.replace(self.db, gone)
            self.db.execute("DELETE FROM anchors WHERE memory = ?", (one.id,))


def shared_records(store: Store) -> list[ndjson.Raw]:
    """Return what this store has to tell a team: its shared memories, history included, and its shared tombstones."""
    told = [ndjson.to_raw(one, local=False) for one in rows.select(store.db, "shared = 1")]
    return told + [ndjson.stone_raw(stone) for stone in rows.tombstones(store.db) if stone.shared]


def foreign_ids(store: Store) -> set[str]:
    """Return the ids of shared memories that came by a share file."""
    found = store.db.execute("SELECT id FROM memories WHERE shared = 1 AND origin <> ''")
    return {str(row[0]) for row in found}


def as_json(result: ImportResult) -> dict[str, object]:
    """Return a result as a JSON value."""
    value: dict[str, object] = {name: getattr(result, name) for name in ("added", "updated", "unchanged", "forgotten")}
    value["skipped"] = [{"line": one.line, "id": one.id, "reason": one.rule} for one in result.skipped]
    value["refused"] = [
        {"line": one.line, "id": one.id, "rule": one.rule, "masked": one.masked} for one in result.refused
    ]
    return value
