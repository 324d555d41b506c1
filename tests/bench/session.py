"""Measure what session hooks cost: processor time as a ratio to `python3 -c 'import sqlite3, json'`.

Runs `mem hook session-start`, `mem hook prompt` and the index hook with nothing to do, in repositories of 10, 200 and
10,000 memories, interleaved with the reference so that a busy machine slows all alike. Figures are medians of user and
system time of the process and its children.

    python tests/bench/session.py [--rounds 25] [--sizes 10,200,10000] [--mem PATH]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[1] / "_tree"
sys.path.insert(0, str(TREE))

from memhooks.memory import schema, store  # noqa: E402
from memhooks.memory.project import find_project, head  # noqa: E402
from memhooks.memory.record import Cursor, Memory, derive_title, new_id, timestamp  # noqa: E402

_TOPICS = """cache token rotation database index migration retry queue session client server deploy build test config
    parser schema lock branch commit render template vector memory anchor webhook invoice tenant quota upload search"""
_VERBS = "breaks expires needs skips doubles holds blocks returns rejects caches renames truncates orders locks"
TOPICS, VERBS = _TOPICS.split(), _VERBS.split()
KINDS = ("fact", "decision", "gotcha", "convention", "procedure", "constraint")


def sentence(rng: random.Random, number: int) -> str:
    """Return a made-up fact of 60 to 400 characters."""
    parts = [f"The {rng.choice(TOPICS)} of module {number} {rng.choice(VERBS)} the {rng.choice(TOPICS)}"]
    for _ in range(rng.randint(0, 6)):
        parts.append(
            f"when the {rng.choice(TOPICS)} {rng.choice(VERBS)} a {rng.choice(TOPICS)} in src/{rng.choice(TOPICS)}.py"
        )
    return ", ".join(parts)[:399] + "."


def make_repository(folder: Path, size: int) -> Path:
    """Make a git repository with `size` memories, a cursor, anchors and the HEAD recorded."""
    run = {"cwd": folder, "check": True, "env": environment(folder), "capture_output": True}
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "-b", "feature/token-rotation"], **run)
    (folder / "src").mkdir()
    for topic in TOPICS:
        (folder / "src" / f"{topic}.py").write_text(f"# {topic}\n")
    subprocess.run(["git", "add", "-A"], **run)
    subprocess.run(["git", "commit", "-q", "-m", "files"], **run)
    project = find_project(str(folder), environ={})
    rng = random.Random(size)
    db = schema.connect(project.store_path, create=True)
    start = 1.79e9
    with store.transaction(db):
        for number in range(size):
            text, stamp = sentence(rng, number), timestamp(start + number * 60)
            memory = Memory(
                id=new_id(start + number), title=derive_title(text, 80), content=text, title_derived=True,
                kind=rng.choice(KINDS), created_at=stamp, updated_at=stamp, recall_count=rng.randint(0, 9),
            )  # fmt: skip
            store.insert(db, memory)
        store.put_cursor(
            db, Cursor(project.workspace, goal="Rotate tokens without a restart", next="write the migration")
        )
    db.close()
    subprocess.run([*mem_words(), "index"], **run)
    db = schema.connect(project.store_path, readonly=True)
    assert store.meta(db, project.head_key) == head(project.git_dir, project.common_dir)
    db.close()
    return folder


def mem_words() -> list[str]:
    """Return the words that run the `mem` under test."""
    given = os.environ.get("MEM_BENCH")
    if given:
        return [given]
    code = f"import sys; sys.path.insert(0, {str(TREE)!r}); from memhooks.hooks.cli import entry; entry()"
    return [sys.executable, "-c", code]


def environment(folder: Path) -> dict[str, str]:
    home = str(folder.parent / "home")
    return {
        "PATH": os.environ["PATH"], "HOME": home, "MEM_HOME": home + "/mem", "LANG": "C.UTF-8",
        "GIT_AUTHOR_NAME": "b", "GIT_AUTHOR_EMAIL": "b@example.invalid", "GIT_COMMITTER_NAME": "b",
        "GIT_COMMITTER_EMAIL": "b@example.invalid", "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip


def cpu(words: list[str], folder: Path, event: str = "") -> float:
    """Run a process and return its user and system time in milliseconds, its children's included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        words, cwd=folder, env=environment(folder), input=event.encode(), stdout=subprocess.DEVNULL, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--sizes", default="10,200,10000")
    parser.add_argument("--mem", help="the mem program to measure, else the tree's")
    args = parser.parse_args()
    if args.mem:
        os.environ["MEM_BENCH"] = args.mem
    sizes = [int(size) for size in args.sizes.split(",")]
    work = Path(tempfile.mkdtemp(prefix="mem-bench-"))
    try:
        folders = {size: make_repository(work / str(size) / "repo", size) for size in sizes}
        report(folders, args.rounds)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


def report(folders: dict[int, Path], rounds: int) -> None:
    reference = [sys.executable, "-c", "import sqlite3, json"]
    times: dict[tuple[str, int], list[float]] = {}
    for number in range(rounds):
        for size, folder in folders.items():
            start = {
                "session_id": f"s{number}",
                "source": "startup",
                "hook_event_name": "SessionStart",
                "cwd": str(folder),
            }
            prompt = start | {
                "hook_event_name": "UserPromptSubmit",
                "prompt": "why does the token rotation block uploads?",
            }
            cases = {
                "reference": (reference, ""),
                "session-start": ([*mem_words(), "hook", "session-start"], json.dumps(start)),
                "prompt": ([*mem_words(), "hook", "prompt"], json.dumps(prompt)),
                "index, nothing to do": ([*mem_words(), "hook", "index"], ""),
            }
            for name, (words, event) in cases.items():
                times.setdefault((name, size), []).append(cpu(words, folder, event))
    base = statistics.median(time for (name, _), values in times.items() if name == "reference" for time in values)
    print(f"reference: {base:.1f} ms of processor time, median of {rounds * len(folders)}")
    print(f"{'hook':<22}" + "".join(f"{size:>10,}" for size in folders) + "   (ratio to the reference, by memories)")
    for name in ("session-start", "prompt", "index, nothing to do"):
        print(f"{name:<22}" + "".join(f"{statistics.median(times[name, size]) / base:>10.2f}" for size in folders))


if __name__ == "__main__":
    sys.exit(main())
