"""The real Gemini CLI, offline: plain text would never reach its model."""

from __future__ import annotations

from pathlib import Path

import pytest
from clients.running import hook_settings, run_client
from conftest import Repo
from memhooks.hooks.clients import CLIENTS

pytestmark = pytest.mark.client


@pytest.mark.parametrize("flag", ["", " --client gemini"], ids=["detected", "named"])
def test_gemini_model_receives_digest(repo: Repo, mem_bin: Path, flag: str) -> None:
    repo.mem("remember", "The zebra token rotates every hour", "--kind", "decision")
    seconds = 15 * CLIENTS["gemini"].timeout_unit
    settings = hook_settings({"SessionStart": f"mem hook session-start{flag}"}, timeout=seconds)
    repo.write(".gemini/settings.json", settings)
    run_client("gemini", repo, mem_bin, "--expect", "zebra token rotates")


def test_gemini_goes_on_without_store(repo: Repo, mem_bin: Path) -> None:
    repo.write(".gemini/settings.json", hook_settings({"SessionStart": "mem hook session-start"}, timeout=15000))
    report = run_client("gemini", repo, mem_bin)
    assert report["error"] is None
