"""Memories that know when the code moved: anchors followed through real commits, renames and branches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import Repo

LINES = "".join(f"line {number}\n" for number in range(60))


@pytest.fixture
def anchored(repo: Repo) -> Repo:
    """A repository with a file, and a memory anchored to it."""
    repo.write("src/auth.py", LINES)
    repo.write("src/other.py", "other\n")
    repo.commit("first")
    repo.mem("remember", "The zebra token rotates every hour", "--file", "src/auth.py")
    repo.mem("index")
    return repo


def head(repo: Repo) -> str:
    return repo.git("rev-parse", "--short=7", "HEAD").stdout.strip()


def stale(repo: Repo) -> str:
    """Return what `mem list --stale` says of the one memory, after a refresh; "" when it is fresh."""
    repo.mem("index")
    found = json.loads(repo.mem("list", "--stale", "--json").stdout)["memories"]
    assert len(found) < 2
    return str(found[0]["stale"]) if found else ""


def digest(repo: Repo) -> str:
    said: dict[str, Any] = json.loads(repo.mem("hook", "session-start").stdout)
    return str(said["hookSpecificOutput"]["additionalContext"])


def test_untouched_file_is_fresh(anchored: Repo) -> None:
    anchored.write("src/other.py", "changed\n")
    anchored.commit()
    assert stale(anchored) == ""


def test_changed_file_is_stale_since_the_first_change(anchored: Repo) -> None:
    anchored.write("src/auth.py", LINES + "one\n")
    anchored.commit("the change")
    first = head(anchored)
    anchored.write("src/auth.py", LINES + "two\n")
    anchored.commit("a further change")
    assert stale(anchored) == f"stale since {first}: src/auth.py changed"
    assert f"stale since {first}" in digest(anchored)
    for command in ("recall", "context", "search"):
        assert f"stale since {first}: src/auth.py changed" in anchored.mem(command, "zebra token").stdout
        (row,) = json.loads(anchored.mem(command, "zebra token", "--json").stdout)["memories"]
        assert row["stale"] == f"stale since {first}: src/auth.py changed"
    anchored.write("src/auth.py", LINES + "three\n")
    anchored.commit("yet another")
    assert stale(anchored) == f"stale since {first}: src/auth.py changed"


def test_file_that_changed_back_is_fresh(anchored: Repo) -> None:
    anchored.write("src/auth.py", "gone wild\n")
    anchored.commit()
    assert stale(anchored)
    anchored.git("revert", "--no-edit", "HEAD")
    assert stale(anchored) == ""


def test_renamed_file_keeps_its_anchor(anchored: Repo) -> None:
    anchored.git("mv", "src/auth.py", "src/login.py")
    anchored.commit()
    assert stale(anchored) == ""
    anchored.write("src/login.py", LINES + "more\n")
    anchored.commit()
    assert stale(anchored) == f"stale since {head(anchored)}: src/login.py changed"


def test_file_renamed_with_a_change_is_followed_and_stale(anchored: Repo) -> None:
    anchored.git("mv", "src/auth.py", "src/login.py")
    anchored.write("src/login.py", LINES + "more\n")
    anchored.commit()
    assert stale(anchored) == f"stale since {head(anchored)}: src/login.py changed"


def test_deleted_file_orphans_its_memory(anchored: Repo) -> None:
    anchored.git("rm", "-q", "src/auth.py")
    anchored.commit()
    since = head(anchored)
    anchored.write("a.txt", "later")
    anchored.commit()
    assert stale(anchored) == f"orphaned since {since}: src/auth.py is gone"
    assert "orphaned" in digest(anchored)
    anchored.git("revert", "--no-edit", "HEAD~1")
    assert stale(anchored) == ""


def test_checkout_of_another_branch_is_compared(anchored: Repo) -> None:
    anchored.git("checkout", "-q", "-b", "side")
    anchored.write("src/auth.py", "other\n" * 9)
    anchored.commit()
    assert stale(anchored)
    anchored.git("checkout", "-q", "main")
    assert stale(anchored) == ""


def test_confirm_anchors_anew(anchored: Repo) -> None:
    anchored.write("src/auth.py", LINES + "more\n")
    anchored.commit()
    assert stale(anchored)
    memory = json.loads(anchored.mem("list", "--json").stdout)["memories"][0]["id"]
    anchored.mem("confirm", memory)
    assert stale(anchored) == ""
    assert "stale" not in digest(anchored)


def test_confirm_lets_go_of_a_file_that_is_gone(anchored: Repo) -> None:
    """Even where no hook saw it go: the memory is true for HEAD, and there is nothing left to compare."""
    anchored.git("rm", "-q", "src/auth.py")
    anchored.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "gone")
    memory = json.loads(anchored.mem("list", "--json").stdout)["memories"][0]["id"]
    assert "no longer anchored to src/auth.py, which is gone" in anchored.mem("confirm", memory).stdout
    assert stale(anchored) == ""
    assert "about no file" in anchored.mem("confirm", memory, check=False).stderr


@pytest.mark.parametrize(
    "words", [("confirm",), ("correct", "The zebra token rotates every day")], ids=["confirm", "correct"]
)
def test_code_of_today_is_that_of_head_though_no_hook_saw_it(anchored: Repo, words: tuple[str, ...]) -> None:
    anchored.write("src/auth.py", LINES + "more\n")
    anchored.commit()
    memory = json.loads(anchored.mem("list", "--json").stdout)["memories"][0]["id"]
    anchored.mem(words[0], memory, *words[1:])
    assert stale(anchored) == ""


def test_corrected_memory_holds_for_the_code_of_today(anchored: Repo) -> None:
    anchored.write("src/auth.py", LINES + "more\n")
    anchored.commit()
    assert stale(anchored)
    memory = json.loads(anchored.mem("list", "--json").stdout)["memories"][0]["id"]
    anchored.mem("correct", memory, "The zebra token rotates every day")
    assert stale(anchored) == ""
    anchored.write("src/auth.py", LINES + "even more\n")
    anchored.commit()
    assert stale(anchored).startswith("stale since")


def test_path_in_the_text_anchors_by_itself(repo: Repo) -> None:
    repo.write("src/auth.py", LINES)
    repo.commit()
    repo.mem("remember", "Tokens rotate in src/auth.py; never mind src/gone.py and v1.2.3")
    repo.mem("index")
    repo.write("src/auth.py", "changed\n")
    repo.commit()
    assert stale(repo) == f"stale since {head(repo)}: src/auth.py changed"


def test_path_in_imported_text_is_found_by_the_refresh(repo: Repo) -> None:
    repo.write("src/auth.py", LINES)
    repo.commit()
    line = {"id": "01890a5d-ac96-774b-bcce-b302099a8057", "title": "Tokens", "content": "Tokens rotate in src/auth.py"}
    repo.write("in.ndjson", json.dumps(line) + "\n")
    repo.mem("import", "in.ndjson")
    repo.mem("index")
    repo.write("src/auth.py", "changed\n")
    repo.commit()
    assert "src/auth.py changed" in stale(repo)


@pytest.mark.parametrize("name", ["a b.py", "café.py", "[x].py", "*.py", "-n.py", ":(top).py", "日本.py"])
def test_odd_names_are_followed(repo: Repo, name: str) -> None:
    repo.write(name, LINES)
    repo.commit()
    repo.mem("remember", "a fact about the odd file", "--file", f"./{name}")
    repo.mem("index")
    repo.write(name, "changed\n")
    repo.commit()
    assert stale(repo) == f"stale since {head(repo)}: {name} changed"


def test_refresh_without_the_recorded_commit_compares_all_the_same(anchored: Repo) -> None:
    """A rebase and gc may have removed it."""
    import sqlite3

    db = sqlite3.connect(anchored.path / ".mem" / "mem.db")
    db.execute("UPDATE meta SET value = ? WHERE key LIKE 'head:%'", ("f" * 40,))
    db.commit()
    db.close()
    anchored.git("mv", "src/auth.py", "src/login.py")
    anchored.commit()
    assert stale(anchored) == ""
    anchored.write("src/login.py", LINES + "more\n")
    anchored.commit()
    assert "src/login.py changed" in stale(anchored)


def test_two_worktrees_share_memories(anchored: Repo) -> None:
    tree = anchored.path.parent / "wt"
    anchored.git("worktree", "add", "-q", "-b", "wt", str(tree))
    (tree / "src" / "auth.py").write_text("changed\n")
    anchored.git("commit", "-q", "-am", "there", cwd=tree)
    anchored.mem("index", cwd=tree)
    assert "stale" in json.loads(anchored.mem("hook", "session-start", cwd=tree).stdout)["hookSpecificOutput"][
        "additionalContext"
    ]  # fmt: skip
