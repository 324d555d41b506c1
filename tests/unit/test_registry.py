"""The list of projects that have a store."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from memhooks.memory import private
from memhooks.memory.project import Project, personal
from memhooks.memory.registry import Entry, register, registered

DAY = 86400.0


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"MEM_HOME": str(home / "mem")}


def project_at(folder: Path) -> Project:
    (folder / ".mem").mkdir(parents=True)
    (folder / ".mem" / "mem.db").touch()
    return Project(str(folder), str(folder / ".mem" / "mem.db"), "branch:main", str(folder / ".git"))


def index_of(environ: dict[str, str]) -> dict[str, dict[str, str]]:
    raw = json.loads(Path(environ["MEM_HOME"], "index.json").read_text())
    assert isinstance(raw, dict)
    return raw


def test_registry_maps_the_hash_of_the_root(tmp_path: Path, environ: dict[str, str]) -> None:
    project = project_at(tmp_path / "shop é")
    register(project, environ, 0.0)
    key = hashlib.sha256(project.root.encode()).hexdigest()
    assert index_of(environ) == {
        key: {
            "root": project.root, "store": project.store_path, "name": "shop é",
            "updated_at": "1970-01-01T00:00:00.000000Z",
        }
    }  # fmt: skip
    assert registered(environ) == [Entry(project.root, project.store_path, "shop é", "1970-01-01T00:00:00.000000Z")]


def test_registry_names_the_root_of_the_store(tmp_path: Path, environ: dict[str, str]) -> None:
    """A linked worktree registers the main one, and a bare repository the folder that people call by its name."""
    main = project_at(tmp_path / "shop")
    register(main._replace(root=str(tmp_path / "linked")), environ, 0.0)
    bare = tmp_path / "depot" / ".bare"
    (bare / "mem").mkdir(parents=True)
    (bare / "mem" / "mem.db").touch()
    register(Project(str(tmp_path / "depot" / "main"), str(bare / "mem" / "mem.db"), "default"), environ, 0.0)
    assert [(entry.root, entry.name) for entry in registered(environ)] == [(str(bare), "depot"), (main.root, "shop")]


def test_registry_stamps_once_a_day(tmp_path: Path, environ: dict[str, str]) -> None:
    project = project_at(tmp_path / "shop")
    stamps = []
    for now in (0.0, DAY - 1, DAY, DAY + 5):
        register(project, environ, now)
        stamps.append(registered(environ)[0].updated_at[:10])
    assert stamps == ["1970-01-01", "1970-01-01", "1970-01-02", "1970-01-02"]


def test_registry_mends_a_clock_that_ran_ahead(tmp_path: Path, environ: dict[str, str]) -> None:
    project = project_at(tmp_path / "shop")
    register(project, environ, 1e9)
    register(project, environ, 0.0)
    assert registered(environ)[0].updated_at.startswith("1970")


def test_registry_leaves_out_stores_that_are_gone(tmp_path: Path, environ: dict[str, str]) -> None:
    one, other = project_at(tmp_path / "one"), project_at(tmp_path / "other")
    for project in (one, other):
        register(project, environ, 0.0)
    os.unlink(one.store_path)
    assert [entry.root for entry in registered(environ)] == [other.root]


def test_registry_keeps_pinned_and_personal_out(tmp_path: Path, environ: dict[str, str]) -> None:
    register(project_at(tmp_path / "shop")._replace(pinned=True), environ, 0.0)
    register(personal(environ), environ, 0.0)
    assert registered(environ) == []
    assert not os.path.exists(environ["MEM_HOME"])


@pytest.mark.parametrize(
    "rubbish", [b"", b"[]", b"{", b"\xff\xfe", b'{"a": 1}', b"[" * 100_000, b"null"], ids=lambda text: repr(text[:9])
)
def test_registry_is_made_anew_over_rubbish(tmp_path: Path, environ: dict[str, str], rubbish: bytes) -> None:
    os.makedirs(environ["MEM_HOME"])
    Path(environ["MEM_HOME"], "index.json").write_bytes(rubbish)
    assert registered(environ) == []
    register(project_at(tmp_path / "shop"), environ, 0.0)
    assert [entry.name for entry in registered(environ)] == ["shop"]


def test_registry_one_bad_entry_costs_no_other(tmp_path: Path, environ: dict[str, str]) -> None:
    register(project_at(tmp_path / "one"), environ, 0.0)
    index = index_of(environ)
    index["bad"] = {"root": "/x"}
    index["worse"] = {"root": "/x", "store": "/x", "name": "x", "updated_at": "yesterday"}
    Path(environ["MEM_HOME"], "index.json").write_text(json.dumps(index))
    register(project_at(tmp_path / "two"), environ, 0.0)
    assert [entry.name for entry in registered(environ)] == ["one", "two"]


def test_registry_takes_a_root_of_other_bytes(tmp_path: Path, environ: dict[str, str]) -> None:
    project = project_at(tmp_path / os.fsdecode(b"caf\xe9"))
    register(project, environ, 0.0)
    assert registered(environ)[0].root == project.root


def test_registry_does_without_a_home_that_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    register(project_at(tmp_path / "shop"), {"MEM_HOME": str(tmp_path / "file" / "mem")}, 0.0)


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o777], ids=oct)
def test_private_is_private_from_the_first_byte(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert private.write(str(tmp_path / "a" / "b" / "c.json"), "{}")
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o700, 0o700]
    assert (tmp_path / "a" / "b" / "c.json").stat().st_mode & 0o177 == 0
    assert os.listdir(tmp_path / "a" / "b") == ["c.json"]


def test_private_leaves_a_folder_that_is_there(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert private.write(str(tmp_path / "c.json"), "{}")
    assert tmp_path.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("text", ["\ud800"], ids=["half a character"])
def test_private_failure_leaves_the_old_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.json"
    path.write_text("old")
    assert not private.write(str(path), text)
    assert path.read_text() == "old"
