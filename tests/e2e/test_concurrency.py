"""Many processes on one store: none fails, none finds a half, and what they wrote is there."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys

import pytest
from conftest import Repo
from inprocess import mem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="twenty interpreters at once")


def start(repo: Repo, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["mem", *words], cwd=repo.path, env=repo.environ, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


LATE = "mem: the store has changed, but the mirror is out of date: "  # on a machine that is slow beyond its lock's wait


def finish(processes: list[subprocess.Popen[str]]) -> list[str]:
    """Return what the processes printed; each must have done its work, and have nothing else to say."""
    outputs = []
    for process in processes:
        stdout, stderr = process.communicate(timeout=120)
        others = [line for line in stderr.splitlines() if not line.startswith(LATE)]
        assert (process.returncode, others) == (0, []), process.args
        outputs.append(stdout)
    return outputs


def sound(repo: Repo) -> bool:
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    try:
        db.execute("INSERT INTO words(words) VALUES ('integrity-check')")
        return bool(db.execute("PRAGMA integrity_check").fetchone()[0] == "ok")
    finally:
        db.close()


def test_twenty_first_commands_make_one_store(repo: Repo) -> None:
    outputs = finish([start(repo, "remember", "the same fact", "--json") for _ in range(20)])
    assert len({json.loads(output)["id"] for output in outputs}) == 1
    assert len(mem(repo, "list", "--json").value["memories"]) == 1
    assert sound(repo)
    assert not [name for name in os.listdir(repo.path / ".mem") if name.endswith((".tmp", "-wal", "-shm", "-journal"))]


def test_twenty_searches_with_five_writers(repo: Repo) -> None:
    for number in range(5):
        mem(repo, "remember", f"whales number {number}")
    commands = (
        ["search", "whales"],
        ["recall", "whales"],
        ["context", "whales number"],
        ["search", "--semantic", "whales"],
    )
    searches = [start(repo, *commands[turn % 4], "--json") for turn in range(10)]
    writers = [start(repo, "remember", f"whales written by {number}", "--json") for number in range(5)]
    searches += [start(repo, *commands[turn % 4], "--json") for turn in range(10)]
    written = finish(writers)
    for output in finish(searches):
        assert json.loads(output)["memories"]
    listed = mem(repo, "list", "--json").value["memories"]
    assert len(listed) == 10
    assert {json.loads(output)["id"] for output in written} <= {one["id"] for one in listed}
    assert mem(repo, "correct", listed[0]["id"], "whales at last").code == 0
    mirror = (repo.path / ".mem" / "memory.md").read_text()
    assert all(one["content"] in mirror for one in listed[1:])
    assert sound(repo)


def test_writers_of_every_kind_at_once(repo: Repo) -> None:
    ids = [mem(repo, "remember", f"fact number {number}", "--json").value["id"] for number in range(6)]
    processes = [start(repo, "forget", one) for one in ids[:3]]
    processes += [start(repo, "correct", one, f"better fact {one}") for one in ids[3:]]
    processes += [start(repo, "state", "set", f"--{name}", "x") for name in ("goal", "next", "blockers")]
    finish(processes)
    contents = {one["content"] for one in mem(repo, "list", "--json").value["memories"]}
    assert contents == {f"better fact {one}" for one in ids[3:]}
    cursor = mem(repo, "state", "--json").value
    assert (cursor["goal"], cursor["next"], cursor["blockers"]) == ("x", "x", "x")
    data = b"".join((repo.path / ".mem" / name).read_bytes() for name in os.listdir(repo.path / ".mem"))
    assert not any(f"fact number {number}".encode() in data for number in range(3)), "the list finished the scrub"
    assert sound(repo)


def test_two_corrections_of_one_memory(repo: Repo) -> None:
    """One wins; the other is told which, and writes nothing."""
    made = mem(repo, "remember", "first", "--json").value["id"]
    processes = [start(repo, "correct", made, f"text {number}", "--json") for number in range(6)]
    codes = []
    for process in processes:
        stdout, stderr = process.communicate(timeout=120)
        codes.append(process.returncode)
        if process.returncode:
            assert json.loads(stderr)["error"]["reason"] == "superseded" and stdout == ""
    assert sorted(codes) == [0, 1, 1, 1, 1, 1]
    assert len(mem(repo, "list", "--all", "--json").value["memories"]) == 2
