"""The tour that the README starts with."""

from __future__ import annotations

import json

from conftest import Repo


def test_demo_tells_its_steps_and_cleans_up(repo: Repo) -> None:
    """It ends well, shows the refusal and the digest, never a whole key, and leaves nothing behind."""
    home = repo.path.parent / "home"
    done = repo.mem("demo")
    assert "refused" in done.stdout
    assert "additionalContext" in done.stdout
    assert "AKIAZ7" not in done.stdout
    assert [path.name for path in home.iterdir()] == []
    assert not (repo.path / ".mem").exists()


def test_demo_answers_with_one_json_value(repo: Repo) -> None:
    """Under --json each step is an object with its exit code."""
    steps = json.loads(repo.mem("demo", "--json").stdout)["steps"]
    assert {step["exit_code"] for step in steps} == {0, 1}
