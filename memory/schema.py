"""The store's tables, the numbered steps that make them, and how a connection is opened.

Every connection is in autocommit mode (`isolation_level=None`); writers say BEGIN IMMEDIATE themselves. A store is
known by its application_id, its schema by user_version. Opening is the only place that changes either.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from functools import wraps

from . import private
from .errors import Corrupt, Foreign, Locked, NewerSchema, NotFound, StoreError
from .named import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeVar

    Method = TypeVar("Method", bound=Callable[..., Any])

APPLICATION_ID = 0x4D454D48  # "MEMH"
_LEAST_PAGE = 512  # bytes; SQLite takes what is shorter for a new database

_FIRST_STORE = """
CREATE TABLE memories(
    rowid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, content TEXT NOT NULL, kind TEXT NOT NULL,
    title_derived INTEGER NOT NULL, area TEXT NOT NULL, tags TEXT NOT NULL, actor TEXT NOT NULL,
    source_type TEXT NOT NULL, source_ref TEXT NOT NULL, confidence REAL NOT NULL, expires_at TEXT NOT NULL,
    pinned INTEGER NOT NULL, shared INTEGER NOT NULL, status TEXT NOT NULL, supersedes TEXT NOT NULL,
    superseded_by TEXT NOT NULL, version INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
    last_recalled_at TEXT NOT NULL, recall_count INTEGER NOT NULL, origin TEXT NOT NULL, extra TEXT NOT NULL,
    fingerprint TEXT NOT NULL);
CREATE INDEX memories_by_status ON memories(status, pinned, updated_at);
CREATE INDEX memories_by_fingerprint ON memories(fingerprint) WHERE status = 'active';
CREATE INDEX memories_by_successor ON memories(superseded_by) WHERE superseded_by <> '';
CREATE INDEX memories_by_expiry ON memories(expires_at) WHERE expires_at <> '' AND status = 'active';
CREATE VIRTUAL TABLE words USING fts5(title, content, labels, parts, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE vectors(
    memory TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE, model TEXT NOT NULL, version INTEGER NOT NULL,
    hash TEXT NOT NULL, vector BLOB NOT NULL, signs BLOB NOT NULL, PRIMARY KEY(memory, model));
CREATE TABLE anchors(
    memory TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE, path TEXT NOT NULL, blob TEXT NOT NULL,
    state TEXT NOT NULL, since TEXT NOT NULL, PRIMARY KEY(memory, path)) WITHOUT ROWID;
CREATE INDEX anchors_by_path ON anchors(path);
CREATE TABLE touched(path TEXT PRIMARY KEY, commit_id TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE cursors(
    workspace TEXT PRIMARY KEY, goal TEXT NOT NULL, checkpoint TEXT NOT NULL, next TEXT NOT NULL,
    blockers TEXT NOT NULL, session TEXT NOT NULL, updated_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tombstones(
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, forgotten_at TEXT NOT NULL, shared INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sections(
    rowid INTEGER PRIMARY KEY, path TEXT NOT NULL, heading TEXT NOT NULL, first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL, hash TEXT NOT NULL);
CREATE VIRTUAL TABLE section_words USING fts5(heading, body, parts, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE quarantine(
    id TEXT PRIMARY KEY, source TEXT NOT NULL, rule TEXT NOT NULL, masked TEXT NOT NULL, seen_at TEXT NOT NULL)
    WITHOUT ROWID;
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""

# What SQLite and its Python module say of a store that is not as we left it, beside the codes for it.
_DAMAGE = ("malformed", "no such table", "no such column", "decode to UTF-8")

# Step n brings a store from user_version n to n + 1. A released step is never edited.
MIGRATIONS = (_FIRST_STORE,)


def connect(path: str, *, create: bool = False, readonly: bool = False, timeout: float = 5.0) -> sqlite3.Connection:
    """Return a connection to the store at `path`, at the newest schema.

    With `create` an absent store is made, 0600 in a 0700 folder. With `readonly` nothing is written to it; a store that
    may not be written can be read all the same. `timeout` is how many seconds to wait for another writer.

    Raises NotFound where there is no store, Locked, Corrupt, Foreign, NewerSchema, StoreError.
    """
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        if os.path.lexists(path) and not os.path.islink(path):
            raise StoreError(f"{path} is not a file")
        if not create:
            raise NotFound(f"there is no store at {path}; `mem init` makes one", reason="no_store")
        _make_file(path)
    try:
        _refuse_emptied(path, create=create, timeout=timeout)
        return _open(path, readonly=readonly, timeout=timeout)
    except sqlite3.Error as error:
        raise as_store_error(error, path) from error
    except OSError as error:
        raise StoreError(f"the store {path} can't be read: {error.strerror}") from error


def as_store_error(error: sqlite3.Error, path: str) -> StoreError:
    """Return the error of ours that says what SQLite's `error` means for the store at `path`."""
    text = str(error)
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF  # the low byte is the primary code
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Locked(f"another process holds the store {path}; try again in a moment")
    if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT) or any(mark in text for mark in _DAMAGE):
        return Corrupt(f"the store {path} is damaged ({text}); `mem doctor` says the mend")
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
        return StoreError(
            f"the store {path} can't be read or written: {text}. Is the disk full, or the file system a network's?"
            " MEM_DB names another place for it",
            reason="disk",
        )
    if code == sqlite3.SQLITE_READONLY:
        return StoreError(f"the store {path} is on a read-only file system or not yours to write", reason="readonly")
    return StoreError(f"the store {path} can't be used: {text}; MEM_DB names another place for it")


def translated(method: Method) -> Method:
    """Let a method of what has a store's `path` raise StoreError where SQLite raises an error of its own."""

    @wraps(method)
    def calling(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(self, *args, **kwargs)
        except sqlite3.Error as error:
            raise as_store_error(error, self.path) from error

    return calling  # type: ignore[return-value]  # it takes and gives what the method does


def make_folder(folder: str) -> None:
    """Make a store's folder, 0700, with a .gitignore of its own where it is a project's `.mem`. Raises StoreError."""
    try:
        private.make_folder(folder)
        ignore = os.path.join(folder, ".gitignore")
        if os.path.basename(folder) == ".mem" and not os.path.lexists(ignore):
            with open(os.open(ignore, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600), "w", encoding="ascii") as file:
                file.write("*\n")
    except OSError as error:
        raise StoreError(f"can't make the folder {folder}: {error.strerror}; MEM_DB names another place") from error


def _make_file(path: str) -> None:
    """Make an empty file that is private from its first byte; another process may win the race."""
    make_folder(os.path.dirname(os.path.abspath(path)))
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreError(f"can't make the store {path}: {error.strerror}; MEM_DB names another place") from error


def _refuse_emptied(path: str, *, create: bool, timeout: float) -> None:
    """Tell a store that lost its content, of which SQLite would make a new one, from one that is being made."""
    deadline = time.monotonic() + min(timeout, 1.0)
    while (size := os.path.getsize(path)) < _LEAST_PAGE:
        lost = size > 0 or (os.path.exists(path + "-wal") and os.path.getsize(path + "-wal") > 0)
        if create and not lost:
            return
        if time.monotonic() >= deadline:
            mend = "cut off; restore it" if lost else "empty; restore it, or `mem init` anew"
            raise Corrupt(f"the store {path} is {mend}")
        time.sleep(0.01)


def _open(path: str, *, readonly: bool, timeout: float) -> sqlite3.Connection:
    db = None
    try:
        db = sqlite3.connect(_uri(path, "mode=rw"), uri=True, timeout=timeout, isolation_level=None)
        if _version(db, path) < len(MIGRATIONS):
            _migrate(db, path, time.monotonic() + timeout)
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA trusted_schema = OFF")  # a repository may bring a store with triggers of its own
        db.execute("PRAGMA query_only = ON" if readonly else "PRAGMA secure_delete = ON")
        return db
    except BaseException as error:
        if db is not None:
            db.close()
        # The low byte is the primary code.
        code = error.sqlite_errorcode & 0xFF if isinstance(error, sqlite3.OperationalError) else 0
        if code not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or _is_writable(path):
            raise
    return _open_immutable(path)


def _is_writable(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK)


def _uri(path: str, option: str) -> str:
    # Only these three mean something there; urllib.parse would cost each hook 5 ms. Source: sqlite.org/uri.html
    return f"file://{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?{option}"


def _version(db: sqlite3.Connection, path: str) -> int:
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if not _is_ours(db) and (version or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]):
        # Asked again: each question sees its own state, and another first opener may have made the tables in between.
        if _is_ours(db):
            return _version(db, path)
        raise Foreign(f"{path} is a database of another program; it is left alone")
    if version > len(MIGRATIONS):
        raise NewerSchema(
            f"the store {path} has schema {version}, this program knows {len(MIGRATIONS)}; update memhooks"
        )
    return version


def _is_ours(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)


def _migrate(db: sqlite3.Connection, path: str, deadline: float) -> None:
    """Bring the store up to date, one transaction a step together with its version stamp."""
    while True:
        try:
            if _version(db, path) == 0:
                # Where WAL can't work SQLite answers with the mode it stays in, which serves too.
                db.execute("PRAGMA journal_mode = WAL").fetchone()
            break
        except sqlite3.OperationalError as error:
            # Racing first openers: changing the mode answers "locked" at once, whatever the busy timeout.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    db.execute("PRAGMA secure_delete = ON")
    for step, script in enumerate(MIGRATIONS):
        db.execute("BEGIN IMMEDIATE")
        try:
            if _version(db, path) == step:
                for statement in script.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(f"PRAGMA user_version = {step + 1}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:  # SQLite ends it by itself when the disk is full
                db.execute("ROLLBACK")
            raise


def _open_immutable(path: str) -> sqlite3.Connection:
    """Open a store that can't be written: in place when it was closed cleanly, else a copy with its -wal."""
    wal = path + "-wal"
    if not os.path.exists(wal) or os.path.getsize(wal) == 0:
        db = sqlite3.connect(_uri(path, "immutable=1"), uri=True, isolation_level=None)
    else:
        db = _copied(path, wal)
    try:
        if _version(db, path) < len(MIGRATIONS):
            raise StoreError(f"the store {path} is read-only and of an older version; open it once as its owner")
        db.execute("PRAGMA query_only = ON")  # or a write into the copy would seem to have worked
    except BaseException:
        db.close()
        raise
    return db


def _copied(path: str, wal: str) -> sqlite3.Connection:
    import shutil
    import tempfile

    db = sqlite3.connect(":memory:", isolation_level=None)
    with tempfile.TemporaryDirectory(prefix="memhooks-") as folder:
        copy = shutil.copyfile(path, os.path.join(folder, "mem.db"))
        shutil.copyfile(wal, copy + "-wal")
        source = sqlite3.connect(copy)
        source.backup(db)
        source.close()
    return db
