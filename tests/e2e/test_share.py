"""Teams that share memories through git: no conflict, no loss, nothing that the guard would refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Repo = Any
FILE = "memories.ndjson"
KEY = "ghp_" + "a1B2" * 9  # shaped like a token, and none
HOOKS = {
    "pre-commit": "#!/bin/sh\nexec mem hook share\n",
    "pre-merge-commit": "#!/bin/sh\nexec mem hook share\n",
    "post-merge": '#!/bin/sh\nexec mem hook share "$@"\n',
    "post-checkout": '#!/bin/sh\nexec mem hook share "$@"\n',
    "post-rewrite": '#!/bin/sh\nexec mem hook share "$@"\n',
}


def hooked(repo: Repo) -> Repo:
    for name, text in HOOKS.items():
        repo.write(f".git/hooks/{name}", text).chmod(0o755)
    return repo


def records(repo: Repo) -> dict[str, dict[str, Any]]:
    return {one["id"]: one for one in map(json.loads, (repo.path / FILE).read_text().splitlines())}


def contents(repo: Repo) -> list[str]:
    return sorted(one["content"] for one in json.loads(repo.mem("list", "--json").stdout)["memories"])


def shared(repo: Repo, text: str) -> str:
    return str(json.loads(repo.mem("remember", text, "--shared", "--json").stdout)["id"])


def save(repo: Repo, message: str = "work") -> None:
    """Commit as people do: when the fixer stops it, add and try again."""
    if repo.commit(message, check=False).returncode:
        repo.commit(message)


@pytest.fixture
def ann(repo: Repo) -> Repo:
    repo.write("a.txt", "a\n")
    repo.commit()
    return hooked(repo)


@pytest.fixture
def bob(ann: Repo, tmp_path: Path) -> Repo:
    ann.git("clone", "-q", str(ann.path), str(tmp_path / "bob"))
    other = ann._replace(path=tmp_path / "bob", environ={**ann.environ, "USER": "bob", "MEM_HOME": str(tmp_path / "b")})
    return hooked(other)


def test_share_says_what_to_add_from_where_the_user_stands(ann: Repo) -> None:
    """Git runs its hooks at the top, whatever folder the commit was made in."""
    ann.mem("remember", "Releases are cut on Tuesdays", "--shared")
    folder = ann.write("a b/x.txt", "x").parent
    ann.git("add", "-A")
    stopped = ann.git("commit", "-m", "x", check=False, cwd=folder)
    assert f"git add ../{FILE} ../.gitattributes && git commit" in stopped.stderr
    ann.git("add", f"../{FILE}", "../.gitattributes", cwd=folder)
    ann.git("commit", "-m", "x", cwd=folder)


def test_share_travels_by_commit_and_pull(ann: Repo, bob: Repo) -> None:
    """What arrives keeps its actor and is marked as a teammate's."""
    ident = shared(ann, "the build needs node 20")
    ann.mem("remember", "a private note")
    stopped = ann.commit(check=False)
    assert stopped.returncode == 1
    assert "the commit was not made" in stopped.stderr and f"git add {FILE} .gitattributes" in stopped.stderr
    ann.commit()
    assert list(records(ann)) == [ident]
    assert (ann.path / FILE).read_bytes().endswith(b"}\n")
    assert f"{FILE} merge=union" in (ann.path / ".gitattributes").read_text()
    bob.git("pull", "-q")
    memory = json.loads(bob.mem("get", ident, "--json").stdout)
    assert (memory["actor"], memory["origin"], memory["shared"]) == ("tester", FILE, True)
    assert "node 20" in (bob.path / ".mem" / "memory.md").read_text()
    assert bob.git("status", "--porcelain").stdout == ""


def test_share_of_two_branches_never_conflicts(ann: Repo, bob: Repo) -> None:
    """The file is merged, never overwritten, whoever wrote last."""
    shared(ann, "from ann first")
    save(ann)
    bob.git("pull", "-q")
    shared(ann, "from ann")
    save(ann)
    shared(bob, "from bob")
    save(bob)
    bob.git("pull", "-q", "--no-rebase", "--no-edit")
    assert contents(bob) == ["from ann", "from ann first", "from bob"]
    bob.commit("after the merge", check=False)
    assert len(records(bob)) == 3
    ann.git("pull", "-q", str(bob.path), "main")
    assert contents(ann) == contents(bob)


def test_share_arrives_after_pull_with_rebase(ann: Repo, bob: Repo) -> None:
    """No post-merge fires there."""
    shared(ann, "from ann")
    save(ann)
    bob.write("b.txt", "b")
    save(bob)
    bob.git("pull", "-q", "--rebase")
    assert contents(bob) == ["from ann"]


def test_share_forget_buries_the_line_at_once(ann: Repo, bob: Repo) -> None:
    """A tombstone without text travels, and nothing wedges."""
    ident = shared(ann, "a zebra fact")
    save(ann)
    bob.git("pull", "-q")
    said = ann.mem("forget", ident)
    assert "git's history" in said.stdout + said.stderr
    assert "zebra" not in (ann.path / FILE).read_text() and records(ann)[ident]["status"] == "forgotten"
    save(ann)
    bob.git("pull", "-q")
    assert contents(bob) == []
    assert b"zebra" not in b"".join(path.read_bytes() for path in (bob.path / ".mem").iterdir())
    ann.mem("share", "in")
    assert contents(ann) == []


def test_share_of_a_correction_replaces_it_everywhere(ann: Repo, bob: Repo) -> None:
    ident = shared(ann, "port 80")
    save(ann)
    bob.git("pull", "-q")
    bob.mem("correct", ident, "port 8080")
    save(bob)
    ann.git("pull", "-q", str(bob.path), "main")
    assert contents(ann) == contents(bob) == ["port 8080"]


def test_share_keeps_unknown_fields_and_values(ann: Repo) -> None:
    odd = '{"id":"01990000-0000-7000-8000-000000000001","content":"odd","kind":"rumour","mood":{"x":[1]}}'
    late = '{"id":"01990000-0000-7000-8000-000000000002","content":"late","status":"archived"}'
    ann.write(FILE, f"{late}\n{odd}\n")
    ann.mem("share", "in")
    assert contents(ann) == ["odd"]
    shared(ann, "mine")
    ann.mem("share", "out")
    told = records(ann)
    assert told["01990000-0000-7000-8000-000000000001"]["mood"] == {"x": [1]}
    assert told["01990000-0000-7000-8000-000000000001"]["kind"] == "rumour"
    assert late in (ann.path / FILE).read_text()
    assert [*told] == sorted(told)


def test_share_out_does_not_add_teammates_records_to_another_branch(ann: Repo, bob: Repo) -> None:
    """A branch that never had a record is not given it by whoever checks it out."""
    bob.git("branch", "old")
    shared(ann, "from ann")
    save(ann)
    bob.git("pull", "-q")
    bob.git("checkout", "-q", "old")
    bob.mem("share", "out")
    assert not (bob.path / FILE).exists()


def test_share_quarantines_and_lets_the_rest_in(ann: Repo) -> None:
    bad = f'{{"id":"01990000-0000-7000-8000-000000000001","content":"the token is {KEY}"}}'
    ann.write(FILE, bad + '\n{"id":"01990000-0000-7000-8000-000000000002","content":"fine"}\n')
    said = ann.mem("hook", "share", "0")
    assert "1 shared memories were kept out" in said.stderr and KEY not in said.stderr
    assert contents(ann) == ["fine"]
    kept = json.loads(ann.mem("quarantine", "--json").stdout)["quarantine"]
    assert [(one["id"][-1], one["source"], one["masked"]) for one in kept] == [("1", FILE, KEY[:4] + "…")]
    assert KEY.encode() not in b"".join(path.read_bytes() for path in (ann.path / ".mem").iterdir())
    ann.write(FILE, bad.replace(KEY, "in the vault") + "\n")
    ann.mem("share", "in")
    assert json.loads(ann.mem("quarantine", "--json").stdout) == {"quarantine": []}


def test_share_out_keeps_back_what_the_guard_objects_to(ann: Repo) -> None:
    ann.mem("init")
    code = "from memhooks.memory.api import Store; import sys; Store.open(sys.argv[1]).remember_many([{'content':"
    code += " 'the token is ' + sys.argv[2], 'shared': True}], check=False)"
    tree = str(Path(__file__).parents[1] / "_tree")
    ann.run("python", "-c", code, str(ann.path / ".mem" / "mem.db"), KEY, environ={"PYTHONPATH": tree})
    said = ann.mem("share", "out")
    assert "is not written" in said.stderr and KEY not in said.stderr
    assert not (ann.path / FILE).exists()


@pytest.mark.parametrize("text", ["<<<<<<< HEAD\n", "{\n", '{"id":"x"}\n'], ids=["marker", "json", "record"])
def test_share_never_writes_over_a_file_that_it_cannot_read(ann: Repo, text: str) -> None:
    ann.write(FILE, text)
    shared(ann, "mine")
    assert ann.mem("share", "out", check=False).returncode == 1
    stopped = ann.commit(check=False)
    assert stopped.returncode == 1 and "line 1" in stopped.stderr
    assert ann.mem("hook", "share", "0").returncode == 0
    assert (ann.path / FILE).read_text() == text


def test_share_on_and_off(ann: Repo) -> None:
    ident = json.loads(ann.mem("remember", "a fact", "--json").stdout)["id"]
    ann.mem("share", "on", ident)
    ann.mem("share", "out")
    assert list(records(ann)) == [ident]
    ann.mem("share", "off", ident)
    assert records(ann) == {} and contents(ann) == ["a fact"]
    ann.mem("share", "out")
    assert records(ann) == {}
    ann.mem("share", "on", ident[-8:])
    ann.mem("share", "out")
    assert list(records(ann)) == [ident]


def test_share_recall_and_pin_do_not_touch_the_file(ann: Repo) -> None:
    shared(ann, "the zebra fact")
    save(ann)
    ann.mem("recall", "zebra")
    assert "nothing to write" in ann.mem("share", "out").stdout
    assert ann.git("status", "--porcelain").stdout == ""


def test_share_keeps_what_stands_in_gitattributes(ann: Repo) -> None:
    ann.write(".gitattributes", "*.png binary\r\n# mine")
    shared(ann, "a fact")
    ann.mem("share", "out")
    ann.mem("share", "out")
    expected = f"*.png binary\r\n# mine\r\n{FILE} merge=union text eol=lf\r\n"
    assert (ann.path / ".gitattributes").read_bytes() == expected.encode()


def test_share_hook_without_anything_to_share_makes_nothing(ann: Repo) -> None:
    ann.write("b.txt", "b")
    ann.commit()
    ann.git("checkout", "-q", "-b", "x")
    assert not (ann.path / ".mem").exists() and not (ann.path / FILE).exists()


@pytest.mark.parametrize("place", ["../out.ndjson", ".git/x", ".mem/x", "link/x"])
def test_share_file_stays_inside_the_project(ann: Repo, tmp_path: Path, place: str) -> None:
    (tmp_path / "outside").mkdir()
    (ann.path / "link").symlink_to(tmp_path / "outside")
    shared(ann, "a fact")
    assert ann.mem("share", "out", environ={"MEM_SHARE_FILE": place}, check=False).returncode == 2
    assert not list((tmp_path / "outside").iterdir())


def test_share_waits_for_room(ann: Repo) -> None:
    lines = [f'{{"id":"01990000-0000-7000-8000-00000000000{n}","content":"fact {n}"}}\n' for n in range(3)]
    ann.write(FILE, "".join(lines))
    full = {"MEM_LIMITS_MEMORIES": "2"}
    assert "wait in the file" in ann.mem("hook", "share", "0", environ=full).stderr
    assert len(contents(ann)) == 2
    ann.mem("hook", "share", "0")
    assert len(contents(ann)) == 3


def test_share_command_exchanges_by_any_named_file(ann: Repo, bob: Repo, tmp_path: Path) -> None:
    shared(ann, "a fact")
    ann.mem("share", "out", str(tmp_path / "x.ndjson"))
    bob.mem("share", "in", str(tmp_path / "x.ndjson"))
    assert contents(bob) == ["a fact"]
    assert bob.mem("share", "in", "nowhere.ndjson", check=False).returncode == 1


def test_share_hooks_that_had_nothing_to_do_see_the_next_change(ann: Repo) -> None:
    """Both sides leave a note of what they saw; any change of either side is work again."""
    ident = shared(ann, "first")
    save(ann)
    for words in ((), ("0",)):
        assert ann.mem("hook", "share", *words).returncode == 0
    shared(ann, "second")
    assert ann.mem("hook", "share", check=False).returncode == 1
    assert ann.mem("hook", "share").returncode == 0
    ann.mem("correct", ident, "first, better")
    assert ann.mem("hook", "share", check=False).returncode == 1
    lines = (ann.path / FILE).read_text()
    ann.write(FILE, lines + '{"id":"01990000-0000-7000-8000-000000000001","content":"third"}\n')
    ann.mem("hook", "share", "0")
    assert contents(ann) == ["first, better", "second", "third"]
    ann.write(FILE, "")
    assert ann.mem("hook", "share", check=False).returncode == 1
    assert "second" in (ann.path / FILE).read_text() and "third" not in (ann.path / FILE).read_text()


def test_quarantine_can_be_dropped(ann: Repo) -> None:
    ann.write(FILE, f'{{"id":"01990000-0000-7000-8000-000000000001","content":"the token is {KEY}"}}\n')
    ann.mem("share", "in")
    assert "1" in ann.mem("quarantine").stdout
    for no_id in ("%", "0", "________"):
        assert ann.mem("quarantine", "--drop", no_id, check=False).returncode == 2
    assert "1" in ann.mem("quarantine").stdout
    ann.mem("quarantine", "--drop", "00000001")
    assert ann.mem("quarantine").stdout == "nothing was kept out\n"
    assert ann.mem("quarantine", "--drop", "00000001", check=False).returncode == 1
