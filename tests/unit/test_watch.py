"""When the watcher looks, what it takes for a change, and what it does about a failure; without threads and clocks."""

from __future__ import annotations

import gc
import io
import os
import time
import weakref
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memhooks.hooks import service, watch_events
from memhooks.hooks.env import Env
from memhooks.hooks.watch_events import MOST, QUIET, Pending, Place, add, due, matters
from memhooks.hooks.watch_inputs import Reader, watched_files
from memhooks.hooks.watch_loop import Loop
from memhooks.hooks.watch_project import Action, Watched
from memhooks.memory.api import Store
from memhooks.memory.errors import Locked, MemError
from memhooks.memory.project import find_project

Repo = Any


@given(st.lists(st.floats(0, 0.3), min_size=1, max_size=200))
def test_debounce_waits_for_quiet_but_never_for_long(gaps: list[float]) -> None:
    """A busy tree can't starve it, and one quiet moment is enough."""
    pending: Pending | None = None
    now = 0.0
    for gap in gaps:
        now += gap
        if pending and now >= due(pending):
            pending = None
        pending = add(pending, now)
        assert due(pending) <= min(now + QUIET, pending.first + MOST)
    assert pending and due(pending) - now <= QUIET + 1e-9


STORE = Place("x", ("mem.db",), (".tmp", "-shm"), in_place=True)
ROOT = Place("x", ("MEMORY.md", "memories.ndjson"))
REFS = Place("x", recursive=True)


@pytest.mark.parametrize(
    ("kind", "name", "place", "expected"),
    [
        ("modified", "mem.db", STORE, True),
        ("modified", "mem.db-wal", STORE, True),
        ("modified", "mem.db-shm", STORE, False),
        ("created", ".mem.db.123.tmp", STORE, False),
        ("opened", "mem.db", STORE, False),
        ("closed_no_write", "mem.db", STORE, False),
        ("closed", "MEMORY.md", ROOT, True),
        ("created", ".MEMORY.md.swp", ROOT, True),
        ("created", "4913", ROOT, False),
        ("created", "notes~", ROOT, False),
        ("created", ".#other.md", ROOT, False),
        ("moved", "feature/x", REFS, True),
    ],
)
def test_events_that_matter(kind: str, name: str, place: Place, expected: bool) -> None:
    """Neither the database's sidecars nor other programs' temporary files are a reason to look."""
    assert matters(kind, name, place) is expected


@pytest.fixture
def env(tmp_path: Path) -> Env:
    return Env(io.StringIO(), io.StringIO(), io.StringIO(), dict(os.environ), str(tmp_path))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    with Store.open(str(folder / ".mem" / "mem.db")) as store:
        store.remember(content="a fact")
    return folder


def actions(*names: str, run: Any = None) -> tuple[Action, ...]:
    return tuple(Action(name, ("store", "notebook", "share", "head"), run or (lambda p, e: True)) for name in names)


def test_look_runs_an_action_once_for_a_change(root: Path, env: Env) -> None:
    """What counts is that content changed, not that it is in some state."""
    watched = Watched(str(root), env._replace(clock=lambda: time.time() + 10), actions=actions("one"))
    assert watched.look(0) == ["one"]
    assert watched.look(1) == []
    (root / "MEMORY.md").write_text("# text\n")
    assert watched.look(2) == ["one"]
    os.utime(root / "MEMORY.md", (5, 5))
    (root / "other.txt").write_text("no matter")
    assert watched.look(3) == []


def test_look_sees_a_change_that_keeps_size_and_time(root: Path, env: Env) -> None:
    """A stamp that is young is not trusted: two writes may share it."""
    watched = Watched(str(root), env, actions=actions("one"))
    path = root / "MEMORY.md"
    path.write_text("aaaa")
    stamp = path.stat()
    watched.look(0)
    with path.open("r+") as file:
        file.write("bbbb")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert watched.look(1) == ["one"]


def test_look_goes_on_when_an_action_fails_and_tries_again_later(root: Path, env: Env) -> None:
    calls: list[float] = []

    def broken(project: object, env: object) -> None:
        calls.append(1)
        raise RuntimeError("disk on fire")

    settled = env._replace(clock=lambda: time.time() + 10)
    bad, good = Action("bad", ("store",), broken), Action("good", ("store",), lambda p, e: True)
    watched = Watched(str(root), settled, actions=(bad, good))
    assert watched.look(0) == ["good"]
    assert watched.last_error == "bad: RuntimeError: disk on fire" and watched.counts["errors"] == 1
    watched.look(0.1)
    assert len(calls) == 1
    watched.look(100)
    watched.look(100.1)
    assert len(calls) == 2
    assert (root / ".mem" / "hooks.log").read_text().count("disk on fire") == 1


def test_look_settles_when_actions_change_their_inputs(root: Path, env: Env) -> None:
    """Two actions that feed each other must not keep the watcher busy for ever."""
    counter = iter(range(1000))

    def writes(project: object, env: object) -> None:
        (root / "MEMORY.md").write_text(str(next(counter)))

    watched = Watched(str(root), env, actions=actions("one", run=writes))
    assert len(watched.look(0)) == 5


def test_look_waits_while_git_is_in_the_middle_of_something(root: Path, env: Env) -> None:
    waiting = Action("late", ("head",), lambda p, e: True, deferred=True)
    watched = Watched(str(root), env, actions=(waiting,))
    (root / ".git" / "rebase-merge").mkdir()
    assert watched.look(0) == []
    (root / ".git" / "rebase-merge").rmdir()
    assert watched.look(1) == ["late"]


def test_one_watcher_holds_a_project_and_follows_its_folder(root: Path, env: Env) -> None:
    """A lock and not a pid; a folder that was deleted and made anew is locked anew."""
    first, second = Watched(str(root), env), Watched(str(root), env)
    first.hold()
    first.hold()
    with pytest.raises(Locked):
        second.hold()
    (root / ".mem").rename(root / ".old")
    first.hold()
    (root / ".mem").mkdir()
    first.hold()
    with pytest.raises(Locked):
        second.hold()
    first.release()
    second.hold()
    with pytest.raises(Locked):
        first.hold()
    second.release()


def test_store_state_ignores_an_empty_log_and_sees_a_filled_one(root: Path, env: Env) -> None:
    project = find_project(str(root), environ={})
    reader, files, later = Reader(), watched_files(project, env), time.time() + 10
    before = reader.read(project, files, later)["store"]
    wal = Path(project.store_path + "-wal")
    wal.write_bytes(b"")
    assert reader.read(project, files, later)["store"] == before
    wal.write_bytes(b"frames")
    assert reader.read(project, files, later)["store"] != before


def test_folder_that_is_gone_is_an_error_and_not_a_crash(root: Path, env: Env) -> None:
    watched = Watched(str(root), env)
    root.rename(root.parent / "unmounted")
    with pytest.raises(MemError):
        watched.look(0)
    (root.parent / "unmounted").rename(root)
    assert "mirror" in watched.look(1)


def test_folder_that_holds_no_project_any_more_is_not_taken_for_another(root: Path, env: Env) -> None:
    """An empty mount point lies in the project above it, or belongs to the personal store."""
    inner = root / "inner"
    (inner / ".git").mkdir(parents=True)
    (inner / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    watched = Watched(str(inner), env)
    inner.rename(root / "unmounted")
    inner.mkdir()
    with pytest.raises(MemError, match="no project any more"):
        watched.look(0)
    with pytest.raises(MemError, match="no project any more"):
        Watched(str(inner), env)


@pytest.mark.parametrize(
    ("word", "expected"),
    [("plain", '"plain"'), ("a b", '"a b"'), ('q"\\', '"q\\"\\\\"'), ("50%$HOME", '"50%%$$HOME"')],
)
def test_service_words_are_quoted_for_systemd(word: str, expected: str) -> None:
    assert service.quote(word) == expected


def test_service_files_name_the_project(env: Env, root: Path) -> None:
    odd = str(root.parent / "a & b")
    unit = service.describe(odd, env, platform="linux")
    assert unit.path.endswith(".service") and f'"--project" "{odd}" "watch"' in unit.text
    agent = service.describe(odd, env, platform="darwin")
    assert "a &amp; b</string>" in agent.text and "LaunchAgents" in agent.path
    everything = service.describe("", env, platform="linux")
    assert everything.path.endswith("/memhooks-watch.service") and '"watch" "--all"' in everything.text


def test_loop_keeps_nothing_of_the_work_done(root: Path, env: Env) -> None:
    """A watcher runs for weeks: what its actions leave in cycles must not wait for the collector."""
    left: list[weakref.ref[Any]] = []

    def work(project: Any, env: Env) -> None:
        cycle = type("Cycle", (), {})()
        cycle.itself = cycle
        left.append(weakref.ref(cycle))

    loop = Loop(env, list)
    loop.projects[str(root)] = Watched(str(root), env, actions=actions("one", run=work))
    gc.disable()
    try:
        loop._look()
        assert [one() for one in left] == [None]
    finally:
        gc.enable()
        loop._leave()


def test_quiet_time_leaves_room_in_the_budget() -> None:
    assert watch_events.QUIET == 0.2 and watch_events.MOST <= 1.0


def test_look_does_not_mind_a_clock_that_jumps(root: Path, env: Env) -> None:
    now = [time.time()]
    watched = Watched(str(root), env._replace(clock=lambda: now[0]), actions=actions("one"))
    watched.look(0)
    for jump, text in ((-10 * 86400, "back"), (400 * 86400, "far ahead"), (-400 * 86400, "and home")):
        now[0] += jump
        watched.look(1)
        (root / "MEMORY.md").write_text(text)
        assert watched.look(2) == ["one"], text
        watched.look(3)
        assert watched.look(4) == []


def test_look_goes_on_with_a_full_disk(root: Path, env: Env) -> None:
    """Nothing can be written, the log included; the work is done once there is room."""
    room: list[bool] = []

    def needs_room(project: object, env: object) -> None:
        if not room:
            raise OSError(28, "No space left on device")

    watched = Watched(str(root), env, actions=(Action("one", ("notebook",), needs_room),))
    (root / ".mem" / "hooks.log").mkdir()
    assert watched.look(0) == [] and "No space left" in watched.last_error
    room.append(True)
    assert watched.look(100) == ["one"]
