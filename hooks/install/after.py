"""Programs of hook managers that put a changed configuration to use: run them where they are found."""

from __future__ import annotations

import os
import shutil
import subprocess

from ...memory.record import printable
from ..files import read
from ..git import clean_environ
from .draft import Draft
from .site import Site

LIMIT = 120  # seconds: `pre-commit install` takes one, a first `npx` may fetch


def find(site: Site, name: str) -> str:
    """Return the path of a manager's program: of the project's own node_modules or environment, or on PATH."""
    beside = os.path.dirname(site.program)
    places = [os.path.join(site.root, "node_modules", ".bin"), os.path.join(site.root, ".venv", "bin")]
    return shutil.which(name, path=os.pathsep.join([*places, site.environ.get("PATH", os.defpath), beside])) or ""


def run_all(draft: Draft, site: Site) -> tuple[tuple[str, str, str], ...]:
    """Run the draft's programs in the root, and note what was run; return (program, message, reason) of the failed."""
    failed: list[tuple[str, str, str]] = []
    for program in draft.commands:
        words, files = program
        before = {path: read(path) for path in files}
        shown = " ".join([os.path.basename(words[0]), *words[1:]])
        output, code = run(list(words), site)
        for path in files:
            draft.receipts.close(program.receipt_name(path), before[path], read(path), [])
        if code:
            failed.append((os.path.basename(words[0]), f"`{shown}` failed: {output}", "program"))
        else:
            draft.notes.insert(0, f"ran {shown}")
    return tuple(failed)


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
