"""The git calls, on real repositories."""

from __future__ import annotations

import os
import subprocess
import zlib
from pathlib import Path

import pytest
from memhooks.hooks import git
from memhooks.hooks.child import find_program
from memhooks.hooks.loose import read_blob

ZERO = "0" * 40


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    empty = tmp_path / "no-config"
    empty.touch()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_CONFIG_GLOBAL": str(empty),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }


@pytest.fixture
def root(tmp_path: Path, environ: dict[str, str]) -> str:
    root = str(tmp_path / "repo")
    subprocess.run(["git", "init", "-q", "-b", "main", root], env=environ, check=True)
    return root


def put(root: str, environ: dict[str, str], **files: str) -> None:
    for name, text in files.items():
        Path(root, name).write_text(text)
    git.run(["add", "-A"], cwd=root, environ=environ)


def test_run_feeds_more_than_a_pipe_holds(root: str, environ: dict[str, str]) -> None:
    data = os.urandom(1 << 20)
    blob = git.run(["hash-object", "-w", "--stdin"], cwd=root, environ=environ, input=data).decode().strip()
    assert git.run(["cat-file", "blob", blob], cwd=root, environ=environ) == data


def test_run_says_what_git_said(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(git.GitFailed, match="not a git repository"):
        git.staged(str(tmp_path), environ)


def test_run_without_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(git.GitFailed, match="install git"):
        git.run(["version"], cwd=str(tmp_path), environ={"PATH": str(tmp_path)})


def test_program_is_never_taken_from_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "git"
    fake.write_text("#!/bin/sh\n")
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="not on PATH"):
        find_program("git", {"PATH": ".:"})


def test_clean_environ_drops_a_hooks_context_and_keeps_the_users_choices() -> None:
    cleaned = git.clean_environ({
        "GIT_DIR": "x", "GIT_INDEX_FILE": "x", "GIT_WORK_TREE": "x", "GIT_OBJECT_DIRECTORY": "x", "GIT_PREFIX": "x",
        "GIT_SSH_COMMAND": "ssh -4", "GIT_AUTHOR_NAME": "A", "PATH": "/bin",
    })  # fmt: skip
    assert cleaned == {"GIT_SSH_COMMAND": "ssh -4", "GIT_AUTHOR_NAME": "A", "PATH": "/bin"}


def test_run_ignores_the_repository_of_a_surrounding_hook(root: str, environ: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], env=environ, check=True)
    inside_hook = {**environ, "GIT_DIR": str(other / ".git")}
    top = git.run(["rev-parse", "--show-toplevel"], cwd=root, environ=inside_hook)
    assert os.path.realpath(top.decode().strip()) == os.path.realpath(root)


def test_staged_before_the_first_commit_lists_all(root: str, environ: dict[str, str]) -> None:
    put(root, environ, a="1", b="2")
    assert [(entry.status, entry.path, entry.mode) for entry in git.staged(root, environ)] == [
        ("A", "a", "100644"),
        ("A", "b", "100644"),
    ]


def test_staged_names_odd_paths_exactly(root: str, environ: dict[str, str]) -> None:
    names = ["KO é.md", "two words.md", "new\nline.md", 'quo"te.md', os.fsdecode(b"latin-\xe9.md")]
    for name in names:
        Path(root, name).write_text(name.encode("utf-8", "surrogateescape").hex())
    git.run(["add", "-A"], cwd=root, environ=environ)
    assert sorted(entry.path for entry in git.staged(root, environ)) == sorted(names)
    with git.Blobs(cwd=root, environ=environ) as blobs:
        found = {entry.path: blob for entry, blob in zip(
            git.staged(root, environ), blobs.read(e.blob for e in git.staged(root, environ)), strict=True)}  # fmt: skip
    assert {path: os.fsdecode(bytes.fromhex(blob.data.decode())) for path, blob in found.items()} == {
        name: name for name in names
    }


def test_staged_sees_the_index_that_the_environment_names(root: str, environ: dict[str, str]) -> None:
    put(root, environ, a="1", b="2")
    index = os.path.join(root, "other-index")
    inside_hook = {**environ, "GIT_INDEX_FILE": index}
    subprocess.run(["git", "add", "a"], cwd=root, env=inside_hook, check=True)
    assert [entry.path for entry in git.staged(root, inside_hook)] == ["a"]


def test_staged_from_a_subfolder_lists_the_whole_index(root: str, environ: dict[str, str]) -> None:
    Path(root, "sub").mkdir()
    put(root, environ, a="1")
    git.run(["config", "diff.relative", "true"], cwd=root, environ=environ)
    assert [entry.path for entry in git.staged(os.path.join(root, "sub"), environ)] == ["a"]


def test_staged_tells_additions_deletions_and_types(root: str, environ: dict[str, str]) -> None:
    put(root, environ, old="text\n" * 20, gone="other\n" * 20, kind="k")
    git.run(["commit", "-qm", "x"], cwd=root, environ=environ)
    Path(root, "old").rename(Path(root, "new"))
    Path(root, "gone").unlink()
    Path(root, "kind").unlink()
    Path(root, "kind").symlink_to("new")
    git.run(["add", "-A"], cwd=root, environ=environ)
    assert {(e.status, e.path, e.mode) for e in git.staged(root, environ)} == {
        ("A", "new", "100644"),
        ("D", "old", "000000"),
        ("D", "gone", "000000"),
        ("T", "kind", git.SYMLINK),
    }


def test_staged_leaves_out_what_is_only_intended(root: str, environ: dict[str, str]) -> None:
    Path(root, "later").write_text("x")
    git.run(["add", "-N", "later"], cwd=root, environ=environ)
    assert git.staged(root, environ) == []


def test_tracked_takes_names_literally(root: str, environ: dict[str, str]) -> None:
    put(root, environ, **{"*.md": "1", "b.md": "2", ":x": "3"})
    assert [entry.path for entry in git.tracked(root, environ, ["*.md"])] == ["*.md"]
    assert [entry.path for entry in git.tracked(root, environ, [":x"])] == [":x"]
    assert len(git.tracked(root, environ)) == 3


def test_changed_follows_a_rename(root: str, environ: dict[str, str]) -> None:
    put(root, environ, old="text\n" * 20)
    git.run(["commit", "-qm", "1"], cwd=root, environ=environ)
    git.run(["mv", "old", "new"], cwd=root, environ=environ)
    git.run(["commit", "-qm", "2"], cwd=root, environ=environ)
    (entry,) = git.changed("HEAD~1", "HEAD", cwd=root, environ=environ)
    assert (entry.status, entry.old_path, entry.path) == ("R", "old", "new")


@pytest.mark.parametrize("loose", [False, True], ids=["git", "loose"])
def test_blobs_answers_thousands_in_order_and_names_the_missing(
    root: str, environ: dict[str, str], loose: bool
) -> None:
    put(root, environ, small="1", big="x" * 200_000, empty="")
    ids = {entry.path: entry.blob for entry in git.staged(root, environ)}
    asked = [ids["small"], ZERO, ids["big"], ids["empty"], "HEAD:none", "a\nb"] * 400
    objects = os.path.join(root, ".git", "objects") if loose else ""
    with git.Blobs(cwd=root, environ=environ, objects=objects) as blobs:
        answers = list(blobs.read(asked))
    assert [blob.name for blob in answers] == asked
    assert [(blob.kind, blob.size, len(blob.data)) for blob in answers[:6]] == [
        ("blob", 1, 1), ("", 0, 0), ("blob", 200_000, 200_000), ("blob", 0, 0), ("", 0, 0), ("", 0, 0),
    ]  # fmt: skip


def test_blobs_cuts_at_its_limit_and_goes_on(root: str, environ: dict[str, str]) -> None:
    put(root, environ, big="x" * 200_000, small="1")
    with git.Blobs(cwd=root, environ=environ, limit=10) as blobs:
        big, small = blobs.read([":big", ":small"])
    assert (big.size, big.data, small.data) == (200_000, b"x" * 10, b"1")


def test_blobs_closed_early_leaves_no_process(root: str, environ: dict[str, str]) -> None:
    put(root, environ, big="x" * 2_000_000)
    with git.Blobs(cwd=root, environ=environ, limit=10) as blobs:
        next(blobs.read([":big"] * 50))
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_blobs_outside_a_repository_fails(tmp_path: Path, environ: dict[str, str]) -> None:
    with pytest.raises(git.GitFailed), git.Blobs(cwd=str(tmp_path), environ=environ) as blobs:
        list(blobs.read(["HEAD:x"]))


@pytest.mark.parametrize("name", ["GIT_LITERAL_PATHSPECS", "GIT_ICASE_PATHSPECS", "GIT_NOGLOB_PATHSPECS"])
def test_tracked_is_not_misled_by_the_users_pathspecs(root: str, environ: dict[str, str], name: str) -> None:
    put(root, environ, a="1")
    for names in ([], ["a"]):
        assert [entry.path for entry in git.tracked(root, {**environ, name: "1"}, names)] == ["a"]


def test_blobs_are_the_objects_themselves(root: str, environ: dict[str, str]) -> None:
    put(root, environ, bad="bad", good="good")
    ids = {entry.path: entry.blob for entry in git.staged(root, environ)}
    git.run(["replace", ids["bad"], ids["good"]], cwd=root, environ=environ)
    with git.Blobs(cwd=root, environ=environ) as blobs:
        (blob,) = blobs.read([ids["bad"]])
    assert blob.data == b"bad"


def test_calls_work_with_sha256(tmp_path: Path, environ: dict[str, str]) -> None:
    root = str(tmp_path / "repo")
    subprocess.run(["git", "init", "-q", "--object-format=sha256", root], env=environ, check=True)
    put(root, environ, **{f"f{number}": str(number) for number in range(200)})
    entries = git.staged(root, environ)
    with git.Blobs(cwd=root, environ=environ) as blobs:
        assert [b"f" + blob.data for blob in blobs.read(entry.blob for entry in entries)] == [
            entry.path.encode() for entry in entries
        ]
    git.run(["commit", "-qm", "x"], cwd=root, environ=environ)
    assert len(git.history(root, environ)) == 200


def test_blobs_that_lie_loose_start_no_git(root: str, environ: dict[str, str]) -> None:
    put(root, environ, a="1", b="x" * 100_000, c="")
    ids = {entry.path: entry.blob for entry in git.staged(root, environ)}
    objects = os.path.join(root, ".git", "objects")
    with git.Blobs(cwd=root, environ={"PATH": "/nowhere"}, objects=objects) as blobs:
        assert [blob.size for blob in blobs.read(ids.values())] == [1, 100_000, 0]
    git.run(["commit", "-qm", "x"], cwd=root, environ=environ)
    git.run(["gc", "-q"], cwd=root, environ=environ)
    put(root, environ, d="loose")
    with git.Blobs(cwd=root, environ=environ, objects=objects) as blobs:
        assert [blob.size for blob in blobs.read([*ids.values(), ":d"])] == [1, 100_000, 0, 5]


@pytest.mark.parametrize("damage", ["empty", "cut", "rubbish", "longer", "tree"])
def test_read_blob_leaves_what_is_not_plain_to_git(root: str, environ: dict[str, str], damage: str) -> None:
    put(root, environ, a="some text that is long enough to be cut")
    objects = os.path.join(root, ".git", "objects")
    (entry,) = git.staged(root, environ)
    path = Path(objects, entry.blob[:2], entry.blob[2:])
    assert read_blob(objects, entry.blob, 1000) == b"some text that is long enough to be cut"
    assert read_blob(objects, entry.blob, 20) is None
    whole = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes({
        "empty": b"", "cut": whole[:-2], "rubbish": b"rubbish", "longer": whole + b"x",
        "tree": zlib.compress(b"tree 1\0x"),
    }[damage])  # fmt: skip
    assert read_blob(objects, entry.blob, 1000) is None
