"""Opening a store: private files, WAL, numbered steps, races, and every way in which a database can be wrong."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest
from memhooks.memory import schema
from memhooks.memory.api import Store
from memhooks.memory.errors import Corrupt, Foreign, Locked, NewerSchema, NotFound, StoreError

needs_permissions = pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def forked(target, *args: object) -> list[object]:  # type: ignore[no-untyped-def]
    """Run `target` in one process for each of `args` at once and return what they return."""
    with get_context("fork").Pool(len(args)) as pool:
        return pool.map(target, args, chunksize=1)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".mem" / "mem.db")


@pytest.fixture(params=[0o000, 0o077], ids=["umask 0", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@needs_permissions
def test_store_is_private_from_the_first_byte(tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every open that can make a file asks for 0600: no moment at which another could look in."""
    asked = []
    real = os.open

    def spy(name: str, flags: int, mode: int = 0o777, **more: int) -> int:
        if flags & os.O_CREAT:
            asked.append(mode)
        return real(name, flags, mode, **more)

    monkeypatch.setattr(os, "open", spy)
    path = tmp_path / "new" / "below" / ".mem" / "mem.db"
    with Store.open(str(path)) as store:
        store.remember(content="a fact")
        names = sorted(os.listdir(path.parent))
        assert names == [".gitignore", "mem.db", "mem.db-shm", "mem.db-wal"]
        assert {name: mode(path.parent / name) for name in names} == dict.fromkeys(names, 0o600)
    assert mode(path.parent) == mode(path.parent.parent) == mode(tmp_path / "new") == 0o700
    assert set(asked) == {0o600}


@needs_permissions
def test_pinned_store_leaves_its_folder(tmp_path: Path, umask: int) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    folder.chmod(0o755)
    with Store.open(str(folder / "x.db")) as store:
        store.remember(content="a fact")
        assert {mode(folder / name) for name in os.listdir(folder)} == {0o600}
    assert mode(folder) == 0o755
    assert os.listdir(folder) == ["x.db"]


def test_store_ignores_itself_in_git(path: str) -> None:
    schema.connect(path, create=True).close()
    ignore = Path(path).parent / ".gitignore"
    assert ignore.read_text() == "*\n"
    ignore.write_text("mine\n")
    schema.connect(path, create=True).close()
    assert ignore.read_text() == "mine\n"


def test_reading_makes_nothing(path: str) -> None:
    with pytest.raises(NotFound) as caught:
        schema.connect(path)
    assert caught.value.reason == "no_store"
    assert not os.path.exists(os.path.dirname(path))


def test_store_is_in_wal_mode_and_empties_it(path: str) -> None:
    with Store.open(path) as store:
        assert store.db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        assert store.db.execute("PRAGMA secure_delete").fetchone()[0] == 1
        assert store.db.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        store.remember_many([{"content": f"fact {n}"} for n in range(300)], check=False)
        assert os.path.getsize(path + "-wal") > 0
    assert not os.path.exists(path + "-wal")


class NoWal(sqlite3.Connection):
    """A connection on a file system without shared memory: SQLite stays in the mode it was in."""

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
        return super().execute(sql.replace("journal_mode = WAL", "journal_mode"), *values)


def test_store_works_where_wal_does_not(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=NoWal))
    with Store.open(path) as store:
        assert store.db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        memory = store.remember(content="a fact about whales")
        assert [hit.memory.id for hit in store.search("whales")] == [memory.id]
        assert not store.forget(memory.id).scrub_pending
    assert b"whale" not in Path(path).read_bytes()
    assert mode(path) == 0o600


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "what?.db", "#1.db", os.fsdecode(b"caf\xe9.db"), "é.db"])
def test_store_takes_any_file_name(tmp_path: Path, name: str) -> None:
    with Store.open(str(tmp_path / name)) as store:
        store.remember(content="a fact")
    assert set(os.listdir(tmp_path)) == {"home", name}


def test_store_takes_any_spelling_of_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("x.db") as store:
        wanted = store.remember(content="a fact").id
    (tmp_path / "link.db").symlink_to("x.db")
    for name in ("./x.db", f"/{tmp_path}/x.db", f"{tmp_path}//x.db", "link.db"):
        with Store.open(name, create=False) as store:
            assert [memory.id for memory in store.list()] == [wanted]


def first_open(path: str) -> object:
    with Store.open(path, timeout=30) as store:
        return store.remember(content="the one fact").id


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_twenty_first_openers_make_one_store(path: str) -> None:
    ids = forked(first_open, *[path] * 20)
    assert len(set(ids)) == 1
    with Store.open(path) as store:
        assert [memory.id for memory in store.list()] == ids[:1]
        assert store.db.execute("PRAGMA user_version").fetchone()[0] == len(schema.MIGRATIONS)
        assert store.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def read_early(path: str) -> object:
    if path.startswith("read:"):
        try:
            with Store.open(path[5:], create=False, timeout=30) as store:
                return len(store.list())
        except NotFound:
            return 0
    return first_open(path)


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_readers_of_a_store_in_the_making_find_nothing_wrong(path: str) -> None:
    answers = forked(read_early, *[path, f"read:{path}"] * 6)
    assert {answer for answer in answers if isinstance(answer, int)} <= {0, 1}


def test_migrations_run_from_any_version(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema.connect(path, create=True).close()
    steps = (*schema.MIGRATIONS, "CREATE TABLE one(x);\nINSERT INTO one VALUES (1)", "ALTER TABLE one ADD COLUMN y")
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    db = schema.connect(path)
    assert db.execute("SELECT x, y FROM one").fetchall() == [(1, None)]
    assert db.execute("PRAGMA user_version").fetchone()[0] == len(steps)
    db.close()


def test_migration_that_breaks_leaves_the_version_before(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:
        kept = store.remember(content="a fact")
    good = (*schema.MIGRATIONS, "CREATE TABLE one(x)")
    monkeypatch.setattr(schema, "MIGRATIONS", (*good, "CREATE TABLE two(x);\nINSERT INTO nowhere VALUES (1)"))
    with pytest.raises(StoreError):
        schema.connect(path)
    monkeypatch.setattr(schema, "MIGRATIONS", (*good, "CREATE TABLE two(x)"))
    with Store.open(path) as store:
        assert store.get(kept.id) == kept
        assert store.db.execute("PRAGMA user_version").fetchone()[0] == len(good) + 1


def test_migration_that_is_killed_leaves_the_version_before(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies between two statements of a step, as by SIGKILL."""
    Store.open(path).close()
    steps = (*schema.MIGRATIONS, "CREATE TABLE one(x);\nINSERT INTO one VALUES (die())")

    class Mortal(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
            if "die()" in sql:
                os._exit(7)
            return super().execute(sql, *values)

    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    child = os.fork()
    if not child:
        real = sqlite3.connect
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: real(*a, **k, factory=Mortal))
        schema.connect(path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS[:-1], "CREATE TABLE one(x)"))
    db = schema.connect(path)
    assert db.execute("SELECT count(*) FROM one").fetchone()[0] == 0
    db.close()


def test_store_of_a_newer_program_is_left_alone(path: str) -> None:
    db = schema.connect(path, create=True)
    db.execute("PRAGMA user_version = 99")
    db.close()
    before = Path(path).read_bytes()
    for options in ({"create": True}, {"readonly": True}, {}):
        with pytest.raises(NewerSchema, match=r"schema 99.*update memhooks"):
            schema.connect(path, **options)  # type: ignore[arg-type]
    assert Path(path).read_bytes() == before


def test_foreign_database_is_left_alone(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE theirs(x)")
    db.commit()
    db.close()
    before = Path(path).read_bytes()
    for options in ({"create": True}, {"readonly": True}, {}):
        with pytest.raises(Foreign):
            schema.connect(path, **options)  # type: ignore[arg-type]
    assert Path(path).read_bytes() == before


def test_foreign_database_of_another_application(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    db = sqlite3.connect(path)
    db.execute("PRAGMA application_id = 77")
    db.execute("PRAGMA user_version = 1")
    db.close()
    with pytest.raises(Foreign):
        schema.connect(path, create=True)


@pytest.fixture
def filled(path: str) -> str:
    with Store.open(path) as store:
        store.remember_many([{"content": f"fact number {n} about whales"} for n in range(60)], check=False)
    return path


def read_all(path: str) -> None:
    with Store.open(path, create=False) as store:
        store.list()
        store.search("whales", limit=100)


def test_text_file_is_no_store(path: str) -> None:
    os.makedirs(os.path.dirname(path))
    Path(path).write_text("this is no database, " * 99)
    with pytest.raises(Corrupt):
        schema.connect(path, create=True)
    assert Path(path).read_text().startswith("this is no database")


@pytest.mark.parametrize("kept", [0, 1, 50, 100, 4096, 20_000])
def test_truncated_store_is_an_error_and_no_empty_one(filled: str, kept: int) -> None:
    os.truncate(filled, kept)
    for _ in range(2):
        with pytest.raises(Corrupt):
            Store.open(filled, create=False, timeout=0).list()
    assert os.path.getsize(filled) == kept


def test_emptied_store_with_its_log_is_an_error_for_writers_too(filled: str, tmp_path: Path) -> None:
    """SQLite would throw the log away, and with it what can be saved from it."""
    os.truncate(filled, 0)
    Path(filled + "-wal").write_bytes(b"what was not checkpointed")
    with pytest.raises(Corrupt):
        schema.connect(filled, create=True, timeout=0)
    assert Path(filled + "-wal").read_bytes() == b"what was not checkpointed"


@pytest.mark.parametrize("at", range(0, 40_000, 3_900))
def test_store_with_rubbish_in_it_raises_ours_alone(filled: str, at: int) -> None:
    """Damage is found or harmless; it is never a traceback."""
    data = bytearray(Path(filled).read_bytes())
    data[at : at + 600] = b"\xa5" * 600
    Path(filled).write_bytes(data)
    try:
        read_all(filled)
    except StoreError as error:
        assert error.exit_code == 1 and filled in error.message


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE memories",
        "DROP TABLE meta",
        "UPDATE memories SET tags = '[broken'",
        "UPDATE memories SET tags = '7'",
        "UPDATE memories SET content = CAST(x'ff' AS TEXT)",
    ],
)
def test_store_that_another_hand_changed_is_corrupt(filled: str, sql: str) -> None:
    db = sqlite3.connect(filled)
    db.execute(sql)
    db.commit()
    db.close()
    with pytest.raises(Corrupt) as caught:
        read_all(filled)
    assert filled in caught.value.message


def test_locked_store_is_said(filled: str) -> None:
    other = sqlite3.connect(filled, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store.open(filled, timeout=0.01) as store:
        with pytest.raises(Locked):
            store.remember(content="another")
        assert len(store.search("whales", limit=100)) == 60, "readers go on"
        assert not store.db.in_transaction
    other.execute("ROLLBACK")
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Locked) as caught:
        Store.open(filled, timeout=0.01)
    assert caught.value.reason == "locked"
    other.close()


@pytest.mark.parametrize("kind", ["folder", "pipe", "below a file"])
def test_path_that_can_hold_no_store(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.touch()
        path = path / "y.db"
    with pytest.raises(StoreError, match=r"not a file|MEM_DB"):
        schema.connect(str(path), create=True)


def unwritable(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SQLite and us see a store that may not be written, as on a read-only mount; the superuser has no other."""
    real = sqlite3.connect

    class Refusing(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:  # type: ignore[override]
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error

    def connect(name: str, **options: object) -> sqlite3.Connection:
        return real(name, **options, **({"factory": Refusing} if "mode=rw" in name else {}))  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", connect)
    monkeypatch.setattr(schema, "_is_writable", lambda _: False)


def test_unwritable_store_is_read_in_place(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unwritable(filled, monkeypatch)
    before = Path(filled).read_bytes()
    with Store.open(filled, create=False) as store:
        hits = store.search("whales")
        assert len(hits) == 10
        store.stamp(hits)
        with pytest.raises(StoreError) as caught:
            store.remember(content="another")
        assert caught.value.reason == "readonly"
    assert Path(filled).read_bytes() == before
    assert sorted(os.listdir(os.path.dirname(filled))) == [".gitignore", "mem.db"]


def test_unwritable_store_with_a_filled_log_is_read_from_a_copy(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Store.open(filled)
    writer.remember(content="the newest fact, in the log alone")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = sorted(os.listdir(tmp_path))
    unwritable(filled, monkeypatch)
    with Store.open(filled, create=False) as store:
        assert len(store.list()) == 61
        with pytest.raises(StoreError) as caught:
            store.forget(store.list()[0].id)
        assert caught.value.reason == "readonly", "a write into the copy would be lost"
    assert sorted(os.listdir(tmp_path)) == before
    writer.close()


def test_unwritable_store_of_an_older_program_is_an_error(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    unwritable(filled, monkeypatch)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE one(x)"))
    with pytest.raises(StoreError, match="read-only and of an older version"):
        schema.connect(filled)


def as_nobody(path: str) -> object:
    """Read a store as a user who may not write it."""
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        with Store.open(path, create=False) as store:
            return len(store.list())
    except StoreError as error:
        return error.reason


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="users are POSIX")
def test_store_in_a_folder_that_may_not_be_written(filled: str, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if os.stat(folder).st_uid == os.getuid() and not mode(folder) & 0o001:
            folder.chmod(mode(folder) | 0o011)
    os.chmod(filled, 0o444)
    os.chmod(os.path.dirname(filled), 0o555)
    try:
        assert forked(as_nobody, filled) == [60]
        os.chmod(filled, 0o000)
        assert forked(as_nobody, filled) == ["store"]
    finally:
        os.chmod(os.path.dirname(filled), 0o700)


def test_readonly_connection_writes_nothing(filled: str) -> None:
    with Store.open(filled, create=False, readonly=True) as store:
        assert len(store.list()) == 60
        with pytest.raises(StoreError) as caught:
            store.remember(content="another")
        assert caught.value.reason == "readonly"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("SQLITE_BUSY", "locked"),
        ("SQLITE_LOCKED", "locked"),
        ("SQLITE_CORRUPT", "corrupt"),
        ("SQLITE_NOTADB", "corrupt"),
        ("SQLITE_FULL", "disk"),
        ("SQLITE_IOERR", "disk"),
        ("SQLITE_READONLY", "readonly"),
        ("SQLITE_CANTOPEN", "store"),
    ],
)
def test_sqlite_codes_have_reasons(code: str, reason: str) -> None:
    error = sqlite3.OperationalError("some words")
    error.sqlite_errorcode = getattr(sqlite3, code) | 3 << 8  # an extended code of that kind
    told = schema.as_store_error(error, "/x/mem.db")
    assert (told.reason, told.exit_code) == (reason, 1)
    assert "/x/mem.db" in told.message
