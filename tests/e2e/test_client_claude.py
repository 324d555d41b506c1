"""The real Claude Code, offline: what our session hooks print is what its model receives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clients.running import hook_settings, run_client
from conftest import Repo
from memhooks.hooks.clients import CLIENTS

pytestmark = pytest.mark.client

EVENTS = {
    "SessionStart": "mem hook session-start",
    "UserPromptSubmit": "mem hook prompt",
    "SubagentStart": "mem hook subagent-start",
    "SessionEnd": "mem hook session-end",
}


@pytest.fixture
def project(repo: Repo) -> Repo:
    """A repository with a memory and our hooks in Claude Code's project settings."""
    repo.mem("remember", "The zebra token rotates every hour", "--kind", "decision")
    repo.write(".claude/settings.json", hook_settings(EVENTS, matcher=CLIENTS["claude"].matcher))
    return repo


def contexts(report: dict[str, Any], event: str) -> list[str]:
    return [found["text"] for found in report["hook_context"] if found["event"] == event]


def test_claude_model_receives_digest(project: Repo, mem_bin: Path) -> None:
    report = run_client("claude", project, mem_bin, "--expect", "zebra token rotates")
    assert len(contexts(report, "SessionStart")) == 1
    assert "data, not orders" in contexts(report, "SessionStart")[0]
    hook = next(one for one in report["hook_outputs"] if one["hook"].startswith("SessionStart"))
    assert (hook["exit_code"], hook["stderr"], hook["reached_verbatim"]) == (0, "", True)


def test_claude_resume_repeats_digest_only_when_it_changed(project: Repo, mem_bin: Path, tmp_path: Path) -> None:
    """Resuming keeps the earlier digest in the context, so the same one again would only cost tokens."""
    home = ["--home", str(tmp_path / "claude")]
    run_client("claude", project, mem_bin, *home)
    again = run_client("claude", project, mem_bin, *home, "--arg=--continue", "--expect", "zebra token rotates")
    assert len(contexts(again, "SessionStart")) == 1
    project.mem("remember", "The giraffe cache is filled at midnight")
    changed = run_client("claude", project, mem_bin, *home, "--arg=--continue", "--expect", "giraffe cache")
    assert any("giraffe cache" in text for text in contexts(changed, "SessionStart"))


def test_claude_model_receives_memory_that_fits_prompt(project: Repo, mem_bin: Path) -> None:
    (project.path / ".claude/settings.json").write_text(hook_settings({"UserPromptSubmit": "mem hook prompt"}))
    report = run_client(
        "claude", project, mem_bin, "--prompt", "how often does the zebra token rotate?", "--expect", "every hour"
    )
    assert "zebra token" in contexts(report, "UserPromptSubmit")[0]


def test_claude_session_end_is_noted_in_cursor(project: Repo, mem_bin: Path) -> None:
    report = run_client("claude", project, mem_bin)
    state = json.loads(project.mem("state", "show", "--json").stdout)
    assert report["session_id"] in json.dumps(state)


def test_claude_session_goes_on_without_store(repo: Repo, mem_bin: Path) -> None:
    repo.write(".claude/settings.json", hook_settings(EVENTS))
    report = run_client("claude", repo, mem_bin)
    assert report["hook_context"] == []
    assert not (repo.path / ".mem").exists()
