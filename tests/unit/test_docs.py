"""What the README says of the commands is what the program says."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from memhooks.hooks.cli import COMMANDS
from memhooks.memory.config import SETTINGS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_readme_lists_every_command_with_its_help() -> None:
    """The table of commands is the program's own."""
    rows = dict(re.findall(r"^\| `mem ([\w-]+)` \| (.+) \|$", README, re.M))
    assert rows == {name: command.help for name, command in COMMANDS.items()}


def test_readme_lists_every_setting_with_its_default() -> None:
    """The table of settings is the program's own."""
    rows = dict(re.findall(r"^\| `([\w.]+)` \| `(.*?)` \| .+ \|$", README, re.M))
    assert rows == {name: repr(setting.default) for name, setting in SETTINGS.items()}


def test_readme_example_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python example does what it shows."""
    monkeypatch.chdir(home)
    (home / "pyproject.toml").touch()
    example = re.search(r"^```python\n(.*?)^```$", README, re.M | re.S)
    assert example
    names: dict[str, Any] = {}
    exec(compile(example[1], "README.md", "exec"), names)
    assert [hit.memory for hit in names["hits"]] == [names["memory"]]
    assert "payment" in names["text"]
    assert names["findings"] == []


def test_readme_says_where_every_module_is() -> None:
    """The map of files leaves none out; those of `install/` go by its name."""
    listed = README.partition("Where things are")[2]
    for folder in ("hooks", "memory"):
        rows = "".join(row for row in listed.splitlines() if f"`{folder}/" in row)
        names = [name.rpartition("/")[2] for name in re.findall(r"`([^`]+\.py)`", rows)]
        for path in (ROOT / folder).glob("[a-z]*.py"):
            assert any(fnmatch(path.name, name) for name in names), path
