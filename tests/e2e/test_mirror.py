"""The mirror as people, git and the repository's own files meet it."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

Repo = Any
TRACKED = {"MEM_MIRROR_PATH": "docs/memory.md"}


@pytest.fixture
def tracked(repo: Repo) -> Repo:
    """A repository with a tracked, current mirror and one memory."""
    made = repo._replace(environ=repo.environ | TRACKED)
    made.mem("remember", "first fact of ours")
    made.write("a.txt", "a\n")
    made.commit()
    made.write(".git/hooks/pre-commit", "#!/bin/sh\nexec mem hook mirror\n").chmod(0o755)
    return made


def mirror(repo: Repo) -> str:
    return (repo.path / ".mem" / "memory.md").read_text()


def test_mirror_follows_remember_correct_forget_import_and_state(repo: Repo) -> None:
    repo.mem("remember", "the zebra fact")
    assert "zebra" in mirror(repo)
    ident = mirror(repo).rstrip().removesuffix(")")[-8:]
    repo.mem("correct", ident, "the giraffe fact")
    assert "giraffe" in mirror(repo) and "zebra" not in mirror(repo)
    repo.mem("import", "-", stdin='{"id":"01990000-0000-7000-8000-000000000001","content":"an okapi fact"}\n')
    assert "okapi" in mirror(repo)
    repo.mem("forget", "01990000-0000-7000-8000-000000000001")
    assert "okapi" not in mirror(repo)


def test_mirror_is_private_and_not_seen_by_git(repo: Repo) -> None:
    repo.mem("remember", "a private fact")
    assert (repo.path / ".mem" / "memory.md").stat().st_mode & 0o777 == 0o600
    assert repo.git("status", "--porcelain").stdout == ""


def test_mirror_of_the_same_state_is_not_touched(repo: Repo) -> None:
    """Equal bytes keep their mtime, and rows stand in a stable order."""
    for number in range(5):
        repo.mem("remember", f"fact number {number}")
    path = repo.path / ".mem" / "memory.md"
    os.utime(path, (1, 1))
    before = mirror(repo)
    assert "unchanged" in repo.mem("mirror").stdout
    repo.mem("recall", "fact")
    repo.mem("mirror")
    assert path.stat().st_mtime == 1
    assert mirror(repo) == before
    assert repo.mem("mirror", "--check").returncode == 0


def test_mirror_check_tells_a_stale_file(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    repo.write(".mem/memory.md", "edited")
    assert repo.mem("mirror", "--check", check=False).returncode == 1
    assert mirror(repo) == "edited"


def test_mirror_over_conflict_markers_is_clean(tracked: Repo) -> None:
    path = tracked.path / "docs" / "memory.md"
    good = path.read_text()
    path.write_text("<<<<<<< HEAD\n" + good + "=======\n```\n>>>>>>> other\n")
    tracked.mem("mirror")
    assert path.read_text() == good


def test_mirror_forgets_at_once_even_with_a_broken_template(repo: Repo, home: Path) -> None:
    """A template that fails must not leave the forgotten text in the file."""
    repo.mem("remember", "a zebra fact")
    ident = mirror(repo).rstrip().removesuffix(")")[-8:]
    (home / "mem" / "templates").mkdir(parents=True)
    (home / "mem" / "templates" / "memory.md.j2").write_text("{{ nothing.like.this }}")
    repo.mem("forget", ident)
    assert b"zebra" not in b"".join(p.read_bytes() for p in (repo.path / ".mem").rglob("*") if p.is_file())
    assert "the shipped template serves" in (repo.path / ".mem" / "hooks.log").read_text()


def test_hook_without_a_store_makes_nothing(repo: Repo) -> None:
    repo.mem("hook", "mirror")
    assert not (repo.path / ".mem").exists()


def test_hook_fails_the_commit_when_a_tracked_mirror_changed(tracked: Repo) -> None:
    """It says that the commit was not made, stages nothing, and the second try passes."""
    tracked.write("docs/memory.md", "out of date\n")
    tracked.git("add", "docs/memory.md")
    staged = tracked.git("ls-files", "--stage").stdout
    done = tracked.git("commit", "-q", "-m", "x", check=False)
    assert done.returncode == 1
    assert "the commit was not made" in done.stderr and "git add docs/memory.md" in done.stderr
    assert tracked.git("ls-files", "--stage").stdout == staged
    tracked.write("b.txt", "b\n")
    tracked.git("add", "docs/memory.md", "b.txt")
    tracked.git("commit", "-q", "-m", "x")


def test_hook_lets_a_partial_commit_through(tracked: Repo) -> None:
    """`git commit -- path` runs on an index of its own."""
    tracked.write("a.txt", "b\n")
    tracked.git("commit", "-q", "-m", "x", "--", "a.txt")
    assert tracked.git("show", "--name-only", "--format=", "HEAD").stdout.split() == ["a.txt"]


def test_hook_keeps_intent_to_add_files(tracked: Repo) -> None:
    tracked.write("new.md", "kept\n")
    tracked.git("add", "-N", "new.md")
    tracked.write("a.txt", "c\n")
    tracked.git("commit", "-q", "-m", "x", "--", "a.txt")
    assert (tracked.path / "new.md").read_text() == "kept\n"


def test_hook_never_stops_a_commit_for_an_untracked_mirror(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    repo.write(".mem/memory.md", "edited")
    assert repo.mem("hook", "mirror").returncode == 0
    assert "a fact" in mirror(repo)


@pytest.mark.parametrize("words", [("0" * 40, "1" * 40, "1"), ("0",), ("rebase",)])
def test_hook_of_a_later_stage_never_fails(tracked: Repo, words: tuple[str, ...]) -> None:
    tracked.write("docs/memory.md", "out of date\n")
    assert tracked.mem("hook", "mirror", *words).returncode == 0
    assert "first fact" in (tracked.path / "docs" / "memory.md").read_text()


@pytest.mark.parametrize(
    "place", ["../out.md", "/tmp/out.md", ".git/hooks/post-commit", ".mem/mem.db", "MEMORY.md", "memories.ndjson",
              ".mem/../../x.md", ".mem/config.toml", "link/x.md", "."],
)  # fmt: skip
def test_mirror_stays_inside_the_project(repo: Repo, tmp_path: Path, place: str) -> None:
    (tmp_path / "outside").mkdir()
    (repo.path / "link").symlink_to(tmp_path / "outside")
    repo.mem("remember", "a fact")
    done = repo.mem("mirror", environ={"MEM_MIRROR_PATH": place}, check=False)
    assert done.returncode == 2 and "mirror.path" in done.stderr
    assert not list((tmp_path / "outside").iterdir())
    assert not (repo.path / ".git" / "hooks" / "post-commit").exists()


def test_mirror_does_not_follow_a_link_out(repo: Repo, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (repo.path / "docs").mkdir()
    (repo.path / "docs" / "memory.md").symlink_to(victim)
    repo.mem("remember", "a fact", environ=TRACKED, check=False)
    assert victim.read_text() == "mine"


def test_template_of_the_repository_needs_trust(repo: Repo) -> None:
    template = repo.write("mem.md.j2", "evil {{ memories|length }}\n")
    chosen = {"MEM_MIRROR_TEMPLATE": "mem.md.j2"}
    repo.mem("remember", "a fact")
    said = repo.mem("mirror", environ=chosen).stderr
    digest = hashlib.sha256(template.read_bytes()).hexdigest()
    assert "mem.md.j2 comes with the repository" in said and digest in said
    assert "evil" not in mirror(repo)
    repo.mem("mirror", environ=chosen | {"MEM_MIRROR_TRUST": digest})
    assert mirror(repo) == "evil 1\n"


def test_template_named_by_a_tracked_config_needs_trust(repo: Repo, home: Path) -> None:
    """A clone that brings `.mem/config.toml` can neither read the user's files nor trust its own template."""
    secret = home / "diary.txt"
    secret.write_text("dear diary\n")
    digest = hashlib.sha256(secret.read_bytes()).hexdigest()
    repo.write(".mem/config.toml", f'[mirror]\ntemplate = "{secret}"\ntrust = "{digest}"\n')
    repo.git("add", "-f", ".mem/config.toml")
    repo.mem("remember", "a fact")
    repo.mem("mirror")
    assert "diary" not in mirror(repo)
    repo.git("rm", "-q", "--cached", ".mem/config.toml")
    repo.mem("mirror")
    assert mirror(repo) == "dear diary\n"


def test_template_of_the_user_gets_project_memories_and_cursor(repo: Repo, home: Path) -> None:
    (home / "mem" / "templates").mkdir(parents=True)
    (home / "mem" / "templates" / "memory.md.j2").write_text(
        "{{ project.name }} {{ memories[0].content }} {{ cursor.goal }}\n"
    )
    repo.mem("state", "set", "--goal", "ship *it*")
    repo.mem("remember", "a <b> fact")
    assert mirror(repo) == "repo a \\<b> fact ship \\*it\\*\n"


def test_mirror_once_with_another_template(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    repo.write("t.j2", "{{ memories|length }} memories\n")
    assert repo.mem("mirror", "--template", "t.j2", "--stdout").stdout == "1 memories\n"
    assert "a fact" in mirror(repo)


def test_mirror_is_the_same_in_every_worktree(repo: Repo) -> None:
    repo.write("a.txt", "a")
    repo.commit()
    repo.git("worktree", "add", "-q", "../other", "-b", "side")
    repo.mem("state", "set", "--goal", "main goal")
    repo.mem("remember", "a fact")
    before = mirror(repo)
    other = repo.path.parent / "other"
    repo.mem("state", "set", "--goal", "side goal", cwd=other)
    assert "unchanged" in repo.mem("mirror", cwd=other).stdout
    assert mirror(repo) == before and "main goal" in before
    assert not (other / ".mem").exists()


def test_pinned_database_has_no_mirror(repo: Repo, tmp_path: Path) -> None:
    pinned = tmp_path / "db" / "x.db"
    pinned.parent.mkdir()
    repo.mem("--db", str(pinned), "remember", "a fact")
    assert repo.mem("--db", str(pinned), "mirror", check=False).returncode == 2
    assert "a fact" in repo.mem("--db", str(pinned), "mirror", "--stdout").stdout
    assert not [path for path in pinned.parent.iterdir() if not path.name.startswith("x.db")]


def test_mirror_of_racing_writers_shows_them_all(repo: Repo) -> None:
    repo.mem("init")
    writers = [
        subprocess.Popen(["mem", "remember", f"racing fact {number}"], cwd=repo.path, env=repo.environ,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for number in range(6)
    ]  # fmt: skip
    for writer in writers:
        _, said = writer.communicate(timeout=60)
        assert writer.returncode == 0, said
    assert all(f"racing fact {number}" in mirror(repo) for number in range(6))


def settle(repo: Repo) -> None:
    """Let the hook note that there is nothing to do, as it does once files are older than two seconds."""
    for path in (repo.path / ".mem").iterdir():
        os.utime(path, (1_000_000, 1_000_000))
    repo.mem("hook", "mirror")
    assert (repo.path / ".mem" / "mirror.json").exists()


@pytest.mark.parametrize("change", ["store", "edit", "deletion", "template", "branch", "goal", "expiry"])
def test_hook_that_had_nothing_to_do_sees_the_next_change(repo: Repo, home: Path, change: str) -> None:
    repo.mem("remember", "a lasting fact")
    repo.mem("remember", "a passing fact", "--expires", "1h")
    settle(repo)
    before = mirror(repo)
    if change == "store":
        code = "from memhooks.memory.api import Store\nwith Store.open('.mem/mem.db') as s: s.remember(content='news')"
        repo.run("python", "-c", code, environ={"PYTHONPATH": str(Path(__file__).parents[1] / "_tree")})
    elif change == "edit":
        repo.write(".mem/memory.md", "edited")
    elif change == "deletion":
        (repo.path / ".mem" / "memory.md").unlink()
    elif change == "template":
        (home / "mem" / "templates").mkdir(parents=True)
        (home / "mem" / "templates" / "memory.md.j2").write_text("mine\n")
    elif change == "branch":
        repo.mem("state", "set", "--goal", "ship")
        settle(repo)
        repo.git("symbolic-ref", "HEAD", "refs/heads/other")
    elif change == "goal":
        repo.mem("state", "set", "--goal", "ship")
        repo.write(".mem/memory.md", before)
    else:
        state = repo.path / ".mem" / "mirror.json"
        state.write_text(state.read_text().replace('"until": "2', '"until": "1'))
        repo.write(".mem/memory.md", before)
        os.utime(repo.path / ".mem" / "memory.md", (1_000_000, 1_000_000))
    repo.mem("hook", "mirror")
    assert (mirror(repo) == before) is (change in ("edit", "deletion", "branch", "expiry"))
    assert repo.mem("mirror", "--check").returncode == 0


@pytest.mark.parametrize("hook", ["mirror", "share"])
@pytest.mark.parametrize("fault", ["config", "link out", "broken store", "unwritable"])
def test_hooks_that_refresh_never_stop_a_commit(repo: Repo, tmp_path: Path, hook: str, fault: str) -> None:
    repo.mem("remember", "a fact", "--shared")
    repo.mem("share", "out")
    if fault == "config":
        repo.write(".mem/config.toml", "[mirror\n")
    elif fault == "link out":
        (repo.path / ".mem").rename(tmp_path / "away")
        (repo.path / ".mem").symlink_to(tmp_path / "away")
    elif fault == "broken store":
        repo.write(".mem/mem.db", b"no database" * 500)
    else:
        (repo.path / ".mem" / "memory.md").unlink()
        (repo.path / ".mem" / "memory.md").mkdir()
    for words in ((), ("0",)):
        done = repo.mem("hook", hook, *words)
        assert (done.stdout, done.returncode) == ("", 0)
    assert not (repo.path / "hooks.log").exists()


def test_forget_leaves_no_text_in_a_report_either(repo: Repo) -> None:
    ident = json.loads(repo.mem("remember", "a zebra fact", "--json").stdout)["id"]
    repo.mem("report")
    assert "zebra" in (repo.path / ".mem" / "report.html").read_text()
    repo.mem("forget", ident)
    assert b"zebra" not in b"".join(p.read_bytes() for p in (repo.path / ".mem").rglob("*") if p.is_file())
