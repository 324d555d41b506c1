"""Files are written whole, keep what they had, and locks hold."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest
from memhooks.hooks.files import Lock, inside, read, write_atomic
from memhooks.memory.errors import Locked


def test_write_atomic_makes_a_file(tmp_path):
    assert write_atomic(str(tmp_path / "a"), b"x", mode=0o600) is True
    assert (tmp_path / "a").read_bytes() == b"x"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o600


def test_write_atomic_follows_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_atomic(str(tmp_path / "a"), b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_write_atomic_leaves_equal_bytes_alone(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x")
    os.utime(path, (1, 1))
    assert write_atomic(str(path), b"x") is False
    assert path.stat().st_mtime == 1


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o444])
def test_write_atomic_keeps_the_mode(tmp_path, mode):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomic(str(path), b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away")
def test_write_atomic_keeps_the_owner(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 1234)
    write_atomic(str(path), b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1234)


def test_write_atomic_keeps_a_symlink(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("real/a")
    write_atomic(str(link), b"new")
    assert link.is_symlink() and os.readlink(link) == "real/a"
    assert target.read_bytes() == b"new"


def test_write_atomic_keeps_a_hard_link(tmp_path):
    (tmp_path / "a").write_bytes(b"longer than before")
    os.link(tmp_path / "a", tmp_path / "b")
    write_atomic(str(tmp_path / "a"), b"new")
    assert (tmp_path / "b").read_bytes() == b"new"


def test_write_atomic_leaves_no_temporary_file_when_it_fails(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError("disk full")

    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(str(folder / "a"), b"new")
    assert os.listdir(folder) == ["a"]
    assert (folder / "a").read_bytes() == b"old"


def test_write_atomic_refuses_a_folder(tmp_path):
    with pytest.raises(OSError, match="not a regular file"):
        write_atomic(str(tmp_path), b"x")


def test_read_of_nothing_is_none(tmp_path):
    assert read(str(tmp_path / "a")) is None


def test_lock_keeps_a_second_holder_out(tmp_path):
    path = str(tmp_path / "lock")
    with Lock(path), pytest.raises(Locked), Lock(path, timeout=0):
        pass
    with Lock(path, timeout=0):
        pass


def test_lock_goes_with_its_process(tmp_path):
    path = str(tmp_path / "lock")
    code = (
        f"import sys, os; sys.path[:0] = {sys.path!r}\n"
        "from memhooks.hooks.files import Lock\n"
        f"Lock({path!r}).__enter__(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9
    with Lock(path, timeout=0):
        pass


def test_inside_resolves_symlinks(tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "out")
    root = str(tmp_path / "root")
    assert inside(root, root)
    assert inside(root, root + "/a/b/not-there")
    assert not inside(root, root + "/link/not-there")
    assert not inside(root, root + "/../out")
    assert not inside(root, root + "ed")
