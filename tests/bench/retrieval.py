"""Measure recall on a retrieval benchmark and print it beside what other ways were seen to reach.

    retrieval.py FOLDER [--model NAME] [--json]

FOLDER holds `SET.memories.jsonl` ({id, store, title, content, area, tags}) and `SET.queries.jsonl` ({id, store, text,
gold}); each query is put to its own store. The texts are third parties' and stay where they are.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sqlite3
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "_tree"))

from memhooks.memory import embed, recall, schema, store, vectors
from memhooks.memory.record import Memory, timestamp

NOW = 2_000_000_000.0
# Macro nDCG@10 on the development part, as the benchmark's makers measured it.
OTHERS = {
    "FTS5 unicode61, implicit AND": 0.019,
    "unicode61, OR, stop words dropped": 0.599,
    "trigram, OR": 0.611,
    "porter, OR, stop words dropped": 0.637,
    "the same with split identifiers": 0.642,
    "wordllama": 0.568,
    "static table alone": 0.599,
    "MiniLM alone": 0.647,
    "words + static table": 0.673,
    "words + MiniLM": 0.704,
}


SILENCE = ("context speaks when right", "context speaks to strangers")


class Query(NamedTuple):
    id: str
    store: str
    text: str
    gold: frozenset[str]


class Set(NamedTuple):
    name: str
    stores: dict[str, sqlite3.Connection]
    queries: list[Query]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="", help="a cached model instead of the shipped one")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    embedder = embed.cached(args.model, os.environ)
    figures: dict[str, dict[str, float]] = {name: {} for name in (*recall.MODES, *SILENCE)}
    with tempfile.TemporaryDirectory() as folder:
        sets = [read(path, Path(folder), embedder) for path in sorted(args.folder.glob("*.memories.jsonl"))]
        for place, one in enumerate(sets):
            foreign = next(iter(sets[place - 1].stores.values()))
            for name, value in (measure(one, embedder) | silence(one, foreign, embedder)).items():
                figures[name][one.name] = value
        for one in sets:
            for db in one.stores.values():
                db.close()
    for values in figures.values():
        values["macro"] = sum(values.values()) / len(values)
    print(json.dumps(figures) if args.json else table(figures))
    return 0


def read(path: Path, folder: Path, embedder: embed.Embedder) -> Set:
    """Return one set of the benchmark, its memories in new stores below `folder`."""
    memories = defaultdict(list)
    for record in lines(path):
        memories[str(record["store"])].append(record)
    queries = [
        Query(str(q["id"]), str(q["store"]), str(q["text"]), frozenset(q["gold"]))  # type: ignore[arg-type]
        for q in lines(path.with_name(path.name.replace("memories", "queries")))
    ]
    stores = {name: load(str(folder / f"{name}.db"), records, embedder) for name, records in memories.items()}
    return Set(path.name.split(".")[0], stores, queries)


def measure(one: Set, embedder: embed.Embedder) -> dict[str, float]:
    """Return the mean nDCG@10 of each mode over the queries of one set."""
    scores: dict[str, list[float]] = defaultdict(list)
    for query in one.queries:
        for mode in recall.MODES:
            db = one.stores[query.store]
            hits = recall.search(db, query.text, limit=10, now=NOW, mode=mode, embedder=embedder)
            scores[mode].append(ndcg([hit.memory.id for hit in hits], query.gold))
    return {mode: sum(values) / len(values) for mode, values in scores.items()}


def silence(one: Set, foreign: sqlite3.Connection, embedder: embed.Embedder) -> dict[str, float]:
    """Return how often `context` speaks where its first hit is right, and where the store is another project's."""
    right = []
    for query in one.queries:
        best = recall.search(one.stores[query.store], query.text, limit=1, now=NOW, mode="fused", embedder=embedder)
        if best and best[0].memory.id in query.gold:
            right.append(query)
    speaks = [bool(recall.context(one.stores[q.store], q.text, limit=1, now=NOW, embedder=embedder)) for q in right]
    strays = [bool(recall.context(foreign, q.text, limit=1, now=NOW, embedder=embedder)) for q in one.queries]
    return dict(zip(SILENCE, (sum(speaks) / len(speaks), sum(strays) / len(strays)), strict=True))


def load(path: str, records: list[dict[str, object]], embedder: embed.Embedder) -> sqlite3.Connection:
    """Return a connection to a new store that holds the records and their vectors."""
    db = schema.connect(path, create=True)
    with store.transaction(db):
        for position, record in enumerate(records):
            stamp = timestamp(1_700_000_000 + position)
            memory = Memory(
                id=str(record["id"]),
                title=str(record["title"]),
                content=str(record["content"]),
                area=str(record["area"]),
                tags=tuple(record["tags"]),  # type: ignore[arg-type]
                created_at=stamp,
                updated_at=stamp,
            )
            store.insert(db, memory)
            vectors.put(db, memory.id, 1, embedder, embedder.embed_memory(memory.title, memory.content))
    return db


def ndcg(ranked: list[str], gold: frozenset[str]) -> float:
    """Return nDCG at 10 with gains of 0 and 1."""
    gain = sum(1 / math.log2(place + 2) for place, found in enumerate(ranked[:10]) if found in gold)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))


def lines(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def table(figures: dict[str, dict[str, float]]) -> str:
    names = list(figures["lexical"])
    rows = [f"{'nDCG@10':34}" + "".join(f"{name:>10}" for name in names)]
    rows += [
        f"{'ours, ' + mode:34}" + "".join(f"{values[name]:10.3f}" for name in names) for mode, values in figures.items()
    ]
    rows += [f"{other:34}" + " " * 10 * (len(names) - 1) + f"{value:10.3f}" for other, value in OTHERS.items()]
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
