"""One store a project, a personal one beside them, and the way from one to the others."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from conftest import Repo
from inprocess import mem


@pytest.fixture
def two(repo: Repo, tmp_path: Path) -> tuple[Repo, Repo]:
    """Two projects and a personal store, with a memory about whales in each."""
    (tmp_path / "other").mkdir()
    other = Repo(tmp_path / "other", repo.environ)
    other.git("init", "-q", "-b", "main")
    mem(repo, "remember", "whales here")
    mem(other, "remember", "whales there")
    mem(repo, "remember", "whales of mine", "--scope", "personal")
    return repo, other


def recalled(repo: Repo, *words: str) -> dict[str, str]:
    """Return the warnings of what a recall finds, by content."""
    hits = mem(repo, "recall", "whales", "--json", *words).value["memories"]
    return {hit["content"]: hit.get("warning", "") for hit in hits}


def test_scope_project_stays_within(two: tuple[Repo, Repo]) -> None:
    repo, other = two
    assert recalled(repo) == recalled(repo, "--scope", "project") == {"whales here": ""}
    assert recalled(other) == {"whales there": ""}


def test_scope_personal_is_one_from_everywhere(two: tuple[Repo, Repo], home: Path) -> None:
    repo, other = two
    assert recalled(repo, "--scope", "personal") == recalled(other, "--scope", "personal") == {"whales of mine": ""}
    (one,) = mem(other, "list", "--scope", "personal", "--json").value["memories"]
    assert mem(other, "get", one["id"], "--scope", "personal", "--json").value == one
    assert mem(repo, "get", one["id"], "--json").error["reason"] == "not_found"
    status = mem(repo, "status", "--scope", "personal", "--json").value
    assert status["store"] == str(home / "mem" / "personal" / "memories.db")
    new = mem(repo, "correct", one["id"], "orcas of mine", "--scope", "personal", "--json").value
    assert mem(other, "forget", new["id"], "--scope", "personal").code == 0
    assert mem(repo, "list", "--scope", "personal", "--json").value == {"memories": []}
    assert mem(repo, "init", "--scope", "personal", "--json").value["created"] is False


def test_scope_all_warns_of_what_is_foreign(two: tuple[Repo, Repo]) -> None:
    repo, _ = two
    assert recalled(repo, "--scope", "all") == {
        "whales here": "", "whales there": "from another project: other", "whales of mine": "from your personal store",
    }  # fmt: skip
    text = mem(repo, "recall", "whales", "--scope", "all").stdout
    assert "from another project: other" in text and "from your personal store" in text


def test_scope_all_passes_over_what_is_broken_elsewhere(two: tuple[Repo, Repo]) -> None:
    repo, other = two
    (other.path / ".mem" / "mem.db").write_bytes(b"no database " * 99)
    done = mem(repo, "recall", "whales", "--scope", "all", "--json")
    assert {hit["content"] for hit in done.value["memories"]} == {"whales here", "whales of mine"}
    assert str(other.path) in done.stderr and done.stderr.count("\n") == 1
    (other.path / ".mem" / "mem.db").unlink()
    other.write(".mem/config.toml", "[broken")
    assert mem(repo, "recall", "whales", "--scope", "all").code == 0


def test_scope_all_outside_of_any_project(two: tuple[Repo, Repo], tmp_path: Path) -> None:
    bare = Repo(tmp_path / "nowhere", two[0].environ)
    bare.path.mkdir()
    assert set(recalled(bare, "--scope", "all")) == {"whales here", "whales there", "whales of mine"}
    assert recalled(bare) == {"whales of mine": ""}
    mem(bare, "remember", "whales again")
    assert os.listdir(bare.path) == []


def test_scope_personal_and_db_name_two_stores(repo: Repo) -> None:
    error = mem(repo, "--db", "x.db", "list", "--scope", "personal", "--json").error
    assert error["exit_code"] == 2


def test_registry_is_written_by_the_first_write(two: tuple[Repo, Repo], home: Path) -> None:
    index = json.loads((home / "mem" / "index.json").read_text())
    assert set(index) == {hashlib.sha256(str(repo.path).encode()).hexdigest() for repo in two}
    assert {entry["name"] for entry in index.values()} == {"repo", "other"}
    (home / "mem" / "index.json").unlink()
    mem(two[0], "remember", "again")
    assert len(json.loads((home / "mem" / "index.json").read_text())) == 1, "a lost entry comes back"


def test_reads_register_nothing(repo: Repo, home: Path) -> None:
    mem(repo, "list")
    mem(repo, "status")
    assert not (home / "mem").exists()


def test_worktrees_share_store_and_not_cursor(repo: Repo, tmp_path: Path) -> None:
    repo.write("a", "a")
    repo.commit()
    repo.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    linked = Repo(tmp_path / "linked", repo.environ)
    mem(linked, "remember", "whales from the worktree")
    mem(linked, "state", "set", "--goal", "topic's goal")
    assert recalled(repo) == {"whales from the worktree": ""}
    assert mem(repo, "state", "--json").value["goal"] == ""
    assert mem(linked, "state", "--json").value["workspace"] == "branch:topic"
    assert os.listdir(linked.path) == [".git", "a"] or sorted(os.listdir(linked.path)) == [".git", "a"]


def test_bare_repository_with_worktrees(repo: Repo, tmp_path: Path) -> None:
    repo.write("a", "a")
    repo.commit()
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "shop" / ".bare"))
    shop = Repo(tmp_path / "shop", repo.environ)
    shop.write(".git", "gitdir: ./.bare\n")
    for name in ("one", "two"):
        shop.git("worktree", "add", "-q", "-b", name, name)
    places = [Repo(shop.path / name, repo.environ) for name in ("one", "two")]
    mem(places[0], "remember", "whales in the shop")
    assert recalled(places[1]) == recalled(shop) == {"whales in the shop": ""}
    assert recalled(repo, "--scope", "all") == {"whales in the shop": "from another project: shop"}
    assert (shop.path / ".bare" / "mem" / "mem.db").stat().st_mode & 0o777 == 0o600
    assert places[0].git("status", "--porcelain").stdout == ""


def test_nested_repository_keeps_its_own(repo: Repo) -> None:
    inner = Repo(repo.path / "vendor" / "inner", repo.environ)
    inner.path.mkdir(parents=True)
    inner.git("init", "-q")
    mem(inner, "remember", "whales inside")
    assert recalled(repo) == {}
    assert not (repo.path / ".mem").exists()


def test_project_without_git(repo: Repo, tmp_path: Path) -> None:
    app = Repo(tmp_path / "app", repo.environ)
    app.write("package.json", "{}")
    app.write("src/a.js", "")
    src = Repo(app.path / "src", repo.environ)
    mem(src, "remember", "whales without git")
    assert recalled(app) == {"whales without git": ""}
    assert mem(src, "state", "set", "--goal", "x", "--json").value["workspace"] == "default"
    error = mem(src, "remember", "x", "--file", "a.js", "--json").error
    assert error["exit_code"] == 2 and "git" in error["message"]
