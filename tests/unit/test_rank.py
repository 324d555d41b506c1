"""Cosines, sign distances and fusion against the plain definitions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.memory import rank


def plain_cosine(first: bytes, second: bytes) -> float:
    one, two = memoryview(first).cast("b"), memoryview(second).cast("b")
    lengths = sum(x * x for x in one) * sum(x * x for x in two)
    return sum(x * y for x, y in zip(one, two, strict=True)) / lengths**0.5 if lengths else 0.0


@settings(deadline=None)
@given(query=st.binary(min_size=8, max_size=8), rows=st.lists(st.binary(min_size=8, max_size=8), max_size=5))
def test_cosines_are_exact(query: bytes, rows: list[bytes]) -> None:
    expected = [plain_cosine(query, row) for row in rows]
    assert rank.cosines(query, b"".join(rows)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("extreme", [b"\x80", b"\x7f", b"\xff", b"\x00"], ids=["-128", "127", "-1", "0"])
def test_cosines_do_not_overflow(extreme: bytes) -> None:
    query, rows = b"\x80" * 1024, extreme * 1024 + b"\x80" * 1024
    expected = [plain_cosine(query, rows[:1024]), 1.0]
    assert rank.cosines(query, rows) == pytest.approx(expected)


def test_distances_count_differing_bits() -> None:
    assert rank.distances(b"\xf0\x0f", b"\xf0\x0f" + b"\x0f\xf0" + b"\xf0\x0e") == [0, 16, 1]


def test_nearest_keeps_ties_with_the_last() -> None:
    assert rank.nearest([5, 1, 3, 3, 9], 2) == [1, 2, 3]


def test_nearest_takes_all_of_few() -> None:
    assert rank.nearest([5, 1], 3) == [0, 1]


def test_fuse_adds_normalised_scores() -> None:
    fused = rank.fuse({1: 10.0, 2: 5.0}, {2: 0.8, 3: 0.4})
    assert fused == [(2, pytest.approx(0.75), "both"), (1, pytest.approx(0.5), "lexical"), (3, 0.25, "semantic")]


def test_fuse_weighs_meaning() -> None:
    assert [key for key, _, _ in rank.fuse({1: 1.0}, {2: 1.0}, weight=0.6)] == [2, 1]


@pytest.mark.parametrize(
    ("lexical", "semantic", "keys"),
    [
        pytest.param({}, {}, [], id="nothing"),
        pytest.param({1: 2.0}, {}, [1], id="words alone"),
        pytest.param({}, {1: 0.2, 2: 0.3}, [2, 1], id="meaning alone"),
        pytest.param({}, {1: 0.0, 2: -0.5}, [], id="opposite meaning does not count"),
        pytest.param({1: 1e-6}, {1: -0.5}, [1], id="opposite meaning leaves the words"),
        pytest.param({4: 1.0, 9: 1.0, 2: 1.0}, {}, [9, 4, 2], id="ties by the greatest key"),
    ],
)
def test_fuse_orders(lexical: dict[int, float], semantic: dict[int, float], keys: list[int]) -> None:
    assert [key for key, _, _ in rank.fuse(lexical, semantic)] == keys


def test_fuse_does_not_depend_on_insertion_order() -> None:
    dice = random.Random(4)
    scores = {key: dice.choice([0.5, 1.0]) for key in range(50)}
    shuffled = dict(dice.sample(sorted(scores.items()), len(scores)))
    assert rank.fuse(scores, scores) == rank.fuse(shuffled, shuffled)


def test_lift_raises_the_area_of_the_first_hits() -> None:
    scored = [(1, 0.8, "both"), (2, 0.4, "both"), (3, 0.4, "semantic"), (4, 0.38, "lexical"), (5, 0.1, "both")]
    lifted = rank.lift_areas(scored, {1: "auth", 2: "ui", 4: "auth"})
    assert [key for key, _, _ in lifted] == [1, 4, 2, 3, 5]
    assert lifted[-1] == (5, 0.1, "both")


@pytest.mark.parametrize("areas", [{}, {9: "auth"}], ids=["none", "of others"])
def test_lift_without_areas_changes_nothing(areas: dict[int, str]) -> None:
    scored = [(2, 0.8, "both"), (1, 0.4, "both")]
    assert rank.lift_areas(scored, areas) == scored


def test_lift_of_nothing() -> None:
    assert rank.lift_areas([], {}) == []
