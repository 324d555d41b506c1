"""The notebook as text: pages, pieces, outline, search, front matter and what a write may not hold."""

from __future__ import annotations

import pytest
from memhooks.memory import notebook
from memhooks.memory.errors import Rejected, UsageError
from memhooks.memory.policy import scan
from memhooks.memory.tokens import estimate

TEXT = """---
last_dream: 2026-01-02T03:04:05Z
owner: "team"
---
# Project

Preamble about `cache`.

## Build

```sh
# not a heading
make all
```

### CI ###

Runs on push. Cache is warm.
"""


def test_outline_lists_headings_outside_code_and_front_matter() -> None:
    assert notebook.outline(TEXT) == [(5, 1, "Project"), (9, 2, "Build"), (16, 3, "CI")]


@pytest.mark.parametrize(
    ("offset", "limit", "first", "last"),
    [(0, None, 1, 18), (1, None, 1, 18), (5, 3, 5, 7), (18, 9, 18, 18), (0, 2, 1, 2)],
)
def test_read_counts_lines_from_one(offset: int, limit: int | None, first: int, last: int) -> None:
    page = notebook.read(TEXT, offset=offset, limit=limit)
    assert (page.first, page.last, page.total) == (first, last, 18)
    assert page.text == "".join(TEXT.splitlines(keepends=True)[first - 1 : last])


@pytest.mark.parametrize(("offset", "limit"), [(-1, None), (19, None), (1, 0), (1, -3)])
def test_read_refuses_lines_that_can_not_be(offset: int, limit: int | None) -> None:
    with pytest.raises(UsageError):
        notebook.read(TEXT, offset=offset, limit=limit)


def test_read_of_an_empty_notebook_is_empty() -> None:
    assert notebook.read("") == ("", 1, 0, 0)


def test_read_over_the_limit_names_pieces_that_fit() -> None:
    text = "".join(f"## Part {n}\n\n" + "Some words of a long story, again and again.\n" * 300 for n in range(12))
    with pytest.raises(notebook.TooLarge) as caught:
        notebook.read(text)
    pieces = caught.value.pieces
    assert "offset 1 limit" in caught.value.message
    assert len(pieces) > 1
    joined = "".join(notebook.read(text, offset=piece.offset, limit=piece.limit).text for piece in pieces)
    assert joined == text
    assert all(estimate(notebook.read(text, offset=p.offset, limit=p.limit).text) <= 20_000 for p in pieces)
    assert {piece.title for piece in pieces} <= {f"Part {n}" for n in range(12)}


def test_read_of_a_line_too_long_for_an_answer_says_so() -> None:
    with pytest.raises(notebook.TooLarge, match="line 2 alone") as caught:
        notebook.read("# P\n" + "one two " * 20_000 + "\nthree\n", offset=2, limit=1)
    assert caught.value.pieces == []


def test_search_shows_a_very_long_line_around_the_query() -> None:
    text = "x " * 50_000 + "needle" + " y" * 50_000
    ((number, line),) = notebook.search(text, "Needle").lines
    assert number == 1
    assert "needle" in line and line[0] == line[-1] == "…"
    assert len(line) < 1100


def test_search_gives_line_numbers_and_ignores_case() -> None:
    found = notebook.search(TEXT, "CACHE")
    assert found.lines == [(7, "Preamble about `cache`."), (18, "Runs on push. Cache is warm.")]
    assert found.total == 2


def test_search_falls_back_to_all_words() -> None:
    assert [number for number, _ in notebook.search(TEXT, "warm push").lines] == [18]
    assert notebook.search(TEXT, "absent word").lines == []


def test_search_stops_at_fifty_and_counts_the_rest() -> None:
    found = notebook.search("same\n" * 120, "same", limit=1000)
    assert (len(found.lines), found.total) == (50, 120)


@pytest.mark.parametrize("query", ["", "   "])
def test_search_wants_a_query(query: str) -> None:
    with pytest.raises(UsageError):
        notebook.search(TEXT, query)


@pytest.mark.parametrize(
    "text",
    [
        "$(cat notes.md)", " $(cat <<EOF\nhello\nEOF\n)\n", "`cat notes.md`", "$NOTES", "${NOTES}", "<(cat notes.md)",
        "# Notes\n\n$(cat notes.md)\n", "Info: $(< notes.md) end", "On $(date) we wrote",
        "# Notes\n$(make notes)\n",
    ],
)  # fmt: skip
def test_write_refuses_unexpanded_substitutions(text: str) -> None:
    with pytest.raises(Rejected) as caught:
        notebook.check_new(text)
    assert caught.value.reason == "shell_substitution"


@pytest.mark.parametrize(
    "text",
    [
        "Run `$(git rev-parse HEAD)` first.", "```sh\nx=$(cat a)\n```\n", "Costs $5 (or $6)",
        "jQuery's $(document) works",
        "~~~\n$(cat a)\n~~~\ntext", "`cat notes.md` prints them", "Set $HOME and ${PATH} right.",
    ],
)  # fmt: skip
def test_write_takes_text_about_shells(text: str) -> None:
    assert notebook.check_new(text) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("a\0b", "invalid_text"),
        ("a\ud800", "invalid_text"),
        ("a" * 2_000_001, "too_long"),
    ],
    ids=["empty", "blank", "nul", "surrogate", "long"],
)
def test_write_refuses_what_is_no_text(text: str, reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        notebook.check_new(text)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("---\na: 1\n---\nold\n", "new\n", "---\na: 1\n---\nnew\n"),
        ("---\na: 1\n---\nold\n", "---\nb: 2\n---\nnew\n", "---\nb: 2\n---\nnew\n"),
        ("old\r\nline\r\n", "new\nline\n", "new\r\nline\r\n"),
        ("old\r\nline\n", "new\nline\n", "new\nline\n"),
        ("---\r\na: 1\r\n---\r\nold\r\n", "new\n", "---\r\na: 1\r\n---\r\nnew\r\n"),
        ("", "new\n", "new\n"),
    ],
    ids=["front", "own-front", "crlf", "mixed", "front-crlf", "first"],
)
def test_overwritten_keeps_front_matter_and_line_ends(old: str, new: str, expected: str) -> None:
    assert notebook.overwritten(old, new) == expected


def test_front_matter_is_read_and_changed_in_place() -> None:
    assert notebook.front_value(TEXT, "last_dream") == "2026-01-02T03:04:05Z"
    assert notebook.front_value(TEXT, "owner") == "team"
    assert notebook.front_value("# no front\nlast_dream: x\n", "last_dream") == ""
    changed = notebook.with_front_value(TEXT, "last_dream", "new")
    assert changed == TEXT.replace("2026-01-02T03:04:05Z", "new")
    assert notebook.with_front_value(TEXT, "more", "1") == TEXT.replace('"team"\n', '"team"\nmore: 1\n')


def test_front_matter_is_added_with_the_ends_in_use() -> None:
    assert notebook.with_front_value("# T\r\nx\r\n", "k", "v") == "---\r\nk: v\r\n---\r\n\r\n# T\r\nx\r\n"
    assert notebook.with_front_value("\ufeff# T\n", "k", "v") == "\ufeff---\nk: v\n---\n\n# T\n"


def test_new_findings_leave_out_what_was_there() -> None:
    secret = "ghp_" + "016C7ZsF9cGFbZ4R1dkP2mQ8xW3vYt5LhN0b"  # made up
    old = f"token {secret}\n"
    same, twice = f"intro\ntoken {secret}\nmore\n", f"{old}again {secret}\n"
    assert notebook.new_findings(old, same, scan_old=scan(old), scan_new=scan(same)) == []
    assert len(notebook.new_findings(old, twice, scan_old=scan(old), scan_new=scan(twice))) == 1
    assert notebook.place(twice, twice.rindex(secret)) == (2, 7)
