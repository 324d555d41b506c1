"""What the sandbox gives a template, and what escaping does to a value."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from memhooks.memory.record import Cursor, Memory
from memhooks.templates import TemplateFailed, render, render_source
from memhooks.templates.markdown import escape, item, one_line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words, punctuation: (a) 50% & more!", "plain words, punctuation: (a) 50% & more!"),
        ("snake_case and a_b_c stay", "snake_case and a_b_c stay"),
        ("__init__ does not", r"\_\_init\_\_ does not"),
        ("**bold** `code`", r"\*\*bold\*\* \`code\`"),
        ("[text](url)", r"\[text\](url)"),
        ("<script>a < b", r"\<script>a < b"),
        ("&lt; & &c", r"\&lt; & &c"),
        ("C:\\path \\* end\\", "C:\\path \\\\\\* end\\\\"),
        ("# head\n- item\n+ item\n1. one\n2) two", "\\# head\n\\- item\n\\+ item\n1\\. one\n2\\) two"),
        ("-5 degrees, 3.5 and #tag", "-5 degrees, 3.5 and #tag"),
        ("a\n===\n---\n> b\n~~~", "a\n\\===\n\\---\n\\> b\n\\~\\~\\~"),
        ("a | b", r"a \| b"),
        ("~/file ~~gone~~", r"~/file \~\~gone\~\~"),
        ("    indented", "indented"),
        ("bell\x07 and \x1b[31mred \u202ereversed", r"bell and \[31mred reversed"),
        ("中文 é", "中文 é"),
    ],
    ids=lambda value: value[:20],
)
def test_escape_marks_only_what_markdown_reads(text: str, expected: str) -> None:
    assert escape(text) == expected


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> other", "||||||| base"])
def test_escape_leaves_no_conflict_marker(marker: str) -> None:
    assert not escape(f"text\n{marker}\nmore").split("\n")[1].startswith(marker[:7])


def test_item_keeps_later_lines_inside_the_list() -> None:
    assert item("one\n\ntwo\n# three") == "one\n\n  two\n  \\# three"


def test_one_line_has_no_line_end() -> None:
    assert one_line("# a\n\n- b") == r"\# a - b"


def test_render_escapes_once_through_blocks_and_macros() -> None:
    text = "{% macro m(v) %}[{{ v }}]{% endmacro %}{% set s %}{{ x }}{% endset %}{{ s }} {{ m(x) }} {{ x|upper }}"
    assert render_source(text, "t.md.j2", x="*a*") == r"\*a\* [\*a\*] \*A\*"


def test_render_writes_no_html_entities_into_markdown() -> None:
    assert render_source("{{ x }}", "t.md.j2", x="a & b \" ' < c > d") == "a & b \" ' < c > d"


def test_render_escapes_html() -> None:
    assert render_source("<p>{{ x }}</p>", "t.html.j2", x="<b>\x00&") == "<p>&lt;b&gt;&amp;</p>"


@pytest.mark.parametrize(
    "text",
    [
        "{{ x.__class__.__mro__ }}",
        "{{ ''.__class__ }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ unknown }}",
        "{% if %}",
        "{{ 1 / 0 }}",
        "{{ x.append(1) }}",
        "{% for i in range(10000000) %}{% endfor %}",
    ],
)
def test_render_refuses_what_the_sandbox_does_not_give(text: str) -> None:
    with pytest.raises(TemplateFailed) as caught:
        render_source(text, "mine.md.j2", x=["value"])
    assert "mine.md.j2" in caught.value.message


def test_mirror_shows_memories_by_kind_and_the_cursor() -> None:
    memories = [
        Memory("a" * 28 + "11112222", "A title", "first\n# second", tags=("x", "y"), created_at="2026-01-02T"),
        Memory("b" * 28 + "33334444", "derived", "derived", "decision", True, created_at="2026-01-02T", pinned=True),
    ]
    text = render("memory.md.j2", project=SimpleNamespace(name="p"), memories=memories, cursor=Cursor("branch:m", "go"))
    assert text.index("## Decisions") < text.index("## Facts")
    assert "- Goal: go\n" in text
    assert "- **A title**: first\n  \\# second\n  (x y, 2026-01-02, 11112222)\n" in text
    assert "- derived\n  (pinned, 2026-01-02, 33334444)\n" in text


def test_mirror_of_nothing_says_so() -> None:
    text = render("memory.md.j2", project=SimpleNamespace(name="p"), memories=[], cursor=Cursor("default"))
    assert "Nothing is remembered yet" in text
    assert "Where work stands" not in text
