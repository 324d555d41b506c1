"""The vectors table: what counts as covered, what as malformed, and which rows are near."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from memhooks.memory import store as rows
from memhooks.memory import vectors
from memhooks.memory.api import Store
from memhooks.memory.embed import Vector, shipped
from memhooks.memory.errors import Incomplete
from memhooks.memory.record import Memory, timestamp

MODEL = shipped()


class Fake:
    """A model of 16 dimensions whose vectors are made from a number in the text."""

    name, hash, dimensions, floor, weight = "fake", "1", 16, 0.5, 0.5

    def embed_memory(self, title: str, content: str) -> Vector:
        return self.embed_query(content)

    def embed_query(self, text: str) -> Vector:
        dice = random.Random(text)
        components = bytes(dice.randrange(256) for _ in range(16))
        bits = "".join("1" if x > 0 else "0" for x in memoryview(components).cast("b"))
        return Vector(components, int(bits, 2).to_bytes(2, "big"))


def fill(store: Store, count: int, model: Fake | None = None) -> list[Memory]:
    """Put memories with vectors into the store."""
    made = [
        Memory(
            id=f"{number:036x}", title="", content=f"fact {number}", title_derived=True, created_at=timestamp(number)
        )
        for number in range(count)
    ]
    with rows.transaction(store.db):
        for memory in made:
            rows.insert(store.db, memory)
            if model:
                vectors.put(store.db, memory.id, 1, model, model.embed_memory("", memory.content))
    return made


def test_put_keeps_model_version_and_hash(store: Store) -> None:
    memory = store.remember(content="Tokens rotate hourly.", title="Rotation")
    row = store.db.execute("SELECT model, version, hash, length(vector), length(signs) FROM vectors").fetchone()
    assert row == (f"{MODEL.name}@{MODEL.hash}", memory.version, vectors.text_hash("Rotation", memory.content), 256, 32)


def test_put_refuses_another_version(store: Store) -> None:
    fill(store, 1)
    assert not vectors.put(store.db, f"{0:036x}", 2, MODEL, MODEL.embed_query("x"))
    assert vectors.coverage(store.db, MODEL) == (0, 1)


def test_put_refuses_a_memory_that_is_history(store: Store) -> None:
    old = store.remember(content="Tokens rotate hourly.")
    store.correct(old.id, "Tokens rotate daily.")
    assert not vectors.put(store.db, old.id, store.get(old.id).version, MODEL, MODEL.embed_query("x"))


def test_put_replaces(store: Store) -> None:
    memory = store.remember(content="Tokens rotate hourly.")
    assert vectors.put(store.db, memory.id, memory.version, MODEL, MODEL.embed_query("x"))
    assert vectors.coverage(store.db, MODEL) == (1, 1)


def test_models_do_not_mix(store: Store) -> None:
    """Neither another model nor another file under the same name counts."""
    fill(store, 3, Fake())
    renamed = Fake()
    renamed.hash = "2"
    assert vectors.coverage(store.db, Fake()) == (3, 3)
    assert vectors.coverage(store.db, MODEL) == vectors.coverage(store.db, renamed) == (0, 3)


def test_missing_names_what_to_embed(store: Store) -> None:
    store.remember(content="Tokens rotate hourly.", title="Rotation")
    store.remember(content="The queue retries.")
    vectors.invalidate(store.db, MODEL)
    found = vectors.missing(store.db, MODEL, 10)
    assert [(title, content) for _, _, title, content in found] == [
        ("Rotation", "Tokens rotate hourly."),
        ("", "The queue retries."),  # a derived title says nothing more
    ]
    assert len(vectors.missing(store.db, MODEL, 1)) == 1


@pytest.mark.parametrize("column", ["vector", "signs"])
@pytest.mark.parametrize("value", ["x'00'", "x''", "'some text'", "zeroblob(4096)"])
@pytest.mark.parametrize("count", [3, vectors.EXACT + 1], ids=["small", "large"])
def test_malformed_vector_is_found_and_mended(store: Store, column: str, value: str, count: int) -> None:
    model = Fake()
    fill(store, count, model)
    store.db.execute(f"UPDATE vectors SET {column} = {value} WHERE memory = ?", (f"{1:036x}",))
    with pytest.raises(vectors.Malformed, match="mem index --rebuild"):
        vectors.nearest(store.db, model, model.embed_query("fact 2"), 5)
    assert [one[0] for one in vectors.missing(store.db, model, 9)] == [f"{1:036x}"]


@pytest.mark.parametrize("count", [3, vectors.EXACT + 1], ids=["small", "large"])
def test_text_in_place_of_a_vector_is_malformed(store: Store, count: int) -> None:
    """SQLite takes any type for a BLOB column."""
    model = Fake()
    made = fill(store, count, model)
    store.db.execute("UPDATE vectors SET vector = ?, signs = 'ab' WHERE memory = ?", ("x" * 16, made[1].id))
    with pytest.raises(vectors.Malformed):
        vectors.candidates(store.db, model, model.embed_query(made[1].content), also=[2])


@pytest.mark.parametrize("count", [3, vectors.EXACT + 1], ids=["small", "large"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda db: db.execute("DELETE FROM vectors WHERE memory = ?", (f"{2:036x}",)),
        lambda db: db.execute("UPDATE vectors SET version = 9 WHERE memory = ?", (f"{2:036x}",)),
    ],
    ids=["absent", "of another version"],
)
def test_incomplete_coverage_is_an_error(store: Store, spoil: Callable[..., object], count: int) -> None:
    model = Fake()
    fill(store, count, model)
    spoil(store.db)
    with pytest.raises(Incomplete, match="`mem index`") as caught:
        vectors.nearest(store.db, model, model.embed_query("fact 2"), 5)
    assert caught.value.reason == "coverage_incomplete"


@pytest.mark.parametrize("count", [50, vectors.EXACT + 400], ids=["exact", "by signs first"])
def test_nearest_finds_the_same_vector_first(store: Store, count: int) -> None:
    model = Fake()
    made = fill(store, count, model)
    for number in (0, count // 2, count - 1):
        found = vectors.nearest(store.db, model, model.embed_query(made[number].content), 3)
        assert found[0] == (made[number].id, pytest.approx(1.0))
        assert [cosine for _, cosine in found] == sorted((cosine for _, cosine in found), reverse=True)


def test_nearest_in_an_empty_store(store: Store) -> None:
    assert vectors.nearest(store.db, MODEL, MODEL.embed_query("x"), 5) == []


def test_candidates_hold_what_words_found(store: Store) -> None:
    """Above the limit a memory far by its signs is compared too where the words name it."""
    model = Fake()
    fill(store, vectors.EXACT + 400, model)
    query = model.embed_query("fact 1")
    near, _ = vectors.candidates(store.db, model, query)
    far = next(rowid for rowid in range(1, vectors.EXACT) if rowid not in near)
    assert far in vectors.candidates(store.db, model, query, also=[far])[0]


def test_candidates_within_a_condition(store: Store) -> None:
    model = Fake()
    fill(store, vectors.EXACT + 400, model)
    rowids, block = vectors.candidates(store.db, model, model.embed_query("x"), within=("IN (5, 7, 9)", ()))
    assert (rowids, len(block)) == ([5, 7, 9], 48)


def test_forgotten_memory_leaves_no_vector(store: Store) -> None:
    memory = store.remember(content="Tokens rotate hourly.")
    store.forget(memory.id)
    assert store.db.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
