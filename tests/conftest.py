"""Shared fixtures: a home of its own for every test, real git in a temporary folder, and the `mem` under test.

The real home is out of reach: HOME points nowhere until a test has its own, and GIT_* of a surrounding hook are gone.
MEM_UNDER_TEST names the folder of an installed `mem` (what CI does with the built wheel); without it the tree is run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from memhooks.memory.api import Store

TREE = Path(__file__).parent / "_tree"
NOWHERE = "/nonexistent/home-of-no-test"
PATIENCE = 60.0  # seconds; only a process that is wrong needs them


def pytest_configure() -> None:
    ours = ("GIT_", "MEM_", "XDG_", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "CURSOR")
    for name in set(os.environ) - {"GIT_SSL_CAINFO", "MEM_UNDER_TEST", "MEM_CLIENTS"}:
        if name.startswith(ours):
            del os.environ[name]
    os.environ.setdefault("MEM_CLIENTS", os.path.expanduser("~/.cache/mem-clients"))
    os.environ["HOME"] = NOWHERE


class Repo(NamedTuple):
    """A real git repository with an isolated environment; `bin` holds the `mem` under test."""

    path: Path
    environ: dict[str, str]

    def run(self, *words: str, stdin: str | bytes | None = None, check: bool = True, cwd: Path | None = None,
            environ: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:  # fmt: skip
        """Run a program in the repository; standard input is empty unless given."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            list(words), cwd=cwd or self.path, env=self.environ | (environ or {}), capture_output=True, timeout=120,
            input=data if data is not None else b"",
        )  # fmt: skip
        result = subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
        )
        if check and result.returncode:
            pytest.fail(f"{words} exited {result.returncode}:\n{result.stdout}\n{result.stderr}")
        return result

    def git(self, *words: str, check: bool = True, **more: object) -> subprocess.CompletedProcess[str]:
        return self.run("git", *words, check=check, **more)  # type: ignore[arg-type]

    def mem(self, *words: str, check: bool = True, **more: object) -> subprocess.CompletedProcess[str]:
        return self.run("mem", *words, check=check, **more)  # type: ignore[arg-type]

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file, its folders included, and return its path."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, message: str = "a commit", *, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Stage everything and commit it, hooks included."""
        self.git("add", "-A")
        return self.git("commit", "-q", "-m", message, check=check)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder for this test alone."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("MEM_HOME", str(folder / "mem"))
    return folder


@pytest.fixture(scope="session")
def mem_bin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the `mem` under test."""
    given = os.environ.get("MEM_UNDER_TEST")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "mem"
    script.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path[0] = {str(TREE)!r}\nfrom memhooks.hooks.cli import entry\nentry()\n"
    )
    script.chmod(0o755)
    return folder


@pytest.fixture
def clean_environ(home: Path, mem_bin: Path) -> dict[str, str]:
    """An environment made from little: an isolated home, a git identity, `mem` and the test tools on PATH."""
    path = os.pathsep.join([str(mem_bin), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    kept = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "npm_", "SSL_", "MEM_CLIENTS"))
    }
    return kept | {
        "HOME": str(home), "MEM_HOME": str(home / "mem"), "PATH": path, "USER": "tester", "LANG": "C.UTF-8",
        "XDG_CONFIG_HOME": str(home / ".config"), "XDG_CACHE_HOME": str(home / ".cache"), "TMPDIR": str(home),
        "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "Tester", "GIT_AUTHOR_EMAIL": "tester@example.invalid",
        "GIT_COMMITTER_NAME": "Tester", "GIT_COMMITTER_EMAIL": "tester@example.invalid", "GIT_EDITOR": "true",
    }  # fmt: skip


@pytest.fixture
def repo(tmp_path: Path, clean_environ: dict[str, str]) -> Repo:
    """A fresh git repository on branch main, without a commit."""
    path = tmp_path / "repo"
    path.mkdir()
    made = Repo(path, clean_environ)
    made.git("init", "-q", "-b", "main")
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store of its own."""
    with Store.open(str(tmp_path / "store" / "mem.db")) as opened:
        yield opened


def needs(program: str) -> pytest.MarkDecorator:
    """Skip a test, with the reason, where a program is not installed."""
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed")


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait until something in another process holds, however slow the machine."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            pytest.fail(f"it never came to be: {what}")
        time.sleep(0.05)
