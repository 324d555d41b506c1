"""The session hooks as clients call them: one JSON object or nothing, exit 0, and nothing repeated."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import time
from typing import Any

import pytest
from conftest import Repo
from memhooks.hooks.clients import CLIENTS


def fire(repo: Repo, hook: str = "session-start", *flags: str, **event: Any) -> str:
    """Run a session hook with an event on standard input and return what it printed."""
    done = repo.mem("hook", hook, *flags, stdin=json.dumps({"session_id": "s1", "cwd": str(repo.path)} | event))
    assert done.stderr == ""
    return done.stdout


def context(said: str) -> str:
    """Return the text that the model would get; fails unless `said` is exactly one JSON object of the nested form."""
    value = json.loads(said)
    assert set(value) == {"hookSpecificOutput"}
    assert set(value["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    return str(value["hookSpecificOutput"]["additionalContext"])


@pytest.fixture
def told(repo: Repo) -> Repo:
    """A repository with two memories."""
    repo.mem("remember", "The zebra token rotates every hour", "--kind", "decision")
    repo.mem("remember", "Deploys go through the staging cluster first", "--kind", "procedure")
    return repo


def test_start_hands_over_digest(told: Repo) -> None:
    text = context(fire(told, hook_event_name="SessionStart", source="startup"))
    assert "zebra token" in text and "staging cluster" in text


@pytest.mark.parametrize("name", sorted(CLIENTS))
def test_start_prints_one_object_for_each_client(told: Repo, name: str) -> None:
    said = fire(told, "session-start", "--client", name, source="startup", hook_event_name="SessionStart")
    assert said.count("\n") == 1
    assert "zebra token" in json.dumps(json.loads(said))


def test_start_without_a_word_on_stdin(told: Repo) -> None:
    assert "zebra token" in context(told.mem("hook", "session-start").stdout)


@pytest.mark.parametrize(
    "junk", ["", "not json", "[1]", '{"session_id": 7}', '{"cwd": "/no/such/folder"}', "\x00\xff{"]
)
def test_start_survives_any_input(told: Repo, junk: str) -> None:
    done = told.mem("hook", "session-start", stdin=junk)
    assert (done.returncode, done.stderr) == (0, "")
    assert "zebra token" in context(done.stdout)


def test_start_does_not_wait_for_end_of_file(told: Repo) -> None:
    """Some clients keep the pipe open for as long as the hook runs."""
    child = subprocess.Popen(
        ["mem", "hook", "session-start"], cwd=told.path, env=told.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin and child.stdout
    child.stdin.write(b'{"session_id": "open"}')
    child.stdin.flush()
    assert b"zebra token" in child.stdout.read()
    assert child.wait(timeout=60) == 0
    child.stdin.close()
    child.stdout.close()


def test_start_without_store_prints_nothing_and_makes_nothing(repo: Repo) -> None:
    assert fire(repo, source="startup") == ""
    assert sorted(os.listdir(repo.path)) == [".git"]


def test_start_with_nothing_to_say_prints_nothing(repo: Repo) -> None:
    repo.mem("init")
    assert fire(repo, source="startup") == ""


def test_gemini_gets_an_envelope_without_a_store(repo: Repo) -> None:
    """Gemini shows plain text to the user and parses the rest; an empty envelope is always right."""
    assert context(fire(repo, "session-start", "--client", "gemini")) == ""


def test_broken_store_costs_the_session_nothing(told: Repo) -> None:
    told.write(".mem/mem.db", b"this is no database" * 100)
    assert fire(told, source="startup") == ""
    assert "session-start" in (told.path / ".mem" / "hooks.log").read_text()


@pytest.mark.parametrize("source", ["startup", "clear", "compact"])
def test_second_hook_of_the_same_event_is_silent(told: Repo, source: str) -> None:
    """A plugin and an installed hook may both be registered."""
    assert fire(told, source=source)
    assert fire(told, source=source) == ""


def test_two_hooks_at_once_print_one_digest(told: Repo) -> None:
    event = json.dumps({"session_id": "twin", "source": "startup"}).encode()
    pair = [
        subprocess.Popen(
            ["mem", "hook", "session-start"], cwd=told.path, env=told.environ, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [child.communicate(event, timeout=60)[0] for child in pair]
    assert sorted(bool(text) for text in said) == [False, True]


@pytest.mark.parametrize("source", ["clear", "compact"])
def test_cleared_or_compacted_session_is_told_again(told: Repo, source: str) -> None:
    fire(told, source="startup")
    assert "zebra token" in context(fire(told, source=source))


def test_resumed_session_is_told_only_what_is_new(told: Repo) -> None:
    fire(told, source="startup")
    assert fire(told, source="resume") == ""
    told.mem("remember", "The giraffe cache is filled at midnight")
    assert "giraffe" in context(fire(told, source="resume"))
    assert fire(told, source="resume") == ""


def test_fork_compares_with_any_session(told: Repo) -> None:
    fire(told, source="startup")
    assert fire(told, session_id="s2", source="fork") == ""
    told.mem("remember", "The giraffe cache is filled at midnight")
    assert "giraffe" in context(fire(told, session_id="s3", source="fork"))


def test_recall_alone_does_not_repeat_the_digest(told: Repo) -> None:
    fire(told, source="startup")
    told.mem("recall", "staging")
    assert fire(told, source="resume") == ""


def test_subagent_gets_the_digest_each_time(told: Repo) -> None:
    fire(told, source="startup")
    for agent in ("a1", "a2"):
        said = fire(told, "subagent-start", hook_event_name="SubagentStart", agent_id=agent)
        assert json.loads(said)["hookSpecificOutput"]["hookEventName"] == "SubagentStart"
        assert "zebra token" in context(said)
    assert "zebra" in context(fire(told, hook_event_name="SubagentStart", agent_id="a3"))


def test_sessions_record_is_private_bounded_and_holds_no_text(told: Repo) -> None:
    for number in range(55):
        fire(told, session_id=f"s{number}", source="startup")
    path = told.path / ".mem" / "sessions.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(json.loads(path.read_text())) == 50
    assert "zebra" not in path.read_text()


@pytest.mark.parametrize("damage", ["", "{", "[1, 2]", '[{"session": "s1"}]', "null"])
def test_damaged_sessions_record_counts_as_empty(told: Repo, damage: str) -> None:
    told.write(".mem/sessions.json", damage)
    assert "zebra token" in context(fire(told, source="resume"))


def test_pinned_database_keeps_its_folder_as_it_is(repo: Repo) -> None:
    folder = repo.path.parent / "elsewhere"
    folder.mkdir()
    pin = {"MEM_DB": str(folder / "my.db")}
    repo.mem("remember", "The zebra token rotates", environ=pin)
    done = repo.mem("hook", "session-start", stdin='{"session_id": "p", "source": "startup"}', environ=pin)
    assert "zebra token" in done.stdout
    assert [name for name in os.listdir(folder) if not name.startswith("my.db")] == []


def test_prompt_adds_what_fits_once(told: Repo) -> None:
    ask = {"hook_event_name": "UserPromptSubmit", "prompt": "how often does the zebra token rotate?"}
    assert "zebra token" in context(fire(told, "prompt", **ask))
    assert fire(told, "prompt", **ask) == ""
    assert "zebra token" in context(fire(told, "prompt", **ask | {"session_id": "other"}))


def test_prompt_is_silent_about_what_the_digest_told(told: Repo) -> None:
    fire(told, source="startup")
    assert fire(told, "prompt", prompt="how often does the zebra token rotate?") == ""


@pytest.mark.parametrize("prompt", ["", "   ", "hi", "quantum chromodynamics of baryons", "the and of", "the"])
def test_prompt_is_silent_where_nothing_fits(told: Repo, prompt: str) -> None:
    assert fire(told, "prompt", prompt=prompt) == ""


def test_prompt_never_makes_a_store(repo: Repo) -> None:
    assert fire(repo, "prompt", prompt="zebra") == ""
    assert not (repo.path / ".mem").exists()


@pytest.mark.parametrize(("hook", "event", "word"), [
    ("session-end", {"reason": "clear"}, "ended"), ("pre-compact", {"trigger": "auto"}, "compacted"),
])  # fmt: skip
def test_end_and_compaction_are_noted_in_the_cursor(told: Repo, hook: str, event: dict[str, str], word: str) -> None:
    told.mem("state", "set", "--goal", "rotate tokens")
    assert fire(told, hook, **event) == ""
    state = told.mem("state", "show").stdout
    assert f"claude s1 {word}" in state and "rotate tokens" in state


def test_note_of_a_session_does_not_change_the_digest(told: Repo) -> None:
    fire(told, source="startup")
    fire(told, "session-end", reason="other")
    assert fire(told, source="resume") == ""


def test_start_goes_on_while_a_writer_holds_the_store(told: Repo) -> None:
    import sqlite3

    writer = sqlite3.connect(told.path / ".mem" / "mem.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    assert "zebra token" in context(fire(told, source="startup"))
    started = time.monotonic()
    fire(told, "session-end", reason="other")
    assert time.monotonic() - started < 4
    writer.execute("ROLLBACK")
    writer.close()


def test_start_in_a_subfolder_and_by_the_events_folder(told: Repo) -> None:
    (told.path / "src").mkdir()
    assert "zebra" in context(told.mem("hook", "session-start", cwd=told.path / "src").stdout)
    event = json.dumps({"cwd": str(told.path)})
    assert "zebra" in context(told.mem("hook", "session-start", cwd=told.path.parent, stdin=event).stdout)


def test_foreign_git_variables_do_not_choose_the_store(told: Repo) -> None:
    done = told.mem("hook", "session-start", environ={"GIT_DIR": "/nonexistent/.git", "GIT_WORK_TREE": "/nonexistent"})
    assert "zebra" in context(done.stdout)


def test_personal_memories_join_only_when_configured(told: Repo) -> None:
    told.mem("remember", "I like short answers with a unicorn", "--scope", "personal")
    assert "unicorn" not in context(fire(told, session_id="a", source="startup"))
    told.mem("config", "set", "digest.personal", "true")
    assert "unicorn" in context(fire(told, session_id="b", source="startup"))


def test_budget_is_configurable(told: Repo) -> None:
    for number in range(20):
        told.mem("remember", f"The animal number {number} lives in enclosure {number * 7} of the old town's zoo")
    few = context(fire(told, session_id="a", source="startup"))
    more = context(told.mem("hook", "session-start", environ={"MEM_DIGEST_TOKENS": "1200"}).stdout)
    assert more.count("\n") > few.count("\n")


def test_subagent_hook_is_silent_for_a_client_without_subagents(told: Repo) -> None:
    """Gemini has no such event, and an answer without its name is an error to it."""
    assert told.mem("hook", "subagent-start", "--client", "gemini", stdin='{"session_id":"s"}').stdout == ""
