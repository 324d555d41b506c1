"""SEARCH/REPLACE on text: exactly one place, never a guess, and untouched lines keep their bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memhooks.memory.errors import Ambiguous, MemError, NotFound, UsageError
from memhooks.memory.patch import apply, bodies, parse, split_lines


def block(search: str, replace: str, size: int = 7) -> str:
    middle = f"{replace}\n" if replace else ""
    return f"{'<' * size} SEARCH\n{search}\n{'=' * size}\n{middle}{'>' * size} REPLACE\n"


@pytest.mark.parametrize(
    ("text", "search", "replace", "expected"),
    [
        ("a\nb\nc\n", "b", "B", "a\nB\nc\n"),
        ("a\nb\nc\n", "b", "", "a\nc\n"),
        ("a\nb\nc\n", "b\nc", "B\nX\nC", "a\nB\nX\nC\n"),
        ("a\nb", "b", "B", "a\nB"),
        ("a\nb", "b", "B\nC", "a\nB\nC"),
        ("use npm, not yarn\n", "npm, not yarn", "pnpm", "use pnpm\n"),
        ("a\n", "a\n", "X\n", "X\n"),
        ("a\n", "a\n", "X", "X\n"),
        ("a\n\nb\n", "a\n\n", "", "b\n"),
        ("# T\n\n```sh\nmake\n```\n", "```sh\nmake\n```", "```sh\nmake all\n```", "# T\n\n```sh\nmake all\n```\n"),
        ("é ü 漢字\n", "漢字", "字", "é ü 字\n"),
    ],
    ids=[
        "line",
        "delete",
        "grow",
        "no-final-end",
        "grow-no-final-end",
        "part",
        "trailing",
        "final-end-stays",
        "blank",
        "fence",
        "unicode",
    ],
)
def test_patch_replaces_the_one_place(text: str, search: str, replace: str, expected: str) -> None:
    assert apply(text, block(search, replace)).text == expected


@pytest.mark.parametrize(
    ("text", "search", "replace", "expected"),
    [
        ("a\r\nb\r\nc\r\n", "b", "B\nX", "a\r\nB\r\nX\r\nc\r\n"),
        ("a\nb\r\nc\nd\r\n", "b\nc", "b\nX\nc", "a\nb\r\nX\r\nc\nd\r\n"),
        ("a\rb\rc", "b", "B", "a\rB\rc"),
        ("a\r\nb\nc\r\n", "a\nb\nc", "a\nc", "a\r\nc\r\n"),
        ("\ufeffa\r\nb", "a\nb", "a\nB", "\ufeffa\r\nB"),
        ("a\x0cb\u2028c\nd\n", "d", "D", "a\x0cb\u2028c\nD\n"),
    ],
    ids=["crlf", "mixed", "cr", "mixed-delete", "bom", "odd-separators"],
)
def test_patch_keeps_line_ends(text: str, search: str, replace: str, expected: str) -> None:
    assert apply(text, block(search, replace)).text == expected


@pytest.mark.parametrize(
    "patch",
    [
        block("b", "B").replace("\n", "\r\n"),
        block("b", "B").replace("\n", "\r"),
        "```diff\n" + block("b", "B") + "```\n",
        "\n~~~~\n\n" + block("b", "B") + "~~~~\n\n",
        block("b", "B").rstrip("\n"),
        block("b", "B").replace("=======", "======= "),
        "<<<<<<<SEARCH\nb\n=======\nB\n>>>>>>>REPLACE",
        block("b", "B", size=9),
        "\ufeff" + block("b", "B"),
    ],
    ids=["crlf", "cr", "fence", "tilde-fence", "no-final-end", "trailing-space", "no-space", "long-markers", "bom"],
)
def test_patch_tolerates_how_models_write_it(patch: str) -> None:
    assert apply("a\nb\nc\n", patch).text == "a\nB\nc\n"


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "b -> B",
        "Here it is:\n" + block("b", "B"),
        block("b", "B") + "Done.",
        block("b", "B") + block("c", "C"),
        "<<<<<<< SEARCH\nb\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\nb\n=======\nB\n",
        block("", "B"),
        block("  \n", "B"),
    ],
    ids=["empty", "prose", "before", "after", "two-blocks", "no-divider", "no-end", "empty-search", "blank-search"],
)
def test_patch_that_is_malformed_is_refused(patch: str) -> None:
    with pytest.raises(UsageError) as caught:
        apply("a\nb\nc\n", patch)
    assert caught.value.reason == "bad_patch"


def test_patch_with_repeated_search_names_the_lines() -> None:
    with pytest.raises(Ambiguous, match=r"lines 1, 3"):
        apply("x = 1\ny\nx = 1\n", block("x = 1", "x = 2"))


def test_patch_counts_a_part_of_a_line_as_a_place() -> None:
    with pytest.raises(Ambiguous):
        apply("test\ntesting\n", block("test", "x"))


def test_patch_with_absent_search_shows_nearest_lines() -> None:
    with pytest.raises(NotFound) as caught:
        apply("# Build\n\nRun `make test` first.\nDeploy with fly.\n", block("Run `make tests` first", "x"))
    assert caught.value.reason == "no_match"
    assert "3: Run `make test` first." in caught.value.message


def test_patch_says_when_only_white_space_differs() -> None:
    with pytest.raises(NotFound, match="white space"):
        apply("- one\n    - two\n", block("- one\n  - two", "x"))


def test_patch_reads_a_setext_ruler_in_the_text() -> None:
    assert apply("T\n=======\nb\nT\n", block("T\n=======\nb", "B")).text == "B\nT\n"
    assert apply("Title\nbody\n", block("body", "=======\nnew")).text == "Title\n=======\nnew\n"


def test_patch_with_two_fitting_dividers_is_not_guessed() -> None:
    patch = "<<<<<<< SEARCH\nTitle\n=======\nbody\n=======\nnew\n>>>>>>> REPLACE\n"
    with pytest.raises(Ambiguous, match="divider"):
        apply("Title\n=======\nbody\n", patch)
    longer = patch.replace("<<<<<<<", "<" * 9).replace(">>>>>>>", ">" * 9).replace("body\n=======", "body\n" + "=" * 9)
    assert apply("Title\n=======\nbody\n", longer).text == "new\n"


def test_patch_result_names_its_lines() -> None:
    result = apply("a\nb\nc\n", block("b", "B\nC"))
    assert (result.first, result.last) == (2, 3)


lines = st.lists(st.text("ab ", max_size=3), min_size=1, max_size=8)
ends = st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=8, max_size=8)


@given(lines, ends, st.data())
def test_patch_never_touches_other_lines(rows: list[str], ends: list[str], data: st.DataObject) -> None:
    """Whatever is replaced, the lines before and behind keep their bytes, and a repeated text is never replaced."""
    text = "".join(row + end for row, end in zip(rows, ends, strict=False))
    rows = bodies(text)
    start = data.draw(st.integers(0, len(rows) - 1))
    stop = data.draw(st.integers(start + 1, len(rows)))
    new = data.draw(st.lists(st.text("xy", max_size=2), max_size=4))
    search = "\n".join(rows[start:stop])
    try:
        result = apply(text, block(search, "\n".join(new)))
    except MemError:
        plain = "\n".join(rows) + "\n"
        assert not search.strip() or plain.count(search) != 1 or plain.find(search) != plain.rfind(search)
        return
    kept = split_lines(text)
    assert result.text.startswith("".join(kept[:start]))
    assert result.text.endswith("".join(kept[stop:]))


@given(st.text())
def test_parse_never_fails_but_by_its_own_error(text: str) -> None:
    try:
        parse(text)
    except UsageError:
        return
