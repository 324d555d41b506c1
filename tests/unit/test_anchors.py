"""Paths in texts, and what a moved file makes of an anchor."""

from __future__ import annotations

from pathlib import Path

import pytest
from memhooks.memory import anchor_states, anchors
from memhooks.memory.anchor_states import Anchor, Seen, compare
from memhooks.memory.api import Store
from memhooks.memory.errors import UsageError
from memhooks.memory.project import Project

A, B = "a" * 40, "b" * 40
HEAD, OLD = "c" * 40, "d" * 40


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("Tokens in src/auth.py rotate.", ["src/auth.py"]),
        ("`lib/a-b/x.test.ts:12` and (docs/x.md)", ["lib/a-b/x.test.ts", "docs/x.md"]),
        ("see ./run/all.sh", ["run/all.sh"]),
        ("app/[id]/page.tsx", ["app/[id]/page.tsx"]),
        ("package.json wins over setup.cfg.", ["package.json", "setup.cfg"]),
        ("http://host.example/a/b.py", []),
        ("/etc/passwd and ../secrets/x.py and ~/x.py", []),
        (".git/config, .mem/mem.db", []),
        ("version 1.2.3, 50 %, no path", []),
        ("src/café.py", ["src/café.py"]),
        ("a/b.py a/b.py", ["a/b.py"]),
    ],
)
def test_paths_in_finds_relative_paths(text: str, paths: list[str]) -> None:
    assert list(anchors.paths_in(text)) == paths


def test_paths_in_is_bounded() -> None:
    assert len(anchors.paths_in(" ".join(f"src/f{n}.py" for n in range(100)))) == anchors.MAX_PATHS


def seen(blobs: dict[str, str], *, renames: dict[str, str] | None = None, changed: str = "") -> Seen:
    commits = {"f.py": changed} if changed else {}
    return Seen(HEAD, blobs, renames or {}, commits, commits)


@pytest.mark.parametrize(
    ("anchor", "world", "expected"),
    [
        (Anchor("m", "f.py", A), seen({"f.py": A}), Anchor("m", "f.py", A)),
        (Anchor("m", "f.py", A), seen({"f.py": B}, changed=OLD), Anchor("m", "f.py", A, "stale", OLD)),
        (Anchor("m", "f.py", A), seen({"f.py": B}), Anchor("m", "f.py", A, "stale", HEAD)),
        (Anchor("m", "f.py", A, "stale", OLD), seen({"f.py": B}), Anchor("m", "f.py", A, "stale", OLD)),
        (Anchor("m", "f.py", A, "stale", OLD), seen({"f.py": A}), Anchor("m", "f.py", A)),
        (Anchor("m", "f.py", A), seen({"g.py": A}, renames={"f.py": "g.py"}), Anchor("m", "g.py", A)),
        (Anchor("m", "f.py", A), seen({"g.py": B}, renames={"f.py": "g.py"}), Anchor("m", "g.py", A, "stale", HEAD)),
        (Anchor("m", "f.py", A), seen({}, changed=OLD), Anchor("m", "f.py", A, "orphaned", OLD)),
        (Anchor("m", "f.py", A, "orphaned", OLD), seen({"f.py": A}), Anchor("m", "f.py", A)),
        (Anchor("m", "f.py", ""), seen({"f.py": A}), Anchor("m", "f.py", A)),
        (Anchor("m", "no.py", ""), seen({}), None),
    ],
    ids=["same", "changed", "changed unseen", "still stale", "changed back", "renamed", "renamed and changed",
         "deleted", "brought back", "pending", "no such file"],
)  # fmt: skip
def test_compare_follows_file(anchor: Anchor, world: Seen, expected: Anchor | None) -> None:
    assert compare(anchor, world) == expected


def test_settle_leaves_an_anchor_that_was_confirmed_meanwhile(store: Store) -> None:
    """Git is asked before the transaction; a `mem confirm` in between must win."""
    memory = store.remember(content="a fact")
    anchors.attach(store.db, memory.id, {"f.py": A})
    old = Anchor(memory.id, "f.py", A)
    anchors.attach(store.db, memory.id, {"f.py": B})
    anchor_states.settle(store.db, old, old._replace(state="stale", since=HEAD))
    assert anchor_states.every(store.db) == [Anchor(memory.id, "f.py", B)]


def test_describe_names_the_commit_and_the_file(store: Store) -> None:
    memory = store.remember(content="a fact")
    anchors.attach(store.db, memory.id, {"f.py": A, "g.py": A})
    assert anchors.describe(store.db, memory.id) == ""
    store.db.execute("UPDATE anchors SET state = 'stale', since = ? WHERE path = 'f.py'", (HEAD,))
    assert anchors.describe(store.db, memory.id) == f"stale since {HEAD[:7]}: f.py changed"
    store.db.execute("UPDATE anchors SET state = 'orphaned', since = ?", (HEAD,))
    assert anchors.describe(store.db, memory.id) == f"orphaned since {HEAD[:7]}: f.py and 1 more is gone"


def test_correct_anchors_the_new_text_anew(store: Store) -> None:
    old = store.remember(content="a fact", anchors={"f.py": A})
    new = store.correct(old.id, "a better fact")
    assert [(one.memory, one.path, one.is_pending) for one in anchor_states.every(store.db)] == [(new.id, "f.py", True)]


def test_forget_takes_anchors_with_it(store: Store) -> None:
    memory = store.remember(content="a fact", anchors={"f.py": A})
    store.forget(memory.id)
    assert store.db.execute("SELECT count(*) FROM anchors").fetchone() == (0,)


def test_touched_keeps_newest_first_and_is_bounded(store: Store) -> None:
    anchors.note_touched(store.db, [(f"f{n}.py", HEAD) for n in range(300)])
    assert len(anchors.touched(store.db)) == anchors.MAX_TOUCHED
    assert anchors.touched(store.db, 2) == ["f0.py", "f1.py"]
    anchors.note_touched(store.db, [("b.py", HEAD), ("a.py", OLD), ("b.py", OLD)])
    assert anchors.touched(store.db) == ["b.py", "a.py"]


def test_relative_refuses_what_lies_outside(tmp_path: Path) -> None:
    (tmp_path / "p" / "src").mkdir(parents=True)
    root = str(tmp_path / "p")
    assert anchors.relative(root, root + "/src", "a.py") == "src/a.py"
    assert anchors.relative(root, root + "/src", root + "/b.py") == "b.py"
    with pytest.raises(UsageError):
        anchors.relative(root, root, "../other.py")


def test_pending_takes_the_paths_that_are_there(tmp_path: Path) -> None:
    root = tmp_path / "p"
    (root / ".git" / "refs" / "heads").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git" / "refs" / "heads" / "main").write_text(HEAD + "\n")
    (root / "src").mkdir()
    (root / "src" / "auth.py").write_text("x")
    project = Project(str(root), "", "branch:main", str(root / ".git"), str(root / ".git"))
    found = anchors.pending(project, "see src/auth.py and src/gone.py", files=["src/auth.py"])
    assert found == {"src/auth.py": "@" + HEAD}
    with pytest.raises(UsageError):
        anchors.pending(project, files=["src/gone.py"])
