"""The hooks as the real pre-commit framework installs and runs them, from a snapshot of this repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Repo

pytest.importorskip("pre_commit", reason="pre-commit is not installed")

SOURCE = Path(__file__).resolve().parents[2]
PARTS = (".pre-commit-hooks.yaml", "LICENSE", "README.md", "hooks", "memory", "pyproject.toml", "templates")
TOKEN = "AKIA" + "Y34FZKBOKMUTVV7A"
FACT = "- Deploys run from the release branch.\n"
BAD = f"{FACT}- The deploy key is {TOKEN}.\n"


@pytest.fixture(scope="module")
def framework(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What all tests of this file share: a snapshot of this repository in git, and pre-commit's cache."""
    snapshot = tmp_path_factory.mktemp("snapshot") / "memhooks"
    snapshot.mkdir()
    for name in PARTS:
        if (SOURCE / name).is_dir():
            shutil.copytree(SOURCE / name, snapshot / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif (SOURCE / name).exists():
            shutil.copy(SOURCE / name, snapshot / name)
    (snapshot / "README.md").touch()
    home = tmp_path_factory.mktemp("pre-commit")
    who = {f"GIT_{who}_{what}": "t@example.invalid" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", **who}
    for words in (("init", "-q"), ("add", "-A", "-f"), ("commit", "-qm", "snapshot")):
        subprocess.run(["git", *words], cwd=snapshot, env=environ, check=True)
    rev = subprocess.run(["git", "rev-parse", "HEAD"], cwd=snapshot, env=environ, check=True, capture_output=True)
    return {"repo": str(snapshot), "rev": rev.stdout.decode().strip(), "home": str(home / "cache")}


@pytest.fixture
def framed(repo: Repo, framework: dict[str, str]) -> Repo:
    """A repository whose commits run our hooks through pre-commit, with a first commit made."""
    # Without a `mem` on PATH, so that only the framework's own installation can serve.
    path = os.pathsep.join(part for part in repo.environ["PATH"].split(os.pathsep) if not (Path(part) / "mem").exists())
    made = repo._replace(environ=repo.environ | {"PRE_COMMIT_HOME": framework["home"], "PATH": path})
    hooks = "".join(f"  - id: {name}\n" for name in ("memory-guard", "memory-mirror", "memory-share", "memory-index"))
    made.write(
        ".pre-commit-config.yaml",
        "default_install_hook_types: [pre-commit, pre-merge-commit, post-commit]\nrepos:\n"
        f"- repo: {framework['repo']}\n  rev: {framework['rev']}\n  hooks:\n{hooks}    verbose: true\n",
    )
    made.write("README.md", "A project.\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "start", "--no-verify")
    made.run(sys.executable, "-m", "pre_commit", "install")
    return made


def test_try_repo_refuses_and_passes(framed: Repo, framework: dict[str, str]) -> None:
    framed.write("MEMORY.md", BAD)
    framed.git("add", "-A")
    words = (sys.executable, "-m", "pre_commit", "try-repo", framework["repo"], "memory-guard", "--verbose")
    done = framed.run(*words, check=False)
    assert done.returncode == 1
    assert "MEMORY.md:2:21: aws-access-key" in done.stdout
    assert TOKEN not in done.stdout + done.stderr
    framed.write("MEMORY.md", FACT)
    framed.git("add", "-A")
    assert "Passed" in framed.run(*words).stdout


def test_commit_is_refused_then_passes_and_post_commit_runs(framed: Repo) -> None:
    framed.write("MEMORY.md", BAD)
    done = framed.commit("bad", check=False)
    assert done.returncode == 1
    said = done.stdout + done.stderr
    assert "MEMORY.md:2:21: aws-access-key" in said
    assert "how to" in said or "mem guard allow" in said
    assert TOKEN not in said
    framed.write("MEMORY.md", FACT)
    done = framed.commit("good")
    said = done.stdout + done.stderr
    assert "memory guard" in said
    assert "memory index" in said  # the post-commit stage, which has no files to be given
    assert "no files to check" not in said.split("memory index")[1]


def test_commit_of_a_merge_is_judged_by_the_framework(framed: Repo) -> None:
    framed.git("checkout", "-qb", "topic")
    framed.write("MEMORY.md", BAD)
    framed.git("add", "-A")
    framed.git("commit", "-qm", "slipped in", "--no-verify")
    framed.git("checkout", "-q", "main")
    framed.write("other.txt", "x\n")
    framed.commit("other")
    done = framed.git("merge", "--no-ff", "--no-edit", "topic", check=False)
    assert done.returncode != 0
    assert "MEMORY.md:2:21" in done.stdout + done.stderr


def test_run_over_all_files_judges_odd_names(framed: Repo) -> None:
    framed.write("memory-bank/KO é.md", FACT)
    framed.write("my notes/MEMORY.md", BAD)
    framed.git("add", "-A")
    framed.git("commit", "-qm", "slipped in", "--no-verify")
    done = framed.run(sys.executable, "-m", "pre_commit", "run", "memory-guard", "--all-files", check=False)
    assert done.returncode == 1
    assert "my notes/MEMORY.md:2:21" in done.stdout
    assert "KO" not in done.stdout


def test_unstaged_work_survives_the_frameworks_stash(framed: Repo) -> None:
    framed.write("MEMORY.md", FACT)
    framed.git("add", "-A")
    framed.write("MEMORY.md", BAD)
    framed.write("README.md", "A project, edited.\n")
    assert framed.git("commit", "-qm", "good").returncode == 0
    assert (framed.path / "MEMORY.md").read_text() == BAD
    assert (framed.path / "README.md").read_text() == "A project, edited.\n"


def test_stages_of_the_offered_hooks() -> None:
    import yaml  # pre-commit brings it

    hooks = {hook["id"]: hook for hook in yaml.safe_load((SOURCE / ".pre-commit-hooks.yaml").read_text())}
    assert set(hooks) == {"memory-guard", "memory-mirror", "memory-share", "memory-index"}
    guard = hooks["memory-guard"]
    assert (guard["files"], guard["types"], guard["require_serial"]) == ("", [], True)
    assert {"pre-commit", "pre-merge-commit"} <= set(guard["stages"])
    for name, hook in hooks.items():
        if any(stage.startswith("post-") for stage in hook["stages"]):
            assert hook["always_run"] is True, name
            assert hook["pass_filenames"] is False, name
