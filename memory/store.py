"""Rows in and out of the store: the only SQL beside schema.py and the modules that own a table of their own.

Every function takes an open connection. Those that write expect to run inside `transaction`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from .named import NamedTuple
from .record import CURSOR_FIELDS, Cursor, Memory, fingerprint
from .words import index_parts

MEMORY_COLUMNS = ", ".join(Memory._fields)
_INSERT = f"INSERT INTO memories({MEMORY_COLUMNS}, fingerprint) VALUES ({', '.join('?' * (len(Memory._fields) + 1))})"  # noqa: S608
_TAGS = Memory._fields.index("tags")
SCRUB_PENDING = "scrub_pending"  # the key in meta
_BOOLEANS = tuple(Memory._fields.index(name) for name in ("title_derived", "pinned", "shared"))


class Tombstone(NamedTuple):
    """What stays of a forgotten memory, so that an old export does not bring it back."""

    id: str
    version: int
    forgotten_at: str
    shared: bool


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the body in one BEGIN IMMEDIATE; commit at its end, roll back on any exception. Does not nest."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Run the body's reads on one state of the store."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("COMMIT")


def from_row(row: tuple[object, ...]) -> Memory:
    """Return the memory in a row that was selected by MEMORY_COLUMNS."""
    values = list(row)
    try:
        values[_TAGS] = tuple(json.loads(str(values[_TAGS]))) if values[_TAGS] != "[]" else ()
    except (ValueError, TypeError):
        raise sqlite3.DatabaseError("malformed tags") from None  # what SQLite says of bytes that it can't make out
    for index in _BOOLEANS:
        values[index] = bool(values[index])
    return Memory._make(values)


def labels(memory: Memory) -> str:
    """Return area and tags as the text that the full-text index holds."""
    return " ".join((memory.area, *memory.tags)).strip()


def insert(db: sqlite3.Connection, memory: Memory) -> None:
    """Write a memory with its full-text entry."""
    values = list(memory)
    values[_TAGS] = json.dumps(memory.tags, ensure_ascii=False)
    rowid = db.execute(_INSERT, (*values, fingerprint(memory.title, memory.content))).lastrowid
    if memory.status == "active":
        _index_words(db, rowid or 0, memory)


def replace(db: sqlite3.Connection, memory: Memory) -> None:
    """Write a memory over the row of the same id, full-text entry included; its vectors fall away."""
    rowid = db.execute("SELECT rowid FROM memories WHERE id = ?", (memory.id,)).fetchone()[0]
    values = list(memory)
    values[_TAGS] = json.dumps(memory.tags, ensure_ascii=False)
    columns = ", ".join(f"{name} = ?" for name in (*Memory._fields, "fingerprint"))
    db.execute(
        f"UPDATE memories SET {columns} WHERE rowid = ?",  # noqa: S608 - column names of ours
        (*values, fingerprint(memory.title, memory.content), rowid),
    )
    db.execute("DELETE FROM words WHERE rowid = ?", (rowid,))
    db.execute("DELETE FROM vectors WHERE memory = ?", (memory.id,))
    if memory.status == "active":
        _index_words(db, rowid, memory)


def _index_words(db: sqlite3.Connection, rowid: int, memory: Memory) -> None:
    title = "" if memory.title_derived else memory.title
    parts = index_parts(title, memory.content, labels(memory))
    db.execute(
        "INSERT INTO words(rowid, title, content, labels, parts) VALUES (?, ?, ?, ?, ?)",
        (rowid, memory.title, memory.content, labels(memory), parts),
    )


def supersede(db: sqlite3.Connection, old: Memory, new: Memory) -> None:
    """Mark `old` as history and write `new` in its place."""
    rowid = db.execute("SELECT rowid FROM memories WHERE id = ?", (old.id,)).fetchone()[0]
    db.execute(
        "UPDATE memories SET status = 'superseded', superseded_by = ?, version = version + 1, updated_at = ?"
        " WHERE rowid = ?",
        (new.id, new.created_at, rowid),
    )
    db.execute("DELETE FROM words WHERE rowid = ?", (rowid,))
    db.execute("DELETE FROM vectors WHERE memory = ?", (old.id,))
    db.execute("DELETE FROM anchors WHERE memory = ?", (old.id,))
    insert(db, new)


def lineage(db: sqlite3.Connection, memory: Memory) -> list[Memory]:
    """Return the memory and all that it superseded, newest first."""
    line = {memory.id: memory}
    waiting = [memory.id]
    while waiting:  # an import may bring two that one replaced, and even a circle
        older = select(db, "superseded_by = ? AND superseded_by <> ''", (waiting.pop(),))
        new = {one.id: one for one in older if one.id not in line}
        line |= new
        waiting += new
    return list(line.values())


def erase(db: sqlite3.Connection, memories: Iterable[Memory], forgotten_at: str) -> None:
    """Delete memories and what was derived from them; tombstones without text stay.

    The full-text index is optimised in the same transaction: a delete only adds a marker, and the words would stay
    in the old segment. Vectors and anchors go by their foreign keys. The caller truncates the -wal afterwards.
    """
    for memory in memories:
        rowid = db.execute("SELECT rowid FROM memories WHERE id = ?", (memory.id,)).fetchone()[0]
        db.execute("DELETE FROM words WHERE rowid = ?", (rowid,))
        db.execute("DELETE FROM memories WHERE rowid = ?", (rowid,))
        entomb(db, Tombstone(memory.id, memory.version + 1, forgotten_at, memory.shared))
    db.execute("INSERT INTO words(words) VALUES ('optimize')")


def entomb(db: sqlite3.Connection, stone: Tombstone) -> None:
    """Write a tombstone; of two for one id the higher version stays."""
    db.execute(
        "INSERT INTO tombstones VALUES (?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET version = max(version,"
        " excluded.version), shared = max(shared, excluded.shared)",
        stone,
    )


def tombstones(db: sqlite3.Connection) -> list[Tombstone]:
    """Return all tombstones by id."""
    rows = db.execute("SELECT id, version, forgotten_at, shared FROM tombstones ORDER BY id")
    return [Tombstone(row[0], row[1], row[2], bool(row[3])) for row in rows]


def select(db: sqlite3.Connection, where: str, values: tuple[object, ...] = (), tail: str = "") -> list[Memory]:
    """Return the memories that a condition of ours fits, by creation unless `tail` orders them."""
    order = tail or "ORDER BY created_at, id"
    rows = db.execute(f"SELECT {MEMORY_COLUMNS} FROM memories WHERE {where} {order}", values)  # noqa: S608
    return [from_row(row) for row in rows]


def find(db: sqlite3.Connection, key: str, limit: int = 5) -> list[Memory]:
    """Return the memories whose id is `key`, starts with it or ends with it; `key` is hex digits and dashes."""
    exact = select(db, "id = ?", (key,))
    if exact:
        return exact
    high = key[:-1] + chr(ord(key[-1]) + 1)
    starts = select(db, "id >= ? AND id < ?", (key, high), f"ORDER BY id LIMIT {limit}")
    ends = select(db, "id LIKE ?", ("%" + key,), f"ORDER BY id LIMIT {limit}")
    return list(dict.fromkeys(starts + ends))


def same_text(db: sqlite3.Connection, title: str, content: str, *, now: str = "") -> Memory | None:
    """Return the first active memory with the same title and content that has not expired at `now`, if any."""
    where = "fingerprint = ? AND status = 'active' AND (expires_at = '' OR expires_at > ?)"
    found = select(db, where, (fingerprint(title, content), now), "ORDER BY created_at, id LIMIT 1")
    return found[0] if found else None


def count_active(db: sqlite3.Connection, now: str) -> int:
    """Return how many memories are active and not expired at `now`."""
    active = db.execute("SELECT count(*) FROM memories WHERE status = 'active'").fetchone()[0]
    # Without statistics SQLite would walk all active rows for the few that expire.
    expired = db.execute(
        "SELECT count(*) FROM memories INDEXED BY memories_by_expiry"
        " WHERE status = 'active' AND expires_at <> '' AND expires_at <= ?",
        (now,),
    ).fetchone()[0]
    return int(active) - int(expired)


def count_by_kind(db: sqlite3.Connection) -> dict[str, int]:
    """Return how many active memories there are of each kind, expired ones included."""
    return dict(db.execute("SELECT kind, count(*) FROM memories WHERE status = 'active' GROUP BY 1 ORDER BY 1"))


def count_superseded(db: sqlite3.Connection) -> int:
    """Return how many memories are history."""
    return int(db.execute("SELECT count(*) FROM memories WHERE status = 'superseded'").fetchone()[0])


def known_ids(db: sqlite3.Connection) -> set[str]:
    """Return every id that the store has heard of: memories, tombstones, and what is in quarantine."""
    query = "SELECT id FROM memories UNION SELECT id FROM tombstones UNION SELECT id FROM quarantine"
    return {str(row[0]) for row in db.execute(query)}


def mark_shared(db: sqlite3.Connection, memory_id: str, shared: bool) -> None:
    """Share a memory or stop it; what a person shares is theirs to tell, whoever brought it first. A local mark that
    changes no version."""
    db.execute("UPDATE memories SET shared = ?, origin = iif(?, '', origin) WHERE id = ?", (shared, shared, memory_id))


def stamp_recalled(db: sqlite3.Connection, ids: Iterable[str], now: str) -> None:
    """Note that memories were recalled; a local note that neither changes the version nor updated_at."""
    db.executemany(
        "UPDATE memories SET last_recalled_at = ?, recall_count = recall_count + 1 WHERE id = ?",
        [(now, memory_id) for memory_id in ids],
    )


def cursor(db: sqlite3.Connection, workspace: str) -> Cursor:
    """Return the cursor of a workspace, empty where none was set."""
    row = db.execute("SELECT * FROM cursors WHERE workspace = ?", (workspace,)).fetchone()
    return Cursor._make(row) if row else Cursor(workspace)


def put_cursor(db: sqlite3.Connection, new: Cursor) -> None:
    """Write a cursor; one without any field is deleted."""
    if any(getattr(new, name) for name in CURSOR_FIELDS):
        db.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?)", new)
    else:
        db.execute("DELETE FROM cursors WHERE workspace = ?", (new.workspace,))


def meta(db: sqlite3.Connection, key: str) -> str:
    """Return a value that the program keeps beside the memories, "" where none is."""
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else ""


def set_meta(db: sqlite3.Connection, key: str, value: str) -> None:
    """Keep a value; "" deletes it."""
    if value:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
    else:
        db.execute("DELETE FROM meta WHERE key = ?", (key,))


@contextmanager
def patience(db: sqlite3.Connection, wait_ms: int) -> Iterator[None]:
    """Let the body wait at most `wait_ms` milliseconds for other processes."""
    before = int(db.execute("PRAGMA busy_timeout").fetchone()[0])
    db.execute(f"PRAGMA busy_timeout = {min(before, wait_ms)}")
    try:
        yield
    finally:
        db.execute(f"PRAGMA busy_timeout = {before}")


def scrub(db: sqlite3.Connection) -> bool:
    """Write the database anew and empty its log, so that no forgotten text is left in either.

    secure_delete alone does not do it: when SQLite balances a tree it copies cells to other pages and leaves their old
    bytes in the gap. Returns False where another program's snapshot is in the way; the next `Store.open` tries again.
    """
    try:
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("VACUUM")
        blocked = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not blocked:
            set_meta(db, SCRUB_PENDING, "")
    except sqlite3.OperationalError:
        return False
    return not blocked
