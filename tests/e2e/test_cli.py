"""The command line's edges: streams that are closed or full, locales, interrupts, flags, and text of every kind."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import TREE, Repo
from inprocess import mem
from memhooks.hooks.cli import COMMANDS

NOISE = ("Traceback", "Exception ignored", "Error:")
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/dev/full and /proc are Linux's")


def raw(repo: Repo, *words: bytes | str, stdin: bytes = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run `mem` with words of any bytes."""
    return subprocess.run(
        ["mem", *words], cwd=repo.path, env=repo.environ | environ, input=stdin, capture_output=True, timeout=60
    )


def shell(repo: Repo, script: str) -> subprocess.CompletedProcess[str]:
    return repo.run("bash", "-o", "pipefail", "-c", script, check=False)


def assert_quiet(text: str) -> None:
    assert not any(mark in text for mark in NOISE), text


def integrity(repo: Repo) -> str:
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    try:
        return str(db.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        db.close()


def test_bare_command_shows_the_overview_and_fails(repo: Repo) -> None:
    done = repo.mem(check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(f"  {name} " in done.stderr for name in COMMANDS)
    as_json = repo.mem("--json", check=False)
    assert (as_json.returncode, as_json.stdout) == (2, "")
    assert json.loads(as_json.stderr)["error"]["reason"] == "usage"


def test_help_and_version_are_answers(repo: Repo) -> None:
    assert "usage: mem" in repo.mem("--help").stdout
    assert repo.mem("list", "--help").stdout.startswith("usage: mem list")
    assert repo.mem("--version").stdout.startswith("mem ")
    for words in (("--version", "--json"), ("--json", "--version")):
        assert set(json.loads(repo.mem(*words).stdout)) == {"version", "commit"}
    assert not (repo.path / ".mem").exists()


@pytest.mark.parametrize("place", ["before", "behind", "equals"])
def test_flags_stand_before_or_behind_the_command(repo: Repo, tmp_path: Path, place: str) -> None:
    db, other = str(tmp_path / "a b.db"), str(tmp_path / "other")
    os.mkdir(other)
    flags = (
        [f"--db={db}", f"--project={other}", "--json"]
        if place == "equals"
        else ["--db", db, "--project", other, "--json"]
    )
    words = ["status", *flags] if place == "behind" else [*flags, "status"]
    assert json.loads(repo.mem(*words).stdout)["store"] == db


@pytest.mark.parametrize(
    "words",
    [
        ["nonsense"],
        ["--db"],
        ["--project"],
        ["--frobnicate", "list"],
        ["list", "--frobnicate"],
        ["list", "extra"],
        ["remember"],
        ["remember", "a", "b"],
        ["search", "-n", "0", "x"],
        ["search", "-n", "9" * 5000, "x"],
        ["recall", "--limit", "11", "x"],
        ["recall", "--limit", "²", "x"],
        ["context", "--max-bytes", "-1", "x"],
        ["remember", "x", "--confidence", "high"],
        ["remember", "x", "--kind", "rumour"],
        ["remember", "x", "--scope", "galaxy"],
        ["state", "dance"],
        ["hook"],
        ["hook", "nonsense"],
        ["--jso", "list"],
        ["list", "--js"],
    ],
    ids=lambda words: " ".join(words)[:30],
)
def test_wrong_words_are_one_line_and_exit_2(repo: Repo, words: list[str]) -> None:
    done = mem(repo, *words)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("mem: ") and done.stderr.count("\n") == 1
    if len(words) > 1:
        assert mem(repo, *words, "--json").error["reason"] == "usage"
    assert not (repo.path / ".mem").exists()


def test_words_with_a_dash_get_a_hint(repo: Repo) -> None:
    done = repo.mem("search", "-foo", check=False)
    assert done.returncode == 2 and "put -- before" in done.stderr
    assert mem(repo, "remember", "--", "-foo is the flag for bar").code == 0
    assert "-foo" in mem(repo, "search", "--", "-foo").stdout


@pytest.fixture
def filled(repo: Repo) -> Repo:
    assert mem(repo, "remember", "a fact about whales").code == 0
    return repo


@pytest.mark.parametrize("command", ["list", "list --json", "status", "recall whales", "--help", "list --help"])
def test_reader_that_goes_away_is_no_error(filled: Repo, command: str) -> None:
    done = shell(filled, f"mem {command} | head -c 0")
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def test_closed_streams(filled: Repo) -> None:
    for script, code in (
        ("mem list >&-", 0),
        ("mem list 2>&-", 0),
        ("mem list <&-", 0),
        ("mem get ffffffff >&- 2>&-", 1),
        ("mem remember - <&-", 2),
        ("mem remember 'kept all the same' >&- 2>&- <&-", 0),
        ("mem hook index >&- 2>&- <&-", 0),
    ):
        done = shell(filled, script)
        assert_quiet(done.stderr)
        assert done.returncode == code, script
    assert "kept all the same" in filled.mem("list").stdout
    assert integrity(filled) == "ok"


@linux_only
def test_full_disk_behind_the_streams(filled: Repo) -> None:
    done = shell(filled, "mem list >/dev/full")
    assert (done.returncode, done.stderr) == (1, "mem: No space left on device\n")
    assert shell(filled, "mem get ffffffff 2>/dev/full").returncode == 1


@pytest.mark.parametrize(
    "environ", [{"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"LANG": ""}], ids=str
)
def test_utf8_whatever_the_locale(repo: Repo, environ: dict[str, str]) -> None:
    text = "Walė 鲸鱼 🐳 swim"
    made = json.loads(repo.mem("remember", text, "--tag", "海", "--json", environ=environ).stdout)
    assert made["content"] == text
    assert text in repo.mem("list", environ=environ).stdout
    assert text in repo.mem("recall", "鲸鱼", environ=environ).stdout
    repo.mem("remember", "-", stdin="piped: " + text, environ=environ)
    assert "鲸" in repo.mem("get", "zzzz-鲸", check=False, environ=environ).stderr


@pytest.mark.parametrize(
    "stdin",
    [
        b"\xff\xfe\x00b\x00i",
        b"caf\xe9",
        b"\x00",
        b"a\x00b",
        b"\x1b[31mred",
        b"\xed\xa0\x80",
        b"",
        b" \n\t ",
        b"\x7fELF\x02",
    ],
    ids=repr,
)
def test_stdin_that_is_no_text(repo: Repo, stdin: bytes) -> None:
    done = mem(repo, "remember", "-", stdin=stdin)
    assert (done.code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr[:-1].isprintable()
    assert mem(repo, "remember", "-", "--json", stdin=stdin).error["reason"] in ("invalid_text", "usage")
    assert not (repo.path / ".mem").exists(), "what is refused makes no store"


def test_stdin_of_ten_megabytes(repo: Repo) -> None:
    for stdin in (b"fact " * 2_000_000, os.urandom(10_000_000)):
        done = raw(repo, "remember", "-", "--json", stdin=stdin)
        assert (done.returncode, done.stdout) in ((1, b""), (2, b""))
        assert json.loads(done.stderr)["error"]["reason"] in ("too_long", "invalid_text")


@pytest.mark.parametrize("bad", [b"caf\xe9", b"\xed\xa0\x80", b"\x1b[2J", b"\xe2\x80\xae"], ids=repr)
def test_arguments_that_are_no_text(filled: Repo, bad: bytes) -> None:
    flags = ("--title", "--area", "--tag", "--actor", "--source-ref", "--source-type", "--expires", "--kind")
    cases: list[list[bytes | str]] = [["remember", b"x" + bad], ["state", "set", "--goal", bad], ["get", bad]]
    cases += [["remember", "a fact", flag, bad] for flag in flags]
    cases += [["config", "set", "mirror.template", bad], [bad]]
    for words in cases:
        done = mem(filled, *words)
        assert (done.code, done.stdout, done.stderr.count("\n")) == (2, "", 1), (words, done)
        assert_quiet(done.stderr)
        assert done.stderr[:-1].isprintable()
    done = raw(filled, *cases[0])
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


def test_queries_that_are_no_text(filled: Repo) -> None:
    """Bytes of another encoding are refused; control characters separate words like any other mark."""
    for command in ("search", "recall", "context"):
        done = mem(filled, command, b"caf\xe9")
        assert done == (2, "", "mem: the query is not UTF-8\n")
        done = mem(filled, command, b"\x1b[2J whales\x07")
        assert (done.code, done.stderr) == (0, "")
        assert "whales" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize(
    "query",
    [
        "", " ", "don't", '"', "''", "NEAR(a b)", "a AND", "*", "-", "title:x", "2026-03-04", "...", "🐳", "鲸鱼", "%s",
        "the of", "a\nb", "'; DROP TABLE memories; --", "x" * 100_000,
    ],
    ids=lambda text: ascii(text[:12]),
)  # fmt: skip
def test_odd_queries_are_answered(filled: Repo, query: str) -> None:
    for command in ("search", "recall", "context"):
        done = mem(filled, command, "--json", "--", query)
        assert isinstance(done.value["memories"], list)
        assert done.stderr == ""


def test_variables_that_are_no_text(filled: Repo) -> None:
    bad = {"MEM_DIGEST_TOKENS": "\udcff", "MEM_LIMITS_CONTENT": "many", "USER": "caf\udce9", "MEM_DB": "C:\\x\\mem.db"}
    for name, value in bad.items():
        assert mem(filled, "remember", f"a fact with {name}", "--json", **{name: value}).error, name
    assert not [name for name in os.listdir(filled.path) if "C:" in name]


@linux_only
def test_db_of_any_name(filled: Repo, tmp_path: Path) -> None:
    db = os.fsencode(tmp_path) + b"/caf\xe9 #1?%41.db"
    assert raw(filled, "remember", "a fact", "--db", db).returncode == 0
    done = raw(filled, "status", "--json", "--db", db)
    assert json.loads(done.stdout)["memories"] == 1
    assert os.path.exists(db)


@pytest.mark.parametrize("place", ["C:\\Users\\x\\mem.db", "c:/x/mem.db", "\\\\host\\share\\mem.db"])
def test_db_path_of_another_system_is_refused(repo: Repo, place: str) -> None:
    for words, environ in ((["--db", place], {}), ([], {"MEM_DB": place}), (["--project", place], {})):
        done = mem(repo, "--json", *words, "remember", "a fact", **environ)
        assert done.code == 2 and "no path on this system" in done.error["message"]
    assert os.listdir(repo.path) == [".git"]


@linux_only
def test_working_directory_that_is_gone(repo: Repo) -> None:
    """$PWD may name another folder than the one that was deleted; it is not taken for it."""
    done = shell(
        repo, f'mkdir gone; cd gone; rmdir ../gone; export PWD={repo.path}; exec -a mem "$(command -v mem)" remember x'
    )
    assert (done.returncode, done.stderr) == (2, "mem: the working directory is gone; change into one\n")
    done = shell(repo, f"mkdir gone; cd gone; rmdir ../gone; mem --project {repo.path} remember x")
    assert done.returncode == 0
    assert (repo.path / ".mem" / "mem.db").exists()


def test_home_unset(repo: Repo) -> None:
    environ = {name: value for name, value in repo.environ.items() if name not in ("HOME", "MEM_HOME", "USER")}
    environ |= {"XDG_DATA_HOME": str(repo.path.parent / "data")}
    for words in (["remember", "a fact"], ["list"], ["remember", "mine", "--scope", "personal"]):
        done = subprocess.run(["mem", *words], cwd=repo.path, env=environ, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
    assert (repo.path.parent / "data" / "memhooks" / "personal" / "memories.db").exists()


def test_inherited_git_variables_choose_nothing(repo: Repo, tmp_path: Path) -> None:
    other = Repo(tmp_path / "other", repo.environ)
    other.path.mkdir()
    other.git("init", "-q")
    wrong = {"GIT_DIR": str(other.path / ".git"), "GIT_WORK_TREE": str(other.path), "GIT_INDEX_FILE": "/nowhere"}
    repo.mem("remember", "a fact", environ=wrong)
    assert (repo.path / ".mem" / "mem.db").exists()
    assert os.listdir(other.path) == [".git"]


def test_link_out_of_the_project_is_refused(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (repo.path / ".mem").symlink_to(tmp_path / "outside")
    for words in (["remember", "x"], ["list"], ["config", "set", "digest.tokens", "1"]):
        assert mem(repo, *words, "--json").error["reason"] == "link_out"
    assert os.listdir(tmp_path / "outside") == []


@pytest.mark.parametrize("umask", ["000", "077"])
def test_umask_opens_nothing(repo: Repo, umask: str) -> None:
    done = shell(repo, f"umask {umask}; mem remember 'a fact' && mem config set digest.tokens 300 --user && mem list")
    assert done.returncode == 0
    for top in (repo.path / ".mem", Path(repo.environ["MEM_HOME"])):
        for place, _, names in os.walk(top):
            assert os.stat(place).st_mode & 0o777 == 0o700, place
            for name in names:
                assert os.stat(os.path.join(place, name)).st_mode & 0o777 == 0o600, name


def test_pinned_store_leaves_all_else_alone(repo: Repo, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o755)
    for words in (["remember", "a fact"], ["list"], ["state", "set", "--goal", "x"]):
        assert mem(repo, "--db", str(folder / "x.db"), *words).code == 0
    assert os.listdir(folder) == ["x.db"]
    assert folder.stat().st_mode & 0o777 == 0o755
    assert os.listdir(repo.path) == [".git"]
    assert not Path(repo.environ["MEM_HOME"], "index.json").exists()


# A background job of a shell inherits SIGINT ignored, and so would the process under test.
ENTRY = (
    "import os, signal; from memhooks.hooks.cli import entry\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "os.write(2, b'ready\\n'); entry()"
)


def interrupted(repo: Repo, words: list[str], delay: float) -> tuple[int, str]:
    """Run `mem`, send SIGINT `delay` seconds after its main function was entered, return exit code and stderr."""
    environ = repo.environ | ({} if "MEM_UNDER_TEST" in os.environ else {"PYTHONPATH": str(TREE)})
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *words], cwd=repo.path, env=environ, stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=60)[1].decode()
    return process.returncode, stderr


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is POSIX")
def test_interrupt_at_any_moment(filled: Repo) -> None:
    """Whatever the moment: exit 130 or done, no traceback, a sound store, no half-written file."""
    chance = random.Random(7)
    codes = []
    for turn in range(14):
        words = ["remember", f"fact number {turn}"] if turn % 2 else ["correct", "--json", "ffff", "another text"]
        code, stderr = interrupted(filled, words, chance.uniform(0, 0.12))
        assert_quiet(stderr)
        codes.append(code)
    assert set(codes) <= {0, 1, 130}
    assert integrity(filled) == "ok"
    assert [name for name in os.listdir(filled.path / ".mem") if name.endswith(".tmp")] == []
    assert "whales" in filled.mem("list").stdout


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is POSIX")
def test_interrupt_while_waiting_for_input(repo: Repo) -> None:
    assert interrupted(repo, ["remember", "-"], 0.3) == (130, "")
    assert not (repo.path / ".mem").exists()
