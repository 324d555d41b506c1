"""The real Codex CLI, offline: it drops an answer with one key too many, so the digest that arrives proves its form."""

from __future__ import annotations

from pathlib import Path

import pytest
from clients.running import hook_settings, run_client
from conftest import Repo

pytestmark = pytest.mark.client


@pytest.mark.parametrize("flag", ["", " --client codex"], ids=["detected", "named"])
def test_codex_model_receives_digest(repo: Repo, mem_bin: Path, flag: str) -> None:
    repo.mem("remember", "The zebra token rotates every hour", "--kind", "decision")
    repo.write(".codex/hooks.json", hook_settings({"SessionStart": f"mem hook session-start{flag}"}))
    report = run_client("codex", repo, mem_bin, "--expect", "zebra token rotates")
    assert report["marker"]["zebra token rotates"][0].endswith("developer")


def test_codex_model_receives_memory_that_fits_prompt(repo: Repo, mem_bin: Path) -> None:
    repo.mem("remember", "The zebra token rotates every hour", "--kind", "decision")
    repo.write(".codex/hooks.json", hook_settings({"UserPromptSubmit": "mem hook prompt"}))
    run_client("codex", repo, mem_bin, "--prompt", "how often does the zebra token rotate?", "--expect", "every hour")
