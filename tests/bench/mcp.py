"""How much `mem mcp` costs: processor time until the tools are listed, a read's latency, and tokens of its schemas.

Run: python tests/bench/mcp.py [--mem PATH] [--runs 30] [--memories 10000]. The first figure is a ratio to
`python3 -c 'import sqlite3, json'` with the same interpreter, both measured in turn (user and system time, median).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parent.parent / "_tree"
sys.path.insert(0, str(TREE))

LISTED = "".join(
    json.dumps({"jsonrpc": "2.0", **message}) + "\n"
    for message in (
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
).encode()


def cpu(words: list[str], stdin: bytes, environ: dict[str, str], cwd: str) -> float:
    """Return the processor time of a program in milliseconds."""
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(words, stdin=given, stdout=subprocess.DEVNULL, env=environ, cwd=cwd)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} exited {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def start_ratio(mem: list[str], runs: int, environ: dict[str, str], cwd: str) -> tuple[float, float, float]:
    """Return the medians of the baseline and of the server until the tools are listed, in ms, and their ratio."""
    base, ours = [], []
    for _ in range(runs):
        base.append(cpu([sys.executable, "-c", "import sqlite3, json"], b"", environ, cwd))
        ours.append(cpu([*mem, "mcp"], LISTED, environ, cwd))
    return statistics.median(base), statistics.median(ours), statistics.median(ours) / statistics.median(base)


def vocabulary() -> list[str]:
    """Return 8,000 made-up words, commonest first; their frequencies fall as those of a language do."""
    chance = random.Random(1)
    return ["".join(chance.choice("abcdefghijklmnop") for _ in range(chance.randrange(4, 10))) for _ in range(8000)]


class Client:
    """A running server, asked one question at a time."""

    def __init__(self, mem: list[str], environ: dict[str, str], cwd: str) -> None:
        self.process = subprocess.Popen(
            [*mem, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, cwd=cwd
        )
        self.count = 0

    def ask(self, tool: str, **given: Any) -> float:
        """Return how many milliseconds an answer took."""
        self.count += 1
        line = {
            "jsonrpc": "2.0",
            "id": self.count,
            "method": "tools/call",
            "params": {"name": tool, "arguments": given},
        }
        assert self.process.stdin
        assert self.process.stdout
        start = time.perf_counter()
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        passed = (time.perf_counter() - start) * 1000
        if answer["result"]["isError"]:
            raise SystemExit(f"{tool}: {answer}")
        return passed


def latencies(mem: list[str], memories: int, environ: dict[str, str], cwd: str) -> dict[str, tuple[float, float]]:
    """Return the median and the 95th percentile of each read, in ms, over a store of so many memories."""
    from memhooks.memory.api import Store

    words = vocabulary()
    weights = [1 / (rank + 5) for rank in range(len(words))]
    chance = random.Random(7)
    (Path(cwd) / ".git").mkdir(exist_ok=True)
    with Store.open(str(Path(cwd) / ".mem" / "mem.db")) as store:
        texts = (" ".join(chance.choices(words, weights, k=30)) for _ in range(memories))
        store.remember_many(({"content": text} for text in texts), check=False)
    notes = "".join(f"## Topic {n}\n\nLine about topic {n} and its module.\n\n" for n in range(100))
    (Path(cwd) / "MEMORY.md").write_text(notes)
    reads: dict[str, tuple[str, dict[str, Any]]] = {
        "recall": ("project_memory", {"action": "recall", "query": f"{words[400]} {words[1500]}"}),
        "recall, the commonest word": ("project_memory", {"action": "recall", "query": words[0]}),
        "recall, nothing found": ("project_memory", {"action": "recall", "query": "zeppelin hangar"}),
        "list": ("project_memory", {"action": "list"}),
        "get_project_memory": ("get_project_memory", {}),
        "search_project_memory": ("search_project_memory", {"query": "topic 42"}),
    }
    client = Client(mem, environ, cwd)
    figures: dict[str, tuple[float, float]] = {}
    for name, (tool, given) in reads.items():
        client.ask(tool, **given)
        times = sorted(client.ask(tool, **given) for _ in range(100))
        figures[name] = (statistics.median(times), times[94])
    client.process.communicate()
    return figures


def tokens() -> tuple[int, int]:
    """Return the tokens of schemas with instructions by our estimate, and their characters."""
    from memhooks.hooks import mcp_tools
    from memhooks.memory.tokens import estimate

    schemas = json.dumps(mcp_tools.TOOLS, separators=(",", ":"))
    return estimate(schemas) + estimate(mcp_tools.INSTRUCTIONS), len(schemas) + len(mcp_tools.INSTRUCTIONS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mem", default="", help="the mem to measure (default: the tree)")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--memories", type=int, default=10_000)
    args = parser.parse_args()
    run_tree = f"import sys; sys.path[0] = {str(TREE)!r}; from memhooks.hooks.cli import main; sys.exit(main())"
    mem = [args.mem] if args.mem else [sys.executable, "-c", run_tree]
    with tempfile.TemporaryDirectory() as folder:
        environ = {"HOME": folder, "MEM_HOME": f"{folder}/mem", "PATH": os.environ.get("PATH", os.defpath)}
        project = Path(folder, "project")
        project.mkdir()
        base, ours, ratio = start_ratio(mem, args.runs, environ, str(project))
        print(
            f"start to tools listed: {ours:.0f} ms of processor time, baseline {base:.0f} ms, ratio {ratio:.2f} (<= 2)"
        )
        for name, (middle, high) in latencies(mem, args.memories, environ, str(project)).items():
            print(f"{name}, {args.memories:,} memories: {middle:.2f} ms median, {high:.2f} ms at 95 % (< 5)")
    estimate, characters = tokens()
    print(f"schemas and instructions: {estimate:,} tokens by our estimate, {characters:,} characters (<= 1,500)")


if __name__ == "__main__":
    main()
