"""Doctor says what really happens, names a mend, and is silent about nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from conftest import Repo
from hookfiles import hooks, script


def look(repo: Repo, *words: str, code: int = 0, **more: Any) -> dict[str, Any]:
    done = repo.mem("doctor", "--json", *words, check=False, **more)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def messages(value: dict[str, Any], level: str) -> str:
    return "\n".join(one["message"] for one in value["checks"] if one["level"] == level)


@pytest.fixture
def ready(repo: Repo) -> Repo:
    repo.mem("remember", "The token rotates every hour", "--kind", "decision")
    repo.mem("install", "git", "claude")
    return repo


def test_sound_project_has_nothing_broken(ready: Repo) -> None:
    value = look(ready)
    assert value["ok"] and not messages(value, "broken")
    said = messages(value, "ok")
    assert "pre-commit: runs the guard through git; it refused a token on a probe" in said
    assert "claude gets" in said and "full-text index words is sound" in said and "SQLite" in said


def test_envelope_is_shown_as_the_client_gets_it(ready: Repo) -> None:
    """totem 2522: what the host would ingest is there to see."""
    shown = next(one["shown"] for one in look(ready)["checks"] if one["message"].startswith("claude gets"))
    inner = json.loads(shown)["hookSpecificOutput"]
    assert inner["hookEventName"] == "SessionStart" and "rotates every hour" in inner["additionalContext"]


def test_doctor_changes_nothing(ready: Repo) -> None:
    look(ready)
    before = {path: path.read_bytes() for path in ready.path.rglob("*") if path.is_file() and "-shm" not in path.name}
    look(ready)
    assert {path: path.read_bytes() for path in before} == before


def test_every_finding_that_is_no_ok_has_a_mend(repo: Repo) -> None:
    (repo.path / ".claude").mkdir()
    for one in look(repo)["checks"]:
        assert one["level"] == "ok" or one["mend"] or "no git" in one["message"], one


def test_hooks_where_git_does_not_look(ready: Repo) -> None:
    """qmd-team-intent-kb 320."""
    ready.git("config", "core.hooksPath", "elsewhere")
    assert "git does not look there" in messages(look(ready, code=1), "broken")


def test_hook_that_is_not_executable(ready: Repo) -> None:
    for path in hooks(ready).iterdir():
        path.chmod(0o644)
    assert "not executable" in messages(look(ready, code=1), "broken")


def test_mend_for_a_hook_that_is_not_executable_works(ready: Repo) -> None:
    path = hooks(ready) / "post-commit"
    path.chmod(0o644)
    assert "post-commit is not executable" in messages(look(ready, code=1), "broken")
    assert "644 to 755" in ready.mem("install", "git", "--dry-run").stdout
    assert path.stat().st_mode & 0o777 == 0o644
    assert str(path) in ready.mem("install", "git").stdout
    assert path.stat().st_mode & 0o777 == 0o755
    assert "nothing to change" in ready.mem("install", "git").stdout and look(ready)["ok"]


def test_hooks_that_are_switched_off_are_said(ready: Repo) -> None:
    ready.git("config", "core.hooksPath", os.devnull)
    value = look(ready, code=1)
    assert "git runs no hooks at all" in messages(value, "broken")
    assert all(one["mend"] for one in value["checks"] if one["level"] == "broken")


def test_lines_before_our_block_are_said(ready: Repo) -> None:
    """They may end a hook that is not put to the proof."""
    path = hooks(ready) / "post-commit"
    path.write_text(path.read_text().replace("#!/bin/sh\n", "#!/bin/sh\nexit 0\n"))
    assert "lines before our block" in messages(look(ready), "note")
    ready.mem("install", "git")
    assert "lines before our block" not in messages(look(ready), "note")
    path.write_text(path.read_text().replace("# <<< memhooks <<<\n", ""))
    assert "half of our block" in messages(look(ready, code=1), "broken")
    path.unlink()
    assert "any more: the file is gone" in messages(look(ready, code=1), "broken")


def test_pre_commit_without_the_guard_is_broken(repo: Repo) -> None:
    """An environment of the framework's own is not put to the proof, but it has to be the guard that runs in it."""
    if not shutil.which("pre-commit", path=repo.environ["PATH"]):
        pytest.skip("pre-commit is not installed")
    config = "repos:\n- repo: ../copy\n  rev: x\n  hooks: [{id: memory-guard}, {id: memory-mirror}]\n"
    repo.write(".pre-commit-config.yaml", config)
    repo.run("pre-commit", "install", "-t", "pre-commit", "-t", "pre-merge-commit")
    assert "pre-commit: runs the guard through pre-commit" in messages(look(repo, code=1), "ok")
    config = config.replace("../copy", "../memhooks").replace("{id: memory-guard}, ", "")
    repo.write(".pre-commit-config.yaml", config)
    assert "pre-commit: the guard let a token pass" in messages(look(repo, code=1), "broken")


def test_hook_that_was_overwritten(ready: Repo) -> None:
    script(hooks(ready) / "pre-commit", "#!/bin/sh\nexit 0\n")
    said = messages(look(ready, code=1), "broken")
    assert "pre-commit: git runs nothing of ours any more" in said


def test_guard_that_lets_a_token_pass(ready: Repo) -> None:
    path = hooks(ready) / "pre-commit"
    path.write_text(path.read_text().replace("hook guard", "hook index"))
    assert "let a token pass" in messages(look(ready, code=1), "broken")


def test_plain_form_ends_with_an_error(ready: Repo) -> None:
    script(hooks(ready) / "pre-commit", "#!/bin/sh\nexit 0\n")
    done = ready.mem("doctor", check=False)
    assert done.returncode == 1 and "mend: mem install git" in done.stdout and "broken" in done.stderr


def test_double_registration_is_reported(ready: Repo, home: Path) -> None:
    """oh-my-claudecode 793."""
    ready.mem("install", "claude", "--user")
    assert "registered twice" in messages(look(ready), "note")
    ready.mem("uninstall", "claude", "--user")
    path = ready.path / ".claude/settings.json"
    value = json.loads(path.read_text()) | {"enabledPlugins": {"memhooks@market": True}}
    path.write_text(json.dumps(value))
    assert "the plugin memhooks@market" in messages(look(ready), "note")


def test_client_that_has_the_plugin_is_served(repo: Repo, home: Path) -> None:
    """Neither proposed for a second registration, nor said to get no memory."""
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"enabledPlugins": {"memhooks@market": true}}')
    value = look(repo)
    assert "gets no memory" not in messages(value, "note")
    assert "through the plugin memhooks@market" in messages(value, "ok")
    assert ".claude" not in repo.mem("install", "--dry-run").stdout
    assert "the plugin memhooks@market" in repo.mem("install", "claude").stdout


@pytest.mark.parametrize(
    ("change", "level", "says"),
    [
        (("startup|resume|fork|clear|compact", "startup"), "note", "leaves sessions out"),
        (('"timeout": 15', '"timeout": 5'), "note", "too short"),
        (
            ("mem hook session-start", "mem  hook session-start --client x; false; mem hook session-start"),
            "note",
            "no session-start",
        ),
        (("{\n", '{\n  "disableAllHooks": true,\n'), "broken", "turns all hooks off"),
        (("{\n", "{{\n"), "broken", "can't read"),
    ],
)
def test_settings_that_do_not_work(ready: Repo, change: tuple[str, str], level: str, says: str) -> None:
    path = ready.path / ".claude/settings.json"
    path.write_text(path.read_text().replace(*change, 1))
    assert says in messages(look(ready, code=int(level == "broken")), level)


def test_program_that_the_repository_brings_is_not_started(ready: Repo) -> None:
    """Doctor runs what a client would run; a clone must not make it run its own."""
    mark = ready.path / "started"
    evil = script(ready.path / "bin" / "mem", f"#!/bin/sh\ntouch '{mark}'\n")
    path = ready.path / ".claude/settings.json"
    text = path.read_text()
    for command in (f"{evil} hook", f"PATH={evil.parent}:$PATH mem hook", "./bin/mem hook"):
        path.write_text(text.replace("mem hook", command))
        ready.write(".mcp.json", json.dumps({"mcpServers": {"m": {"command": str(evil), "args": ["mcp"]}}}))
        assert "no mem of yours" in messages(look(ready, code=1), "broken")
        assert not mark.exists()


def test_trust_that_is_missing_is_said(ready: Repo, home: Path) -> None:
    assert "claude does not trust this folder" in messages(look(ready), "note")
    (home / ".claude.json").write_text(json.dumps({"projects": {str(ready.path): {"hasTrustDialogAccepted": True}}}))
    assert "claude trusts this folder" in messages(look(ready), "ok")


def test_store_that_others_can_read_is_mended(ready: Repo) -> None:
    store = ready.path / ".mem" / "mem.db"
    store.chmod(0o644)
    (ready.path / ".mem").chmod(0o755)
    assert "others can read" in messages(look(ready, code=1), "broken")
    value = look(ready, "--fix")
    assert len(value["fixed"]) == 2
    assert store.stat().st_mode & 0o777 == 0o600


def test_full_text_index_is_checked_and_made_anew(ready: Repo) -> None:
    """khive 2273: PRAGMA integrity_check sees nothing of it."""
    with sqlite3.connect(ready.path / ".mem" / "mem.db") as db:
        db.execute("DELETE FROM words")
    assert "are not in it" in messages(look(ready, code=1), "broken")
    assert look(ready, "--fix")["fixed"]
    assert "rotates" in ready.mem("recall", "rotates").stdout


def test_full_text_segments_that_disagree_are_found(ready: Repo) -> None:
    with sqlite3.connect(ready.path / ".mem" / "mem.db") as db:
        db.execute("UPDATE words_content SET c1 = 'other words'")
    assert "full-text index words is damaged" in messages(look(ready, code=1), "broken")
    look(ready, "--fix")


def test_damaged_store_is_said(ready: Repo) -> None:
    (ready.path / ".mem" / "mem.db").write_bytes(b"SQLite format 3\0" + os.urandom(8000))
    value = look(ready, code=1)
    assert [one for one in value["checks"] if one["area"] == "store" and one["level"] == "broken" and one["mend"]]


def test_store_without_a_place_is_said(repo: Repo) -> None:
    repo.write(".mem", "")
    assert "is no folder" in messages(look(repo, code=1), "broken")


def test_mend_fits_what_is_wrong_with_the_store(ready: Repo) -> None:
    db = sqlite3.connect(ready.path / ".mem" / "mem.db")
    db.execute("PRAGMA user_version = 99")
    db.commit()
    db.close()
    found = [one for one in look(ready, code=1)["checks"] if one["level"] == "broken"]
    assert [one["mend"].split(":")[0] for one in found] == ["update memhooks"]


def test_memories_of_the_team_that_wait_are_said(ready: Repo) -> None:
    """A clone fires no hook that would take them in."""
    ready.mem("remember", "--shared", "Releases are cut on Tuesdays")
    ready.mem("share", "out")
    assert "not taken in" not in messages(look(ready), "note")
    shutil.rmtree(ready.path / ".mem")
    assert "not taken in" in messages(look(ready), "note")
    assert "`mem share in`" in ready.mem("install", "git").stdout
    assert not (ready.path / ".mem").exists()
    ready.mem("share", "in")
    assert "not taken in" not in messages(look(ready), "note")
    assert "mem share in" not in ready.mem("install", "git").stdout


def test_missing_vectors_are_said(ready: Repo) -> None:
    with sqlite3.connect(ready.path / ".mem" / "mem.db") as db:
        db.execute("DELETE FROM vectors")
    value = look(ready)
    assert any(one["mend"] == "mem index" for one in value["checks"])


def test_malformed_vectors_are_said(ready: Repo) -> None:
    with sqlite3.connect(ready.path / ".mem" / "mem.db") as db:
        db.execute("UPDATE vectors SET vector = x'00'")
    assert any(one["mend"] == "mem index --rebuild" for one in look(ready)["checks"])
    ready.mem("index", "--rebuild")
    assert "malformed" not in messages(look(ready), "note")


def test_stale_allowance_is_said(ready: Repo) -> None:
    ready.write(".mem-allow", "aws-access-key-id 0123456789abcdef  # old\n")
    ready.git("add", "-A")
    assert "fits nothing any more" in messages(look(ready), "note")


def test_other_program_called_mem_is_said(ready: Repo, tmp_path: Path) -> None:
    script(tmp_path / "other" / "mem", "#!/bin/sh\necho memory tool 3\n")
    mem = next(Path(one) / "mem" for one in ready.environ["PATH"].split(":") if (Path(one) / "mem").exists())
    path = {"PATH": f"{tmp_path}/other:{ready.environ['PATH']}"}
    done = ready.run(str(mem), "doctor", "--json", environ=path, check=False)
    assert done.returncode == 1 and "another program" in done.stdout


def test_outside_of_any_project(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"
    folder.mkdir()
    assert look(repo, cwd=folder)["ok"]
