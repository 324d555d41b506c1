"""Doctor's look at the store: permissions, integrity of tables and full-text index, WAL, schema, size, coverage."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from functools import partial

from ...memory import config, quarantine, schema, store
from ...memory.embed import cached
from ...memory.errors import MemError
from ...memory.project import Project
from ...memory.record import timestamp
from ...memory.vectors import coverage, missing
from .. import sharefile
from ..env import Env
from .check import BROKEN, NOTE, OK, Check

LARGE_WAL = 32 << 20  # bytes; a checkpoint at each close keeps it far below
_RESTORE = "restore a copy, or move it away and `mem import` an export"
_MENDS = {
    "newer_schema": "update memhooks: another one on this machine is newer",
    "foreign": "move that file away, or set MEM_DB to name another place for the store",
    "locked": "wait for the process that holds it, or end that",
}
FULL_TEXT = ("words", "section_words")


def checks(project: Project, env: Env) -> Iterator[Check]:
    """Yield what there is to say about the store; nothing is made where there is none."""
    if os.path.lexists(project.folder) and not os.path.isdir(project.folder):
        yield Check("store", BROKEN, f"{project.folder} is no folder", "move it away: the store lies in there")
        return
    if not os.path.exists(project.store_path):
        yield Check("store", NOTE, f"there is no store yet at {project.store_path}", "mem remember TEXT")
        yield from _shared(project, env)
        return
    yield from _modes(project)
    try:
        db = schema.connect(project.store_path, timeout=2.0)
    except MemError as error:
        yield Check("store", BROKEN, error.message, _MENDS.get(error.reason, _RESTORE))
        return
    try:
        yield from _contents(db, project, env)
    except sqlite3.Error as error:
        yield Check("store", BROKEN, f"{project.store_path}: {error}", _RESTORE)
    finally:
        db.close()
    yield from _shared(project, env)


def _shared(project: Project, env: Env) -> Iterator[Check]:
    count = sharefile.waiting(project, env)
    if count:
        yield Check("store", NOTE, f"{count:,} memories that the team shares are not taken in yet", "mem share in")


def _contents(db: sqlite3.Connection, project: Project, env: Env) -> Iterator[Check]:
    size = os.path.getsize(project.store_path)
    said = [row[0] for row in db.execute("PRAGMA integrity_check(5)")]
    if said != ["ok"]:
        yield Check("store", BROKEN, f"damaged: {said[0]}", "mem export > saved.ndjson, then restore or import")
        return
    if db.execute("PRAGMA foreign_key_check").fetchone():
        yield Check("store", BROKEN, "vectors or anchors of memories that are gone", "mem index --rebuild")
    active = store.count_active(db, timestamp(env.now()))
    figures = f"{active:,} memories, {size / 1024:,.0f} KB, schema {len(schema.MIGRATIONS)}"
    yield Check("store", OK, f"{project.store_path}: {figures}")
    yield from _full_text(db, project)
    yield from _journal(db, project)
    yield from _vectors(db, project, env)
    if store.meta(db, store.SCRUB_PENDING):
        yield Check(
            "store", NOTE, "a forgotten text may still stand in the file: another program held it open",
            "close other programs that use the store, then run any mem command",
        )  # fmt: skip
    limit = int(config.load(project, env.environ)["limits.memories"])
    if active >= limit * 0.95:
        yield Check("store", NOTE, f"{active:,} of {limit:,} memories", "mem dream --plan, or set limits.memories")
    held = quarantine.count(db)
    if held:
        yield Check("store", NOTE, f"{held:,} shared memories were kept out", "mem quarantine")


def _full_text(db: sqlite3.Connection, project: Project) -> Iterator[Check]:
    """FTS5 keeps its own tables: PRAGMA integrity_check does not see whether they agree."""
    for table in FULL_TEXT:
        try:
            db.execute(f"INSERT INTO {table}({table}) VALUES('integrity-check')")
            wrong = ""
        except sqlite3.DatabaseError as error:
            if "readonly" in str(error):
                return
            wrong = str(error)
        if table == "words" and not wrong:
            wrong = _unindexed(db)
        if wrong:
            yield Check(
                "store", BROKEN, f"the full-text index {table} is damaged: {wrong}",
                "mem doctor --fix, or mem export and import", fix=partial(_rebuild, project, table),
            )  # fmt: skip
        else:
            yield Check("store", OK, f"the full-text index {table} is sound")


def _unindexed(db: sqlite3.Connection) -> str:
    sql = "SELECT count(*) FROM memories WHERE status = 'active' AND rowid NOT IN (SELECT rowid FROM words)"
    count = db.execute(sql).fetchone()[0]
    return f"{count:,} memories are not in it" if count else ""


def _rebuild(project: Project, table: str) -> str:
    db = schema.connect(project.store_path)
    try:
        with store.transaction(db):
            db.execute(f"INSERT INTO {table}({table}) VALUES('rebuild')")  # from the texts that FTS5 keeps itself
            if table == "words":
                for memory in store.select(db, "status = 'active' AND rowid NOT IN (SELECT rowid FROM words)"):
                    store.replace(db, memory)  # `mem index` makes its vector again
    finally:
        db.close()
    return f"made the full-text index {table} anew"


def _journal(db: sqlite3.Connection, project: Project) -> Iterator[Check]:
    mode = db.execute("PRAGMA journal_mode").fetchone()[0]
    wal = project.store_path + "-wal"
    if mode != "wal":
        yield Check(
            "store", NOTE, f"the journal mode is {mode}: WAL does not work on this file system, so writers wait longer",
            "put the store on a local disk by MEM_DB",
        )  # fmt: skip
    elif os.path.exists(wal) and os.path.getsize(wal) > LARGE_WAL:
        yield Check("store", NOTE, f"{wal} has {os.path.getsize(wal) >> 20:,} MB", "close programs that read the store")


def _vectors(db: sqlite3.Connection, project: Project, env: Env) -> Iterator[Check]:
    try:
        model = cached(str(config.load(project, env.environ)["recall.model"]), env.environ)
        covered, active = coverage(db, model)
    except MemError as error:
        yield Check("store", NOTE, error.message, "mem model status")
        return
    if covered < active:
        yield Check("store", NOTE, f"{covered:,} of {active:,} memories have a vector of {model.name}", "mem index")
    elif missing(db, model, 1):  # all are there, so one is malformed
        yield Check(
            "store", NOTE, f"a vector of {model.name} is malformed: no search by meaning", "mem index --rebuild"
        )
    else:
        yield Check("store", OK, f"all {active:,} memories have a vector of {model.name}")


def _modes(project: Project) -> Iterator[Check]:
    """A store is for its owner's eyes alone."""
    folder = [] if project.pinned else [(project.folder, 0o700)]
    files = [(project.store_path + end, 0o600) for end in ("", "-wal", "-shm")]
    for path, wanted in [*folder, *files]:
        if os.path.exists(path) and os.name != "nt" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
            yield Check(
                "store", BROKEN, f"others can read {path}", f"chmod {wanted:o} {path}",
                fix=partial(_chmod, path, wanted),
            )  # fmt: skip


def _chmod(path: str, mode: int) -> str:
    os.chmod(path, mode)
    return f"chmod {mode:o} {path}"
