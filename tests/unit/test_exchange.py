"""NDJSON lines, which of them holds, and the merge of lines into a store."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memhooks.memory import exchange, ndjson
from memhooks.memory import store as rows
from memhooks.memory.api import Store
from memhooks.memory.errors import MemError
from memhooks.memory.record import Limits

A = "01990000-0000-7000-8000-00000000000a"
B = "01990000-0000-7000-8000-00000000000b"
STAMP = "2026-01-02T03:04:05.000000Z"
KEY = "ghp_" + "a1B2" * 9  # shaped like a token, and none


def line(ident: str = A, content: str = "a fact", **fields: object) -> str:
    base = {"id": ident, "content": content, "created_at": STAMP, "updated_at": STAMP}
    return json.dumps({**base, **fields})


def contents(store: Store) -> list[str]:
    return sorted(one.content for one in store.list())


def refusal(store: Store, *lines: str) -> MemError:
    with pytest.raises(MemError) as caught:
        exchange.import_lines(store, lines)
    return caught.value


def test_round_trip_keeps_every_field(store: Store, tmp_path: Path) -> None:
    """Kind, actor, source, times and supersession survive, and so does what only a newer program knows."""
    first = store.remember(content="old wording", kind="decision", area="auth", tags=["x", "y"], actor="ann",
                           source_type="commit", source_ref="abc", confidence=0.5, expires="2099-01-01", pinned=True,
                           shared=True, title="T\u2028itle")  # fmt: skip
    store.correct(first.id, "new wording")
    exchange.import_lines(store, [line(B, "with more", mood="good", nested={"a": [1, None]})])
    told = list(exchange.export_lines(store, include_superseded=True))
    with Store.open(str(tmp_path / "two" / "mem.db")) as other:
        result = exchange.import_lines(other, told)
        assert (result.added, result.updated) == (3, 0)
        assert list(exchange.export_lines(other, include_superseded=True)) == told
        assert exchange.import_lines(other, told).unchanged == 3
        assert other.search("wording") and other.search("wording", mode="semantic")
    assert json.loads(told[1])["superseded_by"] == json.loads(told[2])["id"]


def test_export_is_by_creation_and_without_history(store: Store) -> None:
    first = store.remember(content="one")
    store.remember(content="two")
    store.correct(first.id, "three")
    told = [json.loads(text) for text in exchange.export_lines(store)]
    assert [one["content"] for one in told] == ["two", "three"]
    assert list(told[0]) == ["id", *sorted(set(told[0]) - {"id"})]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not JSON"),
        ('["a"]', "not a JSON object"),
        ('{"content":"x"}', "no id"),
        (f'{{"id":"{A}"}}', "no content"),
        (f'{{"id":"{A}","content":7}}', "no content"),
        ('{"id":"../../x","content":"x"}', "no id"),
        (f'{{"id":"{A}","content":"x","n":NaN}}', "not JSON"),
        ("<<<<<<< HEAD", "conflict marker"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_import_refuses_a_broken_line_whole(store: Store, text: str, word: str) -> None:
    error = refusal(store, line(), "", text)
    assert error.reason == "broken_line" and "line 3" in error.message and word in error.message
    assert contents(store) == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"content": f"the token is {KEY}"}, "secret_detected"),
        ({"tags": [KEY]}, "secret_detected"),
        ({"future": {"deep": [f"key {KEY}"]}}, "secret_detected"),
        ({"content": "x" * 501}, "too_long"),
        ({"title": "x" * 81}, "too_long"),
        ({"future": "word " * 3000}, "too_long"),
        ({"content": "bell \x07"}, "invalid_text"),
    ],
    ids=["content", "tag", "unknown field", "long content", "long title", "long unknown field", "control"],
)
def test_import_refuses_what_may_not_be_kept(store: Store, fields: dict[str, object], reason: str) -> None:
    error = refusal(store, line(B), json.dumps(json.loads(line()) | fields))
    assert error.reason == reason and "line 2" in error.message and KEY not in error.message
    assert contents(store) == []


def test_import_over_the_cap_changes_nothing(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "mem.db"), limits=Limits(memories=1)) as store:
        assert refusal(store, line(A, "one"), line(B, "two")).reason == "cap_reached"
        assert contents(store) == []


@pytest.mark.parametrize(
    "fields",
    [{"kind": "rumour"}, {"tags": 7}, {"confidence": "high"}, {"expires_at": "soon"}, {"version": 10**30},
     {"pinned": "yes"}, {"area": None}, {"created_at": "long ago"}, {"supersedes": "x/y"}, {"recall_count": -1}],
    ids=lambda fields: next(iter(fields)),
)  # fmt: skip
def test_import_keeps_values_that_it_does_not_understand(store: Store, fields: dict[str, object]) -> None:
    """One odd value fails neither the record nor the import, and comes out again as it went in."""
    result = exchange.import_lines(store, [line(A, "odd", **fields), line(B, "even")])
    assert result.added == 2
    told = {one["id"]: one for one in map(json.loads, exchange.export_lines(store))}
    assert all(told[A][name] == value for name, value in fields.items())


def test_import_passes_over_a_status_of_the_future(store: Store) -> None:
    result = exchange.import_lines(store, [line(A, status="archived"), line(B, "even")])
    assert [one.id for one in result.skipped] == [A] and contents(store) == ["even"]


def test_import_takes_bom_crlf_and_line_separators(store: Store) -> None:
    data = ("\ufeff" + line(A, "one\u2028two") + "\r\n\r\n" + line(B, "even") + "\r\n").encode()
    assert exchange.import_lines(store, ndjson.split(data)).added == 2
    with pytest.raises(ndjson.BrokenLine, match="line 2 is not UTF-8"):
        ndjson.split(b"{}\n\xff\n")


def test_import_does_not_bring_back_what_was_forgotten(store: Store) -> None:
    kept = store.remember(content="a zebra")
    told = list(exchange.export_lines(store))
    store.forget(kept.id)
    assert exchange.import_lines(store, told).unchanged == 1
    assert contents(store) == []


def test_tombstone_erases_the_text_from_the_file(store: Store) -> None:
    first = store.remember(content="a zebra ran", shared=True)
    second = store.correct(first.id, "a zebra walked")
    stone = json.dumps({"id": second.id, "status": "forgotten", "version": 9, "updated_at": STAMP})
    assert exchange.import_lines(store, [stone]).forgotten == 1
    store.close()
    assert all(b"zebra" not in path.read_bytes() for path in Path(store.path).parent.iterdir())


def test_import_makes_history_of_what_the_new_memory_replaced(store: Store) -> None:
    exchange.import_lines(store, [line(A, "old")])
    exchange.import_lines(store, [line(B, "new", supersedes=A)])
    assert contents(store) == ["new"] and store.get(A).superseded_by == B


def test_import_does_not_double_a_text_that_is_there(store: Store) -> None:
    store.remember(content="the same text")
    result = exchange.import_lines(store, [line(A, "the  same text ")])
    assert [one.rule for one in result.skipped] == ["same_text"] and contents(store) == ["the same text"]


def test_share_marks_origin_and_leaves_local_notes_alone(store: Store) -> None:
    """What came from others says so; pins and counts in the file are nobody's business."""
    exchange.share_lines(store, [line(actor="ann", pinned=True, recall_count=7)], origin="memories.ndjson")
    memory = store.get(A)
    assert (memory.actor, memory.origin, memory.shared) == ("ann", "memories.ndjson", True)
    assert (memory.pinned, memory.recall_count) == (False, 0)


def test_share_refuses_record_by_record(store: Store) -> None:
    result = exchange.share_lines(store, [line(A, f"token {KEY}"), line(B, "fine")], origin="f")
    assert contents(store) == ["fine"]
    assert [(one.id, one.masked) for one in result.refused] == [(A, KEY[:4] + "…")]


def test_share_leaves_private_memories_alone(store: Store) -> None:
    mine = store.remember(content="private")
    stone = json.dumps({"id": mine.id, "status": "forgotten", "version": 9, "updated_at": STAMP})
    exchange.share_lines(store, [stone, line(mine.id, "changed", version=8)], origin="f")
    assert contents(store) == ["private"]


RECORDS = st.builds(
    lambda ident, version, stamp, words, status, extra: ndjson.dump(
        {"id": ident, "status": "forgotten", "version": version, "updated_at": stamp}
        if status == "forgotten"
        else {"id": ident, "content": words, "version": version, "status": status, "created_at": STAMP,
              "updated_at": stamp, **extra}
    ),
    st.sampled_from([A, B, A[:-1] + "c"]),
    st.integers(1, 3),
    st.sampled_from([STAMP, "2026-01-02T03:04:06.000000Z", "2026-01-02"]),
    st.sampled_from(["alpha", "beta", "gamma"]),
    st.sampled_from(["active", "active", "superseded", "forgotten"]),
    st.sampled_from([{}, {"kind": "fact"}, {"kind": "rumour"}, {"x": 1}, {"pinned": True}]),
)  # fmt: skip


@given(st.lists(RECORDS, max_size=8))
def test_reduction_does_not_depend_on_order_or_repetition(lines: list[str]) -> None:
    expected = {ident: one.text for ident, one in ndjson.reduce(ndjson.parse(lines)).items()}
    for other in itertools.islice(itertools.permutations(lines), 24):
        assert {i: one.text for i, one in ndjson.reduce(ndjson.parse([*other, *other])).items()} == expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(RECORDS, max_size=6), st.randoms())
def test_stores_that_saw_the_same_lines_hold_the_same(tmp_path_factory: pytest.TempPathFactory, lines: list[str],
                                                      chance: object) -> None:  # fmt: skip
    """Whatever the order and the portions in which the lines came. Texts differ by id: doubles are another test."""
    told = []
    for _ in range(2):
        order = [text.replace('"content":"', f'"content":"{text[7:43]} ') for text in lines]
        chance.shuffle(order)  # type: ignore[attr-defined]
        with Store.open(str(tmp_path_factory.mktemp("s") / "mem.db")) as store:
            for text in order:
                exchange.share_lines(store, [text], origin="f")
            told.append([*exchange.export_lines(store, include_superseded=True), *map(str, graves(store))])
    assert told[0] == told[1]


def graves(store: Store) -> list[str]:
    return [stone.id for stone in rows.tombstones(store.db)]
