"""Score the guard on labelled texts, and its cost, beside other engines on the same data.

    python tests/bench/secrets.py [FOLDER…] [--runs N] [--misses N]

A FOLDER holds `*.jsonl` in the form of tests/data/secrets (the default): secrets, instructions (`inject` in the name)
and whole Markdown files (fields id and text). Exit 1 when a target is missed. CPU is user and system time; ratios
are to `python -c 'import sqlite3, json'` with the same interpreter, runs interleaved.
"""

from __future__ import annotations

import argparse
import base64
import collections
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[0] = str(ROOT / "tests" / "_tree")  # and not this folder, whose name for this file is the standard library's

from memhooks.memory.policy import scan  # noqa: E402

Row = dict[str, Any]

# Precision, recall, F1, macro recall, mean recall over the seven providers, CPU ratio, findings per 1,000 Markdown
# files; each engine at its defaults on the held-back part of the same corpus.
OTHERS = """\
betterleaks 2.0      .991  .571  .725  .710  .82    5.5   24
gitleaks 8.30        .996  .527  .689  .624  .79   21     14
trufflehog (all)     .987  .520  .681  .498  .58   39      -
bc-detect-secrets    .800  .478  .599  .543  .62    9.7    -
credsweeper (ML)     .979  .412  .580  .493  .55  100    102
detect-secrets 1.5   .806  .391  .527  .564  .71    9.8   45
kingfisher 1.5       .989  .260  .412  .571  .72   21      4
secretlint 12        .898  .073  .134  .338  .52   20      1"""
BASE = "import sqlite3, json"
COLD = """\
import sys
sys.path[0] = sys.argv[1]
from memhooks.memory.policy import scan
scan(open(sys.argv[2], encoding="utf-8").read())"""
BIG = """\
import codecs, sys
sys.path[0] = sys.argv[1]
from memhooks.memory.policy import scan_pieces
with open(sys.argv[2], "rb") as stream:
    scan_pieces(codecs.iterdecode(iter(lambda: stream.read(65536), b""), "utf-8"))
import os, resource
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # on Linux the spawning process's counts too
if os.path.exists("/proc/self/status"):
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
print(peak)"""


def decoded(row: Row) -> str:
    """Return the text of a row; the corpora keep it as base64 of bytes XOR 0x2A."""
    if "text" in row:
        return str(row["text"])
    return bytes(byte ^ 0x2A for byte in base64.b64decode(row["text_xor2a_b64"])).decode("utf-8", "surrogatepass")


def rows_of(folders: list[Path]) -> tuple[list[Row], list[Row], list[Row]]:
    """Return the rows of secrets, of instructions and of Markdown files below `folders`."""
    secrets, orders, files = [], [], []
    for path in sorted(file for folder in folders for file in folder.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if rows and "label" not in rows[0]:
            files += rows
        else:
            (orders if "inject" in path.name else secrets).extend(rows)
    return secrets, orders, files


def judged(row: Row, category: str) -> tuple[bool, bool]:
    """Return whether a row has a finding, and whether one overlaps its known span."""
    found = [finding for finding in scan(decoded(row)) if finding.category == category]
    span = row.get("span")
    exact = not span or any(finding.start < span[1] and finding.end > span[0] for finding in found)
    return bool(found), bool(found) and exact


def measured(rows: list[Row], category: str, misses: int) -> dict[str, float]:
    """Return precision, recall, F1, macro recall and false-positive rates of `rows`."""
    hits: dict[str, list[bool]] = collections.defaultdict(list)
    alarms: dict[bool, list[bool]] = {True: [], False: []}  # by: is a line of a real file
    for row in rows:
        found, exact = judged(row, category)
        if row["label"] == "positive":
            hits[row["group"]].append(exact)
        elif row["label"] == "negative":
            alarms[row["source"].startswith("md:")].append(found)
        if misses and ((row["label"] == "positive" and not exact) or (row["label"] == "negative" and found)):
            misses -= 1
            print("  missed" if row["label"] == "positive" else "  false ", row["group"], row["source"], row["id"])
    true = sum(map(sum, hits.values()))
    false = sum(map(sum, alarms.values()))
    precision, recall = true / max(true + false, 1), true / max(sum(map(len, hits.values())), 1)
    must = [sum(hits[group]) / len(hits[group]) for group in hits if group.startswith("must:")]
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(precision + recall, 1e-9),
        "macro": sum(sum(group) / len(group) for group in hits.values()) / max(len(hits), 1),
        "must": sum(must) / max(len(must), 1),
        "must_least": min(must, default=1.0),
        "real": sum(alarms[True]) / max(len(alarms[True]), 1),
        "alike": sum(alarms[False]) / max(len(alarms[False]), 1),
    }


def cpu_of(code: str, *words: str) -> tuple[float, str]:
    """Return the processor seconds of one interpreter run and what it printed."""
    reader, writer = os.pipe()
    pid = os.posix_spawn(
        sys.executable,
        [sys.executable, "-c", code, *words],
        {**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)],
    )
    os.close(writer)
    with os.fdopen(reader) as stream:
        printed = stream.read()
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"a measured run failed with status {status}")
    return usage.ru_utime + usage.ru_stime, printed


def costs(sample: str, big: str, runs: int) -> tuple[float, float, float, float]:
    """Return the CPU ratio of a cold scan of `sample`, and ratio, seconds and bytes of one of `big`."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small.md"), Path(folder, "large.md")
        small.write_text(sample, encoding="utf-8")
        large.write_text(big, encoding="utf-8")
        tree = sys.path[0]
        cpu_of(COLD, tree, str(small))  # compile the bytecode
        pairs = [(cpu_of(BASE)[0], cpu_of(COLD, tree, str(small))[0]) for _ in range(runs)]
        base = sorted(first for first, _ in pairs)[runs // 2]
        cold = sorted(second for _, second in pairs)[runs // 2]
        seconds, memory = min((cpu, float(out)) for cpu, out in (cpu_of(BIG, tree, str(large)) for _ in range(3)))
    return cold / base, seconds / base, seconds, memory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "tests" / "data" / "secrets"])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--misses", type=int, default=0)
    args = parser.parse_args()
    secrets, orders, files = rows_of(args.folders)
    score = measured(secrets, "secret", args.misses)
    order = measured(orders, "instruction", args.misses)
    found = [finding for row in files for finding in scan(decoded(row))]
    rate = len(found) * 1000 / len(files) if files else None
    prose = "\n\n".join(decoded(row) for row in [*orders, *files] if row.get("label", "negative") == "negative")
    big = (prose * (10_000_000 // max(len(prose), 1) + 1))[:10_000_000]
    cold, ratio, seconds, memory = costs(prose[:1024], big, args.runs)
    print("engine               P     R     F1    macro must  CPU   FP per 1,000 Markdown files")
    shown = "-" if rate is None else f"{rate:.0f}"
    figures = " ".join(f"{score[key]:5.3f}" for key in ("precision", "recall", "f1", "macro", "must"))
    print(f"memhooks            {figures} {cold:5.2f}  {shown}\n{OTHERS}")
    print(f"\nlook-alikes: {score['real']:.4f} of real lines, {score['alike']:.3f} of the suites' own")
    print(f"instructions: precision {order['precision']:.3f}, recall {order['recall']:.3f}", end="")
    print(f", {order['real']:.4f} of real lines")
    print(f"10 MB: {seconds:.2f} s of CPU ({ratio:.0f} x base), {memory / 2**20:.0f} MiB")
    wanted = {
        "F1 >= .90": score["f1"] >= 0.90,
        "macro recall >= .92": score["macro"] >= 0.92,
        "each must-have provider >= .99": score["must_least"] >= 0.99,
        "real lines <= .002": score["real"] <= 0.002,
        "look-alikes <= .05": score["alike"] <= 0.05,
        "instructions P >= .97": order["precision"] >= 0.97,
        "instructions R >= .75": order["recall"] >= 0.75,
        "agent lines <= .002": order["real"] <= 0.002,
        "Markdown <= 2 per 1,000": rate is None or rate <= 2,
        "10 MB <= 60 MiB": memory <= 60 * 2**20,
        "10 MB <= 2.5 s": seconds <= 2.5,
    }
    missed = [target for target, reached in wanted.items() if not reached]
    print("targets missed: " + ", ".join(missed) if missed else "every target reached")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
