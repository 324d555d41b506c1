"""Write files whole or not at all, lock them, and tell whether a path lies inside a folder.

A file is written beside its place and renamed over it, so that a reader sees the old bytes or the new ones. Mode,
owner, extended attributes and symbolic links of what was there stay. Errors of the system are raised as OSError.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from types import TracebackType

from ..memory.errors import Locked


def read(path: str) -> bytes | None:
    """Return the bytes of the file at `path`, None where there is none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write_atomic(path: str, data: bytes, *, mode: int | None = None) -> bool:
    """Make `data` the content of `path` and return True; return False where it was so already.

    The target of a symbolic link is written, the link stays. An existing file keeps its mode and owner unless `mode` is
    given; a new one gets `mode`, or what the umask leaves of 0666. The folder must exist. A file with several hard
    links, or one whose owner can't be kept, is overwritten in place: a rename would cut it off.
    """
    target = os.path.realpath(path)
    try:
        before = os.stat(target)
    except FileNotFoundError:
        before = None
    if before is not None:
        if not stat.S_ISREG(before.st_mode):
            raise OSError(f"{target} is not a regular file")
        if read(target) == data:
            if mode is not None and stat.S_IMODE(before.st_mode) != mode:
                os.chmod(target, mode)
            return False
    if before is not None and before.st_nlink > 1:
        _overwrite(target, data)
    else:
        _replace(target, data, mode=mode, before=before)
    return True


def _replace(target: str, data: bytes, *, mode: int | None, before: os.stat_result | None) -> None:
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:200]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    # Never more open than the file it becomes, not even for a moment.
    first_mode = 0o666 if mode is None and before is None else 0o600
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), first_mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if before is not None and not _keep_owner(descriptor, before):
                os.unlink(beside)
                _overwrite(target, data)
                return
            file.write(data)
            file.flush()
            if before is not None:
                _keep_attributes(target, descriptor)
            if mode is None and before is not None:
                mode = stat.S_IMODE(before.st_mode)
            if mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)
        raise


def _keep_owner(descriptor: int, before: os.stat_result) -> bool:
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return True
    try:
        os.fchown(descriptor, before.st_uid, before.st_gid)
    except OSError:
        return False
    return True


def _keep_attributes(source: str, descriptor: int) -> None:
    # Access lists live in extended attributes; some file systems have none, and some names only root may set.
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(source):
            with contextlib.suppress(OSError):
                os.setxattr(descriptor, name, os.getxattr(source, name))


def _overwrite(target: str, data: bytes) -> None:
    with open(target, "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


class Lock:
    """Hold an exclusive lock on a file while the `with` block runs; the kernel lets go of it when the process dies.

    Waits at most `timeout` seconds, then raises Locked. The file is made (0600) when missing and is left behind:
    removing a locked file would let two holders in.
    """

    def __init__(self, path: str, *, timeout: float = 5.0) -> None:
        self.path = path
        self.timeout = timeout
        self._descriptor = -1

    def __enter__(self) -> Lock:
        deadline = time.monotonic() + self.timeout
        while not self._try():
            if time.monotonic() >= deadline:
                raise Locked(f"{self.path} is held by another process")
            time.sleep(0.02)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _try(self) -> bool:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            # Someone may have replaced the file between open and lock: then the lock guards nothing.
            if _lock(descriptor) and os.path.samestat(os.fstat(descriptor), os.stat(self.path)):
                self._descriptor = descriptor
                return True
        except FileNotFoundError:
            pass
        os.close(descriptor)
        return False


def _lock(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows: its lock is on a range of bytes, and goes with the handle as well
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def inside(root: str, path: str) -> bool:
    """Return whether `path` is `root` or lies below it, symbolic links resolved; of an absent path the nearest folder
    that exists is resolved, so that a link in the middle can't lead out."""
    folder, place = os.path.realpath(root), os.path.realpath(path)
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)
