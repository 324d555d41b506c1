"""Rows in and out of an open store."""

from __future__ import annotations

import sqlite3

import pytest
from memhooks.memory import store as rows
from memhooks.memory.api import Store
from memhooks.memory.record import Cursor, Memory, past

IDS = ("01900000-0000-7000-8000-00000000aaaa", "01900000-0000-7000-8000-11110000aaaa")


def memory(memory_id: str = IDS[0], **fields: object) -> Memory:
    return Memory(memory_id, "a title", "a content", created_at="2026", updated_at="2026")._replace(**fields)  # type: ignore[arg-type]


def words_of(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
    return db.execute("SELECT title, content, labels FROM words ORDER BY rowid").fetchall()


def test_insert_keeps_every_field(store: Store) -> None:
    whole = memory(
        kind="decision", title_derived=True, area="api/auth", tags=("a", "b c"), actor="ann", source_type="issue",
        source_ref="#7", confidence=0.25, expires_at="2030", pinned=True, shared=True, supersedes="x", version=7,
        last_recalled_at="2026-02", recall_count=3, origin="memories.ndjson", extra='{"new": 1}',
    )  # fmt: skip
    rows.insert(store.db, whole)
    assert store.get(whole.id) == whole
    assert words_of(store.db) == [("a title", "a content", "api/auth a b c")]


def test_full_text_holds_active_memories_alone(store: Store) -> None:
    rows.insert(store.db, memory(status="superseded"))
    assert words_of(store.db) == []
    rows.replace(store.db, memory(content="active again"))
    assert words_of(store.db) == [("a title", "active again", "")]
    rows.replace(store.db, memory(status="superseded"))
    assert words_of(store.db) == []


def test_transaction_rolls_back_on_any_exception(store: Store) -> None:
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), rows.transaction(store.db):
            rows.insert(store.db, memory())
            raise error
    assert store.list() == []
    assert not store.db.in_transaction


def test_snapshot_reads_one_state(store: Store) -> None:
    with Store.open(store.path) as other, rows.snapshot(store.db):
        assert store.list() == []
        other.remember(content="meanwhile")
        assert store.list() == []
    assert len(store.list()) == 1


def test_patience_shortens_and_restores_the_wait(store: Store) -> None:
    def wait() -> int:
        return int(store.db.execute("PRAGMA busy_timeout").fetchone()[0])

    before = wait()
    with rows.patience(store.db, 10):
        assert wait() == 10
        with rows.patience(store.db, 99):
            assert wait() == 10
    assert wait() == before == 5000


@pytest.mark.parametrize(
    ("key", "count"),
    [
        (IDS[0], 1),
        (IDS[0][:8], 2),
        (IDS[0][:25], 1),
        ("aaaa", 2),
        ("0000aaaa", 2),
        ("0000-00000000aaaa"[5:], 1),
        ("-1111", 0),
        ("ffff", 0),
        ("0190", 2),
    ],
)
def test_find_by_beginning_and_end(store: Store, key: str, count: int) -> None:
    for one in IDS:
        rows.insert(store.db, memory(one))
    assert len(rows.find(store.db, key)) == count


def test_find_prefers_the_whole_id(store: Store) -> None:
    for one in ("abcd", "abcdef01", "9999abcd"):
        rows.insert(store.db, memory(one))
    assert [found.id for found in rows.find(store.db, "abcd")] == ["abcd"]


def test_same_text_is_the_first_and_lives(store: Store) -> None:
    rows.insert(store.db, memory(IDS[0], created_at="2026-02"))
    rows.insert(store.db, memory(IDS[1], created_at="2026-01", expires_at="2026-03"))

    def found(now: str) -> str:
        same = rows.same_text(store.db, "a title", "a  content", now=now)
        return same.id if same else ""

    assert found("") == found("2026-02") == IDS[1]
    assert found("2026-04") == IDS[0]
    assert rows.same_text(store.db, "a title", "another") is None


def test_count_leaves_out_the_expired(store: Store) -> None:
    rows.insert(store.db, memory(IDS[0], expires_at="2026-03"))
    rows.insert(store.db, memory(IDS[1]))
    assert [rows.count_active(store.db, now) for now in ("2026-02", "2026-03", "2026-04")] == [2, 1, 1]


def test_erase_takes_what_was_derived_along(store: Store) -> None:
    kept = store.remember(content="kept")
    gone = store.remember(content="gone", anchors={"a.py": ""})
    with rows.transaction(store.db):
        rows.erase(store.db, [gone], "2026")
    for table in ("memories", "words", "vectors"):
        assert store.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 1
    assert store.db.execute("SELECT count(*) FROM anchors").fetchone()[0] == 0
    assert rows.tombstones(store.db) == [rows.Tombstone(gone.id, 2, "2026", False)]
    assert store.list() == [kept]


def test_tombstone_of_the_higher_version_stays(store: Store) -> None:
    for version, shared in ((3, False), (2, True)):
        rows.entomb(store.db, rows.Tombstone("x", version, "2026", shared))
    assert rows.tombstones(store.db) == [rows.Tombstone("x", 3, "2026", True)]


def test_recall_stamp_is_a_local_note(store: Store) -> None:
    made = store.remember(content="a fact")
    rows.stamp_recalled(store.db, [made.id], "2030")
    assert store.get(made.id) == made._replace(last_recalled_at="2030", recall_count=1)


def test_cursor_row_goes_with_its_last_field(store: Store) -> None:
    cursor = Cursor("branch:é", goal="x", updated_at="2026")
    rows.put_cursor(store.db, cursor)
    assert rows.cursor(store.db, "branch:é") == cursor
    rows.put_cursor(store.db, cursor._replace(goal=""))
    assert store.db.execute("SELECT count(*) FROM cursors").fetchone()[0] == 0
    assert rows.cursor(store.db, "branch:é") == Cursor("branch:é")


def test_meta_is_kept_and_deleted(store: Store) -> None:
    rows.set_meta(store.db, "head:/x", "1")
    rows.set_meta(store.db, "head:/x", "2")
    assert rows.meta(store.db, "head:/x") == "2"
    rows.set_meta(store.db, "head:/x", "")
    assert rows.meta(store.db, "head:/x") == ""
    assert store.db.execute("SELECT count(*) FROM meta").fetchone()[0] == 0


def test_lineage_of_a_merge_holds_each_once(store: Store) -> None:
    """Imports can bring two memories that one replaced, and a circle."""
    chain = {"aaaa": "cccc", "bbbb": "cccc", "cccc": "", "dddd": "eeee", "eeee": "dddd"}
    for one, newer in chain.items():
        rows.insert(store.db, memory(one, status="superseded" if newer else "active", superseded_by=newer))
    assert sorted(one.id for one in rows.lineage(store.db, store.get("cccc"))) == ["aaaa", "bbbb", "cccc"]
    assert sorted(one.id for one in rows.lineage(store.db, store.get("dddd"))) == ["dddd", "eeee"]


def test_search_is_bounded_by_age(store: Store) -> None:
    """`since` and `before` look at when a memory was written."""
    memory = store.remember(content="the cache expires at noon")
    soon, gone = past("1d", store.now()), past("2020-01-01", store.now())
    assert [hit.memory for hit in store.search("cache", since=soon)] == [memory]
    assert store.search("cache", before=gone) == []


def test_list_of_an_area_takes_what_lies_below(store: Store) -> None:
    """As a search does."""
    inner = store.remember(content="one", area="api/auth")
    store.remember(content="two", area="apiary")
    assert store.list(area="api") == [inner]
