"""The public Store: what it keeps, refuses, replaces and finds, alone and against a model."""

from __future__ import annotations

import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memhooks.memory import recall, schema
from memhooks.memory import store as rows
from memhooks.memory.api import Store
from memhooks.memory.errors import Ambiguous, Corrupt, NotFound, Rejected, Superseded, UsageError
from memhooks.memory.record import Limits, Memory
from memhooks.memory.vectors import coverage

DAY = 86400.0


class Clock:
    """A clock that moves when it is told to, and a millisecond at each look."""

    def __init__(self, now: float = 1_767_225_600.0) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def open_store(folder: Path, clock: Clock, **limits: int) -> Store:
    return Store.open(str(folder / "mem.db"), clock=clock, limits=Limits(**limits))


def ids(memories: list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def found(store: Store, query: str, mode: str = "lexical") -> list[str]:
    return [hit.memory.id for hit in store.search(query, limit=100, mode=mode)]


def test_remember_returns_what_get_returns(store: Store) -> None:
    made = store.remember(
        content="Tokens rotate daily", title="Rotation", kind="decision", area="auth", tags=["a", "b"], actor="ann",
        source_type="issue", source_ref="#7", confidence=0.5, expires="30d", pinned=True, shared=True,
    )  # fmt: skip
    assert store.get(made.id) == made == store.list()[0]
    assert coverage(store.db, __import__("memhooks.memory.embed", fromlist=["shipped"]).shipped()) == (1, 1)


def test_remember_the_same_text_answers_with_the_first(store: Store) -> None:
    first = store.remember(content="Use uv.\nNot pip.", tags=["a"])
    for text in ("Use uv.\nNot pip.", " Use uv. Not  pip. ", "Use uv.\r\nNot pip."):
        assert store.remember(content=text, tags=["b"]) == first
    assert store.remember(content="Use uv.\nNot pip.", title="Another title").id != first.id
    assert store.remember(content="use uv.\nnot pip.").id != first.id


def test_remember_again_what_was_forgotten_superseded_or_expired(tmp_path: Path) -> None:
    clock = Clock()
    with open_store(tmp_path, clock) as store:
        for end in ("forgotten", "superseded", "expired"):
            first = store.remember(content=f"a fact to be {end}", expires="1d" if end == "expired" else "")
            if end == "forgotten":
                store.forget(first.id)
            elif end == "superseded":
                store.correct(first.id, "another fact")
            clock.now += 2 * DAY
            again = store.remember(content=f"a fact to be {end}")
            assert again.id != first.id
            assert again.id in found(store, end)


def remember_one(path: str) -> str:
    with Store.open(path, timeout=30) as store:
        return store.remember(content="the same fact").id


@pytest.mark.skipif(sys.platform == "win32", reason="fork")
def test_remember_the_same_text_in_a_race(store: Store) -> None:
    with get_context("fork").Pool(8) as pool:
        made = pool.map(remember_one, [store.path] * 24, chunksize=1)
    assert set(made) == set(ids(store.list()))
    assert len(set(made)) == 1


def test_remember_over_the_cap_says_how_to_make_room(tmp_path: Path) -> None:
    clock = Clock()
    with open_store(tmp_path, clock, memories=2) as store:
        first = store.remember(content="one", expires="1d")
        second = store.remember(content="two")
        with pytest.raises(Rejected) as caught:
            store.remember(content="three")
        assert caught.value.reason == "cap_reached"
        for word in ("2 memories", "mem forget ID", "mem dream --plan", "mem config set limits.memories 4"):
            assert word in caught.value.message
        assert store.remember(content="one") == first, "what is there already needs no room"
        second = store.correct(second.id, "two, corrected")
        clock.now += 2 * DAY
        store.remember(content="three")
        with pytest.raises(Rejected):
            store.remember_many([{"content": "four"}])
        store.forget(second.id)
        store.remember(content="five")


def test_remember_many_is_all_or_nothing_in_order(store: Store) -> None:
    known = store.remember(content="b")
    made = store.remember_many([{"content": "a"}, {"content": "b"}, {"content": "c", "kind": "goal"}, {"content": "a"}])
    assert [memory.content for memory in made] == ["a", "b", "c", "a"]
    assert made[1] == known and made[0] == made[3]
    with pytest.raises(UsageError):
        store.remember_many([{"content": "d"}, {"content": ""}])
    assert len(store.list()) == 3


def test_get_by_unique_end_or_beginning(store: Store) -> None:
    one, other = store.remember(content="one"), store.remember(content="two")
    for key in (one.id, one.id.upper(), f" {one.id}\n", one.id[-8:], one.id[-12:], one.id[:36]):
        assert store.get(key) == one
    with pytest.raises(Ambiguous) as caught:
        store.get(one.id[:6])
    assert one.id[-8:] in caught.value.message and other.id[-8:] in caught.value.message


@pytest.mark.parametrize("key", ["", "abc", "xyzw", "ab%d", "____", "'; --", "\0\0\0\0", "\ud800" * 4, "a" * 40])
def test_get_refuses_what_is_no_id(store: Store, key: str) -> None:
    store.remember(content="one")
    for call in (store.get, store.forget, lambda key: store.correct(key, "two")):
        with pytest.raises(UsageError, match="4 or more"):
            call(key)


def test_get_what_is_not_there(store: Store) -> None:
    with pytest.raises(NotFound) as caught:
        store.get("ffffffff")
    assert caught.value.reason == "not_found"


def test_correct_takes_over_what_is_not_said(tmp_path: Path) -> None:
    with open_store(tmp_path, Clock()) as store:
        old = store.remember(
            content="one", title="Title", kind="gotcha", area="api", tags=["a"], actor="ann", confidence=0.5,
            expires="30d", pinned=True, shared=True, anchors={"a.py": "1"},
        )  # fmt: skip
        new = store.correct(old.id[-8:], "two", actor="bob", kind=None)
        assert new == old._replace(
            id=new.id, content="two", actor="bob", supersedes=old.id, created_at=new.created_at,
            updated_at=new.created_at,
        )  # fmt: skip
        assert store.get(new.id) == new
        history = store.get(old.id)
        assert (history.status, history.superseded_by, history.version) == ("superseded", new.id, old.version + 1)
        assert history.content == "one"
        assert store.list() == [new]
        assert ids(store.list(include_superseded=True)) == [new.id, old.id]
        assert found(store, "one") == [] and found(store, "two") == [new.id]
        assert store.db.execute("SELECT memory, path FROM anchors").fetchall() == [(new.id, "a.py")]


def test_correct_may_change_all_but_the_text(store: Store) -> None:
    old = store.remember(content="one")
    new = store.correct(old.id, "one", kind="decision", tags=["a"])
    assert (new.content, new.kind, new.tags, new.supersedes) == ("one", "decision", ("a",), old.id)


def test_correct_into_what_is_there_already(store: Store) -> None:
    one, two = store.remember(content="one"), store.remember(content="two")
    with pytest.raises(Rejected, match=two.id[-8:]) as caught:
        store.correct(one.id, "two")
    assert caught.value.reason == "same_text"
    assert store.list() == [two, one]


def test_correct_revives_what_has_expired(tmp_path: Path) -> None:
    clock = Clock()
    with open_store(tmp_path, clock) as store:
        old = store.remember(content="one", expires="1d")
        clock.now += 2 * DAY
        assert store.correct(old.id, "two").expires_at == ""
        assert len(found(store, "two")) == 1


def test_correct_a_derived_title_with_its_text(store: Store) -> None:
    new = store.correct(store.remember(content="First. More.").id, "Second. More.")
    assert (new.title, new.title_derived) == ("Second", True)


def test_history_is_immutable_and_names_its_head(store: Store) -> None:
    first = store.remember(content="one")
    second = store.correct(first.id, "two")
    third = store.correct(second.id, "three")
    for old in (first, second):
        before = store.get(old.id)
        for call in (store.forget, store.confirm, lambda key: store.correct(key, "four")):
            with pytest.raises(Superseded, match=third.id[-8:]) as caught:
                call(old.id)
            assert caught.value.reason == "superseded"
        assert store.get(old.id) == before
    assert store.list() == [third]


@pytest.mark.parametrize("successor", ["", "01900000-0000-7000-8000-00000000ffff", "self"])
def test_history_without_its_head_is_said(store: Store, successor: str) -> None:
    """An import may bring a piece of a lineage."""
    made = store.remember(content="one")
    store.db.execute(
        "UPDATE memories SET status = 'superseded', superseded_by = ?", (made.id if successor == "self" else successor,)
    )
    with pytest.raises(Superseded, match="not in this store"):
        store.forget(made.id)


def test_correct_what_changed_meanwhile(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    old = store.remember(content="one")
    real = rows.transaction

    def late(db):  # type: ignore[no-untyped-def]
        with Store.open(store.path) as other:
            other.db.execute("UPDATE memories SET version = version + 1")
        return real(db)

    monkeypatch.setattr(rows, "transaction", late)
    with pytest.raises(Superseded, match="changed meanwhile"):
        store.correct(old.id, "two")
    assert len(store.list(include_superseded=True)) == 1


def test_list_filters_and_orders(tmp_path: Path) -> None:
    clock = Clock()
    with open_store(tmp_path, clock) as store:
        one = store.remember(content="one", kind="goal", area="api", tags=["x", "é"])
        two = store.remember(content="two", area="api")
        gone = store.remember(content="three", expires="1d", tags=["x"])
        assert ids(store.list()) == [gone.id, two.id, one.id]
        clock.now += 2 * DAY
        assert ids(store.list()) == [two.id, one.id]
        assert ids(store.list(kind="goal")) == ids(store.list(tag="é")) == ids(store.list(tag="x")) == [one.id]
        assert ids(store.list(area="api")) == [two.id, one.id]
        assert store.list(area="ap") == store.list(tag="'; --") == []


@pytest.mark.parametrize("mode", recall.MODES)
def test_search_never_shows_what_is_over(tmp_path: Path, mode: str) -> None:
    clock = Clock()
    with open_store(tmp_path, clock) as store:
        kept = store.remember(content="whales sing at night")
        store.correct(store.remember(content="whales sing at noon").id, "owls do not sing", tags=["birds"])
        store.forget(store.remember(content="whales sing at dawn").id)
        store.remember(content="whales sing at dusk", expires="1d")
        clock.now += 2 * DAY
        contents = {hit.memory.content for hit in store.search("whales sing", limit=10, mode=mode)}
        assert kept.content in contents <= {kept.content, "owls do not sing"}


QUERIES = [
    "", " ", "don't use agents", '"', "'", '"unbalanced', "NEAR(a b, 2)", "a AND", "OR", "NOT x", "x*", "*", "-", "--",
    "^a", "title:x", "{a b}: c", "2026-03-04", "03/04/26", "a.b.c", "...", "🐳", "👩\u200d💻", "鲸鱼", "重跑gen-itgc后",
    "ﬀ", "\0", "a\0b", "\ud800", "\x1b[2J", "%", "_", "the of and", "a" * 20_000, "a " * 20_000, "(" * 5000, "\n\t",
    "e\u0301", "ك", "ไทย", ";DROP TABLE memories", "C:\\x", "😀" * 3000,
]  # fmt: skip


@pytest.mark.parametrize("mode", recall.MODES)
def test_search_takes_any_query(store: Store, mode: str) -> None:
    store.remember(content="don't use agents for whales 鲸鱼 on 2026-03-04, see gen-itgc and a.b.c 🐳")
    for query in QUERIES:
        assert len(store.search(query, mode=mode)) <= 1, query


@pytest.mark.parametrize(
    "query", ["don't use agents", "2026-03-04", "重跑gen-itgc后", "鲸鱼", "a.b.c", "whale", 'agents"', "NEAR(agents)"]
)
def test_search_finds_by_odd_words(store: Store, query: str) -> None:
    made = store.remember(content="don't use agents for whales 鲸鱼 on 2026-03-04, see gen-itgc and a.b.c 🐳")
    assert found(store, query) == [made.id]


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
def test_search_never_raises(store: Store, query: str) -> None:
    store.remember(content="a fact about whales")
    store.search(query)
    store.search(query, mode="semantic")
    store.context(query)


def test_search_refuses_an_unknown_way(store: Store) -> None:
    with pytest.raises(UsageError):
        store.search("x", mode="psychic")


def test_stamp_waits_but_a_moment(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read must neither fail nor wait for long because another writes."""
    hits = [*map(recall.Hit, [store.remember(content="a fact")], [1.0])]
    waits = []
    real = rows.transaction

    def spy(db):  # type: ignore[no-untyped-def]
        waits.append(db.execute("PRAGMA busy_timeout").fetchone()[0])
        return real(db)

    monkeypatch.setattr(rows, "transaction", spy)
    store.stamp(hits)
    assert store.list()[0].recall_count == 1
    with Store.open(store.path) as other:
        other.db.execute("BEGIN IMMEDIATE")
        store.stamp(hits)
    assert max(waits) <= 250
    assert store.list()[0].recall_count == 1


def test_cursor_is_set_by_field_and_cleared(tmp_path: Path) -> None:
    with open_store(tmp_path, Clock()) as store:
        assert store.cursor("branch:a") == ("branch:a", "", "", "", "", "", "")
        store.set_cursor("branch:a", goal=" ship \r\nit ", next="test")
        store.set_cursor("branch:b", goal="other")
        assert store.set_cursor("branch:a", next="")[1:4] == ("ship \nit", "", "")
        assert store.cursor("branch:b").goal == "other"
        assert store.set_cursor("branch:a", goal="") == store.cursor("branch:a") == ("branch:a", "", "", "", "", "", "")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"colour": "red"}, UsageError),
        ({"goal": "x" * 501}, Rejected),
        ({"goal": "\x1b"}, UsageError),
        ({"blockers": "key AKIA" + "Q3EXWK7ZPTYB2MNL"}, Rejected),
    ],
    ids=["unknown", "long", "control", "secret"],
)
def test_cursor_refuses_as_remember_does(store: Store, fields: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        store.set_cursor("default", **fields)
    assert store.cursor("default").updated_at == ""


def test_open_of_a_store_without_its_tables_is_corrupt(store: Store) -> None:
    store.db.execute("DROP TABLE meta")
    with pytest.raises(Corrupt, match="damaged"):
        Store.open(store.path)


def test_open_leaves_no_connection_behind_when_it_fails(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unclosed connection would keep a lock, and warn at its end."""
    opened = []
    real = schema.sqlite3.connect
    monkeypatch.setattr(schema.sqlite3, "connect", lambda *a, **k: opened.append(real(*a, **k)) or opened[-1])
    store.db.execute("PRAGMA user_version = 99")
    with pytest.raises(schema.NewerSchema):
        Store.open(store.path)
    with pytest.raises(schema.sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


WORDS = ["whale", "raven", "otter", "tiger", "zebra", "gecko"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
STEPS = st.one_of(
    st.tuples(st.just("remember"), st.just(0), TEXTS),
    st.tuples(st.sampled_from(["correct", "forget", "history"]), st.integers(0, 20), TEXTS),
)


class Model:
    """What a store should hold: texts by id, and for each id what it replaced."""

    def __init__(self) -> None:
        self.active: dict[str, str] = {}
        self.older: dict[str, list[str]] = {}

    def step(self, store: Store, action: str, place: int, text: str) -> None:
        texts = {content: memory_id for memory_id, content in self.active.items()}
        if action == "remember":
            made = store.remember(content=text)
            assert made.id == texts.get(text, made.id)
            self.active[made.id] = text
            self.older.setdefault(made.id, [])
        elif self.active:
            chosen = sorted(self.active)[place % len(self.active)]
            if action == "forget":
                assert sorted(store.forget(chosen).ids) == sorted([chosen, *self.older.pop(chosen)])
                del self.active[chosen]
            elif action == "correct" and texts.get(text, chosen) == chosen:
                new = store.correct(chosen, text)
                self.older[new.id] = [chosen, *self.older.pop(chosen)]
                self.active[new.id] = text
                del self.active[chosen]
            for old in self.older.get(chosen, []):
                with pytest.raises(Superseded):
                    store.forget(old)

    def check(self, store: Store) -> None:
        assert {memory.id: memory.content for memory in store.list()} == self.active
        history = {old for line in self.older.values() for old in line}
        assert set(ids(store.list(include_superseded=True))) == set(self.active) | history
        for word in WORDS:
            assert set(found(store, word)) == {one for one, text in self.active.items() if word in text}
            assert set(found(store, word, "fused")) <= set(self.active)
        assert not {stone.id for stone in rows.tombstones(store.db)} & (set(self.active) | history)


@given(st.lists(STEPS, max_size=25))
@settings(deadline=None, max_examples=15)
def test_store_behaves_like_its_model(steps: list[tuple[str, int, str]]) -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder), Clock()) as store:
        for step in steps:
            model.step(store, *step)
        model.check(store)
        assert store.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        store.db.execute("INSERT INTO words(words) VALUES ('integrity-check')")
