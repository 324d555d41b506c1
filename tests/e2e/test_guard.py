"""The guard as git runs it: real repositories, real commits, a plain pre-commit hook."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from pathlib import Path

import pytest
from conftest import Repo

TOKEN = "AKIA" + "Y34FZKBOKMUTVV7A"  # nobody's key, put together here so that no scanner of files trips over it
FACT = "- Deploys run from the release branch.\n"
BAD = f"{FACT}- The deploy key is {TOKEN}.\n"


def guarded(repo: Repo) -> Repo:
    """Give the repository the guard as its pre-commit and pre-merge-commit hook."""
    for name in ("pre-commit", "pre-merge-commit"):
        hook = repo.path / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexec mem hook guard\n")
        hook.chmod(0o755)
    return repo


@pytest.fixture
def guard_repo(repo: Repo) -> Repo:
    """A repository with one commit and the guard installed."""
    repo.write("README.md", "A project.\n")
    repo.commit("start")
    return guarded(repo)


def refused(repo: Repo, *names: str) -> str:
    """Commit everything, expect a refusal that never shows the token, and return what was said."""
    done = repo.commit("bad", check=False)
    assert done.returncode == 1, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    assert TOKEN[:4] + "…" in done.stderr
    for name in names:
        assert f"{name}:" in done.stderr
    return done.stderr


def test_guard_refuses_a_secret_with_its_place_and_how_to_mend_it(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    said = refused(guard_repo, "MEMORY.md:2:21")
    assert "mem guard allow aws-access-key" in said
    assert "refused" in said


def test_guard_lets_clean_memory_pass_in_silence(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", FACT)
    done = guard_repo.commit("good")
    assert (done.stdout, done.stderr) == ("", "")


def test_guard_that_looked_at_nothing_says_so(guard_repo: Repo) -> None:
    guard_repo.write("main.py", f"KEY = '{TOKEN}'\n")
    assert "nothing was judged: no memory file among 1 file" in guard_repo.commit("code").stderr


def test_guard_judges_the_first_commit_as_it_judges_the_file(repo: Repo) -> None:
    guarded(repo).write("MEMORY.md", BAD)
    from_index = refused(repo, "MEMORY.md:2:21")
    from_file = repo.mem("guard", "MEMORY.md", check=False)
    assert from_file.returncode == 1
    assert from_file.stderr.splitlines()[0] == from_index.splitlines()[0]


@pytest.mark.parametrize("name", [
    "KO é.md", "my notes/a b.md", "new\nline.md", 'quo"te.md', "tab\t.md", "-rf.md", ":colon.md", "*.md", "日本.md",
], ids=["accent", "space", "newline", "quote", "tab", "dash", "colon", "star", "wide"])  # fmt: skip
def test_guard_reads_odd_names(guard_repo: Repo, name: str) -> None:
    guard_repo.write(f"memory-bank/{name}", FACT)
    assert guard_repo.commit("clean").stderr == ""
    guard_repo.write(f"memory-bank/{name}", BAD)
    said = refused(guard_repo)
    shown = name.replace("\n", "\\n").replace("\t", "\\t")
    assert f"memory-bank/{shown}:2:21" in said


def test_guard_reads_names_that_are_no_utf8(guard_repo: Repo) -> None:
    folder = guard_repo.path / "memory-bank"
    folder.mkdir()
    try:
        Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")).write_text(BAD)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert "memory-bank/caf" in refused(guard_repo)


def test_guard_names_the_whole_path_with_a_space(guard_repo: Repo) -> None:
    guard_repo.write("my notes/MEMORY.md", BAD)
    refused(guard_repo, "my notes/MEMORY.md:2:21")


def test_guard_refuses_a_merge_that_brings_a_secret(guard_repo: Repo) -> None:
    guard_repo.git("checkout", "-qb", "topic")
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    guard_repo.git("commit", "-qm", "slipped in", "--no-verify")
    guard_repo.git("checkout", "-q", "main")
    guard_repo.write("other.txt", "x\n")
    guard_repo.commit("other")
    done = guard_repo.git("merge", "--no-ff", "--no-edit", "topic", check=False)
    assert done.returncode != 0
    assert "MEMORY.md:2:21" in done.stderr
    assert len(guard_repo.git("rev-list", "--merges", "HEAD").stdout.split()) == 0


def test_guard_judges_a_resolved_merge(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.commit("base")
    guard_repo.git("checkout", "-qb", "topic")
    guard_repo.write("MEMORY.md", FACT + "- One.\n")
    guard_repo.write("CLAUDE.md", BAD)
    guard_repo.git("add", "-A")
    guard_repo.git("commit", "-qm", "topic", "--no-verify")
    guard_repo.git("checkout", "-q", "main")
    guard_repo.write("MEMORY.md", FACT + "- Two.\n")
    guard_repo.commit("main")
    assert guard_repo.git("merge", "topic", check=False).returncode == 1  # a conflict
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.git("add", "MEMORY.md")
    # As the framework calls it in a merge: with the file that had a conflict, and with no other.
    done = guard_repo.mem("hook", "guard", "MEMORY.md", check=False)
    assert done.returncode == 1
    assert "CLAUDE.md:2:21" in done.stderr
    refused(guard_repo, "CLAUDE.md:2:21")


def test_guard_judges_both_sides_of_an_unresolved_merge(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.commit("base")
    guard_repo.git("checkout", "-qb", "topic")
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("commit", "-qam", "topic", "--no-verify")
    guard_repo.git("checkout", "-q", "main")
    guard_repo.write("MEMORY.md", FACT + "- Two.\n")
    guard_repo.commit("main")
    guard_repo.git("merge", "topic", check=False)
    done = guard_repo.mem("hook", "guard", check=False)
    assert done.returncode == 1
    assert "MEMORY.md:2:21 (theirs)" in done.stderr


@pytest.mark.parametrize("change", ["added", "modified", "copied", "renamed", "retyped"])
def test_guard_treats_all_kinds_of_change_alike(guard_repo: Repo, change: str) -> None:
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.write("notes.txt", BAD)
    guard_repo.write("AGENTS.md", FACT)
    guard_repo.commit("clean")
    if change == "added":
        guard_repo.write("CLAUDE.md", BAD)
    elif change == "modified":
        guard_repo.write("MEMORY.md", BAD)
    elif change == "copied":
        guard_repo.write("sub/MEMORY.md", BAD)
    elif change == "renamed":
        guard_repo.git("mv", "notes.txt", "GEMINI.md")
    else:
        (guard_repo.path / "AGENTS.md").unlink()
        (guard_repo.path / "AGENTS.md").symlink_to(TOKEN)
    refused(guard_repo)


def test_guard_passes_over_a_deletion(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    guard_repo.git("commit", "-qm", "slipped in", "--no-verify")
    guard_repo.git("rm", "-q", "MEMORY.md")
    assert guard_repo.git("commit", "-qm", "gone").returncode == 0


def test_guard_reports_at_the_amend_what_slipped_in(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    guard_repo.git("commit", "-qm", "slipped in", "--no-verify")
    guard_repo.write("MEMORY.md", BAD + "- more\n")
    guard_repo.git("add", "-A")
    done = guard_repo.git("commit", "--amend", "--no-edit", check=False)
    assert done.returncode == 1
    assert "MEMORY.md:2:21" in done.stderr
    assert "MEMORY.md:2:21" in guard_repo.mem("guard", "--all", check=False).stderr


def test_guard_judges_only_what_a_partial_commit_takes(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.write("a.txt", "a\n")
    guard_repo.commit("base")
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.write("a.txt", "b\n")
    guard_repo.git("add", "MEMORY.md")
    guard_repo.git("commit", "-qm", "part", "--", "a.txt")
    assert guard_repo.git("show", "--name-only", "--format=", "HEAD").stdout.split() == ["a.txt"]
    done = guard_repo.git("commit", "-qm", "rest", "--", "MEMORY.md", check=False)
    assert done.returncode == 1
    assert "MEMORY.md:2:21" in done.stderr


def test_guard_sees_the_index_and_not_the_working_copy(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    guard_repo.write("MEMORY.md", FACT)
    assert guard_repo.git("commit", "-qm", "bad", check=False).returncode == 1
    guard_repo.git("add", "-A")
    guard_repo.write("MEMORY.md", BAD)
    assert guard_repo.git("commit", "-qm", "good").returncode == 0


def test_guard_leaves_an_intended_file_its_content(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.write("a.txt", "a\n")
    guard_repo.git("add", "-N", "MEMORY.md")
    guard_repo.git("add", "a.txt")
    guard_repo.git("commit", "-qm", "other")
    assert (guard_repo.path / "MEMORY.md").read_text() == BAD
    assert guard_repo.mem("hook", "guard", "MEMORY.md", check=False).returncode == 1


def test_guard_works_in_a_linked_worktree(guard_repo: Repo, tmp_path: Path) -> None:
    linked = tmp_path / "linked tree"
    guard_repo.git("worktree", "add", "-q", "-b", "topic", str(linked))
    worktree = guard_repo._replace(path=linked)
    worktree.write("MEMORY.md", BAD)
    refused(worktree, "MEMORY.md:2:21")
    worktree.write("MEMORY.md", FACT)
    worktree.commit("good")


def test_guard_says_that_it_does_not_look_into_a_submodule(guard_repo: Repo, tmp_path: Path) -> None:
    inner = guard_repo._replace(path=tmp_path / "inner")
    inner.path.mkdir()
    inner.git("init", "-q")
    inner.write("MEMORY.md", BAD)
    inner.commit("inner")
    guard_repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "memory-bank")
    done = guard_repo.git("commit", "-m", "with a submodule")
    assert "memory-bank is a submodule and not looked into" in done.stderr


def test_guard_from_a_commit_made_in_a_subfolder(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.write("deep/er/a.txt", "x\n")
    guard_repo.git("add", "-A")
    done = guard_repo.git("commit", "-qm", "x", cwd=guard_repo.path / "deep" / "er", check=False)
    assert done.returncode == 1
    assert "MEMORY.md:2:21" in done.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_guard_reads_other_encodings(guard_repo: Repo, encoding: str) -> None:
    guard_repo.write("MEMORY.md", ("Schlüssel\r\n" + TOKEN + "\r\n").encode(encoding))
    refused(guard_repo, "MEMORY.md:2:1")


@pytest.mark.parametrize("data", [
    b"\0\0" + TOKEN.encode() + b"\0", b"x" * 3_000_000 + b" " + TOKEN.encode(), b"a\r\n" + TOKEN.encode() + b"\r\n",
    b"\x89PNG\r\n\x1a\n" + bytes(range(256)) + b" " + TOKEN.encode() + b" ",
], ids=["nul", "long-line", "crlf", "binary"])  # fmt: skip
def test_guard_reads_odd_bytes(guard_repo: Repo, data: bytes) -> None:
    guard_repo.write("memory-bank/file", data)
    refused(guard_repo, "memory-bank/file")


def test_guard_unescapes_the_share_file(guard_repo: Repo) -> None:
    hidden = "".join(f"\\u{ord(char):04x}" for char in TOKEN)
    guard_repo.write("memories.ndjson", '{"id": "1", "content": "clean"}\n{"id": "2", "content": "' + hidden + '"}\n')
    refused(guard_repo, "memories.ndjson:2:25")


def test_guard_follows_a_memory_file_that_is_a_link(guard_repo: Repo) -> None:
    guard_repo.write("docs/agents.txt", BAD)
    (guard_repo.path / "CLAUDE.md").symlink_to("docs/agents.txt")
    refused(guard_repo, "docs/agents.txt:2:21")


def stage_store(repo: Repo) -> None:
    repo.mem("remember", "The billing job runs at night.")
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    db.execute("UPDATE memories SET source_ref = ?", (f"see {TOKEN}",))
    db.commit()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    repo.git("add", "-f", ".mem/mem.db")


def test_guard_refuses_a_store_and_names_the_secret_in_its_rows(guard_repo: Repo) -> None:
    stage_store(guard_repo)
    done = guard_repo.git("commit", "-qm", "the store", check=False)
    assert done.returncode == 1
    assert ".mem/mem.db: staged-store" in done.stderr
    assert ".mem/mem.db (table memories, row 1, source_ref): aws-access-key" in done.stderr
    assert "git rm --cached" in done.stderr
    assert TOKEN not in done.stderr


def test_guard_knows_our_store_under_another_name(guard_repo: Repo) -> None:
    guard_repo.mem("remember", "The billing job runs at night.")
    (guard_repo.path / ".mem" / "mem.db").rename(guard_repo.path / "backup.sqlite3")
    db = sqlite3.connect(guard_repo.path / "app.db")
    db.execute("CREATE TABLE keys AS SELECT ? AS value", (TOKEN,))
    db.commit()
    db.close()
    guard_repo.git("add", "backup.sqlite3", "app.db")
    done = guard_repo.git("commit", "-qm", "x", check=False)
    assert "backup.sqlite3: staged-store" in done.stderr
    assert "app.db" not in done.stderr  # someone's data, and no memory file


@pytest.mark.parametrize("name", ["mem.db-wal", "mem.db-shm"])
def test_guard_refuses_the_stores_sidecars(guard_repo: Repo, name: str) -> None:
    guard_repo.write(f"old/{name}", b"\x37\x7f\x06\x82")
    done = guard_repo.commit("x", check=False)
    assert done.returncode == 1
    assert f"old/{name}: staged-store" in done.stderr


def test_guard_refuses_conflict_markers_in_a_tracked_mirror(guard_repo: Repo) -> None:
    guard_repo.write(".mem/config.toml", '[mirror]\npath = "docs/memory-mirror.md"\n')
    guard_repo.write("docs/memory-mirror.md", "# Memory\n<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> topic\n")
    guard_repo.git("add", "docs")
    done = guard_repo.git("commit", "-qm", "x", check=False)
    assert done.returncode == 1
    assert "docs/memory-mirror.md:2:1: conflict-marker" in done.stderr


def test_guard_looks_at_the_files_that_a_project_adds(guard_repo: Repo) -> None:
    guard_repo.write(".mem/config.toml", '[guard]\nfiles = ["docs/agents/**"]\n')
    guard_repo.write("docs/agents/deep/notes.txt", BAD)
    guard_repo.git("add", "docs")
    assert "docs/agents/deep/notes.txt:2:21" in guard_repo.git("commit", "-qm", "x", check=False).stderr


def test_guard_with_200_files_is_bounded_and_changes_nothing(guard_repo: Repo, tmp_path: Path) -> None:
    counter = tmp_path / "counting"
    counter.mkdir()
    real = guard_repo.run("sh", "-c", "command -v git").stdout.strip()
    log = tmp_path / "calls"
    (counter / "git").write_text(f'#!/bin/sh\necho "$@" >> "{log}"\nexec "{real}" "$@"\n')
    (counter / "git").chmod(0o755)
    for number in range(200):
        guard_repo.write(f"sub{number}/MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    before = guard_repo.git("status", "--porcelain").stdout
    done = guard_repo.mem(
        "hook", "guard", check=False, environ={"PATH": f"{counter}{os.pathsep}{guard_repo.environ['PATH']}"}
    )
    assert done.returncode == 1
    said = done.stderr.splitlines()
    assert len(said) == len(set(said))
    assert guard_repo.git("status", "--porcelain").stdout == before
    assert len(log.read_text().splitlines()) <= 3


@pytest.mark.parametrize("words", [(), ("memory-bank/a b.md",)], ids=["staged", "named"])
def test_guard_leaves_the_repository_byte_for_byte(guard_repo: Repo, words: tuple[str, ...]) -> None:
    guard_repo.write("memory-bank/a b.md", FACT)
    guard_repo.git("add", "-A")

    def snapshot() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in guard_repo.path.rglob("*") if path.is_file()}

    before = snapshot()
    guard_repo.mem("hook", "guard", *words)
    assert snapshot() == before


def test_guard_judges_a_named_file_that_is_not_staged(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    done = guard_repo.mem("hook", "guard", "MEMORY.md", check=False)
    assert done.returncode == 1
    assert "MEMORY.md:2:21 (not in the index)" in done.stderr


def test_guard_judges_a_named_file_by_index_and_disk(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    guard_repo.write("MEMORY.md", FACT)
    assert guard_repo.mem("hook", "guard", "MEMORY.md", check=False).returncode == 1
    guard_repo.git("add", "-A")
    guard_repo.write("MEMORY.md", BAD)
    done = guard_repo.mem("hook", "guard", "MEMORY.md", check=False)
    assert done.returncode == 1
    assert "(working copy)" in done.stderr


def test_guard_with_names_filters_as_a_hook_and_not_as_a_command(guard_repo: Repo) -> None:
    guard_repo.write("notes.txt", BAD)
    hook = guard_repo.mem("hook", "guard", "notes.txt", "README.md")
    assert "nothing was judged: no memory file among 2 files" in hook.stderr
    assert guard_repo.mem("guard", "notes.txt", check=False).returncode == 1


@pytest.mark.parametrize("name", ["nowhere/MEMORY.md", "MEMORY.md"])
def test_guard_of_a_file_that_is_not_there_refuses(guard_repo: Repo, name: str) -> None:
    done = guard_repo.mem("hook", "guard", name, check=False)
    assert done.returncode == 1
    assert f"{name}: unreadable there is no such file" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_guard_of_a_file_that_may_not_be_read_refuses(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", FACT).chmod(0)
    assert guard_repo.mem("hook", "guard", "MEMORY.md", check=False).returncode == 1


def test_guard_of_a_pipe_refuses_at_once(guard_repo: Repo) -> None:
    os.mkfifo(guard_repo.path / "MEMORY.md")
    done = guard_repo.mem("hook", "guard", "MEMORY.md", check=False)
    assert done.returncode == 1
    assert "not a regular file" in done.stderr


def test_guard_of_a_folder_judges_what_lies_below(guard_repo: Repo) -> None:
    guard_repo.write("docs/deep/MEMORY.md", BAD)
    guard_repo.write("docs/deep/code.py", f"x = '{TOKEN}'\n")
    hook = guard_repo.mem("hook", "guard", "docs", check=False)
    assert "docs/deep/MEMORY.md:2:21" in hook.stderr
    assert "code.py" not in hook.stderr
    assert "docs/deep/code.py:1:6" in guard_repo.mem("guard", "docs", check=False).stderr


@pytest.mark.parametrize("count", [3, 300])
def test_guard_takes_many_names_from_a_subfolder(guard_repo: Repo, count: int) -> None:
    names = [f"MEMORY.md/{number}/MEMORY.md" for number in range(count)]
    for name in names:
        guard_repo.write(f"deep/{name}", FACT)
    guard_repo.write("AGENTS.md", BAD)
    guard_repo.git("add", "-A")
    absolute = str(guard_repo.path / "AGENTS.md")
    done = guard_repo.mem("hook", "guard", "--", *names, absolute, cwd=guard_repo.path / "deep", check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("AGENTS.md:2:21: ")
    assert f"1 of {count + 1} memory files" in done.stderr
    assert guard_repo.mem("hook", "guard", *names, cwd=guard_repo.path / "deep").stderr == ""


def test_guard_of_a_folder_leaves_inner_repositories_alone(guard_repo: Repo) -> None:
    inner = guard_repo._replace(path=guard_repo.path / "docs" / "inner")
    inner.path.mkdir(parents=True)
    inner.git("init", "-q")
    inner.write("MEMORY.md", BAD)
    guard_repo.write("docs/MEMORY.md", FACT)
    assert guard_repo.mem("guard", "docs").returncode == 0
    assert inner.mem("guard", "MEMORY.md", check=False).returncode == 1


def test_guard_works_where_files_and_repository_lie_apart(repo: Repo, tmp_path: Path) -> None:
    home = repo._replace(path=tmp_path / "dotfiles")
    home.path.mkdir()
    where = (f"--git-dir={tmp_path / 'apart.git'}", f"--work-tree={home.path}")
    repo.git("init", "-q", "--bare", str(tmp_path / "apart.git"))
    hook = tmp_path / "apart.git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexec mem hook guard\n")
    hook.chmod(0o755)
    home.write("CLAUDE.md", BAD)
    home.git(*where, "add", "CLAUDE.md")
    done = home.git(*where, "commit", "-qm", "x", check=False)
    assert done.returncode == 1
    rule, print16 = allow_command(done.stderr)[2:]
    home.write(".mem-allow", f"{rule} {print16}  # a sample\n")
    home.git(*where, "add", ".mem-allow")
    assert "a sample" in home.git(*where, "commit", "-qm", "x").stderr


def test_guard_fails_closed_outside_of_a_repository(repo: Repo, tmp_path: Path) -> None:
    bare = tmp_path / "plain"
    bare.mkdir()
    done = repo.mem("hook", "guard", cwd=bare, check=False)
    assert done.returncode == 1
    assert "not a git repository" in done.stderr
    (bare / "MEMORY.md").write_text(BAD)
    assert "MEMORY.md:2:21" in repo.mem("guard", "MEMORY.md", cwd=bare, check=False).stderr


def test_guard_fails_closed_when_an_object_is_gone(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.git("add", "-A")
    blob = guard_repo.git("rev-parse", ":MEMORY.md").stdout.strip()
    path = guard_repo.path / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    path.unlink()
    done = guard_repo.mem("hook", "guard", check=False)
    assert done.returncode == 1
    assert "MEMORY.md: unreadable git has no blob" in done.stderr
    path.write_bytes(b"rubbish")
    assert guard_repo.mem("hook", "guard", check=False).returncode == 1


def test_guard_fails_closed_without_git(guard_repo: Repo) -> None:
    mem = guard_repo.run("sh", "-c", "command -v mem").stdout.strip()
    done = guard_repo.run(mem, "hook", "guard", check=False, environ={"PATH": "/nowhere"})
    assert done.returncode == 1
    assert "git could not be started" in done.stderr


def test_guard_works_from_a_tool_path_with_a_space(guard_repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "with a space"
    folder.mkdir()
    mem = guard_repo.run("sh", "-c", "command -v mem").stdout.strip()
    (folder / "mem").symlink_to(mem)
    hook = guard_repo.path / ".git" / "hooks" / "pre-commit"
    hook.write_text(f'#!/bin/sh\nexec "{folder}/mem" hook guard\n')
    guard_repo.write("MEMORY.md", BAD)
    refused(guard_repo)


def test_guard_is_not_led_to_another_repository(guard_repo: Repo, tmp_path: Path) -> None:
    other = guard_repo._replace(path=tmp_path / "other")
    other.path.mkdir()
    other.git("init", "-q")
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.git("add", "-A")
    # In a hook git sets GIT_DIR to the repository at work: then that one's index is what counts.
    done = guard_repo.mem("hook", "guard", check=False, environ={"GIT_DIR": str(guard_repo.path / ".git")})
    assert done.returncode == 1


def test_guard_runs_no_python_of_the_repository(guard_repo: Repo) -> None:
    for name in ("json", "re", "sqlite3", "sitecustomize", "memhooks"):
        guard_repo.write(f"{name}.py", "import os\nos.abort()\n")
    guard_repo.write("MEMORY.md", BAD)
    refused(guard_repo, "MEMORY.md:2:21")


def allow_command(said: str) -> list[str]:
    """Return the words of the allow command that the guard printed."""
    found = re.search(r"`mem (guard allow \S+ \S+) --why", said)
    assert found
    return found.group(1).split()


def test_allowance_passes_once_staged_and_is_shown_while_new(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    words = allow_command(refused(guard_repo))
    done = guard_repo.mem(*words, "--why", "a sample of the vendor")
    assert "git add .mem-allow" in done.stderr
    assert "??" in guard_repo.git("status", "--porcelain", ".mem-allow").stdout  # not staged for the user
    refused_again = guard_repo.git("commit", "-qm", "x", check=False)
    assert refused_again.returncode == 1
    passed = guard_repo.commit("with the allowance")
    assert "allowed by a line that is new in .mem-allow: a sample of the vendor" in passed.stderr
    guard_repo.write("MEMORY.md", BAD + "- more\n")
    assert guard_repo.commit("again").stderr == ""
    guard_repo.write("AGENTS.md", BAD)  # the value is allowed, wherever it stands
    assert guard_repo.commit("elsewhere").stderr == ""


def test_allowance_of_the_same_commit_is_ignored_where_configured(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.mem(*allow_command(refused(guard_repo)))
    guard_repo.git("add", "-A")
    done = guard_repo.git("commit", "-qm", "x", check=False, environ={"MEM_GUARD_ALLOW_FROM": "HEAD"})
    assert done.returncode == 1


def test_comment_in_a_memory_file_allows_nothing(guard_repo: Repo) -> None:
    words = "<!-- mem:allow --> # nosec gitleaks:allow pragma: allowlist secret noqa"
    guard_repo.write("MEMORY.md", f"- key {TOKEN} {words}\n")
    refused(guard_repo)


def test_stale_allowance_is_reported(guard_repo: Repo) -> None:
    guard_repo.write("MEMORY.md", BAD)
    guard_repo.mem(*allow_command(refused(guard_repo)))
    guard_repo.commit("allowed")
    assert "fits nothing" not in guard_repo.mem("guard", "--all").stderr
    guard_repo.write("MEMORY.md", FACT)
    guard_repo.commit("gone")
    assert "fits nothing any more" in guard_repo.mem("guard", "--all").stderr


@pytest.mark.parametrize("words", [("allow",), ("allow", "x"), ("allow", "a b", "1" * 16), ("allow", "a", "z" * 16)])
def test_allow_with_other_words_is_a_usage_error(guard_repo: Repo, words: tuple[str, ...]) -> None:
    assert guard_repo.mem("guard", *words, check=False).returncode == 2
    assert not (guard_repo.path / ".mem-allow").exists()
