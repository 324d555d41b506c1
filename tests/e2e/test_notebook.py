"""`mem notebook` and `mem dream` as commands in real repositories."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Repo

PATCH = "<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n"
SECRET = "ghp_" + "016C7ZsF9cGFbZ4R1dkP2mQ8xW3vYt5LhN0b"  # made up


def test_read_gives_the_bytes_back(repo: Repo) -> None:
    data = "# Ünïcödé\r\n\r\nmixed\nends\x0c here"
    repo.write("MEMORY.md", data)
    done = subprocess.run(["mem", "notebook", "read"], cwd=repo.path, env=repo.environ, capture_output=True, check=True)
    assert done.stdout == data.encode()


def test_write_patch_search_and_headings(repo: Repo) -> None:
    repo.mem("notebook", "write", "-", stdin="# P\r\n\r\n## Build\r\nrun make\r\n")
    assert (repo.path / "MEMORY.md").read_bytes() == b"# P\r\n\r\n## Build\r\nrun make\r\n"
    repo.mem("notebook", "patch", "-", stdin=PATCH.format("run make", "run ninja\nor make"))
    assert (repo.path / "MEMORY.md").read_bytes() == b"# P\r\n\r\n## Build\r\nrun ninja\r\nor make\r\n"
    assert repo.mem("notebook", "search", "NINJA").stdout == "4: run ninja\n"
    assert repo.mem("notebook", "read", "--head-only").stdout == "1: # P\n3: ## Build\n"
    page = json.loads(repo.mem("notebook", "read", "--offset", "4", "--limit", "1", "--json").stdout)
    assert (page["text"], page["first"], page["last"], page["total"]) == ("run ninja\r\n", 4, 4, 5)


def test_options_stand_where_people_put_them(repo: Repo) -> None:
    repo.mem("notebook", "write", "--", "- run make")
    assert (repo.path / "MEMORY.md").read_text() == "- run make\n"
    for words in (
        ["search", "--max-results", "1", "make"], ["search", "make", "--max-results", "1"],
        ["--max-results", "1", "search", "run", "make"], ["search", "--", "- run"],
    ):  # fmt: skip
        assert repo.mem("notebook", *words).stdout == "1: - run make\n"
    assert json.loads(repo.mem("--json", "notebook", "search", "make").stdout) == json.loads(
        repo.mem("notebook", "search", "--json", "make").stdout
    )


def test_failures_leave_the_file_and_say_why(repo: Repo) -> None:
    repo.write("MEMORY.md", "# P\nrun make\n")
    for words, stdin, reason in (
        (["patch"], PATCH.format("run mak3", "x"), "no_match"),
        (["patch"], "not a patch", "bad_patch"),
        (["write", f"token {SECRET}"], "", "secret_detected"),
        (["write", "$(cat notes.md)"], "", "shell_substitution"),
        (["write", "--from", "/etc/passwd"], "", "not_allowed"),
        (["read", "--offset", "9"], "", "usage"),
        (["search", " "], "", "usage"),
    ):
        done = repo.mem("notebook", *words, "--json", stdin=stdin, check=False)
        assert done.stdout == ""
        error = json.loads(done.stderr.splitlines()[-1])["error"]
        assert error["reason"] == reason
        assert done.returncode == error["exit_code"] != 0
        assert SECRET not in done.stderr
    assert (repo.path / "MEMORY.md").read_text() == "# P\nrun make\n"


def test_absent_notebook_is_an_error_and_stays_absent(repo: Repo) -> None:
    for words in (["read"], ["search", "x"], ["patch", PATCH.format("a", "b")]):
        assert repo.mem("notebook", *words, check=False).returncode == 1
    assert repo.mem("notebook", "check").returncode == 0
    assert not (repo.path / "MEMORY.md").exists()
    assert not (repo.path / ".mem").exists()


def test_check_finds_what_the_guard_refuses(repo: Repo) -> None:
    repo.write("MEMORY.md", f"# P\n\ntoken {SECRET}\n")
    done = repo.mem("notebook", "check", check=False)
    assert done.returncode == 1
    assert "MEMORY.md:3:7" in done.stderr
    assert SECRET not in done.stderr


def test_check_and_recall_pass_what_people_allow(repo: Repo) -> None:
    repo.write("MEMORY.md", f"# P\n\nThe walrus token of the docs is {SECRET}\n")
    repo.mem("remember", "a fact, so that there is a store")
    told = repo.mem("guard", "MEMORY.md", check=False).stderr
    rule, print16 = re.search(r"mem guard allow (\S+) ([0-9a-f]{16})", told).groups()  # type: ignore[union-attr]
    repo.mem("guard", "allow", rule, print16, "--why", "made up")
    assert repo.mem("notebook", "check").returncode == 0
    repo.mem("index")
    assert "MEMORY.md:1-3" in repo.mem("recall", "walrus").stdout


def test_allowed_dir_opens_and_bounds(repo: Repo, tmp_path: Path) -> None:
    drafts = tmp_path / "drafts"
    drafts.mkdir()
    (drafts / "new.md").write_text("# New\n")
    source = ["notebook", "write", "--from", str(drafts / "new.md")]
    assert repo.mem(*source, check=False).returncode == 1
    repo.mem(*source, "--allowed-dir", str(drafts), "--allowed-dir", ".")
    assert (repo.path / "MEMORY.md").read_text() == "# New\n"
    assert repo.mem("notebook", "read", "--allowed-dir", str(drafts), check=False).returncode == 1


def test_written_sections_are_recalled_by_the_index(repo: Repo) -> None:
    repo.mem("remember", "makes the store")
    repo.mem("notebook", "write", "# P\n\n## Staging\n\nPush to the staging branch.\n")
    from memhooks.memory import sections
    from memhooks.memory.api import Store

    with Store.open(str(repo.path / ".mem" / "mem.db")) as store:
        (hit,) = sections.search(store.db, '"staging"', 5)
    assert (hit.path, hit.first_line, hit.last_line) == ("MEMORY.md", 3, 5)


def test_recall_and_context_name_the_sections_that_answer(repo: Repo) -> None:
    repo.mem("remember", "The staging branch is pushed on Fridays.")
    repo.mem("notebook", "write", "# P\n\n## Staging\n\nPush to the walrus branch.\n")
    for command in ("recall", "context"):
        assert "- MEMORY.md:3-5 P › Staging" in repo.mem(command, "staging branch").stdout
        told = json.loads(repo.mem(command, "staging branch", "--json").stdout)
        assert [one["content"] for one in told["memories"]] == ["The staging branch is pushed on Fridays."]
        assert [(one["path"], one["first_line"], one["last_line"]) for one in told["notebook"]] == [("MEMORY.md", 3, 5)]
    assert repo.mem("recall", "zebra").stdout == ""
    assert "notebook" not in json.loads(repo.mem("recall", "Fridays", "--json").stdout)


def test_writers_at_once_lose_nothing(repo: Repo) -> None:
    repo.write("MEMORY.md", "# T\n" + "".join(f"- [slot {n}]\n" for n in range(8)))
    running = []
    for n in range(8):
        process = subprocess.Popen(
            ["mem", "notebook", "patch", PATCH.format(f"- [slot {n}]", f"- [done {n}]")], cwd=repo.path,
            env=repo.environ, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        running.append(process)
    assert [process.wait(60) for process in running] == [0] * 8
    assert (repo.path / "MEMORY.md").read_text() == "# T\n" + "".join(f"- [done {n}]\n" for n in range(8))


def test_dream_checks_plans_and_stamps(repo: Repo) -> None:
    rule = "Use tabs for indentation in all of the Go files."
    repo.write("CLAUDE.md", f"# Style\n\n{rule}\n")
    repo.write("MEMORY.md", f"# Notes\n\n{rule}\n\n" + "".join(f"Line {n} of filler words.\n\n" for n in range(3000)))
    assert json.loads(repo.mem("dream", "--check", "--json").stdout)["due"] is True
    plan = json.loads(repo.mem("dream", "--plan", "--json").stdout)
    (item,) = [item for item in plan["items"] if item["action"] == "held_elsewhere"]
    assert (item["path"], item["first"], item["last"]) == ("MEMORY.md", 3, 3)
    assert "CLAUDE.md lines 3-3" in item["reason"]
    assert repo.mem("dream", "--plan").stdout == repo.mem("dream", "--plan").stdout
    repo.mem("dream", "--apply")
    assert (repo.path / "MEMORY.md").read_text().startswith("---\nlast_dream: ")
    checked = json.loads(repo.mem("dream", "--check", "--json").stdout)
    assert checked["due"] is False
    assert checked["last_dream"]


def test_dream_plans_for_stale_memories(repo: Repo) -> None:
    repo.write("app.py", "one\n")
    repo.commit()
    repo.mem("remember", "The entry point is app.py.")
    repo.write("app.py", "two\n")
    repo.commit()
    repo.mem("index")
    done = repo.mem("dream", "--plan").stdout
    assert "stale" in done
    assert "app.py" in done


def test_dream_wants_one_of_its_three(repo: Repo) -> None:
    assert repo.mem("dream", check=False).returncode == 2
    assert repo.mem("dream", "--check", "--plan", check=False).returncode == 2
    assert repo.mem("dream", "--apply", check=False).returncode == 1


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"tool_name": "Write", "tool_input": {"file_path": "{root}/MEMORY.md"}}, True),
        ({"tool_name": "mcp__plugin_memhooks_memory__update_project_memory", "tool_input": {}}, True),
        ({"tool_name": "apply_patch", "tool_input": {"command": "*** Update File: MEMORY.md"}}, True),
        ({"tool_name": "Write", "tool_input": {"file_path": "{root}/other.md"}}, False),
        ({"tool_name": "Bash", "tool_input": {"command": "ls"}}, False),
        ({}, False),
        ({"tool_name": 7, "tool_input": [1]}, False),
    ],
    ids=["write", "mcp", "patch", "other-file", "bash", "empty", "nonsense"],
)
def test_hook_speaks_after_a_write_to_memory(repo: Repo, event: dict[str, object], said: bool) -> None:
    repo.write("MEMORY.md", "# Notes\n\n" + "words of a large notebook\n" * 3000)
    more = {"session_id": "s1", "cwd": str(repo.path), "hook_event_name": "PostToolUse"}
    text = json.dumps(event | more).replace("{root}", str(repo.path))
    done = repo.mem("hook", "post-tool", stdin=text)
    if not said:
        assert done.stdout == ""
        return
    answer = json.loads(done.stdout)
    assert set(answer) == {"hookSpecificOutput"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert repo.mem("hook", "post-tool", stdin=text).stdout == "", "once a session"
    assert repo.mem("hook", "post-tool", stdin=text.replace("s1", "s2")).stdout


def test_hook_is_silent_for_a_small_notebook(repo: Repo) -> None:
    repo.write("MEMORY.md", "# small\n")
    event = {"tool_name": "Write", "tool_input": {"file_path": "MEMORY.md"}, "cwd": str(repo.path)}
    assert repo.mem("hook", "post-tool", stdin=json.dumps(event)).stdout == ""


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes")
def test_notebook_that_is_no_file_does_not_hang(repo: Repo) -> None:
    import os

    os.mkfifo(repo.path / "MEMORY.md")
    done = repo.mem("notebook", "read", check=False)
    assert done.returncode == 1
    assert "not a regular file" in done.stderr
