"""The watcher as a process: started, stopped, starved, robbed of its files. No test depends on how fast it is."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PATIENCE, Repo, until

Watcher = subprocess.Popen[bytes]


def mirror(repo: Repo) -> str:
    try:
        return str((repo.path / ".mem" / "memory.md").read_text())
    except FileNotFoundError:
        return ""


def status(repo: Repo) -> dict[str, Any]:
    return dict(json.loads(repo.mem("watch", "status", "--json").stdout))


def raw(repo: Repo, *contents: str, **fields: object) -> None:
    """Write to the store as another program would: without rendering anything."""
    code = "import sys, json; from memhooks.memory.api import Store; fields = json.loads(sys.argv[1])\n"
    code += "with Store.open('.mem/mem.db') as store:\n"
    code += "    for text in sys.argv[2:]: store.remember(content=text, **fields)"
    tree = str(Path(__file__).parents[1] / "_tree")
    repo.run("python", "-c", code, json.dumps(fields), *contents, environ={"PYTHONPATH": tree})


@pytest.fixture
def spawn() -> Iterator[Callable[..., Watcher]]:
    running: list[Watcher] = []

    def start(repo: Repo, *words: str, ready: bool = True, **environ: str) -> Watcher:
        child = subprocess.Popen(["mem", "watch", *words], cwd=repo.path, env=repo.environ | environ,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
        running.append(child)
        if ready:
            until(lambda: "counts" in status(repo), "the watcher is ready")
        return child

    yield start
    for child in running:
        child.kill()
        child.communicate()


@pytest.fixture
def made(repo: Repo) -> Repo:
    repo.mem("remember", "the first fact")
    repo.write("a.txt", "a\n")
    repo.commit()
    return repo


def test_watch_follows_store_notebook_share_file_and_head(made: Repo, spawn: Callable[..., Watcher]) -> None:
    spawn(made)
    raw(made, "written by another program")
    until(lambda: "another program" in mirror(made), "the mirror shows the new fact")
    made.write("MEMORY.md", "# Deploy\n\nUse the walrus script.\n")
    until(lambda: "Deploy" in column(made, "SELECT heading FROM sections"), "the notebook is indexed")
    made.write("memories.ndjson", '{"id":"01990000-0000-7000-8000-000000000001","content":"from a teammate"}\n')
    until(lambda: "from a teammate" in mirror(made), "the shared memory is in the mirror")
    made.git("commit", "-q", "--allow-empty", "-m", "x")
    head = made.git("rev-parse", "HEAD").stdout.strip()
    until(lambda: head in column(made, "SELECT value FROM meta WHERE key LIKE 'head:%'"), "the HEAD is recorded")
    assert status(made)["counts"]["errors"] == 0
    assert made.git("log", "--oneline").stdout.count("\n") == 2, "it never commits"


def column(repo: Repo, query: str) -> list[str]:
    db = sqlite3.connect(f"file:{repo.path}/.mem/mem.db?mode=ro", uri=True)
    try:
        return [row[0] for row in db.execute(query)]
    finally:
        db.close()


def test_watch_comes_to_rest(made: Repo, spawn: Callable[..., Watcher]) -> None:
    """What it writes itself is no event for it."""
    spawn(made)
    raw(made, "one more")
    until(lambda: "one more" in mirror(made), "the mirror is current")

    def rests() -> bool:
        before = status(made)["counts"]["mirror"]
        time.sleep(7)  # longer than a rescan
        return bool(status(made)["counts"]["mirror"] == before)

    until(rests, "no action runs without a change")


def test_watch_mends_an_edited_and_a_deleted_mirror(made: Repo, spawn: Callable[..., Watcher]) -> None:
    spawn(made)
    good = mirror(made)
    made.write(".mem/memory.md", "edited")
    until(lambda: mirror(made) == good, "the edit is gone")
    (made.path / ".mem" / "memory.md").unlink()
    until(lambda: mirror(made) == good, "the file is back")


def test_watch_survives_a_store_deleted_and_made_anew(made: Repo, spawn: Callable[..., Watcher]) -> None:
    """What lies in a fresh folder before it is watched is seen too."""
    child = spawn(made)
    shutil.rmtree(made.path / ".mem")
    time.sleep(0.5)
    made.mem("init")
    raw(made, "after the flood")
    until(lambda: "after the flood" in mirror(made), "the new store is mirrored")
    until(lambda: status(made)["running"], "the lock in the new folder is held")
    assert child.poll() is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=lambda number: number.name)
def test_watch_ends_on_a_signal_with_its_work_done(made: Repo, spawn: Callable[..., Watcher], number: int) -> None:
    child = spawn(made)
    raw(made, "said at the last moment")
    child.send_signal(number)
    _, said = child.communicate(timeout=PATIENCE)
    assert child.returncode == (130 if number == signal.SIGINT else 0), said
    assert b"Traceback" not in said
    assert "at the last moment" in mirror(made)
    assert not (made.path / ".mem" / "watch.json").exists()


def test_watch_killed_leaves_nothing_that_blocks_the_next(made: Repo, spawn: Callable[..., Watcher]) -> None:
    spawn(made).kill()
    until(lambda: not status(made)["running"], "the lock is free")
    child = spawn(made)
    assert status(made)["pid"] == child.pid


def test_watch_runs_once_a_project(made: Repo, spawn: Callable[..., Watcher]) -> None:
    spawn(made)
    second = made.mem("watch", check=False)
    assert second.returncode == 1 and "runs already" in second.stderr


def test_watch_start_status_stop(made: Repo) -> None:
    assert json.loads(made.mem("watch", "status", "--json").stdout) == {"running": False}
    started = json.loads(made.mem("watch", "start", "--json").stdout)
    try:
        assert started["running"] and started["started"]
        assert not json.loads(made.mem("watch", "start", "--json").stdout)["started"]
        until(lambda: "counts" in status(made), "it has told its status")
        told = status(made)
        assert told["pid"] == started["pid"] and told["uptime_seconds"] >= 0 and told["last_error"] == ""
        assert set(told["counts"]) >= {"events", "looks", "errors", "share", "index", "notebook", "mirror", "report"}
    finally:
        assert json.loads(made.mem("watch", "stop", "--json").stdout)["stopped"]
    assert not json.loads(made.mem("watch", "stop", "--json").stdout)["stopped"]
    assert not status(made)["running"]


def test_watch_without_inotify_polls_with_one_line(made: Repo, spawn: Callable[..., Watcher], tmp_path: Path) -> None:
    """Out of watches is a slower watcher and no traceback."""
    (tmp_path / "blind").mkdir()
    (tmp_path / "blind" / "sitecustomize.py").write_text(
        "import watchdog.observers.inotify_c as c, errno\n"
        "def no(*a, **k): raise OSError(errno.EMFILE, 'inotify instance limit reached')\n"
        "for name in ('InotifyFD', 'Inotify'):\n"
        "    if hasattr(c, name): setattr(getattr(c, name), '__init__', no)\n"
    )
    child = spawn(made, PYTHONPATH=str(tmp_path / "blind"))
    assert status(made)["mode"] == "polling"
    raw(made, "seen by polling")
    until(lambda: "seen by polling" in mirror(made), "polling sees it")
    child.terminate()
    _, said = child.communicate(timeout=PATIENCE)
    assert said.decode().count("\n") == 1 and "inotify instance limit reached" in said.decode()


def test_watch_goes_on_after_an_action_failed(made: Repo, spawn: Callable[..., Watcher]) -> None:
    spawn(made)
    made.write("memories.ndjson", "<<<<<<< HEAD\n")
    until(lambda: "conflict marker" in status(made)["last_error"], "the error is told")
    raw(made, "life goes on")
    until(lambda: "life goes on" in mirror(made), "the mirror is current all the same")
    log = (made.path / ".mem" / "hooks.log").read_text()
    assert log.count("conflict marker") == 1
    made.write("memories.ndjson", '{"id":"01990000-0000-7000-8000-000000000001","content":"mended"}\n')
    until(lambda: "mended" in mirror(made), "the mended file is read")


def test_watch_does_what_a_rebase_made_wait(made: Repo, spawn: Callable[..., Watcher]) -> None:
    spawn(made)
    made.write(".git/rebase-merge/head-name", "refs/heads/main\n")
    made.write("memories.ndjson", '{"id":"01990000-0000-7000-8000-000000000001","content":"in the middle"}\n')
    time.sleep(1.5)
    assert "in the middle" not in mirror(made)
    shutil.rmtree(made.path / ".git" / "rebase-merge")
    until(lambda: "in the middle" in mirror(made), "the shared memory came after the rebase")


def test_watch_sees_after_a_sleep_what_happened_meanwhile(made: Repo, spawn: Callable[..., Watcher]) -> None:
    child = spawn(made)
    child.send_signal(signal.SIGSTOP)
    raw(made, "written while it slept")
    made.git("commit", "-q", "--allow-empty", "-m", "x")
    child.send_signal(signal.SIGCONT)
    until(lambda: "while it slept" in mirror(made), "the mirror is current")
    head = made.git("rev-parse", "HEAD").stdout.strip()
    until(lambda: head in column(made, "SELECT value FROM meta WHERE key LIKE 'head:%'"), "the HEAD is recorded")


def test_watch_sees_through_a_bulk_checkout(made: Repo, spawn: Callable[..., Watcher]) -> None:
    """Whatever events are lost in a flood, the notebook and the share file of the branch arrive."""
    spawn(made)
    made.git("checkout", "-q", "-b", "side")
    for number in range(2000):
        made.write(f"file{number}.txt", str(number))
    made.write("MEMORY.md", "# Flooded\n\nwords\n")
    made.write("memories.ndjson", '{"id":"01990000-0000-7000-8000-000000000001","content":"from the flood"}\n')
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "flood")
    made.git("checkout", "-q", "main")
    until(lambda: not column(made, "SELECT heading FROM sections"), "main has no notebook")
    made.git("checkout", "-q", "side")
    until(lambda: "Flooded" in column(made, "SELECT heading FROM sections"), "the notebook of the branch is indexed")
    until(lambda: "from the flood" in mirror(made), "its memories are there")


def test_watch_in_a_linked_worktree_and_without_git(made: Repo, spawn: Callable[..., Watcher], tmp_path: Path) -> None:
    made.git("worktree", "add", "-q", str(tmp_path / "linked"))
    linked = made._replace(path=tmp_path / "linked")
    spawn(linked)
    linked.write("memories.ndjson", '{"id":"01990000-0000-7000-8000-000000000001","content":"from the worktree"}\n')
    until(lambda: "from the worktree" in mirror(made), "the store of the main worktree has it")
    plain = made._replace(path=tmp_path / "plain")
    plain.write("package.json", "{}")
    plain.mem("remember", "without git")
    spawn(plain)
    raw(plain, "and watched all the same")
    until(lambda: "all the same" in mirror(plain), "the mirror is current")


def test_watch_all_takes_up_projects_as_they_come(made: Repo, spawn: Callable[..., Watcher], tmp_path: Path) -> None:
    made.mem("mirror")
    child = spawn(made, "--all")
    other = made._replace(path=tmp_path / "other")
    other.path.mkdir()
    other.git("init", "-q")
    other.mem("remember", "a fact of the other")
    until(lambda: status(other)["running"], "the other project is watched too")
    raw(other, "written behind its back")
    until(lambda: "behind its back" in mirror(other), "and kept current")
    told = json.loads(made.mem("watch", "status", "--all", "--json").stdout)
    assert told["running"] and len(told["projects"]) == 2
    made.mem("watch", "stop", "--all")
    assert child.wait(PATIENCE) == 0


def test_watch_once_does_all_and_ends(made: Repo) -> None:
    made.write("memories.ndjson", '{"id":"01990000-0000-7000-8000-000000000001","content":"from a teammate"}\n')
    (made.path / ".mem" / "memory.md").unlink()
    told = json.loads(made.mem("watch", "--once", "--json").stdout)
    assert told["projects"][0]["ran"] == ["share", "index", "notebook", "mirror", "report"]
    assert "from a teammate" in mirror(made)
    assert not status(made)["running"]


def test_watch_once_for_all_passes_over_a_project_that_is_gone(made: Repo, tmp_path: Path) -> None:
    gone = tmp_path / "a-gone"
    (gone / ".git").mkdir(parents=True)
    (gone / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    made.mem("--project", str(gone), "remember", "a fact")
    shutil.rmtree(gone / ".git")
    (made.path / ".mem" / "memory.md").unlink()
    done = made.mem("watch", "--once", "--all", "--json", check=False)
    told = {one["root"]: one for one in json.loads(done.stdout)["projects"]}
    assert done.returncode == 1
    assert "no project any more" in told[str(gone)]["errors"][0]
    assert "mirror" in told[str(made.path)]["ran"] and mirror(made)


def test_watch_service_writes_and_removes_its_file(made: Repo, home: Path) -> None:
    told = json.loads(made.mem("watch", "service", "install", "--json").stdout)
    unit = Path(told["path"])
    assert home in unit.parents and str(made.path) in unit.read_text() and "enable --now" in told["then"]
    assert not json.loads(made.mem("watch", "service", "install", "--json").stdout)["changed"]
    made.mem("watch", "service", "remove")
    assert not unit.exists()
    unit.write_text("[Unit]\n")
    assert made.mem("watch", "service", "install", check=False).returncode == 1
    assert unit.read_text() == "[Unit]\n"
