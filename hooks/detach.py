"""Start work that outlives the hook: one child in a session of its own that holds none of the caller's pipes.

Git waits for whoever still has its pipes open, and an interactive rebase would never go on; so all three streams go to
the null device, and every other descriptor that the hook inherited is closed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_MAX_DESCRIPTOR = 65536  # hooks inherit a handful; closing a range is one system call on current kernels


def program() -> list[str]:
    """Return the words that run this very `mem` again, wherever it was started from.

    `-P` keeps the working directory off the path: a repository's own json.py must not run.
    """
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # A tree or an unpacked wheel is found by its folder; an editable install by the finder that it registered.
    root = os.path.dirname(home) if os.path.basename(home) == "memhooks" else ""
    path = f"sys.path.insert(0, {root!r}); " if root else ""
    code = f"import sys; {path}from memhooks.hooks.cli import entry; entry()"
    return [sys.executable, "-P", "-c", code]


def spawn(argv: list[str], *, cwd: str, environ: Mapping[str, str]) -> None:
    """Start `argv` (an absolute program first) detached in `cwd`; it is not waited for.

    GIT_* that tie git to one repository or index are left out of its environment. Raises OSError where no process can
    be made.
    """
    from .git import clean_environ

    env = clean_environ(environ)
    if not hasattr(os, "fork"):
        _spawn_without_fork(argv, cwd, env)
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)  # it ends at once; its own child belongs to init, so no zombie is left
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        os.closerange(3, _MAX_DESCRIPTOR)
        os.chdir(cwd)
        os.execve(argv[0], argv, env)  # noqa: S606 - a list of words, no shell
    finally:
        os._exit(127)


def _spawn_without_fork(argv: list[str], cwd: str, environ: dict[str, str]) -> None:
    import subprocess

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    null = subprocess.DEVNULL
    subprocess.Popen(argv, cwd=cwd, env=environ, stdin=null, stdout=null, stderr=null, creationflags=flags)
