"""`mem mcp` as a process: the official SDK's client runs the whole tool surface, and garbage does not end it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo

LEGACY = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}


class Wire:
    """A server's process and lines to and from it."""

    def __init__(self, repo: Repo, *words: str, environ: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            ["mem", "mcp", *words], cwd=repo.path, env=repo.environ | (environ or {}), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.watchdog = threading.Timer(60, self.process.kill)
        self.watchdog.start()

    def send(self, data: bytes | dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, request_id: object, method: str, **params: Any) -> None:
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})

    def call(self, request_id: object, tool: str, **given: Any) -> None:
        self.ask(request_id, "tools/call", name=tool, arguments=given)

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the server closed its output"
        return json.loads(line)

    def leave(self) -> str:
        """Wait for the server to go, close every pipe and return its standard error."""
        assert self.process.wait(60) is not None
        self.watchdog.cancel()
        assert self.process.stderr
        err = self.process.stderr.read().decode()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        return err

    def end(self) -> tuple[list[dict[str, Any]], str]:
        """Close the server's input; return what it still answered and its standard error."""
        out, err = self.process.communicate(timeout=60)
        self.watchdog.cancel()
        assert self.process.returncode == 0, err
        return [json.loads(line) for line in out.splitlines()], err.decode()


def test_answers_what_is_in_flight_when_input_ends(repo: Repo) -> None:
    wire = Wire(repo)
    wire.ask(0, "initialize", **LEGACY)
    for number in range(1, 40):
        wire.call(number, "project_memory", action="remember", content=f"fact number {number}")
    wire.ask("late", "ping")
    answers, _ = wire.end()
    calls = [answer["id"] for answer in answers if answer["id"] not in (0, "late")]
    assert calls == list(range(1, 40))
    assert all(answer["result"].get("isError") is not True for answer in answers)
    assert "fact number 39" in (repo.path / ".mem" / "memory.md").read_text(), "the mirror is there before exit"


def test_last_line_without_an_end_counts(repo: Repo) -> None:
    wire = Wire(repo)
    wire.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    answers, _ = wire.end()
    assert answers == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_wire_is_utf8_whatever_the_locale(repo: Repo) -> None:
    wire = Wire(repo, environ={"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"})
    line = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "set_project_memory", "arguments": {"project_info": "# Ünïcödé 漢字 🎉\n"}}}  # fmt: skip
    wire.send(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    assert not wire.read()["result"]["isError"]
    wire.call(2, "get_project_memory")
    assert wire.read()["result"]["content"][0]["text"] == "# Ünïcödé 漢字 🎉\n"
    wire.end()
    assert (repo.path / "MEMORY.md").read_bytes().decode() == "# Ünïcödé 漢字 🎉\n"


def test_prints_of_others_stay_off_the_wire(repo: Repo) -> None:
    """Descriptor 1 is moved aside, so even a child of the server can't write to the wire."""
    site = repo.path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(
        "import os, signal\n"
        "quiet = signal.signal\n"
        "def noisy(*words):\n"
        "    os.write(1, b'stray\\n')\n"
        "    os.system('echo child; cat')\n"
        "    return quiet(*words)\n"
        "signal.signal = noisy\n"
    )
    wire = Wire(repo, environ={"PYTHONPATH": str(site)})
    wire.ask(1, "ping")
    answers, err = wire.end()
    assert [answer["id"] for answer in answers] == [1]
    assert "stray" in err
    assert "child" in err


def test_leaves_on_sigterm_and_finishes_first(repo: Repo) -> None:
    wire = Wire(repo)
    wire.call(1, "project_memory", action="remember", content="kept to the end")
    assert wire.read()["id"] == 1
    wire.process.send_signal(signal.SIGTERM)
    wire.leave()
    assert wire.process.returncode == 0
    assert "kept to the end" in (repo.path / ".mem" / "memory.md").read_text()


def test_client_that_stops_reading_is_no_traceback(repo: Repo) -> None:
    wire = Wire(repo)
    assert wire.process.stdout
    wire.process.stdout.close()
    wire.ask(1, "ping")
    assert "Traceback" not in wire.leave()
    assert wire.process.returncode == 0


def test_garbage_does_not_end_the_server(repo: Repo) -> None:
    """Seeded garbage between good messages: every good one is answered, and each bad one at most once."""
    chance = random.Random(20260728)
    call = {"name": "project_memory", "arguments": {"action": "list"}}
    good = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":' + json.dumps(call).encode() + b"}\n"
    names = ["action", "query", "offset", "limit", "patch_content", "tags", "project_path"]
    shapes = [
        lambda: bytes(chance.randrange(256) for _ in range(chance.randrange(1, 200))).replace(b"\n", b"") + b"\n",
        lambda: (good % 7)[: chance.randrange(1, 90)].replace(b"\n", b"") + b"\n",
        lambda: json.dumps(_nonsense(chance, 4)).encode() + b"\n",
        lambda: json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {
            "name": chance.choice(["project_memory", "get_project_memory", "update_project_memory", "nope"]),
            "arguments": {chance.choice(names): _nonsense(chance, 2)}}}).encode() + b"\n",
        lambda: b"[" * 3000 + b"\n",
        lambda: b"\n\r\n",
    ]  # fmt: skip
    wire = Wire(repo)
    out: list[bytes] = []
    pump = threading.Thread(target=lambda: out.extend(wire.process.stdout or ()))
    pump.start()
    for number in range(1000, 1060):
        for _ in range(5):
            wire.send(chance.choice(shapes)())
        wire.send(good % number)
    assert wire.process.stdin
    wire.process.stdin.close()
    pump.join()
    err = wire.leave()
    assert wire.process.returncode == 0
    assert "Traceback" not in err
    answers = [json.loads(line) for line in out]
    numbers = [answer["id"] for answer in answers if isinstance(answer.get("id"), int) and answer["id"] >= 1000]
    assert numbers == list(range(1000, 1060))
    assert not any("internal error" in json.dumps(answer) for answer in answers)


def _nonsense(chance: random.Random, depth: int) -> Any:
    kinds = ["text", "number", "null", "list", "object", "flag"] if depth else ["text", "number", "null", "flag"]
    kind = chance.choice(kinds)
    if kind == "text":
        return chance.choice(
            ["", "x" * 600, "\0", "\ud800", "../../etc", "漢字", "[]", "-1", "1e9", "remember", "\u202e"]
        )
    if kind == "number":
        return chance.choice([0, -1, 2**70, 1.5, -(10**18)])
    if kind == "list":
        return [_nonsense(chance, depth - 1) for _ in range(chance.randrange(3))]
    if kind == "object":
        keys = ["jsonrpc", "id", "method", "params", "_meta", "action", "content"]
        return {chance.choice(keys): _nonsense(chance, depth - 1) for _ in range(chance.randrange(4))}
    return None if kind == "null" else chance.choice([True, False])


def test_oversized_message_is_refused_and_the_next_answered(repo: Repo) -> None:
    wire = Wire(repo)
    wire.send(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (17 * 1024 * 1024) + b'"}}\n')
    assert wire.read()["error"]["code"] == -32600
    wire.ask(2, "ping")
    assert wire.read() == {"jsonrpc": "2.0", "id": 2, "result": {}}
    wire.end()


def test_two_servers_and_the_command_line_share_a_notebook(repo: Repo) -> None:
    """Writers at once never lose each other's patch."""
    repo.write("MEMORY.md", "# T\n\n" + "".join(f"- slot {n}\n" for n in range(30)))
    wires = [Wire(repo), Wire(repo)]
    for n in range(30):
        patch = f"<<<<<<< SEARCH\n- slot {n}\n=======\n- done [{n}]\n>>>>>>> REPLACE"
        wires[n % 2].call(n, "update_project_memory", patch_content=patch)
    for wire in wires:
        answers, _ = wire.end()
        for answer in answers:
            # "slot 1" also stands in "slot 10": such a patch is refused, never guessed.
            text = answer["result"]["structuredContent"]
            assert text["status"] == "written" or text["reason"] == "ambiguous"
    done = (repo.path / "MEMORY.md").read_text()
    assert [n for n in range(30) if f"- done [{n}]" in done or f"- slot {n}\n" in done] == list(range(30))
    assert done.count("done") >= 25


@pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])
def test_official_client_runs_the_whole_surface(repo: Repo, mode: str) -> None:
    pytest.importorskip("mcp", reason="the official SDK (mcp >= 2) is not installed")
    import anyio

    anyio.run(_whole_surface, repo, mode)


async def _whole_surface(repo: Repo, mode: str) -> None:
    from mcp import Client, StdioServerParameters

    path = repo.environ["PATH"]
    command = next(
        os.path.join(one, "mem") for one in path.split(os.pathsep) if os.path.exists(os.path.join(one, "mem"))
    )
    server = StdioServerParameters(command=command, args=["mcp"], env=repo.environ, cwd=str(repo.path))
    async with Client(server, mode=mode, read_timeout_seconds=60) as client:
        if mode != "2026-07-28":
            assert "REMEMBER" in (client.instructions or "")
        listed = await client.list_tools()
        assert len(listed.tools) == 5
        assert all(
            tool.annotations is not None and tool.annotations.read_only_hint is not None for tool in listed.tools
        )

        async def call(tool: str, **given: Any) -> Any:
            result = await client.call_tool(tool, given)
            assert result.content[0].type == "text"
            return result

        made = await call("project_memory", action="remember", content="Deploys run from main.", type="procedure",
                          area="ops", tags=["deploy"], written_by="ada", title="Deploys")  # fmt: skip
        memory_id = made.structured_content["id"]
        found = await call("project_memory", action="recall", query="deploys main")
        assert found.structured_content["memories"][0]["id"] == memory_id
        assert json.loads(found.content[0].text) == found.structured_content
        listed_memories = await call("project_memory", action="list", area="ops")
        assert listed_memories.structured_content["total"] == 1
        new = await call("project_memory", action="correct", id=memory_id, content="Deploys run from release.")
        assert not new.is_error
        gone = await call("project_memory", action="forget", id=new.structured_content["id"])
        assert len(gone.structured_content["ids"]) == 2
        refused = await call("project_memory", action="remember", content="x" * 501)
        assert refused.is_error
        assert refused.structured_content["status"] == "rejected"
        assert refused.structured_content["reason"] == "too_long"

        assert not (await call("set_project_memory", project_info="# P\n\n## Build\n\nrun make\n")).is_error
        assert (await call("get_project_memory")).content[0].text == "# P\n\n## Build\n\nrun make\n"
        assert (await call("get_project_memory", head_only=True)).content[0].text == "1: # P\n3: ## Build"
        assert (await call("search_project_memory", query="make")).content[0].text == "5: run make"
        patched = await call("update_project_memory",
                             patch_content="<<<<<<< SEARCH\nrun make\n=======\nrun ninja\n>>>>>>> REPLACE")  # fmt: skip
        assert patched.structured_content["first_line"] == 5
        absent = await call("update_project_memory",
                            patch_content="<<<<<<< SEARCH\nrun makes\n=======\nx\n>>>>>>> REPLACE")  # fmt: skip
        assert absent.is_error
        assert "Nearest lines" in absent.structured_content["message"]
    assert (repo.path / "MEMORY.md").read_text() == "# P\n\n## Build\n\nrun ninja\n"
    assert (
        not Path(repo.path / ".mem" / "memory.md").exists()
        or "Deploys" not in (repo.path / ".mem" / "memory.md").read_text()
    )


def test_http_refuses_every_tool_with_a_structured_error(repo: Repo) -> None:
    import urllib.error
    import urllib.request

    process = subprocess.Popen(
        ["mem", "mcp", "--http", "--port", "0"], cwd=repo.path, env=repo.environ, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        assert process.stderr
        url = next(word for word in process.stderr.readline().split() if word.startswith("http://127.0.0.1:")).rstrip(
            ";"
        )

        def post(message: object, **headers: str) -> tuple[int, Any]:
            data = json.dumps(message).encode()
            request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers})
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    body = answer.read()
                    return answer.status, json.loads(body) if body else None
            except urllib.error.HTTPError as error:
                return error.code, None

        status, answer = post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": LEGACY})
        assert status == 200
        assert answer["result"]["serverInfo"]["name"] == "memhooks"
        assert post({"jsonrpc": "2.0", "method": "notifications/initialized"}) == (202, None)
        _, listed = post({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        for tool in listed["result"]["tools"]:
            call = {
                "jsonrpc": "2.0",
                "id": 3,
                "method": "tools/call",
                "params": {"name": tool["name"], "arguments": {}},
            }
            _, answer = post(call)
            result = answer["result"]
            assert result["isError"] is True
            assert set(result["structuredContent"]) == {"error", "message", "hint", "docs"}
            assert result["structuredContent"]["error"] == "local_stdio_required"
            assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        assert post({"jsonrpc": "2.0", "id": 4, "method": "nope"})[0] == 404
        assert post({"jsonrpc": "2.0", "id": 5, "method": "ping"}, Origin="https://example.com")[0] == 403
        assert post({"jsonrpc": "2.0", "id": 6, "method": "ping"}, Host="example.com")[0] == 403
        assert not (repo.path / ".mem").exists()
    finally:
        process.terminate()
        assert process.wait(30) == 0
        watchdog.cancel()
        process.communicate()


def test_allowed_dir_that_is_not_there_is_said_at_the_start(repo: Repo) -> None:
    done = repo.mem("mcp", "--allowed-dir", "absent", check=False)
    assert done.returncode == 2
    assert "absent" in done.stderr


def test_forgetting_a_shared_memory_buries_its_line(repo: Repo) -> None:
    memory_id = json.loads(repo.mem("remember", "A fact for the team.", "--shared", "--json").stdout)["id"]
    repo.mem("share", "out")
    assert "A fact for the team." in (repo.path / "memories.ndjson").read_text()
    wire = Wire(repo)
    wire.call(1, "project_memory", action="forget", id=memory_id)
    assert wire.read()["result"]["structuredContent"]["shared"] is True
    wire.end()
    line = (repo.path / "memories.ndjson").read_text()
    assert "A fact for the team." not in line
    assert memory_id in line
