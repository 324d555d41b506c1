"""Programs of hook managers that put a changed configuration to use: run them where they are found."""

from __future__ import annotations

import os
import shutil
import subprocess

from ...memory.record import printable
from ..git import clean_environ
from .site import Site

LIMIT = 120  # seconds: `pre-commit install` takes one, a first `npx` may fetch


def find(site: Site, name: str) -> str:
    """Return the path of a manager's program: of the project's own node_modules or environment, or on PATH."""
    beside = os.path.dirname(site.program)
    places = [os.path.join(site.root, "node_modules", ".bin"), os.path.join(site.root, ".venv", "bin")]
    return shutil.which(name, path=os.pathsep.join([*places, site.environ.get("PATH", os.defpath), beside])) or ""


def run_all(commands: list[list[str]], site: Site) -> tuple[list[str], tuple[tuple[str, str, str], ...]]:
    """Run each command in the root; return what to say, and (program, message, reason) of those that failed."""
    said: list[str] = []
    failed: list[tuple[str, str, str]] = []
    for command in commands:
        words = " ".join([os.path.basename(command[0]), *command[1:]])
        output, code = run(command, site)
        if code:
            failed.append((os.path.basename(command[0]), f"`{words}` failed: {output}", "program"))
        else:
            said.append(f"ran {words}")
    return said, tuple(failed)


def run(command: list[str], site: Site) -> tuple[str, int]:
    """Return the last line that a command printed, and its exit code."""
    try:
        done = subprocess.run(
            command,
            cwd=site.root,
            env=clean_environ(site.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return printable(str(error)), 1
    lines = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    return printable(" ".join(lines[-3:]))[:300], done.returncode
