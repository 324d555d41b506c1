"""The optional hook before a tool, and the sweep of what is there already."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from conftest import Repo

TOKEN = "AKIA" + "Y34FZKBOKMUTVV7A"
OTHER = "AKIA" + "QYLPMN5HHHFPZAM2"


def ask(repo: Repo, tool: dict[str, Any], *words: str, **more: Any) -> str:
    event = {"hook_event_name": "PreToolUse", "cwd": str(repo.path), "tool_name": "Write", "tool_input": tool}
    done = repo.mem("hook", "pre-tool", *words, stdin=json.dumps({**event, **more}))
    assert TOKEN not in done.stdout
    return done.stdout


@pytest.mark.parametrize("tool", [
    {"file_path": "MEMORY.md", "content": f"key {TOKEN}\n"},
    {"file_path": "sub/AGENTS.md", "old_string": "absent", "new_string": f"key {TOKEN}"},
    {"file_path": "MEMORY.md", "edits": [{"old_string": "a", "new_string": "b"}, {"new_string": f"key {TOKEN}"}]},
    {"command": f"echo 'key {TOKEN}' >> ./MEMORY.md"},
    {"command": ["apply_patch", f"*** Begin Patch\n*** Add File: CLAUDE.md\n+key {TOKEN}\n*** End Patch"]},
], ids=["write", "edit", "many-edits", "shell", "patch"])  # fmt: skip
def test_write_of_a_secret_into_memory_is_refused(repo: Repo, tool: dict[str, Any]) -> None:
    answer = json.loads(ask(repo, tool))["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "aws-access-key" in answer["permissionDecisionReason"]


def test_write_of_a_token_in_two_edits_is_seen_whole(repo: Repo) -> None:
    repo.write("MEMORY.md", f"key {TOKEN[:12]}@@\n")
    assert "deny" in ask(
        repo, {"file_path": str(repo.path / "MEMORY.md"), "old_string": "@@", "new_string": TOKEN[12:]}
    )


@pytest.mark.parametrize("tool", [
    {"file_path": "MEMORY.md", "content": "Deploys run from the release branch.\n"},
    {"file_path": "src/key.py", "content": f"x = '{TOKEN}'\n"},
    {"command": f"git log -S{TOKEN} -- MEMORY.md"},
    {"file_path": 7}, {}, {"file_path": "MEMORY.md"},
], ids=["clean", "no-memory-file", "reading", "odd", "empty", "no-text"])  # fmt: skip
def test_write_of_anything_else_passes_in_silence(repo: Repo, tool: dict[str, Any]) -> None:
    assert ask(repo, tool) == ""


def test_write_that_keeps_an_old_finding_passes(repo: Repo) -> None:
    repo.write("MEMORY.md", f"key {TOKEN}\n")
    assert ask(repo, {"file_path": "MEMORY.md", "content": f"key {TOKEN}\nmore\n"}) == ""
    assert "deny" in ask(repo, {"file_path": "MEMORY.md", "content": f"key {TOKEN}\nkey {OTHER}\n"})


@pytest.mark.parametrize(("client", "key"), [
    ("claude", "hookSpecificOutput"), ("codex", "hookSpecificOutput"), ("gemini", "decision"),
    ("copilot", "permissionDecision"), ("cursor", "permission"),
])  # fmt: skip
def test_refusal_has_the_clients_own_form(repo: Repo, client: str, key: str) -> None:
    answer = json.loads(ask(repo, {"file_path": "MEMORY.md", "content": TOKEN}, "--client", client))
    assert key in answer


def test_refusal_understands_copilots_arguments(repo: Repo) -> None:
    event = {"toolName": "create", "toolArgs": json.dumps({"path": "MEMORY.md", "file_text": TOKEN})}
    done = repo.mem("hook", "pre-tool", "--client", "copilot", stdin=json.dumps(event))
    assert json.loads(done.stdout)["permissionDecision"] == "deny"


@pytest.mark.parametrize("event", ["", "{", "[]", "null", '{"tool_input": "{"}', "\x00\xff"])
def test_garbage_before_a_tool_is_no_failure(repo: Repo, event: str) -> None:
    assert repo.mem("hook", "pre-tool", stdin=event).stdout == ""


def test_sweep_reads_every_text_column_of_the_store(repo: Repo) -> None:
    repo.mem("remember", "The billing job runs at night.")
    repo.mem("state", "set", "--goal", "ship it")
    for table, column in (
        ("memories", "actor"), ("memories", "source_ref"), ("memories", "area"), ("memories", "tags"),
        ("cursors", "goal"), ("cursors", "checkpoint"), ("meta", "value"),
    ):  # fmt: skip
        db = sqlite3.connect(repo.path / ".mem" / "mem.db")
        if table == "meta":
            db.execute("INSERT OR REPLACE INTO meta VALUES('probe', 'x')")
        db.execute(f"UPDATE {table} SET {column} = ?", (f"was {TOKEN}",))
        db.commit()
        for words in (("guard", "sweep"), ("guard", "--all")):
            done = repo.mem(*words, check=False)
            assert done.returncode == 1, (table, column, words)
            assert f"table {table}, row 1, {column}" in done.stderr
            assert TOKEN not in done.stderr + done.stdout
        db.execute(f"UPDATE {table} SET {column} = 'clean'")
        db.commit()
        db.close()


def test_sweep_reads_what_a_database_has_not_overwritten(repo: Repo) -> None:
    repo.mem("remember", "The billing job runs at night.")
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    db.execute("PRAGMA secure_delete = OFF")
    db.execute("INSERT INTO meta VALUES('probe', ?)", (f"was {TOKEN}",))
    db.commit()
    db.execute("DELETE FROM meta WHERE key = 'probe'")
    db.commit()
    db.close()
    assert repo.mem("guard", "--all").returncode == 0
    assert "erased rows" in repo.mem("guard", "sweep", check=False).stderr


def test_sweep_reads_the_history_of_memory_files(repo: Repo) -> None:
    repo.write("MEMORY.md", f"- the key is {TOKEN}\n")
    repo.write("code.py", f"x = '{OTHER}'\n")
    first = repo.commit("slipped in") and repo.git("rev-parse", "HEAD").stdout[:12]
    repo.write("MEMORY.md", f"- the key is {TOKEN}\n- more\n")
    repo.commit("more")
    repo.write("MEMORY.md", "- clean\n")
    repo.commit("cleaned")
    assert repo.mem("guard", "--all").returncode == 0
    done = repo.mem("guard", "sweep", check=False)
    assert done.returncode == 1
    assert f"MEMORY.md:1:14 (commit {first}): aws-access-key" in done.stderr
    assert "2 versions" in done.stderr
    assert "revoke" in done.stderr
    assert "code.py" not in done.stderr
    found = json.loads(repo.mem("guard", "sweep", "--json", check=False).stdout)
    assert [(one["path"], one["versions"], one["rotate"]) for one in found["findings"]] == [("MEMORY.md", 2, True)]
    assert found["versions"] == 3


def test_sweep_reads_other_branches_the_stash_and_merges(repo: Repo) -> None:
    repo.write("MEMORY.md", "- clean\n")
    repo.commit("start")
    repo.git("checkout", "-qb", "topic")
    repo.write("CLAUDE.md", f"{TOKEN}\n")
    repo.commit("topic")
    repo.git("checkout", "-q", "main")
    repo.write("MEMORY.md", f"{OTHER}\n")
    repo.git("stash", "-q")
    found = json.loads(repo.mem("guard", "sweep", "--json", check=False).stdout)
    assert {one["path"] for one in found["findings"]} == {"CLAUDE.md", "MEMORY.md"}


def test_sweep_finds_what_only_a_merge_commit_holds(repo: Repo) -> None:
    repo.write("a.txt", "a\n")
    repo.commit("start")
    repo.git("checkout", "-qb", "topic")
    repo.write("b.txt", "b\n")
    repo.commit("topic")
    repo.git("checkout", "-q", "main")
    repo.write("c.txt", "c\n")
    repo.commit("main")
    repo.git("merge", "-q", "--no-commit", "--no-ff", "topic")
    repo.write("MEMORY.md", f"{TOKEN}\n")
    repo.commit("evil merge")
    found = json.loads(repo.mem("guard", "sweep", "--json", check=False).stdout)
    assert [one["path"] for one in found["findings"]] == ["MEMORY.md"]


def test_sweep_of_an_empty_repository_is_clean(repo: Repo) -> None:
    assert "0 versions" in repo.mem("guard", "sweep").stdout


def test_sweep_of_a_damaged_store_fails(repo: Repo) -> None:
    repo.mem("remember", "The billing job runs at night.")
    path = repo.path / ".mem" / "mem.db"
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 8000)
    assert repo.mem("guard", "sweep", check=False).returncode == 1
    assert repo.mem("guard", "--all", check=False).returncode == 1


def test_guard_in_json_has_findings_and_the_error(repo: Repo) -> None:
    repo.write("MEMORY.md", f"key {TOKEN}\n")
    repo.git("add", "-A")
    done = repo.mem("guard", "--json", check=False)
    assert json.loads(done.stdout)["findings"][0]["rule"].startswith("aws-access-key")
    error = json.loads(done.stderr.splitlines()[-1])["error"]
    assert (error["reason"], error["exit_code"]) == ("secret_detected", 1)


def test_guard_in_sarif_is_one_log(repo: Repo) -> None:
    repo.write("a b/MEMORY.md", f"key {TOKEN}\n")
    repo.git("add", "-A")
    done = repo.mem("guard", "--sarif", check=False)
    log = json.loads(done.stdout)
    assert done.returncode == 1
    (result,) = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/MEMORY.md"
    repo.git("reset", "-q")
    assert json.loads(repo.mem("guard", "--sarif").stdout)["runs"][0]["results"] == []


def test_guard_of_clean_files_says_how_many(repo: Repo) -> None:
    repo.write("MEMORY.md", "- clean\n")
    repo.git("add", "-A")
    assert repo.mem("guard").stdout == "1 memory file judged, 8 bytes: nothing to object to\n"


def test_sweep_takes_no_cells_that_run_together_for_a_secret(repo: Repo) -> None:
    for number in range(12):
        repo.mem("remember", f"The deploy key of host {number} is kept in the vault, the token expires in May.")
    assert "nothing to object to" in repo.mem("guard", "sweep").stdout
