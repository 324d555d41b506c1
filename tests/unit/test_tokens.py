"""The token estimate: a bound from above, and entries fitted to a budget."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.memory.tokens import RESERVE, estimate, fit


@pytest.mark.parametrize(
    ("text", "real"),
    [
        # The greatest count of cl100k, o200k, Qwen, DeepSeek and Claude 2.
        pytest.param("The gateway caches tokens for five minutes.", 9, id="prose"),
        pytest.param("def create_path(path): os.makedirs(path)", 13, id="code"),
        pytest.param("9f86d081884c7d659a2feaa0c55ad015", 29, id="hash"),
        pytest.param("\N{HIRAGANA LETTER A}" * 20, 20, id="kana"),
        pytest.param("\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 50, 50, id="one everyday character"),
        pytest.param("\0" * 100, 100, id="control characters"),
        pytest.param("\N{GRINNING FACE}" * 50, 150, id="emoji"),
        # Claude 4.7 marks where a word that it does not know begins, ends and has a capital.
        pytest.param("\N{ARMENIAN CAPITAL LETTER FEH} " * 20, 101, id="rare capitals apart"),
        pytest.param("\N{LATIN SMALL LETTER TURNED H WITH FISHHOOK} " * 40, 161, id="rare letters apart"),
        pytest.param("\N{LATIN CAPITAL LETTER A WITH STROKE} " * 20, 121, id="a capital shorter than its small letter"),
        pytest.param("\N{GURMUKHI LETTER SHA}" * 30, 180, id="a letter that composed form takes apart"),
    ],
)
def test_estimate_is_not_below_real_counts(text: str, real: int) -> None:
    assert estimate(text) >= real


def test_estimate_stays_near_for_prose() -> None:
    text = (
        "Run the tests before a push; the pipeline runs the same targets on every branch and reports what failed. " * 5
    )
    assert len(text) / 6 < estimate(text) < len(text) / 3


def letters(first: int, last: int) -> str:
    return "".join(chr(code) for code in range(first, last) if unicodedata.category(chr(code)) not in ("Cn", "Cs"))


@pytest.mark.parametrize(
    "alphabet",
    [
        pytest.param(letters(0x3400, 0x4DB0), id="rare Han"),
        pytest.param(letters(0x4E00, 0x9FA6), id="any Han"),
        pytest.param(letters(0xAC00, 0xD7A4), id="any Hangul"),
        pytest.param(letters(0x531, 0x588), id="Armenian"),
        pytest.param(letters(0x1200, 0x137D), id="Ethiopic"),
        pytest.param(letters(0xF00, 0xFC0), id="Tibetan"),
        pytest.param(letters(0x250, 0x370), id="phonetic letters and accents"),
    ],
)
def test_uncommon_characters_cost_their_bytes(alphabet: str) -> None:
    """Tokenizers fall back to bytes, so text that no tokenizer learned may cost as many tokens."""
    dice = random.Random(1)
    text = "".join(dice.choices([char for char in alphabet if estimate(char) - 3 > len(char.encode()) - 1], k=300))
    assert estimate(text) >= len(text.encode())


def test_everyday_han_costs_less_than_its_bytes() -> None:
    assert estimate("我们在中国学习新的方法") < 3 * 11


def test_empty_text_costs_nothing() -> None:
    assert estimate("") == 0


@settings(deadline=None)
@given(text=st.text(max_size=200), more=st.text(max_size=50))
def test_longer_text_costs_no_less(text: str, more: str) -> None:
    """What is appended after a line end can only add."""
    assert estimate(f"{text}\n{more}") >= estimate(text)


@settings(deadline=None)
@given(text=st.text(st.characters(codec=None, categories=None)))
def test_any_text_is_estimated(text: str) -> None:
    assert estimate(text) >= 0


def test_runs_of_spaces_are_cheap() -> None:
    assert estimate("a" + " " * 1000 + "b") < 250


def test_reserve_is_inside() -> None:
    assert RESERVE >= 1.05
    assert estimate("word " * 1000) >= 1000 * RESERVE


def test_fit_skips_what_is_too_long_and_goes_on() -> None:
    entries = ["short", "long " * 200, "short too"]
    assert fit(entries, 40) == [0, 2]


def test_fit_fills_the_budget_and_no_more() -> None:
    cost = estimate("entry")
    assert fit(["entry"] * 5, 3 * cost) == [0, 1, 2]
    assert fit(["entry"] * 5, 3 * cost - 1) == [0, 1]
    assert fit(["entry"], 0) == []
