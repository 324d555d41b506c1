"""Records: ids, times, the cleaning of text, limits, kinds, tags, expiry, and what counts as the same text."""

from __future__ import annotations

import unicodedata
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memhooks.memory import record
from memhooks.memory.errors import Rejected, UsageError

NOW = 1_767_225_600.0  # 2026-01-01T00:00:00Z


def test_new_id_is_uuid_version_7() -> None:
    made = uuid.UUID(record.new_id(NOW))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == int(NOW * 1000)
    assert len({record.new_id(NOW) for _ in range(1000)}) == 1000
    assert record.new_id(NOW) < record.new_id(NOW + 0.001)


def test_timestamp_sorts_as_text_and_comes_back() -> None:
    assert record.timestamp(NOW) == "2026-01-01T00:00:00.000000Z"
    stamps = [record.timestamp(NOW + step) for step in (0, 0.000001, 0.5, 1, 60, 1e6)]
    assert stamps == sorted(stamps)
    assert record.seconds(record.timestamp(NOW + 0.25)) == NOW + 0.25
    assert record.seconds("2026-01-01T01:00:00+01:00") == record.seconds("2026-01-01T00:00:00") == NOW


@pytest.mark.parametrize(
    ("given_text", "wanted"),
    [
        ("  a\r\nb\rc \n", "a\nb\nc"),
        ("tab\tstays", "tab\tstays"),
        ("e\u0301", "é"),
        ("", ""),
        ("👩\u200d💻 中文", "👩\u200d💻 中文"),
    ],
    ids=["line ends", "tab", "nfc", "empty", "emoji and han"],
)
def test_clean_gives_one_form(given_text: str, wanted: str) -> None:
    assert record.clean(given_text, "the text", 100) == wanted


@pytest.mark.parametrize(
    "bad", ["\0", "\x07", "\x1b[2J", "\x7f", "\x9b", "\u202e", "\u2066", "\ud800", "\udcff"], ids=ascii
)
def test_clean_refuses_what_drives_a_terminal(bad: str) -> None:
    with pytest.raises(UsageError) as caught:
        record.clean(f"ok {bad}", "the title", 100)
    assert caught.value.reason == "invalid_text"
    assert caught.value.message == f"the title holds the control character U+{ord(bad[0]):04X} at position 4; remove it"
    assert record.printable(f"ok {bad}") == "ok " + bad[1:]


def test_clean_counts_after_cleaning_and_says_the_figure() -> None:
    assert record.clean(" " + "é" * 500 + "\n", "the text", 500) == "é" * 500
    assert record.clean("e\u0301" * 500, "the text", 500) == "é" * 500
    with pytest.raises(Rejected, match=r"the text has 1,501 characters; the limit is 500") as caught:
        record.clean("x" * 1501, "the text", 500)
    assert caught.value.reason == "too_long"


@given(st.text())
def test_clean_gives_printable_text_or_refuses(text: str) -> None:
    try:
        cleaned = record.clean(text, "the text", 1000)
    except (UsageError, Rejected):
        return
    assert record.printable(cleaned) == cleaned == unicodedata.normalize("NFC", cleaned)
    assert record.clean(cleaned, "the text", 2000) == cleaned
    cleaned.encode()


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ("Use uv. Not pip.", "Use uv"),
        ("Use uv, not pip", "Use uv, not pip"),
        ("Why? Because.", "Why?"),
        ("Version 1.2 is out", "Version 1.2 is out"),
        ("first\nsecond", "first"),
        ("x" * 81, "x" * 79 + "…"),
        ("x" * 80, "x" * 80),
        ("中文句子。第二句", "中文句子。第二句"),
    ],
)
def test_title_is_the_first_line_or_sentence(content: str, wanted: str) -> None:
    assert record.derive_title(content, 80) == wanted


@given(st.text(min_size=1, max_size=300).filter(str.strip))
def test_title_never_passes_its_limit(content: str) -> None:
    assert len(record.derive_title(content.strip(), 80)) <= 80


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("", "a  b\nc"), ("", "a b c")),
        (("T", "café"), (" T ", "cafe\u0301")),
        (("a", "a\nb"), ("a b", "a b")),
        (("xxx…", "xxx yyy"), ("", "xxx yyy")),
    ],
    ids=["white space", "nfc", "derived titles of two layouts", "cut title"],
)
def test_fingerprint_of_the_same_text(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert record.fingerprint(*one) == record.fingerprint(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [(("A", "x"), ("B", "x")), (("", "x"), ("", "X")), (("A", "x"), ("", "A x")), (("a b", "c"), ("a", "b c"))],
    ids=["title", "case", "title in the text", "border"],
)
def test_fingerprint_of_different_texts(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert record.fingerprint(*one) != record.fingerprint(*other)


def test_kind_area_fact_is_fact() -> None:
    assert [record.check_kind(kind) for kind in record.KINDS] == list(record.KINDS)
    assert record.check_kind("area_fact") == "fact"
    with pytest.raises(UsageError, match="fact, decision, gotcha"):
        record.check_kind("rumour\x1b")


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        (["a", "b", "a"], ("a", "b")),
        (("a",), ("a",)),
        ('["a", "b c"]', ("a", "b c")),
        ("a, b,,", ("a", "b")),
        ("", ()),
        (["  two\nlines "], ("two lines",)),
    ],
    ids=["list", "tuple", "json in a string", "commas", "empty", "white space"],
)
def test_tags_in_every_form_that_agents_send(tags: object, wanted: tuple[str, ...]) -> None:
    assert record.check_tags(tags, 10) == wanted


@pytest.mark.parametrize("tags", ["[", '[1, "a"]', [1], {"a": 1}, 7, None, "[" * 100_000])
def test_tags_that_are_no_words_are_refused(tags: object) -> None:
    with pytest.raises(UsageError):
        record.check_tags(tags, 10)


def test_tags_over_their_limit_are_refused() -> None:
    assert len(record.check_tags([str(n) for n in range(10)], 10)) == 10
    for tags in ([str(n) for n in range(11)], ["x" * 51]):
        with pytest.raises(Rejected) as caught:
            record.check_tags(tags, 10)
        assert caught.value.reason == "too_long"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", ""),
        ("12h", "2026-01-01T12:00:00.000000Z"),
        ("30d", "2026-01-31T00:00:00.000000Z"),
        ("1W", "2026-01-08T00:00:00.000000Z"),
        ("1y", "2027-01-01T00:00:00.000000Z"),
        ("2026-02-01", "2026-02-01T23:59:59.000000Z"),
        ("2026-02-01T10:00", "2026-02-01T10:00:00.000000Z"),
        ("2026-02-01T10:00:00+02:00", "2026-02-01T08:00:00.000000Z"),
        ("2026-01-01", "2026-01-01T23:59:59.000000Z"),
    ],
)
def test_expiry_of_dates_and_spans(text: str, wanted: str) -> None:
    assert record.expiry(text, NOW) == wanted


@pytest.mark.parametrize("text", ["soon", "0d", "2025-12-31", "-1d", "99999y", "2026-13-01", "30 d", "1e3d"])
def test_expiry_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="30d"):
        record.expiry(text, NOW)


@given(st.text(max_size=20))
def test_expiry_never_raises_anything_else(text: str) -> None:
    try:
        stamp = record.expiry(text, NOW)
    except UsageError:
        return
    assert stamp == "" or record.seconds(stamp) > NOW
