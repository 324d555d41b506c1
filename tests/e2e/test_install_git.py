"""Plain git hooks in every repository that git knows: they run where git looks, and what was there runs as before."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import sys
from pathlib import Path

import pytest
from conftest import Repo
from hookfiles import TOKEN, hooks, refuses_token, script, tree

HOOKS = ("pre-commit", "pre-merge-commit", "post-commit", "post-merge", "post-checkout", "post-rewrite")


def test_install_puts_a_block_in_every_hook(repo: Repo) -> None:
    repo.mem("install", "git")
    for name in HOOKS:
        assert os.access(hooks(repo) / name, os.X_OK)
    assert refuses_token(repo)
    repo.write("a.txt", "x")
    repo.commit()


def test_install_twice_is_once(repo: Repo) -> None:
    repo.mem("install", "git")
    before = tree(hooks(repo))
    assert "nothing to change" in repo.mem("install", "git").stdout
    assert tree(hooks(repo)) == before


@pytest.mark.parametrize(
    ("first", "mode"),
    [("#!/bin/sh", 0o755), ("#!/usr/bin/env bash", 0o750), ("#!/bin/sh -eu", 0o755), ("echo headless", 0o755)],
)
def test_existing_hook_keeps_exit_code_arguments_and_place(repo: Repo, first: str, mode: int) -> None:
    body = f'{first}\necho "mine $0 $#" >&2\nexit 7\n'
    mine = script(hooks(repo) / "pre-commit", body, mode)
    before = tree(hooks(repo))
    repo.mem("install", "git")
    assert stat.S_IMODE(mine.stat().st_mode) == mode
    repo.write("a.txt", "x")
    repo.git("add", "-A")
    done = repo.git("commit", "-m", "x", check=False)
    assert done.returncode == 1 and "mine .git/hooks/pre-commit 0" in done.stderr
    assert refuses_token(repo) is True
    repo.mem("uninstall", "git")
    assert tree(hooks(repo)) == before


def test_existing_hook_keeps_its_standard_input(repo: Repo) -> None:
    script(hooks(repo) / "post-rewrite", '#!/bin/sh\ncat > "$(git rev-parse --git-dir)/seen-$1"\n')
    repo.mem("install", "git")
    repo.write("a.txt", "x")
    repo.commit("one")
    repo.git("commit", "-q", "--amend", "-m", "two")
    assert len((repo.path / ".git" / "seen-amend").read_text().split()) == 2


def test_hook_in_another_language_is_handed_over_to(repo: Repo) -> None:
    """A hook that is no shell script is moved aside, runs with its exit code, and comes back."""
    body = "import sys\nprint('python', file=sys.stderr)\nsys.exit(9)\n"
    script(hooks(repo) / "pre-commit", f"#!{sys.executable}\n{body}")
    before = tree(hooks(repo))
    repo.mem("install", "git")
    assert repo.mem("install", "git").stdout.startswith("nothing to change")
    repo.write("a.txt", "x")
    repo.git("add", "-A")
    done = repo.git("commit", "-m", "x", check=False)
    assert done.returncode == 1 and "python" in done.stderr
    assert refuses_token(repo)
    repo.mem("uninstall", "git")
    assert tree(hooks(repo)) == before


def test_hook_that_is_a_link_stays_one(repo: Repo) -> None:
    """The target of a link may be a tracked file: it is not written to."""
    target = script(repo.path / "scripts" / "check.sh", "#!/bin/sh\necho linked >&2\n")
    (hooks(repo) / "pre-commit").symlink_to("../../scripts/check.sh")
    before, was = tree(hooks(repo)), target.read_text()
    repo.mem("install", "git")
    assert target.read_text() == was
    assert "linked" in repo.commit().stderr
    repo.mem("uninstall", "git")
    assert tree(hooks(repo)) == before


def test_hook_that_is_switched_off_stays_off(repo: Repo) -> None:
    script(hooks(repo) / "pre-commit", "#!/bin/sh\nexit 5\n", 0o644)
    before = tree(hooks(repo))
    repo.mem("install", "git")
    repo.write("a.txt", "x")
    repo.commit()
    repo.mem("uninstall", "git")
    assert tree(hooks(repo)) == before


def test_local_hooks_path_is_used_and_not_changed(repo: Repo) -> None:
    """beads 2729: a hooksPath of another's is chained to, never set."""
    script(repo.path / ".githooks" / "pre-commit", "#!/bin/sh\necho shared >&2\n")
    repo.git("config", "core.hooksPath", ".githooks")
    config = (repo.path / ".git" / "config").read_bytes()
    repo.mem("install", "git")
    assert (repo.path / ".git" / "config").read_bytes() == config
    text = (repo.path / ".githooks" / "pre-commit").read_text()
    assert str(repo.path) not in text, "a file that may be tracked names no path of this machine"
    assert refuses_token(repo)
    repo.write("a.txt", "x")
    assert "shared" in repo.commit().stderr


def test_relative_hooks_path_that_is_missing_is_made(repo: Repo) -> None:
    """lefthook 901."""
    repo.git("config", "core.hooksPath", "no/such")
    repo.mem("install", "git", cwd=repo.path)
    assert refuses_token(repo)
    repo.mem("uninstall", "git")
    assert not (repo.path / "no").exists()


def test_hooks_path_equal_to_the_default_counts_as_unset(repo: Repo) -> None:
    """pre-commit 3627, learning-loop 8."""
    repo.git("config", "--global", "core.hooksPath", str(hooks(repo)))
    repo.mem("install", "git")
    assert refuses_token(repo)


def test_global_hooks_path_is_left_alone(repo: Repo, home: Path) -> None:
    """What all repositories use is written to only when that is asked for."""
    script(home / "hooks" / "pre-commit", "#!/bin/sh\necho global >&2\n")
    repo.git("config", "--global", "core.hooksPath", "~/hooks")
    before = tree(home / "hooks")
    done = repo.mem("install", "git", check=False)
    assert done.returncode == 1 and "--shared-hooks" in done.stderr and done.stdout == ""
    assert tree(home / "hooks") == before and not (hooks(repo) / "pre-commit").exists()
    repo.mem("install", "git", "--shared-hooks")
    assert refuses_token(repo)
    repo.write("a.txt", "x")
    assert "global" in repo.commit().stderr
    repo.mem("uninstall", "git")
    assert tree(home / "hooks") == before


def test_hooks_switched_off_is_refused(repo: Repo) -> None:
    """What was skipped is an error, not a silence."""
    repo.git("config", "core.hooksPath", "/dev/null")
    done = repo.mem("install", "git", check=False)
    assert done.returncode == 1 and "switches hooks off" in done.stderr


def test_linked_worktree_uses_the_shared_hooks(repo: Repo, tmp_path: Path) -> None:
    """beads 1127: git never looks in a worktree's own git folder."""
    repo.write("a.txt", "x")
    repo.commit()
    repo.git("worktree", "add", "-q", str(tmp_path / "linked"))
    repo.mem("install", "git", cwd=tmp_path / "linked")
    assert refuses_token(repo, tmp_path / "linked")
    assert refuses_token(repo)
    repo.mem("uninstall", "git", cwd=tmp_path / "linked")
    assert not (hooks(repo) / "pre-commit").exists()


def test_relative_hooks_path_in_a_worktree(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.txt", "x")
    repo.commit()
    repo.git("config", "core.hooksPath", ".githooks")
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", str(linked))
    (linked / "deep").mkdir()
    repo.mem("install", "git", cwd=linked / "deep")
    assert (linked / ".githooks" / "pre-commit").exists()
    assert refuses_token(repo, linked)


def test_bare_repository_with_worktrees(repo: Repo, tmp_path: Path) -> None:
    repo.write("a.txt", "x")
    repo.commit()
    bare, linked = tmp_path / "bare.git", tmp_path / "linked"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    repo.git("worktree", "add", "-q", str(linked), cwd=bare)
    repo.mem("install", "git", cwd=bare)
    assert refuses_token(repo, linked)


def test_submodule_has_hooks_of_its_own(repo: Repo, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    repo.run("git", "init", "-q", str(inner))
    (inner / "a.txt").write_text("x")
    repo.git("add", "-A", cwd=inner)
    repo.git("commit", "-q", "-m", "x", cwd=inner)
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    repo.mem("install", "git", cwd=repo.path / "sub")
    assert (repo.path / ".git" / "modules" / "sub" / "hooks" / "pre-commit").exists()
    assert not (hooks(repo) / "pre-commit").exists()
    assert refuses_token(repo, repo.path / "sub")


def test_merge_of_a_branch_with_a_token_is_refused(repo: Repo) -> None:
    """wildcat-finance/skills 1294: a merge commit goes by pre-merge-commit."""
    repo.write("a.txt", "x")
    repo.commit()
    repo.git("checkout", "-q", "-b", "other")
    repo.write("MEMORY.md", TOKEN)
    repo.commit()
    repo.git("checkout", "-q", "main")
    repo.mem("install", "git")
    done = repo.git("merge", "--no-ff", "-q", "-m", "m", "other", check=False)
    assert done.returncode == 1 and "MEMORY.md" in done.stderr


def test_short_path_of_a_window_program(repo: Repo, mem_bin: Path) -> None:
    """A GUI's PATH knows no mem: the place of installation is in the hook."""
    repo.mem("install", "git")
    repo.write("MEMORY.md", TOKEN)
    repo.git("add", "-A")
    short = {"PATH": os.path.dirname(shutil.which("git") or "") + ":/usr/bin:/bin"}
    done = repo.git("commit", "-m", "x", check=False, environ=short)
    assert done.returncode == 1 and "MEMORY.md:1" in done.stderr


def test_removed_tool_blocks_only_by_the_guard(repo: Repo, mem_bin: Path, tmp_path: Path) -> None:
    """observing/pre-commit 106: the guard says how to take it out, refresh hooks are silent."""
    moved = tmp_path / "some tool's place"
    shutil.copytree(mem_bin, moved)
    environ = {"PATH": f"{moved}:/usr/bin:/bin"}
    repo.run("mem", "install", "git", environ=environ)
    assert refuses_token(repo)
    shutil.rmtree(moved)
    gone = {"PATH": "/usr/bin:/bin"}
    repo.write("a.txt", "x")
    repo.git("add", "a.txt")
    done = repo.git("commit", "-m", "x", check=False, environ=gone)
    assert done.returncode == 1
    assert "install it again, or take the guard out" in done.stderr and ".git/hooks/pre-commit" in done.stderr
    done = repo.git("commit", "-q", "--no-verify", "-m", "x", environ=gone)
    assert done.stderr == ""
    assert repo.git("checkout", "-q", "-b", "next", environ=gone).stderr == ""


def test_program_path_with_blanks_is_quoted(repo: Repo, mem_bin: Path, tmp_path: Path) -> None:
    """adlc 799, claude-code 33431."""
    moved = tmp_path / "my $tools"
    shutil.copytree(mem_bin, moved)
    repo.run(str(moved / "mem"), "install", "git", "claude", environ={"PATH": "/usr/bin:/bin"})
    assert refuses_token(repo._replace(environ={**repo.environ, "PATH": "/usr/bin:/bin"}))
    settings = json.loads((repo.path / ".claude" / "settings.json").read_text())
    command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    assert shlex.split(command)[0] == str(moved / "mem")
    assert repo.run("sh", "-c", command, stdin="{}").returncode == 0


def test_conflict_in_between_leaves_everything_as_it_was(repo: Repo) -> None:
    script(hooks(repo) / "post-merge", "#!/bin/sh\n# >>> memhooks >>> half a block\n")
    before = tree(hooks(repo))
    done = repo.mem("install", "git", check=False)
    assert done.returncode == 1 and "by hand" in done.stderr and done.stdout == ""
    assert tree(hooks(repo)) == before


def test_outside_of_a_repository(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    done = repo.mem("install", "git", cwd=folder, check=False)
    assert done.returncode == 1 and "git init" in done.stderr


def test_dry_run_shows_the_diff_and_changes_nothing(repo: Repo) -> None:
    before = tree(repo.path)
    done = repo.mem("install", "git", "claude", "--dry-run")
    assert "+++ " in done.stdout and "hook guard" in done.stdout and "SessionStart" in done.stdout
    assert tree(repo.path) == before


def test_pull_with_rebase_brings_what_a_teammate_shared(repo: Repo, tmp_path: Path) -> None:
    """re-frame2 6936: such a pull never fires post-merge."""
    repo.write("a.txt", "x")
    repo.commit()
    mine = tmp_path / "mine"
    repo.git("clone", "-q", str(repo.path), str(mine))
    repo.mem("init", cwd=mine)
    repo.mem("install", "git", cwd=mine)
    repo.mem("remember", "The zebra token rotates every hour", "--shared")
    repo.mem("share", "out")
    repo.commit("shared")
    (mine / "b.txt").write_text("y")
    repo.git("add", "-A", cwd=mine)
    repo.git("commit", "-q", "-m", "mine", cwd=mine)
    repo.git("pull", "-q", "--rebase", cwd=mine)
    assert "zebra" in repo.mem("recall", "zebra", cwd=mine).stdout
