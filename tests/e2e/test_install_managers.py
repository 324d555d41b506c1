"""The real pre-commit, husky and lefthook run our hooks, and lose them again byte for byte."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Repo
from hookfiles import TOKEN, hooks, refuses_token, script, tree

# Beside the interpreter that runs the tests, as a test environment has it; the fixture's PATH begins there.
BESIDE = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
needs_pre_commit = pytest.mark.skipif(not shutil.which("pre-commit", path=BESIDE), reason="pre-commit is not installed")
CONFIG = """# my config
repos:
-   repo: local
    hooks:
    -   id: hello   # greets
        name: hello
        language: system
        entry: echo hi
        always_run: true
"""


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """husky and lefthook from the registry, once a run."""
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is not installed: husky and lefthook were not tried")
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text('{"private": true}')
    done = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--silent", "husky@9", "lefthook@2"],
        cwd=folder, env={**os.environ, "HOME": str(folder), "CI": "1"}, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"npm could not install husky and lefthook: {done.stderr[-300:].decode('utf-8', 'replace')}")
    return folder / "node_modules"


def with_modules(repo: Repo, node_modules: Path) -> Repo:
    repo.write(".gitignore", "node_modules\n")
    repo.write("package.json", "{}\n")
    (repo.path / "node_modules").symlink_to(node_modules)
    path = f"{node_modules}/.bin{os.pathsep}{repo.environ['PATH']}"
    return repo._replace(environ={**repo.environ, "PATH": path})


@needs_pre_commit
def test_pre_commit_runs_our_hooks(repo: Repo) -> None:
    path = repo.write(".pre-commit-config.yaml", CONFIG)
    before = tree(hooks(repo))
    done = repo.mem("install", "pre-commit")
    assert "no stages" in done.stdout, "a hook that always runs would run after commits too"
    text = path.read_text()
    kept = iter(text.splitlines())
    assert all(line in kept for line in CONFIG.splitlines())
    assert "default_install_hook_types: [pre-commit, pre-merge-commit, post-commit" in text
    assert str(repo.path) not in text
    for name in ("pre-commit", "post-commit", "post-rewrite"):
        assert (hooks(repo) / name).exists()
    assert "nothing to change" in repo.mem("install", "pre-commit").stdout
    assert "memory guard" in repo.commit().stderr
    repo.write("MEMORY.md", TOKEN)
    repo.git("add", "-A")
    refused = repo.git("commit", "-m", "x", check=False)
    assert refused.returncode == 1 and "MEMORY.md:1" in refused.stderr
    repo.git("rm", "-q", "-f", "MEMORY.md")
    repo.mem("uninstall", "pre-commit")
    assert path.read_text() == CONFIG
    assert tree(hooks(repo)) == before


@needs_pre_commit
def test_pre_commit_configuration_is_valid(repo: Repo) -> None:
    for text in (
        "",
        CONFIG,
        "repos: []\n",
        "repos: [{repo: meta, hooks: [{id: identity}]}]\r\n",
        "# c\nfail_fast: true",
    ):
        path = repo.write(".pre-commit-config.yaml", text)
        repo.mem("install", "pre-commit")
        repo.run("pre-commit", "validate-config")
        repo.mem("uninstall", "pre-commit")
        assert path.read_bytes() == text.encode()


@needs_pre_commit
def test_pre_commit_keeps_a_hook_that_was_there(repo: Repo) -> None:
    """The framework moves it aside and runs it; afterwards it is back."""
    script(hooks(repo) / "pre-commit", "#!/bin/sh\necho mine >&2\n")
    before = tree(hooks(repo))
    repo.mem("install", "pre-commit")
    assert not (repo.path / ".pre-commit-config.yaml").read_text().startswith("null")
    assert "mine" in repo.commit().stderr
    repo.mem("uninstall", "pre-commit")
    assert tree(hooks(repo)) == before
    assert not (repo.path / ".pre-commit-config.yaml").exists()


@needs_pre_commit
def test_pre_commit_without_mem_blocks_only_by_the_guard(repo: Repo, mem_bin: Path, tmp_path: Path) -> None:
    repo.mem("install", "pre-commit")
    for name in ("git", "sh", "python3"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    gone = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    repo.write("a.txt", "x")
    repo.git("add", "-A")
    done = repo.git("commit", "-m", "x", check=False, environ=gone)
    assert done.returncode == 1 and "remove this from .pre-commit-config.yaml" in done.stderr
    done = repo.git("commit", "-m", "x", environ={**gone, "SKIP": "memory-guard"})
    assert "memory index" in done.stderr and "Failed" not in done.stderr


@needs_pre_commit
def test_pre_commit_refuses_what_it_cannot_read(repo: Repo) -> None:
    for text in ("repos: 1\n", "a: [\n", "- x\n", "a: 1\n---\nb: 1\n"):
        path = repo.write(".pre-commit-config.yaml", text)
        done = repo.mem("install", "pre-commit", check=False)
        assert done.returncode == 1 and ".pre-commit-config.yaml" in done.stderr
        assert path.read_text() == text
    assert not (hooks(repo) / "pre-commit").exists()


@needs_pre_commit
def test_pre_commit_that_will_not_install_is_an_error(repo: Repo) -> None:
    """pre-commit 3627: it refuses a core.hooksPath, and so the hooks would never run."""
    repo.git("config", "core.hooksPath", "elsewhere")
    done = repo.mem("install", "pre-commit", check=False)
    assert done.returncode == 1 and "core.hooksPath" in done.stderr


def test_husky_runs_our_hooks(repo: Repo, node_modules: Path) -> None:
    """beads 3208: the files in `.husky` are added to, `.husky/_` is husky's own."""
    repo = with_modules(repo, node_modules)
    repo.run("husky", "init")
    repo.write(".husky/pre-commit", "echo husky-own >&2\n")
    before, own = tree(repo.path / ".husky"), tree(repo.path / ".husky" / "_")
    refused = repo.mem("install", "git", check=False)
    assert refused.returncode == 1 and "mem install husky" in refused.stderr
    repo.mem("install", "husky")
    assert (repo.path / ".husky/pre-commit").read_text().endswith("echo husky-own >&2\n")
    assert tree(repo.path / ".husky" / "_") == own
    assert str(repo.path) not in (repo.path / ".husky/pre-commit").read_text()
    assert "nothing to change" in repo.mem("install", "husky").stdout
    assert "husky-own" in repo.commit().stderr
    assert refuses_token(repo)
    repo.mem("uninstall", "husky")
    assert tree(repo.path / ".husky") == before


def test_husky_without_a_folder_is_refused(repo: Repo) -> None:
    done = repo.mem("install", "husky", check=False)
    assert done.returncode == 1 and "npx husky init" in done.stderr


LEFTHOOK = {
    "lefthook.yml": "# mine\npre-commit:\n  parallel: true  # fast\n  commands:\n    hello:\n      run: echo own >&2\n",
    "lefthook.json": '{\n  "pre-commit": {\n    "commands": {"hello": {"run": "echo own >&2"}}\n  }\n}\n',
    "lefthook.toml": '# mine\n[pre-commit.commands.hello]\nrun = "echo own >&2"\n',
    ".lefthook.yaml": "pre-commit:\n  jobs:\n    - run: echo own >&2",
}


@pytest.mark.parametrize("name", LEFTHOOK)
def test_lefthook_runs_our_hooks(repo: Repo, node_modules: Path, name: str) -> None:
    repo = with_modules(repo, node_modules)
    path = repo.write(name, LEFTHOOK[name])
    repo.run("lefthook", "install")
    before = tree(hooks(repo))
    repo.mem("install", "lefthook")
    assert (hooks(repo) / "post-rewrite").exists()
    assert "nothing to change" in repo.mem("install", "lefthook").stdout
    done = repo.commit()
    assert "own" in done.stdout + done.stderr
    repo.write("MEMORY.md", TOKEN)
    repo.git("add", "-A")
    refused = repo.git("commit", "-m", "x", check=False)
    assert refused.returncode == 1 and "MEMORY.md:1" in refused.stdout + refused.stderr
    repo.mem("uninstall", "lefthook")
    assert path.read_text() == LEFTHOOK[name]
    assert tree(hooks(repo)) == before


def test_lefthook_that_the_user_installs_later_stays(repo: Repo, node_modules: Path) -> None:
    """What we had it install is ours to take away once; lefthook's note of the configuration goes with it."""
    repo = with_modules(repo, node_modules)
    repo.write("lefthook.yml", LEFTHOOK["lefthook.yml"])
    before = tree(repo.path / ".git")
    repo.mem("install", "lefthook")
    repo.mem("uninstall", "lefthook")
    assert tree(repo.path / ".git") == before
    repo.run("lefthook", "install")
    before = tree(repo.path / ".git")
    repo.mem("install", "lefthook")
    repo.mem("uninstall", "lefthook")
    assert tree(repo.path / ".git") == before


def test_lefthook_command_of_that_name_is_left_to_its_owner(repo: Repo) -> None:
    text = "pre-commit:\n  commands:\n    memory-guard:\n      run: other\n"
    path = repo.write("lefthook.yml", text)
    done = repo.mem("install", "lefthook", check=False)
    assert done.returncode == 1 and "not ours" in done.stderr and path.read_text() == text


@needs_pre_commit
def test_block_that_pre_commit_moved_aside(repo: Repo) -> None:
    """`pre-commit install` after ours: it runs our file from where it put it; once, and leaves no trace."""
    script(hooks(repo) / "pre-commit", "#!/bin/sh\necho mine >&2\n")
    repo.mem("install", "git")
    repo.write(".pre-commit-config.yaml", CONFIG)
    repo.run("pre-commit", "install")
    assert "pre-commit: runs the guard through git, by way of pre-commit" in repo.mem("doctor").stdout
    repo.mem("install", "git")
    assert repo.commit().stderr.count("nothing was judged") == 1 and refuses_token(repo)
    repo.mem("uninstall", "git")
    assert "memhooks" not in "".join(path.read_text() for path in hooks(repo).iterdir())
    repo.write("more.txt", "x")
    assert "mine" in repo.commit().stderr


def test_block_that_lefthook_moved_aside(repo: Repo, node_modules: Path) -> None:
    repo = with_modules(repo, node_modules)
    own = script(hooks(repo) / "pre-commit", "#!/bin/sh\necho mine >&2\n").read_bytes()
    repo.mem("install", "git")
    repo.write("lefthook.yml", LEFTHOOK["lefthook.yml"])
    repo.run("lefthook", "install")
    repo.mem("uninstall", "git")
    assert (hooks(repo) / "pre-commit.old").read_bytes() == own


@needs_pre_commit
def test_plain_block_beside_a_manager(repo: Repo) -> None:
    """Two managers at once: both run, doctor says that one is enough, and ours goes without a trace."""
    repo.write(".pre-commit-config.yaml", CONFIG)
    repo.run("pre-commit", "install")
    before = tree(hooks(repo))
    assert "mem install pre-commit" in repo.mem("install", "git").stdout
    assert "hello" in repo.commit().stderr
    assert refuses_token(repo)
    repo.mem("install", "pre-commit")
    assert "runs twice" in repo.mem("doctor").stdout
    repo.mem("uninstall", "pre-commit")
    repo.mem("uninstall", "git")
    assert tree(hooks(repo)) == before
