"""Each client's envelope, and how the client at hand is recognised."""

from __future__ import annotations

import json

import pytest
from memhooks.hooks.clients import CLIENTS, answer, detect


@pytest.mark.parametrize(
    ("argv", "environ", "event", "name"),
    [
        ([], {}, {}, "claude"),
        (["--client", "codex"], {}, {}, "codex"),
        (["--client=gemini"], {"COPILOT_CLI": "1"}, {}, "gemini"),
        ([], {"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/x"}, {}, "copilot"),
        ([], {"CURSOR_VERSION": "3", "CLAUDE_PROJECT_DIR": "/x"}, {}, "cursor"),
        ([], {"GEMINI_SESSION_ID": "a", "CLAUDE_PROJECT_DIR": "/x"}, {}, "gemini"),
        ([], {}, {"cursor_version": "3.0"}, "cursor"),
        ([], {"CLAUDECODE": "1"}, {"turn_id": "t"}, "codex"),
        (["--client", "emacs"], {}, {}, "claude"),
        (["--client"], {}, {}, "claude"),
    ],
    ids=["nothing", "named", "named wins", "copilot", "cursor", "gemini", "cursor's event", "codex", "unknown", "cut"],
)  # fmt: skip
def test_detect_finds_client(argv: list[str], environ: dict[str, str], event: dict[str, str], name: str) -> None:
    assert detect(argv, environ, event).name == name


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_nested_answer_has_two_keys_only(name: str) -> None:
    """Codex drops an answer with a key it does not know; Claude Code drops one without hookEventName."""
    value = json.loads(answer(CLIENTS[name], "SessionStart", "a\nb"))
    assert value == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "a\nb"}}


@pytest.mark.parametrize(("name", "key"), [("copilot", "additionalContext"), ("cursor", "additional_context")])
def test_flat_answer_has_one_key(name: str, key: str) -> None:
    assert json.loads(answer(CLIENTS[name], "sessionStart", "text")) == {key: "text"}


@pytest.mark.parametrize("name", ["claude", "codex", "copilot", "cursor"])
def test_empty_context_prints_nothing(name: str) -> None:
    assert answer(CLIENTS[name], "SessionStart", "") == ""


def test_gemini_gets_its_envelope_even_for_nothing() -> None:
    value = json.loads(answer(CLIENTS["gemini"], "SessionStart", ""))
    assert value == {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": ""}}


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_answer_is_ascii_json_on_one_line(name: str) -> None:
    """Whatever the locale of the client's pipe, and whatever splits it into lines."""
    said = answer(CLIENTS[name], "SessionStart", "日本\u2028語 \U0001f600\nnext")
    assert said.isascii() and "\n" not in said


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_matcher_covers_cleared_and_compacted_sessions(name: str) -> None:
    assert {"startup", "resume", "clear", "compact"} <= set(CLIENTS[name].matcher.split("|"))


def test_gemini_has_no_matcher() -> None:
    """It compares a matcher as an exact string, so an alternation never fires."""
    assert CLIENTS["gemini"].matcher == ""


def test_limits_are_below_what_clients_pass_on_whole() -> None:
    assert all(client.limit < 9_997 for client in CLIENTS.values())
