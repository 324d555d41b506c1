"""What the server says in both eras of the protocol, and how much of a context that takes."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from memhooks.hooks import mcp_tools as said
from memhooks.hooks.env import Env
from memhooks.hooks.mcp import Server
from memhooks.hooks.mcp_wire import Fault, Request
from memhooks.memory.record import KINDS
from memhooks.memory.tokens import estimate

META = "io.modelcontextprotocol/"
ENVELOPE = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}


class Fake:
    """Tools that note their calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, Any], str]] = []

    def call(self, name: str, given: Mapping[str, Any], client: str) -> dict[str, Any]:
        self.calls.append((name, given, client))
        if "fail" in given:
            raise ZeroDivisionError
        return {"content": []}

    def settle(self) -> None:
        raise ZeroDivisionError

    def close(self) -> None: ...


def env() -> Env:
    return Env(io.StringIO(), io.StringIO(), io.StringIO(), {}, "/")


def ask(server: Server, method: str, **params: Any) -> Any:
    return server.at_once(Request(1, method, params))


@pytest.fixture
def fake() -> Fake:
    return Fake()


@pytest.fixture
def server(fake: Fake) -> Server:
    return Server(lambda: fake, env())


@pytest.mark.parametrize(
    ("wanted", "spoken"),
    [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("2031-01-01", "2025-11-25"), (7, "2025-11-25")],
)
def test_initialize_agrees_on_a_version(server: Server, wanted: object, spoken: str) -> None:
    answer = ask(server, "initialize", protocolVersion=wanted, capabilities={}, clientInfo={"name": "c"})
    assert answer["protocolVersion"] == spoken
    assert answer["capabilities"] == {"tools": {}}
    assert answer["serverInfo"]["name"] == "memhooks"
    assert "emember" in answer["instructions"] or "REMEMBER" in answer["instructions"]


def test_discover_offers_the_new_version(server: Server) -> None:
    for params in ({"_meta": ENVELOPE}, {}):
        answer = ask(server, "server/discover", **params)
        assert answer["supportedVersions"] == ["2026-07-28"]
        assert answer["resultType"] == "complete"
        assert answer["instructions"]
        assert answer["_meta"][META + "serverInfo"]["name"] == "memhooks"


def test_old_answers_carry_nothing_of_the_new_era(server: Server) -> None:
    assert set(ask(server, "tools/list")) == {"tools"}
    assert ask(server, "ping") == {}


def test_new_answers_carry_what_the_new_era_wants(server: Server) -> None:
    answer = ask(server, "tools/list", _meta=ENVELOPE)
    assert answer["resultType"] == "complete"
    assert answer["cacheScope"] == "public"
    assert answer["ttlMs"] > 0


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({META + "protocolVersion": "2099-01-01", META + "clientCapabilities": {}}, -32022),
        ({META + "protocolVersion": 5, META + "clientCapabilities": {}}, -32602),
        ({META + "protocolVersion": "2026-07-28"}, -32602),
    ],
    ids=["unknown", "no-text", "half"],
)
def test_envelope_that_is_wrong_is_refused(server: Server, meta: dict[str, Any], code: int) -> None:
    with pytest.raises(Fault) as caught:
        ask(server, "tools/list", _meta=meta)
    assert caught.value.code == code


def test_unknown_methods_are_refused_at_once(server: Server) -> None:
    for method in ("resources/list", "prompts/list", "logging/setLevel", "subscriptions/listen", ""):
        with pytest.raises(Fault) as caught:
            ask(server, method)
        assert caught.value.code == -32601


def test_call_names_the_client_of_either_era(server: Server, fake: Fake) -> None:
    ask(server, "initialize", clientInfo={"name": "first\x1b[31m client"})
    ask(server, "tools/call", name="project_memory", arguments={})()
    ask(server, "tools/call", name="project_memory", _meta=ENVELOPE | {META + "clientInfo": {"name": "second"}})()
    assert [client for _, _, client in fake.calls] == ["first[31m client", "second"]


@pytest.mark.parametrize("params", [{"name": "no_such"}, {}, {"name": 3}, {"name": "project_memory", "arguments": []}])
def test_call_that_can_not_be_meant_is_refused(server: Server, params: dict[str, Any]) -> None:
    with pytest.raises(Fault) as caught:
        ask(server, "tools/call", **params)
    assert caught.value.code == -32602


def test_bug_in_a_tool_is_an_error_and_no_end(server: Server, fake: Fake) -> None:
    with pytest.raises(Fault) as caught:
        ask(server, "tools/call", name="project_memory", arguments={"fail": True})()
    assert caught.value.code == -32603
    assert "ZeroDivisionError" in caught.value.message
    server.settle()
    assert ask(server, "tools/call", name="project_memory")() == {"content": []}


def test_schemas_and_instructions_stay_under_their_budget() -> None:
    """1,500 tokens by the estimate that is never below a real tokenizer."""
    assert estimate(json.dumps(said.TOOLS, separators=(",", ":"))) + estimate(said.INSTRUCTIONS) <= 1500


def test_tools_are_the_five_with_their_arguments() -> None:
    path = ("project_path",)
    assert {
        "project_memory": (
            "action", "content", "title", "type", "area", "tags", "written_by", "query", "limit", "scope", "id", *path,
        ),
        "get_project_memory": ("offset", "limit", "head_only", *path),
        "search_project_memory": ("query", "max_results", *path),
        "set_project_memory": ("project_info", "project_info_file", *path),
        "update_project_memory": ("patch_content", *path),
    } == said.ARGUMENTS  # fmt: skip
    kinds = said.TOOLS[0]["inputSchema"]["properties"]["type"]["enum"]
    assert tuple(kinds) == KINDS == tuple(said.KINDS)


def test_tools_say_whether_they_write() -> None:
    readers = {tool["name"] for tool in said.TOOLS if tool["annotations"]["readOnlyHint"]}
    assert readers == {"get_project_memory", "search_project_memory"}
    assert all(tool["annotations"]["destructiveHint"] for tool in said.TOOLS if tool["name"] not in readers)
