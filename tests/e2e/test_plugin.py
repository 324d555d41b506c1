"""The plugin folder: what it declares, that Claude Code and Codex take it, and what they make of it.

The real programs run offline against a stub of their model (tests/clients); a test whose program is not installed is
skipped with that word.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo
from memhooks.hooks.cli import COMMANDS, HOOKS

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "templates" / "plugin"
CLIENTS = ROOT / "tests" / "clients"
FACT = "We use pnpm and never npm, decided by Ada."
TOOL = "mcp__plugin_memhooks_memory__"
TOOLS = ["get_project_memory", "project_memory", "search_project_memory", "set_project_memory", "update_project_memory"]


def needs_client(name: str) -> pytest.MarkDecorator:
    """Skip where a client or the harness that runs it is not there."""
    program = Path(os.environ.get("MEM_CLIENTS", "")) / "node_modules" / ".bin" / name
    missing = [str(path) for path in (program, CLIENTS / f"{name}_session.py") if not path.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"{name} is not installed: no {', '.join(missing)}")


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())


def front_matter(path: Path) -> dict[str, str]:
    head = path.read_text().split("---\n")[1]
    return dict(re.findall(r"^([\w-]+): (.*)$", head, re.MULTILINE))


def test_hooks_call_what_there_is() -> None:
    hooks = read_json(PLUGIN / "hooks" / "hooks.json")
    assert set(hooks) == {"description", "hooks"}
    for event, groups in hooks["hooks"].items():
        for handler in (handler for group in groups for handler in group["hooks"]):
            program, verb, name = handler["command"].split()
            assert (program, verb) == ("mem", "hook")
            assert name in HOOKS
            assert set(handler) <= {"type", "command", "timeout", "statusMessage"}, "Codex knows no more"
            # Codex holds SessionEnd to 3 seconds and complains about more, session after session.
            assert handler["timeout"] == 3 if event == "SessionEnd" else handler["timeout"] >= 15
    assert hooks["hooks"]["SessionStart"][0]["matcher"] == "startup|resume|fork|clear|compact"


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("Write", True), ("Edit", True), ("apply_patch", True), ("Read", False), ("Bash", False),
        ("mcp__plugin_memhooks_memory__set_project_memory", True), ("mcp__memory__update_project_memory", True),
        ("mcp__memory__get_project_memory", False),
    ],
)  # fmt: skip
def test_matcher_asks_after_writes_alone(tool: str, asked: bool) -> None:
    matcher = read_json(PLUGIN / "hooks" / "hooks.json")["hooks"]["PostToolUse"][0]["matcher"]
    assert bool(re.fullmatch(matcher, tool)) is asked


def test_marketplace_names_the_plugin_and_its_version() -> None:
    market = read_json(ROOT / ".claude-plugin" / "marketplace.json")
    plugin = read_json(PLUGIN / ".claude-plugin" / "plugin.json")
    (entry,) = market["plugins"]
    assert entry["name"] == plugin["name"] == "memhooks"
    assert (ROOT / entry["source"]).resolve() == PLUGIN
    assert os.listdir(ROOT / ".claude-plugin") == ["marketplace.json"]
    assert plugin["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_server_is_found_on_the_path() -> None:
    servers = read_json(PLUGIN / ".mcp.json")["mcpServers"]
    assert servers == {"memory": {"command": "mem", "args": ["mcp"]}}


def test_skill_and_commands_say_what_they_are() -> None:
    skill = front_matter(PLUGIN / "skills" / "project-memory" / "SKILL.md")
    assert skill["user-invocable"] == "false"
    assert sorted(path.stem for path in (PLUGIN / "commands").iterdir()) == ["dream", "memory", "recall", "remember"]
    for path in [*(PLUGIN / "commands").iterdir(), *(PLUGIN / "agents").iterdir()]:
        assert front_matter(path)["description"], path
    agent = (PLUGIN / "agents" / "memory-consolidator.md").read_text()
    assert "## Keep verbatim" in agent


def test_texts_name_commands_that_exist() -> None:
    for path in PLUGIN.rglob("*.md"):
        for name in re.findall(r"`!?mem ([a-z-]+)", path.read_text()):
            assert name in COMMANDS, f"{path.name}: mem {name}"


@pytest.fixture
def market(tmp_path: Path) -> Path:
    """A copy of what the marketplace needs, without the rest of the repository."""
    folder = tmp_path / "market"
    shutil.copytree(ROOT / ".claude-plugin", folder / ".claude-plugin")
    shutil.copytree(PLUGIN, folder / "templates" / "plugin")
    return folder


@pytest.fixture
def user(tmp_path: Path) -> Path:
    folder = tmp_path / "user"
    (folder / ".codex").mkdir(parents=True)
    return folder


def run(words: list[str], user: Path, cwd: Path) -> str:
    """Run a client's own command in a home of its own."""
    environ = {
        "HOME": str(user), "CODEX_HOME": str(user / ".codex"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
        "HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9",
    }  # fmt: skip
    done = subprocess.run(words, env=environ, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def session(client: str, repo: Repo, mem_bin: Path, user: Path, *words: str) -> Any:
    """Run one session of a client in the repository and return what reached its model."""
    environ = {
        "HOME": str(user), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "MEM_CLIENTS": os.environ["MEM_CLIENTS"],
        "MEM_PATH": str(mem_bin),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(CLIENTS / f"{client}_session.py"), "--project", str(repo.path), "--home", str(user),
         *words], env=environ, capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return json.loads(done.stdout)


def program(name: str) -> str:
    return str(Path(os.environ["MEM_CLIENTS"]) / "node_modules" / ".bin" / name)


def turns(*uses: tuple[str, dict[str, Any]], namespace: str = "") -> str:
    more = {"namespace": namespace} if namespace else {}
    return json.dumps([*({"tool": name, "input": given, **more} for name, given in uses), {"text": "done"}])


@pytest.mark.client
@needs_client("claude")
def test_claude_validates_plugin_and_marketplace(user: Path, market: Path) -> None:
    for folder in (market / "templates" / "plugin", market):
        assert "Validation passed" in run(
            [program("claude"), "plugin", "validate", "--strict", str(folder)], user, market
        )


@pytest.mark.client
@needs_client("claude")
def test_claude_gets_digest_skill_commands_and_tools(repo: Repo, mem_bin: Path, user: Path, market: Path) -> None:
    """Installed from the marketplace; the tools are there in the first request."""
    repo.mem("remember", FACT, "--kind", "decision")
    run([program("claude"), "plugin", "marketplace", "add", str(market)], user, repo.path)
    run([program("claude"), "plugin", "install", "memhooks@memhooks"], user, repo.path)
    patch = "<<<<<<< SEARCH\nrun make\n=======\nrun ninja\n>>>>>>> REPLACE"
    told = session(
        "claude", repo, mem_bin, user, "--expect", FACT, "--turns",
        turns(
            (TOOL + "project_memory", {"action": "recall", "query": "pnpm"}),
            (TOOL + "set_project_memory", {"project_info": "# P\n\nrun make\n"}),
            (TOOL + "update_project_memory", {"patch_content": patch}),
            (TOOL + "get_project_memory", {}),
            (TOOL + "project_memory", {"action": "remember", "content": "x" * 501}),
        ),
    )  # fmt: skip
    assert [one["event"] for one in told["hook_context"]][:1] == ["SessionStart"]
    assert FACT in told["hook_context"][0]["text"]
    assert told["mcp_servers"] == [{"name": "plugin:memhooks:memory", "status": "connected", "source": "plugin"}]
    first = set(told["first_request_tools"]) | set(told["deferred_tools"])
    assert {TOOL + name for name in TOOLS} <= first
    assert "memhooks:project-memory" in told["skills"]
    assert {f"memhooks:{name}" for name in ("remember", "recall", "memory", "dream")} <= set(told["slash_commands"])
    assert "memhooks:project-memory" not in told["slash_commands"]
    assert "REMEMBER" in json.dumps(told["mcp_instructions"])
    assert not told["plugin_errors"]
    results = [(one["is_error"], one["text"]) for one in told["tool_results"]]
    assert [error for error, _ in results] == [False, False, False, False, True]
    assert FACT in results[0][1]
    assert "run ninja" in results[3][1]
    assert "too_long" in results[4][1]
    assert (repo.path / "MEMORY.md").read_text() == "# P\n\nrun ninja\n"
    recalled = json.loads(repo.mem("list", "--json").stdout)["memories"][0]
    assert recalled["recall_count"] >= 1


@pytest.mark.client
@needs_client("claude")
def test_claude_hears_once_that_a_dream_is_due(repo: Repo, mem_bin: Path, user: Path, tmp_path: Path) -> None:
    large = "# Notes\n\n" + "A line that is filled with words.\n" * 2000
    script = tmp_path / "turns.json"
    script.write_text(
        turns(
            (TOOL + "set_project_memory", {"project_info": large}),
            (TOOL + "set_project_memory", {"project_info": large + "more\n"}),
        )
    )
    told = session(
        "claude", repo, mem_bin, user, "--plugin-dir", str(PLUGIN), "--expect", "due for consolidation", "--turns",
        str(script),
    )  # fmt: skip
    said = {one["text"] for one in told["hook_context"] if "due for consolidation" in one["text"]}
    assert len(said) == 1


@pytest.mark.client
@needs_client("codex")
def test_codex_takes_the_same_folder(repo: Repo, mem_bin: Path, user: Path, market: Path) -> None:
    repo.mem("remember", FACT, "--kind", "decision")
    run([program("codex"), "plugin", "marketplace", "add", str(market)], user, repo.path)
    run([program("codex"), "plugin", "add", "memhooks@memhooks"], user, repo.path)
    told = session(
        "codex", repo, mem_bin, user, "--config", (user / ".codex" / "config.toml").read_text(), "--expect", FACT,
        "--expect", "project-memory", "--turns",
        turns(("project_memory", {"action": "recall", "query": "pnpm"}), namespace="mcp__memory"),
    )  # fmt: skip
    assert any(where.endswith(".developer") for where in told["marker"][FACT])
    assert {f"mcp__memory.{name}" for name in TOOLS} <= set(told["tools"])
    (answer,) = told["tool_results"].values()
    assert FACT in json.dumps(answer)
    assert not [event for event in told["events"] if "clamping" in event or "hooks.json" in event]
