"""Measure the watcher: idle processor time, resident memory, time from a save to the mirror, missed changes.

    python tests/bench/watch.py [--seconds 60] [--saves 30] [--operations 1000] [--files 10000] [--seed 1]

Runs the tree in a temporary home. Targets: idle under 0.1 % of a core beside a repository of 10,000 files, at most
40 MB resident, 400 ms from save to mirror at the median, no change missed. Exits 1 if one is not met.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "_tree"), str(TESTS)]

from memhooks.memory.api import Store  # noqa: E402
from watch_storm import Storm, derived, differences, settled  # noqa: E402


class Bench:
    """A repository of its own with the watcher of the tree."""

    def __init__(self, folder: Path) -> None:
        self.root, home, tools = folder / "repo", folder / "home", folder / "bin"
        for path in (self.root, home, tools):
            path.mkdir()
        script = tools / "mem"
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path[0] = {str(TESTS / '_tree')!r}\n"
            "from memhooks.hooks.cli import entry\nentry()\n"
        )
        script.chmod(0o755)
        who = {f"GIT_{role}_{what}": "bench@example.invalid" for role in ("AUTHOR", "COMMITTER") for what in
               ("NAME", "EMAIL")}  # fmt: skip
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "MEM_", "XDG_"))}
        self.environ = kept | who | {
            "HOME": str(home), "MEM_HOME": str(home / "mem"), "PATH": f"{tools}:{os.environ['PATH']}",
            "GIT_EDITOR": "true",
        }  # fmt: skip
        self.run("git", "init", "-q", "-b", "main")
        self.run("mem", "init")

    def run(self, *words: str) -> str:
        done = subprocess.run(words, cwd=self.root, env=self.environ, capture_output=True, text=True, check=True)
        return done.stdout

    def fill(self, count: int) -> None:
        for number in range(count):
            path = self.root / "src" / f"{number % 100}" / f"{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{number}\n")
        self.run("git", "add", "-A")
        self.run("git", "commit", "-q", "-m", "many files")

    def watcher(self) -> int:
        return int(json.loads(self.run("mem", "watch", "start", "--json"))["pid"])


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and of its children that ended. Source: proc(5), /proc/PID/stat."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(fields[index]) for index in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def save_to_mirror(root: Path, number: int) -> float:
    """Return how many seconds pass from a committed write by another program until the mirror shows it."""
    word = f"saved{number}x"
    with Store.open(str(root / ".mem" / "mem.db")) as store:
        store.remember(content=f"a fact that is {word}")
    start = time.perf_counter()
    path = root / ".mem" / "memory.md"
    while not path.exists() or word not in path.read_text():
        if time.perf_counter() - start > 20:
            return float("inf")
        time.sleep(0.002)
    return time.perf_counter() - start


def storm(bench: Bench, operations: int, seed: int) -> tuple[int, int]:
    """Return how many operations were applied and how often what the watcher left differed from a fresh run."""
    weather, missed, applied = Storm(bench.root, bench.environ, seed), 0, 0
    weather.commit()
    bench.run("git", "branch", "side")
    while applied < operations:
        for _ in range(min(80, operations - applied)):
            weather.step()
            applied += 1
            time.sleep(weather.chance.choice([0, 0, 0, 0.02, 0.3]))
        kept = settled(bench.root)
        bench.run("mem", "watch", "--once")
        found = differences(kept, derived(bench.root))
        missed += bool(found)
        if found:
            print(f"after {applied} operations: {', '.join(found)}", file=sys.stderr)
    return applied, missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("seconds", 60), ("saves", 30), ("operations", 1000), ("files", 10_000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
        bench = Bench(Path(folder))
        bench.fill(args.files)
        pid = bench.watcher()
        try:
            save_to_mirror(bench.root, 0)  # everything is loaded from here on
            time.sleep(8)
            before = cpu_seconds(pid)
            time.sleep(args.seconds)
            idle = 100 * (cpu_seconds(pid) - before) / args.seconds
            times = []
            for number in range(1, args.saves + 1):
                times.append(save_to_mirror(bench.root, number))
                time.sleep(1.1)
            applied, missed = storm(bench, args.operations, args.seed)
            memory = resident_mb(pid)
        finally:
            bench.run("mem", "watch", "stop")
    median = 1000 * statistics.median(times) if times else 0.0
    print(f"idle          {idle:.3f} % of a core over {args.seconds} s beside {args.files:,} files (at most 0.1)")
    print(f"resident      {memory:.1f} MB after the storm (at most 40)")
    print(f"save → mirror {median:.0f} ms at the median of {len(times)}, {1000 * max(times, default=0):.0f} at most"
          " (at most 400 at the median)")  # fmt: skip
    print(f"missed        {missed} of {applied:,} operations (0)")
    return int(idle > 0.1 or memory > 40 or median > 400 or missed > 0)


if __name__ == "__main__":
    sys.exit(main())
