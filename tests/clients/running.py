"""Run one of the session scripts from a test: what reached the model, or a skip that says what is missing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo

HERE = Path(__file__).parent


def run_client(name: str, repo: Repo, mem_bin: Path, *words: str) -> dict[str, Any]:
    """Run a session of the client `name` in the repository and return the script's report.

    Skips where the client is not installed; fails where it does not end well or a `--expect` was not found.
    """
    if not (Path(os.environ["MEM_CLIENTS"]) / "node_modules" / ".bin" / name).exists():
        pytest.skip(f"{name} is not installed: tests/clients/install.sh {name}")
    done = repo.run(
        sys.executable, str(HERE / f"{name}_session.py"), "--project", str(repo.path), *words,
        environ={"MEM_CLIENTS": os.environ["MEM_CLIENTS"], "MEM_PATH": str(mem_bin)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def hook_settings(events: dict[str, str], *, matcher: str = "", timeout: int = 15) -> str:
    """Return settings in Claude's shape that run a command at each event."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for event, command in events.items():
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}
        if matcher and event == "SessionStart":
            group["matcher"] = matcher
        groups[event] = [group]
    return json.dumps({"hooks": groups})
