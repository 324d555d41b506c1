"""Hold the token estimate against real counts.

    python tests/bench/tokens.py FOLDER

FOLDER holds `*.jsonl` of {g: kind of text, t: text, tokens: {tokenizer: count}}. The texts are third parties' and stay
where they are. An estimate below any count is an error (exit 1).
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_tree"))

from memhooks.memory.tokens import estimate


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    records = [json.loads(line) for path in sorted(args.folder.glob("*.jsonl")) for line in path.open(encoding="utf-8")]
    ratios = defaultdict(list)
    by_tokenizer = defaultdict(list)
    start = time.process_time()
    estimates = [estimate(record["t"]) for record in records]
    spent = time.process_time() - start
    for record, bound in zip(records, estimates, strict=True):
        ratios[record["g"]].append(bound / max(record["tokens"].values()))
        for name, count in record["tokens"].items():
            by_tokenizer[name].append(bound / count)
    print(f"{'kind of text':20}{'texts':>8}{'least':>8}{'median':>8}   (estimate / greatest real count)")
    for kind, values in sorted(ratios.items(), key=lambda item: min(item[1])):
        print(f"{kind:20}{len(values):8}{min(values):8.2f}{statistics.median(values):8.2f}")
    everything = [value for values in ratios.values() for value in values]
    print(f"{'all':20}{len(everything):8}{min(everything):8.2f}{statistics.median(everything):8.2f}")
    for name, values in sorted(by_tokenizer.items()):
        print(f"{name:20}{len(values):8}{min(values):8.2f}{statistics.median(values):8.2f}")
    size = sum(len(record["t"]) for record in records)
    print(f"{1e9 * spent / size:.0f} ns of processor time a character")
    return int(min(everything) < 1)


if __name__ == "__main__":
    sys.exit(main())
