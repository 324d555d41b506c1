"""TOML text gets tables at its end and loses them again; no other line changes."""

from __future__ import annotations

import tomllib

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.hooks.install import edit_toml
from memhooks.memory.errors import Conflict

VALUES = {"command": 'a "b" \\ é', "args": ["mcp", "x"], "timeout": 15}
TEXTS = {
    "empty": "",
    "keys": "# mine\nmodel = 'x'   # best\n",
    "tables": 'a = 1\n\n[projects."/x"]\ntrust_level = "trusted"\n',
    "headers in strings": 'a = """\n[mcp_servers.memory]\n"""\nb = [\n  "[x]",\n]\n',
    "blank lines at the end": "a = 1\n\n\n",
    "crlf": "a = 1\r\n[b]\r\nc = 2\r\n",
    "comment at the end": "a = 1\n# the end\n",
    "another server": "[mcp_servers.other]\ncommand = 'x'\n",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_append_then_remove_gives_the_same_text(text):
    after = edit_toml.append(text, ("mcp_servers", "memory"), VALUES)
    assert after.startswith(text)
    assert tomllib.loads(after)["mcp_servers"]["memory"] == VALUES
    assert edit_toml.remove(after, len(edit_toml.tables(after)) - 1) == text


def test_append_adds_to_an_array_of_tables():
    text = '[[hooks.Start]]\nmatcher = "x"\n[[hooks.Start.hooks]]\ncommand = "foreign"\n'
    after = edit_toml.append(text, ("hooks", "Start"), {"matcher": "y"}, array=True)
    after = edit_toml.append(after, ("hooks", "Start", "hooks"), {"command": "ours"}, array=True)
    assert tomllib.loads(after)["hooks"]["Start"] == [
        {"matcher": "x", "hooks": [{"command": "foreign"}]},
        {"matcher": "y", "hooks": [{"command": "ours"}]},
    ]
    assert edit_toml.remove(after, 2, with_subtables=1) == text


def test_remove_keeps_what_another_program_added_behind():
    after = edit_toml.append("a = 1\n", ("mcp_servers", "memory"), VALUES) + "\n# theirs\n[projects.x]\ny = 1\n"
    assert edit_toml.remove(after, 0) == "a = 1\n\n# theirs\n[projects.x]\ny = 1\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = \n", "line 1"),
        ("mcp_servers = {}\n", "add .mcp_servers.memory. by hand"),
        ("mcp_servers.memory.command = 'x'\n", "by hand"),
        ("[mcp_servers.memory]\n", "by hand"),
        ("mcp_servers = 1\n", "by hand"),
    ],
)
def test_append_refuses_what_it_cannot_edit(text, says):
    with pytest.raises(Conflict, match=says):
        edit_toml.append(text, ("mcp_servers", "memory"), VALUES)


SCALAR = st.integers(-(2**60), 2**60) | st.booleans() | st.text(st.characters(codec="utf-8"), max_size=8)
TABLE = st.dictionaries(st.text(max_size=5), SCALAR | st.lists(SCALAR, max_size=3), max_size=3)
DOCUMENT = st.dictionaries(st.text(max_size=6), SCALAR | TABLE | st.lists(TABLE, min_size=1, max_size=2), max_size=4)


@settings(deadline=None, max_examples=80)
@given(DOCUMENT)
def test_any_configuration_survives_append_and_remove(document):
    document.pop("mcp_servers", None)
    text = tomli_w.dumps(document)
    after = edit_toml.append(text, ("mcp_servers", "memory"), VALUES)
    assert tomllib.loads(after) == {**tomllib.loads(text), "mcp_servers": {"memory": VALUES}}
    assert edit_toml.remove(after, len(edit_toml.tables(after)) - 1) == text
