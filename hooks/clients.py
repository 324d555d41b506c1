"""The agent programs that call our session hooks: one row a client, and what may be printed to each.

The rows were read off the real programs, or off their documents where the program can't be had (cursor). An answer has
exactly the keys that its client knows: Codex drops an answer with one key more, Claude Code one without
`hookEventName`, Copilot and Cursor a nested one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from ..memory.named import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class Client(NamedTuple):
    """One agent program.

    `envelope` is where its context stands: "nested" for hookSpecificOutput.additionalContext, else the name of a
    top-level key. `events` maps our hooks (and "subagent-start") to the client's event names. `matcher` is the
    SessionStart matcher of its settings, "" where it must be left out. `limit` is in UTF-8 bytes, below what the
    client passes on whole. `timeout_unit` is how many of its units make a second. `says_nothing` is what is printed
    when there is nothing to say. Where its settings lie is said in `install/`.
    """

    name: str
    envelope: str
    events: Mapping[str, str]
    matcher: str = ""
    timeout_unit: int = 1
    limit: int = 9000
    says_nothing: str = ""


_CLAUDE_EVENTS = {
    "session-start": "SessionStart",
    "prompt": "UserPromptSubmit",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
    "subagent-start": "SubagentStart",
}
_GEMINI_EVENTS = {
    "session-start": "SessionStart",
    "prompt": "BeforeAgent",
    "pre-compact": "PreCompress",
    "session-end": "SessionEnd",
}
_COPILOT_EVENTS = {
    "session-start": "sessionStart",
    "prompt": "userPromptSubmitted",
    "session-end": "sessionEnd",
}
_CURSOR_EVENTS = {
    "session-start": "sessionStart",
    "pre-compact": "preCompact",
    "session-end": "sessionEnd",
}

CLIENTS = {
    client.name: client
    for client in (
        Client("claude", "nested", _CLAUDE_EVENTS, matcher="startup|resume|fork|clear|compact"),
        Client("codex", "nested", _CLAUDE_EVENTS, matcher="startup|resume|clear|compact"),
        # Its matcher is an exact string: an alternation would never match. Plain text never reaches the model there.
        Client("gemini", "nested", _GEMINI_EVENTS, timeout_unit=1000, says_nothing="envelope"),
        Client("copilot", "additionalContext", _COPILOT_EVENTS),
        Client("cursor", "additional_context", _CURSOR_EVENTS),
    )
}

# Set by the client for its hooks. Gemini, Copilot and Cursor set CLAUDE_PROJECT_DIR as well, so that one says nothing,
# and a Codex that runs inside Claude's shell inherits CLAUDECODE: the two share an envelope.
_MARKS = (("COPILOT_CLI", "copilot"), ("CURSOR_VERSION", "cursor"), ("GEMINI_SESSION_ID", "gemini"))


def detect(argv: list[str], environ: Mapping[str, str], event: Mapping[str, Any]) -> Client:
    """Return the client that `--client NAME` names, else the one whose marks stand in the environment or the event,
    else Claude Code, whose envelope Codex shares. An unknown name counts as absent: a session hook never fails."""
    named = _option(argv, "--client")
    if named in CLIENTS:
        return CLIENTS[named]
    for variable, name in _MARKS:
        if environ.get(variable):
            return CLIENTS[name]
    if "cursor_version" in event:
        return CLIENTS["cursor"]
    return CLIENTS["codex" if "turn_id" in event else "claude"]


def answer(client: Client, event_name: str, context: str) -> str:
    """Return the one JSON object that hands `context` to the client's model, "" where nothing is to be printed.

    `event_name` is the client's own name of the event.
    """
    if not context and client.says_nothing != "envelope":
        return ""
    if client.envelope != "nested":
        return json.dumps({client.envelope: context}, ensure_ascii=True)
    inner = {"hookEventName": event_name, "additionalContext": context}
    return json.dumps({"hookSpecificOutput": inner}, ensure_ascii=True)


def _option(argv: list[str], name: str) -> str:
    for index, word in enumerate(argv):
        if word == name and index + 1 < len(argv):
            return argv[index + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1 :]
    return ""
