"""JSON text is spliced: nothing but our entry changes, and taking it out gives back the same text."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memhooks.hooks.install import edit_json
from memhooks.hooks.install.jsonc import parse
from memhooks.memory.errors import Conflict

ENTRY = {"matcher": "a|b", "hooks": [{"type": "command", "command": "mem hook x"}]}
PATH = ("hooks", "SessionStart")

TEXTS = {
    "empty object": "{}",
    "one line": '{"a":1}',
    "one line, trailing comma": '{"a":1,}',
    "many lines": '{\n  "a": 1\n}\n',
    "tabs, trailing comma, line comment": '{\n\t"a": 1, // c\n}\n',
    "line comment after the last entry": '{\n  "a": 1 // c\n}\n',
    "block comment before the end": '{\n  "a": 1\n  /* "b": 2 */\n}',
    "empty hooks": '{\n  "hooks": {}\n}',
    "empty list": '{\n    "hooks": {\n        "SessionStart": []\n    }\n}',
    "foreign entry, comment": '{"hooks": {"SessionStart": [\n {"matcher": "x"} /* foo */\n], "Stop": []}}',
    "crlf with a comment": "{\r\n  // hello\r\n}\r\n",
    "byte order mark": "\ufeff{}",
    "comment alone": "{ /* mine */ }",
    "two entries, equal matcher": '{"hooks":{"SessionStart":[{"matcher":"a|b"},{"matcher":"a|b"}]}}',
    "no newline at the end": '{\n "x": [1,2,\n 3]}',
    "slashes in strings": '{"url": "http://x//y", "c": "/* no */"}',
    "escapes": '{"\\u0061": "\\"}", "b": "\\\\"}',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_append_then_remove_gives_the_same_text(text):
    after = edit_json.append(text, PATH, ENTRY)
    listed = parse(after).value["hooks"]["SessionStart"]
    assert listed[-1] == edit_json.plain(ENTRY)
    back = edit_json.remove(after, (*PATH, len(listed) - 1))
    assert edit_json.prune(back, PATH, keep=parse(text).value) == text


def test_append_keeps_every_line_of_the_text():
    text = '{\n  // why\n  "a": 1, // one\n  "b": [ 1,2 ], /* two */\n}\n'
    after = edit_json.append(text, PATH, ENTRY)
    kept = iter(after.splitlines())
    assert all(line in kept for line in text.splitlines())


def test_append_indents_as_the_text_does():
    after = edit_json.append('{\n\t"a": 1\n}', ("hooks",), 1, key="b")
    assert after == '{\n\t"a": 1,\n\t"hooks": {\n\t\t"b": 1\n\t}\n}'


def test_append_keeps_crlf():
    after = edit_json.append('{\r\n  "a": 1\r\n}\r\n', PATH, ENTRY)
    assert "\n" not in after.replace("\r\n", "")


def test_append_to_nothing_makes_an_object():
    assert parse(edit_json.append("\ufeff", PATH, ENTRY)).value["hooks"]["SessionStart"] == [edit_json.plain(ENTRY)]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "the root is not an object"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{"hooks": {"SessionStart": {}}}', "hooks.SessionStart is not a list"),
        ('{"hooks": 1}', "hooks is not an object"),
        ('{"hooks": {}, "hooks": {}}', "twice"),
        ('{"a": 1', "neither a comma nor }"),
        ('{"a": 1} x', "after the end"),
        ('{"a": nul}', "no value"),
        ("{a: 1}", "no key"),
        ('{"a": "\n"}', "no value"),
        ('{"a": 01}', "neither a comma nor }"),
        ("{,}", "no key"),
        ("[" * 5000, "levels"),
        ("nothing", "no value"),
    ],
)
def test_append_refuses_what_it_cannot_edit(text, says):
    with pytest.raises(Conflict, match=says):
        edit_json.append(text, PATH, ENTRY)


def test_conflict_names_the_line():
    with pytest.raises(Conflict, match="line 3, column 3"):
        parse('{\n  "a": 1\n  "b": 2\n}')


def test_remove_keeps_foreign_neighbours():
    text = "[\n  1, // one\n  2, // two\n  3 // three\n]"
    assert edit_json.remove(text, (1,)) == "[\n  1, // one // two\n  3 // three\n]"
    assert parse(edit_json.remove(text, (0,))).value == parse("[2, 3]").value
    assert edit_json.remove(text, (2,)) == "[\n  1, // one\n  2 // two // three\n]"


def test_prune_keeps_what_was_empty_before_us():
    assert edit_json.prune('{"hooks": {"A": []}}', ("hooks", "A"), keep={"hooks": {}}) == '{"hooks": {}}'
    assert edit_json.prune('{"hooks": {"A": []}}', ("hooks", "A")) == "{}"
    assert edit_json.prune('{"hooks": {/* c */}}', ("hooks",)) == '{"hooks": {/* c */}}'


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
HANDLER = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=10)})
GROUP = st.fixed_dictionaries({"hooks": st.lists(HANDLER, max_size=2)}, optional={"matcher": st.text(max_size=5)})
EVENTS = st.dictionaries(st.sampled_from(["SessionStart", "Stop", "PreToolUse"]), st.lists(GROUP, max_size=2))
ROOT = st.tuples(st.dictionaries(st.text(max_size=5), JSON, max_size=3), EVENTS, st.booleans())
INDENT = st.sampled_from([None, 0, 1, 2, 4, "\t"])
NOISE = st.sampled_from(["", " ", "\n", "\n\n", "// c\n", "/* , } ] */", '\t// "x": {\n\t'])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROOT, INDENT, st.lists(NOISE, min_size=40, max_size=40), st.booleans(), st.booleans())
def test_any_settings_survive_append_and_remove(root, indent, noise, trailing, crlf):
    """Whatever the layout: both edits change our entry alone, and the second undoes the first."""
    value, events, has_hooks = root
    value.pop("hooks", None)
    if has_hooks:
        value["hooks"] = events
    text = _noisy(json.dumps(value, indent=indent), iter(noise), trailing)
    text = text.replace("\n", "\r\n") if crlf else text
    before = parse(text).value
    after = edit_json.append(text, PATH, ENTRY)
    there = parse(after).value["hooks"].pop("SessionStart")
    assert there[:-1] == before.get("hooks", {}).get("SessionStart", [])
    back = edit_json.remove(after, (*PATH, len(there) - 1))
    back = edit_json.prune(back, PATH, keep=before)
    assert parse(back).value == before
    assert list(parse(back).value) == list(before)
    assert "".join(back.split()) == "".join(text.split())


def _noisy(text: str, noise, trailing: bool) -> str:
    """Return JSON text with comments and white space after some of its tokens, and trailing commas."""
    made, token, in_string, escaped = "", "", False, False
    for char in text:
        if not in_string and trailing and char in "]}" and token not in ("[", "{", ","):
            made += ","
        made += char
        token = token if char.isspace() else char
        if in_string:
            escaped, in_string = (not escaped and char == "\\"), escaped or char != '"'
        elif char == '"':
            in_string, escaped = True, False
        elif char in ",[{:":
            made += next(noise, "")
    return made
