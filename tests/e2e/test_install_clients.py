"""Clients' settings: ours go in, foreign ones stay, refusals change nothing, and uninstall gives back every byte."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest
from conftest import Repo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CLIENTS = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "copilot": ".github/hooks/memhooks.json",
    "cursor": ".cursor/hooks.json",
}
FOREIGN = """{
\t// the team's settings
\t"model": "x", /* keep */
\t"hooks": {
\t\t"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "check"}]}],
\t\t"Stop": [
\t\t\t{"hooks": [{"type": "command", "command": "a"}]},
\t\t\t{"hooks": [{"type": "command", "command": "b"}]},
\t\t],
\t\t"SessionStart": [
\t\t\t{"matcher": "startup|resume|fork|clear|compact", "hooks": [{"type": "command", "command": "echo mem hook x"}]}
\t\t]
\t},
}"""


def ours(value: dict, event: str) -> list[dict]:
    return [one for group in value["hooks"].get(event, []) for one in group.get("hooks", []) if "mem hook" in str(one)]


@pytest.mark.parametrize("name", CLIENTS)
def test_install_makes_the_file_and_uninstall_removes_it(repo: Repo, name: str) -> None:
    done = repo.mem("install", name)
    path = repo.path / CLIENTS[name]
    assert json.loads(path.read_text())["hooks"]
    assert "trust" in done.stdout
    assert "nothing to change" in repo.mem("install", name).stdout
    repo.mem("uninstall", name)
    assert os.listdir(repo.path) == [".git"]


def test_claude_gets_the_events_matcher_and_timeouts(repo: Repo) -> None:
    """claude-mem 2795 and codex-plugin-cc 670: no session is left out, and 5 s is too short for a slow machine."""
    repo.mem("install", "claude")
    hooks = json.loads((repo.path / ".claude/settings.json").read_text())["hooks"]
    assert hooks["SessionStart"][0]["matcher"] == "startup|resume|fork|clear|compact"
    commands = {event: groups[0]["hooks"][0]["command"] for event, groups in hooks.items()}
    assert commands == {
        "SessionStart": "mem hook session-start --client claude",
        "UserPromptSubmit": "mem hook prompt --client claude",
        "PreCompact": "mem hook pre-compact --client claude",
        "SessionEnd": "mem hook session-end --client claude",
        "SubagentStart": "mem hook subagent-start --client claude",
    }
    assert all(group["hooks"][0]["timeout"] >= 15 for groups in hooks.values() for group in groups)


def test_tool_guard_is_an_option(repo: Repo) -> None:
    repo.mem("install", "claude", "--tool-guard")
    hooks = json.loads((repo.path / ".claude/settings.json").read_text())["hooks"]
    assert hooks["PreToolUse"][0]["hooks"][0]["command"] == "mem hook pre-tool --client claude"
    repo.mem("uninstall", "claude")
    assert not (repo.path / ".claude").exists()


def test_gemini_has_milliseconds_and_no_matcher(repo: Repo) -> None:
    repo.mem("install", "gemini")
    group = json.loads((repo.path / ".gemini/settings.json").read_text())["hooks"]["SessionStart"][0]
    assert "matcher" not in group and group["hooks"][0]["timeout"] == 15000 and group["hooks"][0]["name"]


def test_codex_file_has_no_key_that_codex_rejects(repo: Repo) -> None:
    """cavemem 17, get-shit-done 2800."""
    repo.mem("install", "codex")
    value = json.loads((repo.path / ".codex/hooks.json").read_text())
    assert list(value) == ["hooks"]
    handlers = [one for groups in value["hooks"].values() for group in groups for one in group["hooks"]]
    assert all(set(one) == {"type", "command", "timeout"} for one in handlers)


def test_codex_hooks_go_where_the_user_keeps_them(repo: Repo) -> None:
    """git-ai 666: a text insert, all old lines remain in order."""
    text = '# mine\nnotify = ["x"]  # kept\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n'
    path = repo.write(".codex/config.toml", text)
    repo.mem("install", "codex")
    assert path.read_text().startswith(text)
    value = tomllib.loads(path.read_text())["hooks"]
    assert value["SessionStart"][0]["hooks"][0]["command"] == "mem hook session-start --client codex"
    assert not (repo.path / ".codex/hooks.json").exists()
    assert "nothing to change" in repo.mem("install", "codex").stdout
    repo.mem("uninstall", "codex")
    assert path.read_text() == text


@pytest.mark.parametrize(
    "text", [FOREIGN, FOREIGN.replace("\n", "\r\n"), "\ufeff" + FOREIGN], ids=["lf", "crlf", "bom"]
)
def test_foreign_entries_stay(repo: Repo, text: str) -> None:
    """cavemem 12, agentmap 19, orca 11564: lists are added to, comments and trailing commas live on."""
    path = repo.write(".claude/settings.json", text.encode())
    path.chmod(0o600)
    repo.mem("install", "claude")
    after = path.read_bytes().decode()
    kept = iter(after.split("\n"))
    for line in text.split("\n"):
        stem = line.rstrip("\r").rstrip(",")
        assert any(one.startswith(stem) for one in kept), line
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "nothing to change" in repo.mem("install", "claude").stdout
    repo.mem("uninstall", "claude")
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[]", "not an object"),
        (b'{"hooks": []}', "hooks is not an object"),
        (b'{"a": 1', "neither a comma"),
        (b'{"hooks": {}, "hooks": {}}', "twice"),
        ("{}".encode("utf-16"), "UTF-8"),
        (b"\x00\x01", "no value"),
    ],
)
def test_refusal_leaves_the_file_as_it_was(repo: Repo, text: bytes, says: str) -> None:
    path = repo.write(".claude/settings.json", text)
    for verb in ("install", "uninstall"):
        done = repo.mem(verb, "claude", "--json", check=False)
        if verb == "install":
            error = json.loads(done.stderr)["error"]
            assert done.returncode == 1 and says in error["message"] and error["reason"] == "conflict"
        assert path.read_bytes() == text
        assert not (repo.path / ".claude" / "settings.json.bak").exists()


def test_one_refusal_does_not_stop_the_others(repo: Repo) -> None:
    repo.write(".claude/settings.json", "[]")
    done = repo.mem("install", "claude", "cursor", check=False)
    assert done.returncode == 1 and "claude" in done.stderr and done.stdout == ""
    assert (repo.path / ".cursor/hooks.json").exists()


@pytest.mark.parametrize(
    "text", ["", "\n", "{}", "{ }\n", '{"hooks": {}}', '{\n  "hooks": {\n    "SessionStart": []\n  }\n}']
)
@pytest.mark.parametrize("name", CLIENTS)
def test_uninstall_gives_back_every_byte(repo: Repo, name: str, text: str) -> None:
    path = repo.write(CLIENTS[name], text)
    repo.mem("install", name)
    assert path.read_text() != text
    repo.mem("uninstall", name)
    assert path.read_text() == text


def test_uninstall_keeps_what_was_added_since(repo: Repo) -> None:
    path = repo.write(".claude/settings.json", '{\n  "a": 1\n}\n')
    repo.mem("install", "claude")
    path.write_text(path.read_text().replace('"a": 1,', '"a": 1, "b": 2,'))
    repo.mem("uninstall", "claude")
    assert path.read_text() == '{\n  "a": 1, "b": 2\n}\n'


def test_uninstall_without_a_receipt(repo: Repo, home: Path) -> None:
    """A teammate who never installed takes ours out of the file that the team shares."""
    import shutil

    path = repo.write(".claude/settings.json", '{\n  "a": 1\n}\n')
    repo.mem("install", "claude")
    shutil.rmtree(home / "mem")
    repo.mem("uninstall", "claude")
    assert path.read_text() == '{\n  "a": 1\n}\n'


def test_handler_beside_a_foreign_one_is_taken_out_alone(repo: Repo) -> None:
    group = {
        "matcher": "x",
        "hooks": [{"type": "command", "command": "mem hook prompt"}, {"type": "command", "command": "y"}],
    }
    path = repo.write(".claude/settings.json", json.dumps({"hooks": {"Stop": [group]}}))
    repo.mem("uninstall", "claude")
    assert json.loads(path.read_text()) == {
        "hooks": {"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "y"}]}]}
    }


def test_user_and_local_scopes(repo: Repo, home: Path, mem_bin: Path) -> None:
    repo.mem("install", "claude", "--user")
    repo.mem("install", "claude", "--local")
    for path in (home / ".claude/settings.json", repo.path / ".claude/settings.local.json"):
        command = json.loads(path.read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        assert command == f"{mem_bin}/mem hook session-start --client claude"
    repo.mem("install", "codex", "--user", environ={"CODEX_HOME": str(home / "elsewhere")})
    assert (home / "elsewhere/hooks.json").exists()


def test_settings_that_are_a_link_stay_one(repo: Repo, home: Path) -> None:
    (home / "dotfiles").mkdir()
    target = home / "dotfiles" / "claude.json"
    target.write_text('{"a": 1}')
    (home / ".claude").mkdir()
    link = home / ".claude" / "settings.json"
    link.symlink_to("../dotfiles/claude.json")
    repo.mem("install", "claude", "--user")
    assert os.readlink(link) == "../dotfiles/claude.json" and "mem" in target.read_text()
    repo.mem("uninstall", "claude", "--user")
    assert link.is_symlink() and target.read_text() == '{"a": 1}'


def test_link_that_the_repository_brings_is_not_followed_out(repo: Repo, home: Path) -> None:
    target = home / "victim.json"
    target.write_text("{}")
    (repo.path / ".claude").mkdir()
    (repo.path / ".claude" / "settings.json").symlink_to(target)
    repo.commit()
    done = repo.mem("install", "claude", check=False)
    assert done.returncode == 1 and "leads out" in done.stderr
    assert target.read_text() == "{}"


def test_backup_is_kept_and_private(repo: Repo, home: Path) -> None:
    repo.write(".claude/settings.json", '{"env": {"KEY": "x"}}')
    repo.mem("install", "claude")
    copies = [path for path in (home / "mem" / "backups").iterdir() if path.name.endswith("-settings.json")]
    assert copies[0].read_text() == '{"env": {"KEY": "x"}}'
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "mem" / "backups").stat().st_mode) == 0o700


def test_no_backup_no_change(repo: Repo, home: Path) -> None:
    (home / "mem").write_text("not a folder")
    path = repo.write(".claude/settings.json", "{}")
    done = repo.mem("install", "claude", check=False)
    assert done.returncode == 1 and "backup" in done.stderr and path.read_text() == "{}"


def test_user_who_gave_more_time_keeps_it(repo: Repo) -> None:
    repo.mem("install", "claude")
    path = repo.path / ".claude/settings.json"
    path.write_text(path.read_text().replace('"timeout": 15', '"timeout": 40'))
    before = path.read_text()
    repo.mem("install", "claude")
    assert path.read_text() == before


def test_old_entry_is_replaced(repo: Repo) -> None:
    """An upgrade mends the matcher and the time without a second entry."""
    old = {
        "matcher": "startup",
        "hooks": [{"type": "command", "command": "'/old place/mem' hook session-start", "timeout": 5}],
    }
    path = repo.write(".claude/settings.json", json.dumps({"hooks": {"SessionStart": [old]}}))
    repo.mem("install", "claude")
    groups = json.loads(path.read_text())["hooks"]["SessionStart"]
    assert len(groups) == 1 and "fork" in groups[0]["matcher"]


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("claude", ".mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/mcp.json"),
        ("copilot", ".mcp.json"),
    ],
)
def test_mcp_server_goes_into_each_client(repo: Repo, name: str, path: str) -> None:
    repo.write(path, '{\n  "mcpServers": {\n    "other": {"command": "x"}\n  }\n}\n')
    before = (repo.path / path).read_bytes()
    repo.mem("install", "mcp", "--client", name)
    servers = json.loads((repo.path / path).read_text())["mcpServers"]
    assert servers == {"other": {"command": "x"}, "memory": {"command": "mem", "args": ["mcp"]}}
    assert "nothing to change" in repo.mem("install", "mcp", "--client", name).stdout
    repo.mem("uninstall", "mcp", "--client", name)
    assert (repo.path / path).read_bytes() == before


def test_mcp_server_in_codex(repo: Repo) -> None:
    path = repo.write(".codex/config.toml", "# mine\nmodel = 'x'")
    repo.mem("install", "mcp", "--client", "codex")
    assert tomllib.loads(path.read_text())["mcp_servers"]["memory"] == {"command": "mem", "args": ["mcp"]}
    repo.mem("uninstall", "mcp", "--client", "codex")
    assert path.read_text() == "# mine\nmodel = 'x'"


def test_mcp_server_with_arguments_of_the_user_stays(repo: Repo) -> None:
    text = '{"mcpServers": {"m": {"command": "mem", "args": ["mcp", "--allowed-dir", "/x"], "env": {"A": "b"}}}}'
    path = repo.write(".mcp.json", text)
    assert "nothing to change" in repo.mem("install", "mcp", "--client", "claude").stdout
    assert path.read_text() == text


def test_mcp_name_of_another_server_is_left_to_it(repo: Repo) -> None:
    path = repo.write(".mcp.json", '{"mcpServers": {"memory": {"command": "npx", "args": ["server-memory"]}}}')
    repo.mem("install", "mcp", "--client", "claude")
    servers = json.loads(path.read_text())["mcpServers"]
    assert servers["memory"]["command"] == "npx" and servers["memhooks"]["command"] == "mem"


def test_two_targets_in_one_file_leave_one_by_one(repo: Repo) -> None:
    path = repo.write(".gemini/settings.json", "{ }")
    repo.mem("install", "gemini")
    repo.mem("install", "mcp", "--client", "gemini")
    repo.mem("uninstall", "gemini")
    assert list(json.loads(path.read_text())) == ["mcpServers"]
    repo.mem("uninstall", "mcp", "--client", "gemini")
    assert path.read_text() == "{ }"


def test_install_without_a_name_proposes_and_asks(repo: Repo) -> None:
    (repo.path / ".claude").mkdir()
    done = repo.mem("install", check=False)
    assert done.returncode == 2 and "--yes" in done.stderr
    assert not (repo.path / ".claude/settings.json").exists()
    done = repo.mem("install", "--yes", "--json")
    assert json.loads(done.stdout)["targets"] == ["git", "claude", "mcp"]
    repo.mem("uninstall", "--yes")
    assert os.listdir(repo.path) == [".claude", ".git"] or sorted(os.listdir(repo.path)) == [".claude", ".git"]


def test_install_that_finds_nothing_says_so(repo: Repo, mem_bin: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "package.json").write_text("{}")
    path = f"{mem_bin}:/usr/bin:/bin"
    done = repo.mem("install", "--yes", check=False, cwd=folder, environ={"PATH": path})
    assert done.returncode == 1 and "neither git nor an agent" in done.stderr
    assert "nothing to change" in repo.mem("uninstall", "--yes", cwd=folder).stdout


@pytest.mark.parametrize(("word", "done"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_install_asks_a_person(repo: Repo, word: str, done: bool) -> None:
    """On a terminal the diff is shown, and only yes is yes."""
    import pty
    import subprocess

    ours_end, theirs = pty.openpty()
    os.write(ours_end, word.encode())
    ran = subprocess.run(
        ["mem", "install"], cwd=repo.path, env=repo.environ, stdin=theirs, capture_output=True, check=False
    )
    os.close(ours_end)
    os.close(theirs)
    assert b"hook guard" in ran.stderr and b"Do this?" in ran.stderr
    assert (ran.returncode == 0) is done
    assert (repo.path / ".git/hooks/pre-commit").exists() is done


def test_uninstall_takes_the_local_settings_too(repo: Repo) -> None:
    repo.mem("install", "claude", "--local")
    repo.mem("uninstall", "claude")
    assert not (repo.path / ".claude").exists()


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
HANDLER = st.fixed_dictionaries({"type": st.just("command"), "command": TEXT | st.just("mem recall x")})
GROUPS = st.lists(
    st.fixed_dictionaries({"hooks": st.lists(HANDLER, max_size=2)}, optional={"matcher": TEXT}), max_size=2
)
EVENTS = st.dictionaries(st.sampled_from(["SessionStart", "SessionEnd", "Stop", "x"]), GROUPS, max_size=3)
SETTINGS = st.fixed_dictionaries(
    {}, optional={"hooks": EVENTS, "mcpServers": st.dictionaries(TEXT, st.just({})), "a": TEXT}
)


@settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(SETTINGS, st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_any_settings_come_back_byte_for_byte(repo: Repo, value: dict, indent: int | str | None, crlf: bool) -> None:
    """Random settings of two clients and a server go through install and uninstall in the real program."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    data = (text.replace("\n", "\r\n") if crlf else text).encode()
    for name in (".claude/settings.json", ".gemini/settings.json"):
        repo.write(name, data)
    repo.mem("install", "claude", "gemini", "mcp")
    repo.mem("uninstall", "claude", "gemini", "mcp")
    for name in (".claude/settings.json", ".gemini/settings.json"):
        assert (repo.path / name).read_bytes() == data
