"""The index hook under real git: when it works, when it keeps out of the way, and that it never holds git up."""

from __future__ import annotations

import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import TREE, Repo, needs, until
from memhooks.hooks import detach, index, refresh
from memhooks.hooks.env import Env
from memhooks.memory import embed, schema, vectors
from memhooks.memory.api import Store

HOOKS = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
SHIM = '#!/bin/sh\necho "{name} $*" >> .git/fired\nmem hook index "$@" </dev/null\n'


@pytest.fixture
def hooked(repo: Repo) -> Repo:
    """A repository with a commit, a memory, and the index hook at all four events; HEAD is recorded."""
    repo.write("src/auth.py", "".join(f"line {n}\n" for n in range(50)))
    repo.commit("first")
    repo.mem("remember", "The zebra token rotates every hour")
    repo.mem("index")
    for name in HOOKS:
        repo.write(f".git/hooks/{name}", SHIM.format(name=name)).chmod(0o755)
    return repo


def head(repo: Repo) -> str:
    return repo.git("rev-parse", "HEAD").stdout.strip()


def rows(repo: Repo, query: str) -> list[tuple[object, ...]]:
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    try:
        return db.execute(query).fetchall()
    finally:
        db.close()


def recorded(repo: Repo) -> str:
    found = rows(repo, "SELECT value FROM meta WHERE key LIKE 'head:%'")
    return str(found[0][0]) if found else ""


def settled(repo: Repo) -> bool:
    return recorded(repo) == head(repo)


def unseen(repo: Repo) -> None:
    """Make a commit that no hook sees."""
    repo.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", "unseen")


def fire(repo: Repo, *words: str, **environ: str) -> None:
    done = repo.mem("hook", "index", *words, environ=environ)
    assert (done.stdout, done.stderr) == ("", "")


def test_commit_is_recorded_with_its_files(hooked: Repo) -> None:
    hooked.write("src/billing.py", "x = 1\n")
    hooked.commit("second")
    until(lambda: settled(hooked), "the refresh ends")
    assert [row[0] for row in rows(hooked, "SELECT path FROM touched ORDER BY seq DESC")] == [
        "src/billing.py", "src/auth.py",
    ]  # fmt: skip


def test_nothing_to_do_makes_no_file(hooked: Repo) -> None:
    before = sorted(path for path in hooked.path.rglob("*") if ".git/fired" not in str(path))
    stamps = {path: path.stat().st_mtime_ns for path in before if path.is_file()}
    fire(hooked)
    fire(hooked, head(hooked), head(hooked), "1")
    assert sorted(path for path in hooked.path.rglob("*") if ".git/fired" not in str(path)) == before
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


def test_no_store_makes_no_file(repo: Repo) -> None:
    repo.write("a.txt", "a")
    repo.commit()
    fire(repo)
    assert sorted(os.listdir(repo.path)) == [".git", "a.txt"]


def test_hook_itself_starts_no_git(hooked: Repo, tmp_path: Path) -> None:
    """With nothing to do: a git that fails would be noticed."""
    trap = tmp_path / "trap"
    trap.mkdir()
    (trap / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexit 99\n")
    (trap / "git").chmod(0o755)
    fire(hooked, PATH=f"{trap}{os.pathsep}{hooked.environ['PATH']}")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        (("OLD", "NEW", "0"), {}),
        (("post-checkout", "OLD", "NEW", "0"), {}),
        ((), {"PRE_COMMIT_CHECKOUT_TYPE": "0"}),
        ((), {"_PRE_COMMIT_SKIP_POST_CHECKOUT": "1"}),
    ],
    ids=["checkout of files", "with the hook's name", "by pre-commit", "pre-commit's stash"],
)
def test_checkout_of_files_is_nothing_to_do(
    hooked: Repo, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], environ: dict[str, str]
) -> None:
    unseen(hooked)
    assert not spawns(hooked, monkeypatch, *words, **environ)
    assert spawns(hooked, monkeypatch, "OLD", "NEW", "1")


@pytest.mark.parametrize(
    "state", ["rebase-merge/", "rebase-apply/", "sequencer/", "MERGE_HEAD", "BISECT_LOG", "index.lock"]
)
def test_hook_defers_while_git_is_at_work(hooked: Repo, monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    unseen(hooked)
    path = hooked.path / ".git" / state
    path.mkdir() if state.endswith("/") else path.write_text("")
    assert not spawns(hooked, monkeypatch)
    path.rmdir() if state.endswith("/") else path.unlink()
    assert spawns(hooked, monkeypatch)


def spawns(repo: Repo, monkeypatch: pytest.MonkeyPatch, *words: str, **environ: str) -> bool:
    """Say whether the hook would start a child."""
    started: list[object] = []
    null = io.StringIO()
    with monkeypatch.context() as patched:
        patched.setattr(detach, "spawn", lambda *argv, **options: started.append(argv))
        assert index.hook(list(words), Env(null, null, null, repo.environ | environ, str(repo.path))) == 0
    return bool(started)


def test_merge_commit_is_recorded_though_merge_head_is_there(hooked: Repo) -> None:
    """git runs post-merge before it removes MERGE_HEAD."""
    hooked.git("checkout", "-q", "-b", "side")
    hooked.write("side.txt", "s")
    hooked.commit("side")
    hooked.git("checkout", "-q", "main")
    hooked.write("main.txt", "m")
    hooked.commit("main")
    until(lambda: settled(hooked), "the refresh ends")
    hooked.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    until(lambda: settled(hooked), "the refresh ends")


def diverge(repo: Repo, commits: int) -> None:
    """Make branch `topic` with commits that main does not have, and one on main."""
    repo.git("checkout", "-q", "-b", "topic")
    for number in range(commits):
        repo.write(f"topic{number}.txt", f"{number}\n")
        repo.commit(f"topic {number}")
    repo.git("checkout", "-q", "main")
    repo.write("main.txt", "m")
    repo.commit("main")
    repo.git("checkout", "-q", "topic")
    until(lambda: settled(repo), "the refresh ends")
    repo.mem("index")  # waits for the lock, so that no child of an earlier event is left


SPY = """#!{python}
import os, sys
sys.path[0] = {tree!r}
from memhooks.hooks import detach, index
from memhooks.hooks.env import Env
started = []
detach.spawn = lambda *words, **options: started.append(words)
index.hook(sys.argv[1:], Env.real())
with open(os.environ["FIRED"], "a") as log:
    print(os.path.basename(sys.argv[0]), *sys.argv[1:2], "refresh" if started else "", file=log)
"""


def test_rebase_costs_one_refresh(hooked: Repo, tmp_path: Path) -> None:
    """Of its checkout, its eight commits and its end."""
    diverge(hooked, 8)
    for name in HOOKS:
        hooked.write(f".git/hooks/{name}", SPY.format(python=sys.executable, tree=str(TREE)))
    hooked.git("rebase", "-q", "main", environ={"FIRED": str(tmp_path / "fired")})
    fired = (tmp_path / "fired").read_text().splitlines()
    assert len(fired) >= 10
    assert [line for line in fired if line.endswith("refresh")] == ["post-rewrite rebase refresh"]


def test_interrupted_rebase_defers_and_its_end_is_recorded(hooked: Repo) -> None:
    diverge(hooked, 3)
    before = recorded(hooked)
    hooked.git("rebase", "-q", "-i", "main", environ={"GIT_SEQUENCE_EDITOR": "sed -i 1s/pick/edit/"})
    assert recorded(hooked) == before
    hooked.git("rebase", "--continue")
    until(lambda: settled(hooked), "the refresh ends")


def test_fast_forward_rebase_is_recorded(hooked: Repo) -> None:
    """It fires post-checkout alone."""
    hooked.git("checkout", "-q", "-b", "topic")
    hooked.git("checkout", "-q", "main")
    hooked.write("main.txt", "m")
    hooked.commit("main")
    hooked.git("checkout", "-q", "topic")
    until(lambda: settled(hooked), "the refresh ends")
    hooked.git("rebase", "-q", "main")
    fire(hooked)
    until(lambda: settled(hooked), "the refresh ends")


def test_pull_with_rebase_is_recorded(hooked: Repo, tmp_path: Path) -> None:
    other = tmp_path / "other"
    hooked.git("clone", "-q", str(hooked.path), str(other))
    (other / "theirs.txt").write_text("t")
    hooked.git("add", "-A", cwd=other)
    hooked.git("commit", "-q", "-m", "theirs", cwd=other)
    hooked.write("ours.txt", "o")
    hooked.commit("ours")
    hooked.git("pull", "-q", "--rebase", str(other), "main")
    until(lambda: settled(hooked), "the refresh ends")
    assert (hooked.path / "theirs.txt").exists()


@pytest.mark.parametrize("verb", ["cherry-pick", "revert"])
def test_single_pick_is_an_ordinary_commit(hooked: Repo, verb: str) -> None:
    diverge(hooked, 1)
    words = ["main"] if verb == "cherry-pick" else ["--no-edit", "HEAD"]
    hooked.git(verb, *words)
    until(lambda: settled(hooked), "the refresh ends")


def test_amend_is_recorded(hooked: Repo) -> None:
    hooked.write("src/auth.py", "changed\n")
    hooked.git("add", "-A")
    hooked.git("commit", "-q", "--amend", "-m", "first again")
    until(lambda: settled(hooked), "the refresh ends")


def test_missed_hook_is_made_up_for_by_index(hooked: Repo) -> None:
    unseen(hooked)
    assert not settled(hooked)
    assert json.loads(hooked.mem("index", "--json").stdout)["head"] == head(hooked)
    assert settled(hooked)


def test_each_worktree_has_its_own_head(hooked: Repo, tmp_path: Path) -> None:
    hooked.git("worktree", "add", "-q", "-b", "wt", str(tmp_path / "wt"))
    until(lambda: len(rows(hooked, "SELECT 1 FROM meta WHERE key LIKE 'head:%'")) == 2, "the refresh ends")
    assert not (tmp_path / "wt" / ".mem").exists()


def test_checkout_into_a_pipe_returns_while_the_child_works(hooked: Repo) -> None:
    """The child holds neither the pipe nor git's lock: a reader of the pipe sees its end."""
    with (hooked.path / ".mem" / "index.lock").open("w") as lock:
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX)
        hooked.run("sh", "-c", "git checkout -q -b other | cat")
        hooked.git("commit", "-q", "--allow-empty", "-m", "x")


def test_spawned_child_holds_none_of_our_descriptors(tmp_path: Path, clean_environ: dict[str, str]) -> None:
    report = tmp_path / "report"
    told = "(os.getsid(0), os.environ.get('GIT_DIR'), os.getcwd())"
    code = f"import os; open({str(report)!r}, 'w').write(repr({told}))"
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    detach.spawn([sys.executable, "-c", code], cwd=str(tmp_path), environ=clean_environ | {"GIT_DIR": "/x"})
    os.close(writer)
    assert os.read(reader, 1) == b""  # end of file: the child does not hold the other end
    os.close(reader)
    until(lambda: report.exists() and bool(report.read_text()), "the child has told")
    session, git_dir, cwd = eval(report.read_text())
    assert session != os.getsid(0) and git_dir is None and cwd == str(tmp_path)


def test_two_children_at_once_are_one(hooked: Repo) -> None:
    """The second leaves at once; the first looks at HEAD again before it ends."""
    words = [*detach.program(), "hook", "index", "--refresh"]
    unseen(hooked)
    pair = [subprocess.Popen(words, cwd=hooked.path, env=hooked.environ, stdin=subprocess.DEVNULL) for _ in range(4)]
    assert [child.wait(timeout=60) for child in pair] == [0] * 4
    assert settled(hooked)


def test_child_survives_a_json_module_in_the_repository(hooked: Repo) -> None:
    """A file that a repository brings must never run."""
    hooked.write("json.py", "open('owned', 'w').close()\n")
    hooked.write("sqlite3.py", "open('owned', 'w').close()\n")
    hooked.commit("trap")
    until(lambda: settled(hooked), "the refresh ends")
    assert not (hooked.path / "owned").exists()


def test_store_failure_is_logged_and_does_not_fail_git(hooked: Repo) -> None:
    hooked.write(".mem/mem.db", b"no database at all" * 100)
    hooked.write("b.txt", "b")
    hooked.commit()
    assert "index" in (hooked.path / ".mem" / "hooks.log").read_text()


# The command.


def drop_vectors(repo: Repo) -> None:
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    db.execute("DELETE FROM vectors")
    db.commit()
    db.close()


def test_index_command_repairs_vectors_within_its_bound(repo: Repo) -> None:
    for number in range(5):
        repo.mem("remember", f"fact number {number}")
    drop_vectors(repo)
    assert json.loads(repo.mem("index", "-n", "2", "--json").stdout)["remaining"] == 3
    done = json.loads(repo.mem("index", "--cached-only", "--json").stdout)
    assert (done["embedded"], done["remaining"]) == (3, 0)
    assert rows(repo, "SELECT count(*) FROM vectors") == [(5,)]


def test_rebuild_makes_all_vectors_anew(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    db = sqlite3.connect(repo.path / ".mem" / "mem.db")
    db.execute("UPDATE vectors SET vector = x'00'")
    db.commit()
    db.close()
    assert json.loads(repo.mem("index", "--rebuild", "--json").stdout)["embedded"] == 1
    assert rows(repo, "SELECT length(vector) FROM vectors") == [(256,)]


def test_rebuild_without_the_cached_model_skips_both(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    repo.mem("config", "set", "recall.model", "potion")
    done = json.loads(repo.mem("index", "--cached-only", "--rebuild", "--json").stdout)
    assert (done["embedded"], done["remaining"]) == (0, 1)
    assert rows(repo, "SELECT count(*) FROM vectors") == [(1,)]
    said = repo.mem("index", "--cached-only").stderr.splitlines()
    assert said == ["mem: the model potion is not in the cache; `mem model fetch potion` brings it"]
    failed = repo.mem("index", check=False)
    assert failed.returncode == 1 and "potion" in failed.stderr


@pytest.mark.parametrize("model", ["potion", "no such model"])
def test_hook_looks_at_the_code_though_the_model_is_missing(hooked: Repo, model: str) -> None:
    hooked.mem("config", "set", "recall.model", model)
    hooked.write("src/auth.py", "changed\n")
    hooked.commit("second")
    until(lambda: settled(hooked), "the refresh ends")
    said = hooked.mem("context", "when does the zebra token rotate")
    assert "zebra" in said.stdout
    assert len(said.stderr.splitlines()) == 1 and model in said.stderr


def test_index_without_store_is_no_failure(repo: Repo) -> None:
    assert json.loads(repo.mem("index", "--json").stdout)["remaining"] == 0
    assert not (repo.path / ".mem").exists()


def test_index_shows_no_progress_off_a_terminal(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    drop_vectors(repo)
    done = repo.mem("index")
    assert done.stderr == "" and "\r" not in done.stdout


@needs("script")
def test_index_shows_progress_on_a_terminal(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    drop_vectors(repo)
    assert "[##############################] 1/1" in repo.run("script", "-qec", "mem index", "/dev/null").stdout


def test_vector_of_a_memory_that_changed_meanwhile_is_not_written(store: Store) -> None:
    memory = store.remember(content="a fact")
    store.db.execute("DELETE FROM vectors")
    model = embed.shipped()
    store.db.execute("UPDATE memories SET version = version + 1")
    assert not vectors.put(store.db, memory.id, memory.version, model, model.embed_memory("", "a fact"))
    assert refresh.embed(store.db, model) == 1


def test_killed_index_is_resumed(repo: Repo) -> None:
    with Store.open(str(repo.path / ".mem" / "mem.db")) as store:
        store.remember_many(({"content": f"fact number {n} about enclosures"} for n in range(900)), check=False)
        store.db.execute("DELETE FROM vectors")
    child = subprocess.Popen(["mem", "index"], cwd=repo.path, env=repo.environ, stdout=subprocess.DEVNULL)
    until(
        lambda: child.poll() is not None or rows(repo, "SELECT count(*) FROM vectors")[0][0] > 0,
        "the first batch is embedded",
    )
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert json.loads(repo.mem("index", "--json").stdout)["remaining"] == 0
    db = schema.connect(str(repo.path / ".mem" / "mem.db"), readonly=True)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert vectors.coverage(db, embed.shipped()) == (900, 900)
    db.close()


def test_notebook_is_indexed_too(hooked: Repo) -> None:
    hooked.write("MEMORY.md", "# Build\n\nThe giraffe pipeline needs java 17.\n")
    hooked.commit("notebook")
    until(lambda: settled(hooked) and bool(rows(hooked, "SELECT 1 FROM sections")), "the sections have rows")
