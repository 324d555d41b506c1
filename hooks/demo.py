"""`mem demo`: all hooks at work in a throw-away repository, with a word on what happens and why.

Every step runs the real commands, `git` and `mem`, as a user would; home, configuration and repository are temporary.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from typing import NamedTuple

from ..memory.errors import MemError, Unavailable
from ..memory.record import printable
from .command import answer
from .env import Env

_AUTH = "def rotate(token):\n    return token\n"
_EVENT = '{"session_id": "demo", "source": "startup", "hook_event_name": "SessionStart", "cwd": "."}'
_PROMPT = (
    '{"session_id": "demo", "hook_event_name": "UserPromptSubmit", "prompt": "how often is a failed payment retried?"}'
)
_PATIENCE_SECONDS = 5
# Put together here, so that no file of the project holds what looks like a key.
_FAKE_KEY = "AKIA" + "Z7Q4WJ2MX5K3T6PL"


class Step(NamedTuple):
    """One command of the tour: why it is run, its words, and what is right: the exit code and a text in the output.

    `writes` is a file that is written and staged before, and its text.
    """

    why: str
    words: tuple[str, ...]
    stdin: str = ""
    code: int = 0
    says: str = ""
    writes: tuple[str, str] = ("", "")


class Done(NamedTuple):
    """What a step did."""

    code: int
    output: str


STEPS = (
    Step("A fresh repository.", ("git", "init", "-q", "-b", "main")),
    Step("Hooks for git: the guard before a commit, the refresh after one.", ("mem", "install", "git")),
    Step(
        "A first commit. No memory file is in it, which the guard says.",
        ("git", "commit", "-q", "-m", "Add auth"),
        writes=("src/auth.py", _AUTH),
    ),
    Step(
        "A decision, tied to the file it is about.",
        ("mem", "remember", "Tokens rotate every hour; the old one stays valid for a minute.", "--kind", "decision",
         "--file", "src/auth.py"),
    ),
    Step(
        "A trap that cost somebody an afternoon.",
        ("mem", "remember", "The test database is reset at midnight UTC, so night runs fail.", "--kind", "gotcha"),
    ),
    Step("Where work on this branch stands.", ("mem", "state", "set", "--goal", "Make rotation survive a restart")),
    Step("What may not be remembered is refused, with the reason.", ("mem", "remember", f"key {_FAKE_KEY}"), code=1),
    Step(
        "An agent wrote a key into MEMORY.md. The guard reads what git is about to commit, and says no.",
        ("git", "commit", "-q", "-m", "Add notes"), code=1,
        writes=("MEMORY.md", f"# Notes\n\nDeploy with {_FAKE_KEY}, ask Kim for the secret.\n"),
    ),
    Step(
        "The same note without the key passes; after the commit the index hook looks at what changed.",
        ("git", "commit", "-q", "-m", "Add notes"),
        writes=("MEMORY.md", "# Notes\n\nDeploy with the key from the vault, ask Kim.\n"),
    ),
    Step(
        "The code moves on …",
        ("git", "commit", "-q", "-m", "Rotate for real"), writes=("src/auth.py", _AUTH + "\n\nROTATE_SECONDS = 60\n"),
    ),
    Step("… and the decision about it is marked stale.", ("mem", "list", "--stale"), says="src/auth.py"),
    Step("The mirror: the store as Markdown, for people.", ("mem", "mirror", "--stdout")),
    Step(
        "What Claude Code gets when a session starts: one JSON object with the digest.",
        ("mem", "hook", "session-start"), stdin=_EVENT, says="rotate",
    ),
    Step(
        "A colleague's agent learns something meanwhile …",
        ("mem", "remember", "The worker retries a failed payment three times, then parks it.", "--actor", "kim"),
    ),
    Step(
        "… and a prompt that it fits brings it along, since this session has not seen it yet.",
        ("mem", "hook", "prompt"), stdin=_PROMPT, says="payment",
    ),
    Step("Found again by words.", ("mem", "recall", "when do tokens rotate")),
)  # fmt: skip


def arguments(parser: ArgumentParser) -> None:
    """`mem demo` has no flags of its own."""


def run(args: Namespace, env: Env) -> int:
    """Run the tour. Raises MemError if a step ends otherwise than it should."""
    if not shutil.which("git", path=env.environ.get("PATH")):
        raise Unavailable("the tour needs git on PATH")
    began, report = time.monotonic(), []
    with tempfile.TemporaryDirectory(prefix="memhooks-demo-") as folder:
        environ = _environ(env, folder)
        for number, step in enumerate(STEPS, 1):
            done = _run(step, folder, environ)
            if not args.json:
                _tell(env, number, step, done)
            report.append({"why": step.why, "command": step.words, "exit_code": done.code, "output": done.output})
            if done.code != step.code or step.says not in done.output:
                raise MemError(f"step {number} went wrong, with exit code {done.code}: {done.output[-500:]}")
    ended = f"That was all, in {time.monotonic() - began:.1f} s; the repository is gone. Yours next: `mem install`"
    answer(env, args, {"steps": report}, ended)
    return 0


def _run(step: Step, folder: str, environ: dict[str, str]) -> Done:
    """Run a step until it says what it should: the refresh after a commit works in the background."""
    project = os.path.join(folder, "project")
    os.makedirs(project, exist_ok=True)
    _write(step.writes, project, environ)
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        done = subprocess.run(
            step.words, cwd=project, env=environ, input=step.stdin.encode(), check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        output = done.stdout.decode("utf-8", "replace").rstrip()
        if step.says in output or time.monotonic() > until:
            return Done(done.returncode, output)
        time.sleep(0.1)


def _write(file: tuple[str, str], project: str, environ: dict[str, str]) -> None:
    name, text = file
    if name:
        path = os.path.join(project, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as opened:
            opened.write(text)
        subprocess.run(["git", "add", "-A"], cwd=project, env=environ, check=True)


def _environ(env: Env, folder: str) -> dict[str, str]:
    """Return an environment in which neither the user's home nor a surrounding hook takes part."""
    kept = {name: value for name, value in env.environ.items() if not name.startswith(("GIT_", "MEM_", "CLAUDE"))}
    command = shutil.which(sys.argv[0]) or sys.argv[0]
    path = os.pathsep.join([os.path.dirname(os.path.abspath(command)), env.environ.get("PATH", os.defpath)])
    person = {"NAME": "Demo", "EMAIL": "demo@example.invalid"}
    identity = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in person.items()}
    isolated = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "MEM_HOME": os.path.join(folder, "home")}
    return kept | identity | isolated | {"PATH": path, "HOME": folder, "USER": "demo"}


def _tell(env: Env, number: int, step: Step, done: Done) -> None:
    shown = " ".join(word if word.replace("-", "").isalnum() else json.dumps(word) for word in step.words)
    env.print(f"\n{number}. {step.why}\n$ {shown.replace(_FAKE_KEY, _FAKE_KEY[:4] + '…')}")
    for line in done.output.splitlines():
        env.print(f"  {printable(line)}")
    env.stdout.flush()
