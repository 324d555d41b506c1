"""What the guard costs a commit: CPU time, git's processes included, against `python3 -c 'import sqlite3, json'`.

    python tests/bench/guard.py [--rounds N] [--mem PATH]

Runs are interleaved, so that a busy machine slows all alike; the table gives medians and their ratio to the baseline.
Peak memory and the time for 10 MB are of `mem guard FILE`. Nothing of the user's home or repositories is touched.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[1] / "_tree"
NAMES = ("MEMORY.md", "CLAUDE.md", "AGENTS.md", ".claude/notes.md", "memory-bank/progress.md")
PROSE = (
    "The worker retries a failed job three times, then parks it in the dead letter queue.",
    "Run `make lint test` before a push; the CI runs the same two targets on every branch.",
    "Timestamps are UTC everywhere. The frontend converts, the API never does.",
    "We chose SQLite over Postgres for the agent, since a second process would have to be watched.",
    "Never commit to main directly; open a pull request and wait for one review.",
    "`config/settings.py` reads DATABASE_URL and falls back to a local file in development.",
    "Commit 4f2a9c1d7e8b3f60a1c2d3e4f5a6b7c8d9e0f1a2 moved the parser out of the hot path.",
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what the guard costs.")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--mem", default="", help="a `mem` to measure instead of the tree's")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        environ = isolated(root)
        mem = [args.mem] if args.mem else [sys.executable, str(script(root))]
        repo = repository(root, environ)
        rows = {
            "python3 -c 'import sqlite3, json'": [sys.executable, "-c", "import sqlite3, json"],
            "guard, 5 clean memory files staged": [*mem, "hook", "guard"],
            "guard, the same by name": [*mem, "hook", "guard", *NAMES],
            "guard, 200 files staged, none of them memory": [*mem, "hook", "guard"],
            "git diff --cached alone": ["git", "diff", "--cached", "--raw", "-z"],
        }
        many = repository(root, environ, name="many", files={f"src/file{n}.py": "x = 1\n" for n in range(200)})
        folders = dict.fromkeys(rows, repo) | {"guard, 200 files staged, none of them memory": many}
        table(measure(rows, folders, environ, args.rounds))
        big(mem, repo, environ)


def isolated(root: Path) -> dict[str, str]:
    """Return an environment in which neither git nor mem reads anything of the user's."""
    home = root / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"], "HOME": str(home), "MEM_HOME": str(home / "mem"), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@b.invalid", "GIT_COMMITTER_NAME": "b",
        "GIT_COMMITTER_EMAIL": "b@b.invalid",
    }  # fmt: skip


def script(root: Path) -> Path:
    """Write the script that an installed console command is."""
    path = root / "mem"
    path.write_text(f"import sys\nsys.path[0] = {str(TREE)!r}\nfrom memhooks.hooks.cli import entry\nentry()\n")
    return path


def repository(root: Path, environ: dict[str, str], *, name: str = "repo", files: dict[str, str] | None = None) -> Path:
    """Make a repository with one commit and `files` (five memory files of 4 KB) staged."""
    repo = root / name
    run = {"cwd": repo, "env": environ, "check": True, "stdout": subprocess.DEVNULL}
    repo.mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main"], **run)
    (repo / "README.md").write_text("A project.\n")
    subprocess.run(["git", "add", "-A"], **run)
    subprocess.run(["git", "commit", "-q", "-m", "start"], **run)
    for path, text in (files or {path: notes(4_000, seed) for seed, path in enumerate(NAMES)}).items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    subprocess.run(["git", "add", "-A"], **run)
    return repo


def notes(size: int, seed: int) -> str:
    """Return `size` characters and a little more of ordinary team notes."""
    choose, lines, length = random.Random(seed), [], 0
    while length < size:
        line = f"- {choose.choice(PROSE)}"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines) + "\n"


def measure(
    rows: dict[str, list[str]], folders: dict[str, Path], environ: dict[str, str], rounds: int
) -> dict[str, list[float]]:
    """Return each row's CPU seconds, user and system, with all processes that it waited for."""
    found: dict[str, list[float]] = {name: [] for name in rows}
    for number in range(rounds + 2):
        for name, words in rows.items():
            process = subprocess.Popen(
                words, cwd=folders[name], env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                sys.exit(f"{name}: exit code {process.returncode}")
            if number > 1:  # two rounds to warm up
                found[name].append(used.ru_utime + used.ru_stime)
    return found


def table(found: dict[str, list[float]]) -> None:
    """Print medians and ratios to the first row."""
    base = statistics.median(next(iter(found.values())))
    print(f"{'':<46} {'CPU ms':>7} {'ratio':>6}  budget")
    for name, times in found.items():
        median = statistics.median(times)
        print(f"{name:<46} {median * 1000:7.1f} {median / base:6.2f}  {'1.8' if '5 clean' in name else ''}")


def big(mem: list[str], repo: Path, environ: dict[str, str]) -> None:
    """Print CPU time and peak memory for one memory file of 10 MB."""
    (repo / "big").mkdir()
    (repo / "big" / "MEMORY.md").write_text(notes(10_000_000, 7))
    process = subprocess.Popen(
        [*mem, "guard", "big/MEMORY.md"], cwd=repo, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, used = os.wait4(process.pid, 0)
    process.returncode = 0
    kilobytes = used.ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    print(f"10 MB: {used.ru_utime + used.ru_stime:.2f} s of CPU (budget 2.5), {kilobytes / 1024:.0f} MB (budget 60)")


if __name__ == "__main__":
    main()
