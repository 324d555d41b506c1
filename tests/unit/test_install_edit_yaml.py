"""YAML text is spliced in whole lines: nothing but our entry changes, and taking it out gives back the same text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.hooks.install import edit_yaml
from memhooks.memory.errors import Conflict

ENTRY = {
    "repo": "local",
    "hooks": [{"id": "g", "entry": "sh -c 'a \"b\"; c' --", "files": "", "types": [], "serial": True, "n": 1}],
}
TEXTS = {
    "plain": "repos:\n- repo: a\n  x: 1 # c\n# tail\n",
    "wide dashes": "repos:\n-   repo: a\n    hooks:\n    -   id: x\n",
    "indented, no newline at the end": "repos:\n  - repo: a",
    "flow inside, key after": "repos:\n  - repo: a\n    args: [a,\n      b]\n\n# tail\nfoo: 1",
    "empty flow list": "repos: []\n",
    "empty flow list, comment, key after": "repos: [] # none yet\nfoo: 1\n",
    "no value": "repos:\n",
    "block scalar at the end": "repos:\n- a: |\n    hello\n\n    x\n\nfoo: 1\n",
    "folded scalar at the end": "repos:\n- a: >-\n    hello\n    x\n",
    "flow list, crlf": "repos: [{repo: a}, {repo: b},]\r\nfoo: 1\r\n",
    "all in flow": "{repos: [], x: 1}",
    "byte order mark, crlf": "\ufeffrepos:\r\n- repo: a\r\n",
    "key without a value at the end": "repos:\n- repo: a\n  hooks:\n  - id: x\n    args:\n",
    "alias at the end": "x: &y 1\nrepos:\n- repo: a\n  hooks: *y  # why\nz: 1\n",
    "list of aliases": "x: &y 1\nrepos:\n- repo: a\n- *y\n",
    "document marks": "---\nrepos:\n- repo: a\n...\n",
    "comment between": "repos:\n- repo: a\n\n# - repo: b\n\n- repo: c\n",
    "quoted keys": "'repos':\n- \"repo\": 'a'\n",
    "other key only": "fail_fast: true\n",
    "nothing": "",
    "comment only": "# hi\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_append_then_remove_gives_the_same_text(text):
    before = edit_yaml.value_of(text)
    after = edit_yaml.append(text, ("repos",), ENTRY)
    listed = edit_yaml.value_of(after)["repos"]
    assert listed[-1] == edit_yaml.as_text(ENTRY)
    empty = "[]" if isinstance(before, dict) and before.get("repos") == [] else ""
    back = edit_yaml.remove(after, ("repos", len(listed) - 1), empty=empty)
    assert edit_yaml.prune(back, ("repos",), keep=before) == text


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_prepend_then_remove_gives_the_same_text(text):
    after = edit_yaml.prepend(text, "types", ["a", "b-c"])
    assert edit_yaml.value_of(after)["types"] == ["a", "b-c"]
    assert edit_yaml.remove(after, ("types",)) == text


def test_append_makes_nested_mappings():
    text = "pre-commit:\n  parallel: true\n"
    after = edit_yaml.append(text, ("pre-commit", "commands"), {"run": "mem x"}, key="memory")
    assert after == text + "  commands:\n    memory:\n      run: mem x\n"
    back = edit_yaml.remove(after, ("pre-commit", "commands", "memory"))
    assert edit_yaml.prune(back, ("pre-commit", "commands")) == text


def test_append_opens_an_empty_list_in_its_place():
    assert edit_yaml.append("a: [] # c\nb: 1\n", ("a",), "x") == "a: # c\n  - x\nb: 1\n"


def test_append_to_a_flow_list():
    assert edit_yaml.append("t: [a] # c\n", ("t",), "b") == 't: [a, "b"] # c\n'


def test_remove_takes_only_its_lines():
    text = "t:\n- a\n# about b\n- b # x\n- c\n"
    assert edit_yaml.remove(text, ("t", 1)) == "t:\n- a\n# about b\n- c\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("repos: 1\n", "no list"),
        ("repos: {}\n", "no list"),
        ("- a\n", "no mapping"),
        ("a: [\n", "line"),
        ("a: b: c\n", "line 1"),
        ("a: 1\n---\nb: 2\n", "document"),
        ("repos: []\nrepos: []\n", "twice"),
        ("? [a]\n: 1\n", "collection"),
        ("\x01", "acceptable|no YAML|special"),
    ],
)
def test_append_refuses_what_it_cannot_edit(text, says):
    with pytest.raises(Conflict, match=says):
        edit_yaml.append(text, ("repos",), ENTRY)


SCALARS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
WORDS = st.text("abcxyz", min_size=1, max_size=6)
COMMENT = st.sampled_from(["", "  # c", " # - x: 1", "\n\n# between"])


@st.composite
def configurations(draw):
    """A pre-commit configuration as people write it: any dash width, comments, quotes, blank lines."""
    gap, deep = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    lines = [draw(st.sampled_from(["", "# head\n", "---\n"])) + "fail_fast: true" + draw(COMMENT), "repos:"]
    for repo in draw(st.lists(WORDS, max_size=3)):
        lines.append(" " * deep + "-" + " " * gap + f"repo: {repo}" + draw(COMMENT))
        inner = " " * (deep + 1 + gap)
        quoted = "'" + draw(SCALARS).replace("'", "''") + "'"
        lines += [f"{inner}rev: {quoted}" + draw(COMMENT), f"{inner}hooks:", f"{inner}-   id: x" + draw(COMMENT)]
    lines += draw(st.sampled_from([[], ["", "exclude: ^a/"], ["", "# tail"]]))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@settings(deadline=None, max_examples=60)
@given(configurations())
def test_any_configuration_survives_append_and_remove(text):
    before = edit_yaml.value_of(text)
    after = edit_yaml.prepend(edit_yaml.append(text, ("repos",), ENTRY), "types", ["a"])
    count = len(edit_yaml.value_of(after)["repos"])
    back = edit_yaml.remove(edit_yaml.remove(after, ("types",)), ("repos", count - 1))
    assert edit_yaml.prune(back, ("repos",), keep=before) == text


@settings(deadline=None, max_examples=60)
@given(SCALARS | st.text(max_size=12))
def test_any_text_is_written_so_that_it_reads_back(text):
    made = edit_yaml.append("", (), {"v": [text]}, key="k") + "".join(["z: 1\n"])
    assert edit_yaml.value_of(made) == {"k": {"v": [text]}, "z": "1"}
