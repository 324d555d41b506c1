"""Run an installed hook on a probe: in a throw-away repository that has a token staged in MEMORY.md.

The guard has to refuse it and name the place. Hook files run our block before anything of others, so that nothing of
theirs is started; of a hook manager only the line that is ours is run.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ..git import clean_environ

LIMIT = 60  # seconds
FILE = "MEMORY.md"
# No secret: an access key id of the right shape, in two pieces so that no scanner takes this file for a leak.
TEXT = "probe " + "AKIA" + "Q3EGU5JXKJZQ7WZR" + "\n"


class Outcome(NamedTuple):
    """How a command ended, and the first line of what it said that tells why."""

    code: int
    said: str

    @property
    def refused(self) -> bool:
        """Return whether the guard did what it is there for."""
        return self.code != 0 and f"{FILE}:1" in self.said


@contextmanager
def repository(environ: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Make the throw-away repository; give its path and the environment for what runs in it."""
    env = {**clean_environ(environ), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    with tempfile.TemporaryDirectory(prefix="mem-doctor-") as folder:
        run(["git", "init", "-q", "--template=", folder], folder, env)
        with open(os.path.join(folder, FILE), "w", encoding="ascii") as file:
            file.write(TEXT)
        run(["git", "add", FILE], folder, env)
        yield folder, env


def run(words: list[str], cwd: str, environ: Mapping[str, str], *, stdin: str = "") -> Outcome:
    """Return how a command ended; what can't be started or takes too long ends with 127 or 124."""
    try:
        done = subprocess.run(
            words, cwd=cwd, env=dict(environ), input=stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=LIMIT, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome(124, f"no end after {LIMIT} s")
    except OSError as error:
        return Outcome(127, error.strerror or str(error))
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace").strip())


def short_path(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment as a program with a window has it."""
    return {**environ, "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
