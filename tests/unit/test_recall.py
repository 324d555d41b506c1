"""From a query to hits: what is found, in which order, and when there is nothing to say."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memhooks.memory import recall
from memhooks.memory import store as rows
from memhooks.memory.api import Store
from memhooks.memory.embed import Embedder, Vector, shipped
from memhooks.memory.errors import Incomplete, Unavailable, UsageError
from memhooks.memory.record import Hit, Memory, timestamp

MODEL = shipped()
NOW = 1_800_000_000.0
FACTS = {
    "tokens": "Access tokens rotate every hour; the gateway caches them for five minutes.",
    "queue": "The retry queue drops jobs after three attempts.",
    "deploy": "Deployments need the migration to run before the workers restart.",
    "styles": "Buttons use the primary colour from the design system.",
}


@pytest.fixture
def filled(store: Store) -> Store:
    for area, content in FACTS.items():
        store.remember(content=content, area=area)
    return store


def search(store: Store, query: str, mode: str = "fused", **more: Any) -> list[Hit]:
    values = {"limit": 10, "now": store.now(), "embedder": MODEL} | more
    return recall.search(store.db, query, mode=mode, **values)


def context(store: Store, query: str, **more: Any) -> list[Hit]:
    return recall.context(store.db, query, **({"limit": 10, "now": store.now(), "embedder": MODEL} | more))


def areas(hits: list[Hit]) -> list[str]:
    return [hit.memory.area for hit in hits]


def insert(store: Store, **fields: Any) -> Memory:
    count = store.db.execute("SELECT count(*) FROM memories").fetchone()[0]
    stamp = timestamp(NOW + count)
    given = {"id": f"{count:036x}", "title": "", "created_at": stamp, "updated_at": stamp} | fields
    memory = Memory(**given)
    with rows.transaction(store.db):
        rows.insert(store.db, memory)
    return memory


def test_lexical_search_finds_words_alone(filled: Store) -> None:
    hits = search(filled, "token rotation", "lexical")
    assert [(hit.memory.area, hit.matched) for hit in hits] == [("tokens", "lexical")]
    assert hits[0].score > 0


def test_semantic_search_ranks_by_meaning(filled: Store) -> None:
    hits = search(filled, "authentication credentials expire", "semantic")
    assert hits[0].memory.area == "tokens"
    assert {hit.matched for hit in hits} == {"semantic"}
    assert all(0 < hit.score <= 1 for hit in hits)


def test_fused_search_says_what_matched(filled: Store) -> None:
    hits = {hit.memory.area: hit.matched for hit in search(filled, "retry failed jobs")}
    assert hits["queue"] == "both"
    assert hits.get("deploy", "semantic") == "semantic"


def test_fused_search_without_a_model_is_lexical(filled: Store) -> None:
    assert search(filled, "retry", embedder=None) == search(filled, "retry", "lexical")


@pytest.mark.parametrize(
    "spoil",
    ["DELETE FROM vectors WHERE rowid = 1", "UPDATE vectors SET vector = x'00' WHERE rowid = 1",
     "UPDATE vectors SET version = 7 WHERE rowid = 1"],
    ids=["missing", "malformed", "of another version"],
)  # fmt: skip
def test_spoiled_vectors_hide_nothing(filled: Store, spoil: str) -> None:
    """Fused search and context fall back to words; search by meaning says what to do."""
    filled.db.execute(spoil)
    assert search(filled, "retry queue") == search(filled, "retry queue", "lexical")
    assert areas(context(filled, "retry queue")) == ["queue"]
    with pytest.raises(Incomplete, match="mem index"):
        search(filled, "retry queue", "semantic")


def test_unreadable_model_leaves_the_words(filled: Store) -> None:
    class Broken:
        name, hash, dimensions, floor, weight = "broken", "1", 256, 0.4, 0.5

        def embed_memory(self, title: str, content: str) -> Vector:
            raise Unavailable("gone")

        def embed_query(self, text: str) -> Vector:
            raise Unavailable("gone")

    model: Embedder = Broken()
    assert areas(search(filled, "retry queue", embedder=model)) == ["queue"]
    assert areas(context(filled, "retry queue", embedder=model)) == ["queue"]
    with pytest.raises(Unavailable):
        search(filled, "retry queue", "semantic", embedder=model)


def test_semantic_search_needs_a_model(filled: Store) -> None:
    with pytest.raises(Incomplete, match="mem model"):
        search(filled, "retry", "semantic", embedder=None)


def test_unknown_mode_is_refused(filled: Store) -> None:
    with pytest.raises(UsageError, match="lexical, semantic, fused"):
        search(filled, "retry", "vague")


@pytest.mark.parametrize("mode", recall.MODES)
def test_only_current_memories_are_found(filled: Store, mode: str) -> None:
    """Superseded, forgotten and expired ones are gone from every ranking."""
    ids = {memory.area: memory.id for memory in filled.list()}
    filled.correct(ids["tokens"], "Access tokens rotate every two hours.")
    filled.forget(ids["queue"])
    filled.db.execute("UPDATE memories SET expires_at = ? WHERE area = 'deploy'", (timestamp(NOW),))
    found = search(filled, "access tokens, retry queue jobs, deployments migration", mode, now=NOW + 1)
    contents = [hit.memory.content for hit in found]
    assert "Access tokens rotate every two hours." in contents
    assert not set(contents) & {FACTS["tokens"], FACTS["queue"], FACTS["deploy"]}


def test_memory_is_found_until_it_expires(filled: Store) -> None:
    filled.db.execute("UPDATE memories SET expires_at = ? WHERE area = 'deploy'", (timestamp(NOW),))
    assert areas(search(filled, "migration", "lexical", now=NOW - 1)) == ["deploy"]
    assert areas(search(filled, "migration", "lexical", now=NOW)) == []


FILTERED = {
    "kind": ({"kind": "decision"}, ["a"]),
    "area": ({"area": "api"}, ["c", "b"]),
    "area below": ({"area": "api/auth"}, ["c"]),
    "tag": ({"tag": "slow"}, ["b"]),
    "branch by tag": ({"branch": "main"}, ["b", "a"]),
    "since": ({"since": timestamp(NOW + 2)}, ["d", "c"]),
    "before": ({"before": timestamp(NOW + 1)}, ["a"]),
    "two": ({"area": "api", "tag": "branch:main"}, ["b"]),
    "none fits": ({"kind": "goal"}, []),
    "quotes are text": ({"tag": "x' OR '1'='1"}, []),
    "no wildcards": ({"area": "ap%"}, []),
}


@pytest.mark.parametrize("mode", ["lexical", "semantic"])
@pytest.mark.parametrize(("filters", "expected"), FILTERED.values(), ids=FILTERED.keys())
def test_filters_narrow_the_answer(store: Store, mode: str, filters: dict[str, str], expected: list[str]) -> None:
    insert(store, content="cache a", kind="decision", source_ref="branch:main", title="a")
    insert(store, content="cache b", area="api", tags=("slow", "branch:main"), title="b")
    insert(store, content="cache c", area="api/auth", tags=("slower",), title="c")
    insert(store, content="cache d", area="apis", title="d")
    model = MODEL
    from memhooks.memory import vectors

    for memory in store.list():
        vectors.put(store.db, memory.id, memory.version, model, model.embed_memory("", "cache"))
    hits = search(store, "cache", mode, filters=recall.Filters(**filters))
    assert sorted(hit.memory.title for hit in hits) == sorted(expected)


def test_filter_reaches_past_the_nearest(store: Store) -> None:
    """In a large store the few that a filter lets through are found though hundreds are closer."""
    from memhooks.memory import vectors

    close, far = MODEL.embed_query("token"), MODEL.embed_query("sandwich")
    for number in range(vectors.EXACT + 50):
        memory = insert(store, content=f"token {number}", kind="decision" if number == 3 else "fact")
        vectors.put(store.db, memory.id, 1, MODEL, far if number == 3 else close)
    hits = search(store, "sandwiches, or a token", "semantic", filters=recall.Filters(kind="decision"))
    assert [hit.memory.content for hit in hits] == ["token 3"]


@pytest.mark.parametrize("mode", recall.MODES)
def test_ties_give_the_newer_memory_first(store: Store, mode: str) -> None:
    from memhooks.memory import vectors

    for number in range(5):
        memory = insert(store, content="the cache expires", title=str(number))
        store.db.execute("UPDATE words SET title = '' WHERE rowid = ?", (number + 1,))
        vectors.put(store.db, memory.id, 1, MODEL, MODEL.embed_query("the cache expires"))
    assert [hit.memory.title for hit in search(store, "cache", mode)] == ["4", "3", "2", "1", "0"]


def test_title_weighs_more_than_content(store: Store) -> None:
    insert(store, title="Cache", content="It is cleared nightly, at two.")
    insert(store, title="Nightly", content="The cache is cleared, at two.")
    assert [hit.memory.title for hit in search(store, "cache", "lexical")] == ["Cache", "Nightly"]


def test_labels_are_searched(store: Store) -> None:
    store.remember(content="Cleared nightly.", tags=("redis",), area="billing")
    assert len(search(store, "redis", "lexical")) == len(search(store, "billing", "lexical")) == 1


def test_limit_is_kept(filled: Store) -> None:
    assert len(search(filled, "the tokens queue deployments buttons", limit=2)) == 2
    assert search(filled, "tokens", limit=1) == search(filled, "tokens", limit=5)[:1]


def test_prefix_finds_while_typing(filled: Store) -> None:
    assert areas(search(filled, "migratio", "lexical", prefix=True)) == ["deploy"]


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("how long are access tokens cached", id="words and meaning"),
        pytest.param("button color", id="meaning"),
        pytest.param("drops", id="one word that is there"),
    ],
)
def test_context_speaks_when_something_is_relevant(filled: Store, query: str) -> None:
    assert context(filled, query)


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("thanks, that looks good", id="chat"),
        pytest.param("who won the football match in Lisbon", id="another subject"),
        pytest.param("continue", id="one word that is not there"),
        pytest.param("", id="empty"),
        pytest.param("the of and", id="stop words"),
        pytest.param("数据库", id="another script"),
    ],
)
def test_context_is_silent_when_nothing_is_relevant(filled: Store, query: str) -> None:
    assert context(filled, query) == []


def test_context_finds_scripts_that_the_model_can_not_read(store: Store) -> None:
    store.remember(content="数据库连接池的上限是二十。")
    store.remember(content="Buttons use the primary colour.")
    assert [hit.memory.content for hit in context(store, "数据库的连接")] == ["数据库连接池的上限是二十。"]


def test_context_leaves_out_what_is_far_below_the_best(filled: Store) -> None:
    assert areas(context(filled, "how long does the gateway cache access tokens")) == ["tokens"]
    assert len(search(filled, "how long does the gateway cache access tokens")) > 1


def test_search_has_no_floor(filled: Store) -> None:
    assert context(filled, "passport renewal") == []
    assert search(filled, "passport renewal")


@pytest.mark.parametrize("mode", recall.MODES)
def test_empty_store_answers_nothing(store: Store, mode: str) -> None:
    assert search(store, "tokens", mode) == []
    assert context(store, "tokens") == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.characters(codec=None, categories=None), max_size=200))
def test_no_query_raises(filled: Store, query: str) -> None:
    for mode in recall.MODES:
        search(filled, query, mode, prefix=mode == "lexical")
    context(filled, query)


@pytest.mark.parametrize("query", ["x" * 1_000_000, "word " * 100_000, "a_" * 50_000, "数" * 50_000, "\0" * 1000])
def test_huge_query_is_answered(filled: Store, query: str) -> None:
    for mode in recall.MODES:
        search(filled, query, mode)


def test_search_reads_one_state(filled: Store) -> None:
    """A writer between two reads of a search changes nothing of its answer."""
    other = sqlite3.connect(filled.path, isolation_level=None)
    interfered = []

    class Meddler:
        name, hash, dimensions, floor, weight = MODEL.name, MODEL.hash, MODEL.dimensions, MODEL.floor, 0.5

        def embed_query(self, text: str) -> Vector:
            return MODEL.embed_query(text)

        def embed_memory(self, title: str, content: str) -> Vector:
            return MODEL.embed_memory(title, content)

    def meddle(statement: str) -> None:
        if "FROM vectors" in statement or "JOIN vectors" in statement:
            interfered.append(other.execute("DELETE FROM vectors").rowcount)

    filled.db.set_trace_callback(meddle)
    hits = search(filled, "retry queue", embedder=Meddler())
    filled.db.set_trace_callback(None)
    other.close()
    assert interfered
    assert hits[0].matched == "both"
    assert not filled.db.in_transaction
