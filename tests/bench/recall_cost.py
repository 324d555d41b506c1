"""What a search costs: processor time of `mem recall` and `mem context`, and their resident memory.

    python tests/bench/recall_cost.py [--rounds 25] [--sizes 10,200,10000,100000] [--folder DIR] [--mem PATH]

Times are user and system time of the whole process, as a ratio to `python3 -c 'import sqlite3, json'`; the runs are
interleaved, so that a busy machine slows all alike, and the figures are medians. With --folder the stores are kept
there and used again: 100,000 memories take minutes to embed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[1] / "_tree"
sys.path.insert(0, str(TREE))

from memhooks.memory import embed, schema, store, vectors  # noqa: E402
from memhooks.memory.record import Memory, derive_title, new_id, timestamp  # noqa: E402

_COSTS = TREE / "memhooks" / "memory" / "data" / "token_costs.txt"
# Two thousand words of software, the commonest first: a word's chance falls with its rank, as in real texts.
WORDS = [
    word for line in _COSTS.read_text().partition("# pairs")[0].splitlines() if line[0] != "#" for word in line.split()
]
CHANCES = list(itertools.accumulate(1 / (rank + 10) for rank in range(len(WORDS))))
QUERIES = (
    "why does the token rotation block uploads",
    "retry queue timeout",
    "how do we render the invoice template for a tenant",
    "migration lock before deploy",
    "getUserQuota in gateway.py",
)
LOAD = f"import sys; sys.path.insert(0, {str(TREE)!r}); from memhooks.hooks.cli import entry, main; "
PEAK = "print([x for x in open('/proc/self/status') if x.startswith('VmHWM')][0].split()[1], file=sys.stderr); "


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--sizes", default="10,200,10000,100000")
    parser.add_argument("--folder", type=Path, help="where stores are kept from run to run")
    parser.add_argument("--mem", help="the mem program to measure, else the tree's")
    args = parser.parse_args()
    sizes = [int(size) for size in args.sizes.split(",")]
    mem = [args.mem] if args.mem else [sys.executable, "-c", LOAD + "entry()"]
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as temporary:
        folder = args.folder or Path(temporary)
        paths = {size: make_store(folder, size) for size in sizes}
        report(mem, paths, args.rounds)
    return 0


def make_store(folder: Path, size: int) -> Path:
    """Return a store of `size` made-up memories of 60 to 450 characters, with their vectors."""
    path = folder / f"{size}.db"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    dice, model = random.Random(size), embed.shipped()
    db = schema.connect(str(path), create=True)
    with store.transaction(db):
        for number in range(size):
            text, moment = sentence(dice, number), 1.7e9 + number
            stamp = timestamp(moment)
            memory = Memory(
                id=new_id(moment), title=derive_title(text, 80), content=text, title_derived=True, created_at=stamp,
                updated_at=stamp,
            )  # fmt: skip
            store.insert(db, memory)
            vectors.put(db, memory.id, 1, model, model.embed_memory("", text))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return path


def sentence(dice: random.Random, number: int) -> str:
    words = dice.choices(WORDS, cum_weights=CHANCES, k=dice.randint(8, 60))
    if dice.random() < 0.3:
        words.insert(3, f"src/{dice.choice(WORDS)}_{dice.choice(WORDS)}{number % 97}.py")
    return " ".join(words).capitalize()[:449] + "."


def cpu(words: list[str], folder: Path) -> float:
    """Run a process and return its user and system time in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def resident(arguments: list[str], folder: Path) -> float:
    """Return the greatest resident memory of a run in MB."""
    words = [sys.executable, "-c", LOAD + "code = main(); " + PEAK, *arguments]
    done = subprocess.run(words, cwd=folder, env=environment(folder), capture_output=True, text=True, check=True)
    return int(done.stderr.split()[-1]) / 1024


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "MEM_HOME": str(folder / "mem"), "LANG": "C.UTF-8"}


def report(mem: list[str], paths: dict[int, Path], rounds: int) -> None:
    reference = [sys.executable, "-c", "import sqlite3, json"]
    times: dict[tuple[str, int], list[float]] = {}
    for number in range(rounds):
        query = QUERIES[number % len(QUERIES)]
        for size, path in paths.items():
            times.setdefault(("reference", 0), []).append(cpu(reference, path.parent))
            for command in ("recall", "context"):
                times.setdefault((command, size), []).append(
                    cpu([*mem, command, query, "--db", str(path)], path.parent)
                )
    base = statistics.median(times["reference", 0])
    print(f"reference: {base:.1f} ms of processor time, median of {rounds * len(paths)}")
    print(f"{'ratio to it, by memories':28}" + "".join(f"{size:>10,}" for size in paths))
    for command in ("recall", "context"):
        print(
            f"mem {command:24}" + "".join(f"{statistics.median(times[command, size]) / base:10.2f}" for size in paths)
        )
    for command in ("recall", "context"):
        sizes = [resident([command, QUERIES[0], "--db", str(path)], path.parent) for path in paths.values()]
        print(f"{'mem ' + command + ', resident MB':28}" + "".join(f"{megabytes:10.1f}" for megabytes in sizes))


if __name__ == "__main__":
    sys.exit(main())
