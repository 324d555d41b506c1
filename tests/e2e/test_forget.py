"""`mem forget` as a user sees it: nothing of the text is left below .mem, and what can't be erased is said."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest
from conftest import Repo
from inprocess import mem
from memhooks.memory import schema

TERMS = (b"elephant", b"rhinocero", b"migrat", b"savanna")


@pytest.fixture
def filled(repo: Repo) -> Repo:
    mem(repo, "remember", "crocodiles elsewhere")
    return repo


def remember(repo: Repo, text: str, *flags: str) -> str:
    return str(mem(repo, "remember", text, *flags, "--json").value["id"])


def left(repo: Repo) -> list[tuple[str, bytes]]:
    found = []
    for place, _, names in os.walk(repo.path / ".mem"):
        for name in names:
            data = Path(place, name).read_bytes().lower()
            found += [(name, term) for term in TERMS if term in data]
    return found


def test_forget_leaves_nothing_below_the_store(filled: Repo) -> None:
    """Store, log, index, vectors, history, mirror, after every kind of command has seen the text."""
    old = remember(filled, "elephants migrate", "--title", "Elephants", "--tag", "savanna", "--area", "savanna")
    new = mem(filled, "correct", old, "rhinoceroses migrate over the savanna", "--json").value["id"]
    for words in (
        ["list"],
        ["recall", "savanna"],
        ["context", "rhinoceroses migrate"],
        ["search", "--semantic", "migrating"],
    ):
        assert mem(filled, *words).code == 0
    assert filled.mem("status").returncode == 0
    assert {name for name, _ in left(filled)} >= {"mem.db", "memory.md"}
    done = filled.mem("forget", new[-8:])
    assert done.stdout == f"forgot {new[-8:]}, {old[-8:]}\n"
    assert left(filled) == []
    assert "crocodiles" in (filled.path / ".mem" / "memory.md").read_text()
    assert mem(filled, "list", "--all", "--json").value["memories"][0]["content"] == "crocodiles elsewhere"
    assert filled.git("status", "--porcelain").stdout == ""


def test_forget_of_a_pinned_and_of_the_personal_store(repo: Repo, home: Path) -> None:
    for flags, folder in ((["--db", "x.db"], repo.path), (["--scope", "personal"], home / "mem")):
        made = remember(repo, "elephants migrate", *flags)
        assert mem(repo, "forget", made, *flags).code == 0
        data = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".git/" not in str(path))
        assert b"lephant" not in data


def test_forget_of_history_is_refused(filled: Repo) -> None:
    old = remember(filled, "elephants migrate")
    new = mem(filled, "correct", old, "rhinoceroses migrate", "--json").value["id"]
    error = mem(filled, "forget", old, "--json").error
    assert error["reason"] == "superseded" and new[-8:] in error["message"]
    assert len(mem(filled, "list", "--all", "--json").value["memories"]) == 3


def test_forget_behind_a_reader_says_so_and_is_finished(filled: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    made = remember(filled, "elephants migrate")
    real = schema.connect
    monkeypatch.setattr(schema, "connect", lambda *a, **k: real(*a, **(k | {"timeout": 0.02})))
    reader = sqlite3.connect(filled.path / ".mem" / "mem.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM memories").fetchone()
    done = mem(filled, "forget", made)
    assert done.code == 0
    assert "its last traces go with the next command" in done.stdout
    assert left(filled)
    reader.close()
    assert mem(filled, "list").code == 0
    assert left(filled) == []


def test_forget_with_another_command_at_work(filled: Repo) -> None:
    """A store that another process holds open, without a snapshot, keeps nothing back."""
    made = remember(filled, "elephants migrate")
    reader = sqlite3.connect(filled.path / ".mem" / "mem.db", isolation_level=None)
    reader.execute("SELECT count(*) FROM memories").fetchone()
    assert mem(filled, "forget", made, "--json").value["scrub_pending"] is False
    assert left(filled) == []
    reader.close()


def test_forgotten_text_can_be_learnt_anew(filled: Repo) -> None:
    first = remember(filled, "elephants migrate")
    mem(filled, "forget", first)
    assert mem(filled, "get", first, "--json").error["reason"] == "not_found"
    assert remember(filled, "elephants migrate") != first
