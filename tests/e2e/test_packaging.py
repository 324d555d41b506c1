"""The wheel: it holds what the tree holds, names its commit, and runs from a fresh environment."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import Repo

ROOT = Path(__file__).parents[2]
FOLDERS = ("hooks", "memory", "templates")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a source distribution of a clone, as a release is."""
    folder = tmp_path_factory.mktemp("dist")
    clone = folder / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(clone)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return next(folder.glob("*.whl"))


def test_wheel_holds_what_the_tree_holds(wheel: Path) -> None:
    """Nothing is left behind, nothing foreign comes along, and no module is called `hooks`."""
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True)
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {f"memhooks/{name}" for name in listed.stdout.split()} | {"memhooks/hooks/commit.txt"}


def test_wheel_runs_in_a_fresh_environment(wheel: Path, repo: Repo, tmp_path: Path) -> None:
    """With nothing but its own dependencies it remembers, recalls and names its commit."""
    place = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    subprocess.run([str(place / "bin/pip"), "install", "-q", str(wheel)], check=True, capture_output=True)
    mem = str(place / "bin/mem")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert head.stdout[:12] in repo.run(mem, "--version").stdout
    repo.run(mem, "remember", "The token rotates every hour")
    assert "token rotates" in repo.run(mem, "recall", "rotating tokens").stdout
    installed = subprocess.run(
        [str(place / "bin/pip"), "list", "--format=freeze"], capture_output=True, text=True, check=True
    )
    packages = [line for line in installed.stdout.split() if not line.startswith(("pip=", "setuptools=", "memhooks="))]
    assert len(packages) <= 8
