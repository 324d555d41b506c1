"""What `mem install` writes is read by the real agent programs: the digest is in what their model receives."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from conftest import Repo

HARNESS = Path(__file__).parents[1] / "clients"
CODEX_HOOKS = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
CASES = {
    "claude": "claude",
    "codex": "codex",
    "codex, hooks in config.toml": "codex",
    "gemini": "gemini",
    "copilot": "copilot",
}


@pytest.mark.client
@pytest.mark.parametrize("case", CASES)
def test_real_client_takes_digest_and_server(repo: Repo, mem_bin: Path, case: str) -> None:
    name = CASES[case]
    program = Path(os.environ["MEM_CLIENTS"]) / "node_modules" / ".bin" / name
    session = HARNESS / f"{name}_session.py"
    if not program.exists() or not session.exists():
        pytest.skip(f"{name} is not installed: tests/clients/install.sh {name}")
    if "config.toml" in case:
        repo.write(".codex/config.toml", CODEX_HOOKS)
    repo.mem("remember", "The zebra token rotates every hour", "--kind", "decision")
    repo.mem("install", name)
    repo.mem("install", "mcp", "--client", name)
    done = repo.run(
        sys.executable, str(session), "--project", str(repo.path), "--expect", "zebra token",
        environ={"MEM_CLIENTS": os.environ["MEM_CLIENTS"], "MEM_PATH": str(mem_bin)}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert json.loads(done.stdout)["marker"]["zebra token"]
