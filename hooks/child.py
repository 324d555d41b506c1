"""Start a child process with a pipe on each stream, and talk to it.

By posix_spawn, since importing subprocess costs more than running git does. Where the system has no posix_spawn
(Windows), starting anything raises OSError with that reason.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from ..memory.named import NamedTuple

_SIGPIPE = 13  # Python ignores it, and an ignored signal would stay ignored in the child


class Child(NamedTuple):
    """A running process and our ends of its three pipes (file descriptors)."""

    pid: int
    stdin: int
    stdout: int
    stderr: int


def start(words: list[str], environ: Mapping[str, str]) -> Child:
    """Start the program `words[0]`, looked up on the PATH in `environ`. Raises OSError."""
    if not hasattr(os, "posix_spawn"):
        raise OSError(errno.ENOSYS, "this system has no posix_spawn")
    program = find_program(words[0], environ)
    (in_r, in_w), (out_r, out_w), (err_r, err_w) = os.pipe(), os.pipe(), os.pipe()
    try:
        actions = [(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate((in_r, out_w, err_w))]
        pid = os.posix_spawn(program, words, environ, file_actions=actions, setsigdef=(_SIGPIPE,))
    except OSError:
        for fd in (in_w, out_r, err_r):
            os.close(fd)
        raise
    finally:
        for fd in (in_r, out_w, err_w):
            os.close(fd)
    return Child(pid, in_w, out_r, err_r)


def find_program(name: str, environ: Mapping[str, str]) -> str:
    """Return the path of the program `name` on PATH. Raises OSError where there is none.

    Relative entries of PATH are passed over: they would let a repository bring its own git.
    """
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    raise OSError(errno.ENOENT, f"{name} is not on PATH")


def talk(child: Child, data: bytes) -> tuple[bytes, bytes]:
    """Feed `data` to the child's stdin and return its stdout and stderr; neither side can fill up and wait."""
    import select  # inside: the guard's own path through cat-file has no use for it

    view = memoryview(data)
    parts: dict[int, list[bytes]] = {child.stdout: [], child.stderr: []}
    readers = [child.stdout, child.stderr]
    writers = [child.stdin]
    try:
        if not data:
            os.close(writers.pop())
        while readers:
            readable, writable, _ = select.select(readers, writers, [])
            if writable:
                view = _feed(child.stdin, view)
                if not view:
                    os.close(writers.pop())
            for fd in readable:
                piece = os.read(fd, 65536)
                parts[fd].append(piece)
                if not piece:
                    readers.remove(fd)
    finally:
        for fd in (*writers, child.stdout, child.stderr):
            os.close(fd)
    return b"".join(parts[child.stdout]), b"".join(parts[child.stderr])


def _feed(fd: int, view: memoryview) -> memoryview:
    # 4,096 is PIPE_BUF where it is smallest: a writable pipe takes that much without blocking.
    try:
        return view[os.write(fd, view[:4096]) :]
    except BrokenPipeError:
        return view[:0]


def wait(child: Child) -> int:
    """Return the child's exit code once it has ended; below zero it is the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child.pid, 0)[1])
