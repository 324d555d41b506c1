"""Replay real histories: how often does the digest before a commit hold the memories about the files it then touches?

Each argument is a clone of a public repository. Its agent files and decision records (CLAUDE.md, AGENTS.md, .cursor,
.serena, adr, …), as they were N commits before the end of the history, are cut into memories: paragraphs and list
items of 40 to 500 characters, dated by blame. A memory is about the tracked files that its text names. Then the last
N commits are replayed: before each one a digest is made, knowing the files of the commits before it, and compared
with the commit's files. Nothing of the repositories is kept.

Orders compared under the same budget, whole entries only: ours; ours with the branch named after the commit's subject
(an upper bound: the name is written by who knows the task); recency alone, equal times in random order; chance. The
last two are means of several shuffles.

    python tests/bench/digest.py [--commits 300] [--tokens 400] CLONE…
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

TREE = Path(__file__).resolve().parents[1] / "_tree"
sys.path.insert(0, str(TREE))

from memhooks.memory import anchors, closeness, digest, schema, store  # noqa: E402
from memhooks.memory.project import Project  # noqa: E402
from memhooks.memory.record import Memory, derive_title, new_id, timestamp  # noqa: E402

SOURCES = re.compile(
    r"(^|/)(CLAUDE|AGENTS|GEMINI|CONVENTIONS|CONTRIBUTING)(\.local)?\.md$|(^|/)\.(cursor/rules|serena/memories|claude)/.*\.mdc?$"
    r"|(^|/)(adr|adrs|decisions)/.*\.md$|copilot-instructions\.md$",
    re.IGNORECASE,
)
SHUFFLES = 5
_REAL_RANKED = closeness.ranked


class Note(NamedTuple):
    """One memory to be: its text, when it was written, the tracked files that it names."""

    text: str
    at: float
    files: frozenset[str]


class Commit(NamedTuple):
    id: str
    subject: str
    files: list[str]


class Score(NamedTuple):
    """Over the commits that touch a file some memory is about: how many digests held one of these memories, and the
    mean share of them that was held."""

    commits: int
    held: float
    share: float


def git(clone: str, *words: str) -> str:
    done = subprocess.run(["git", "-C", clone, *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def history(clone: str, commits: int) -> list[Commit]:
    """Return the last commits with the files they touch, oldest first."""
    words = ["log", f"-{commits}", "--no-merges", "--format=%x01%H%x02%s", "--name-only", "-z", "--no-renames"]
    found: list[Commit] = []
    for part in git(clone, *words).split("\0"):
        part = part.lstrip("\n")
        if part.startswith("\x01"):
            commit, _, subject = part[1:].partition("\x02")
            found.append(Commit(commit, subject, []))
        elif part and found:
            found[-1].files.append(part)
    return found[::-1]


def notes(clone: str, commit: str) -> list[Note]:
    """Return the memories that the agent files of a commit make."""
    tracked = set(git(clone, "ls-tree", "-r", "-z", "--name-only", commit).split("\0"))
    found: dict[str, Note] = {}
    for path in sorted(path for path in tracked if SOURCES.search(path)):
        for text, at in blocks(clone, commit, path):
            files = frozenset(name for name in anchors.paths_in(text) if name in tracked)
            found.setdefault(text, Note(text, at, files))
    return list(found.values())


def blocks(clone: str, commit: str, path: str) -> list[tuple[str, float]]:
    """Return (text, newest line's time) of the paragraphs and list items of a file, code blocks left out."""
    lines: list[tuple[str, float]] = []
    at = 0.0
    for line in git(clone, "blame", "--line-porcelain", commit, "--", path).split("\n"):
        if line.startswith("author-time "):
            at = float(line.split()[1])
        elif line.startswith("\t"):
            lines.append((line[1:].strip(), at))
    found: list[tuple[list[str], float]] = [([], 0.0)]
    fenced = False
    for line, when in [*lines, ("", 0.0)]:
        fenced ^= line.startswith("```")
        if not line or fenced or line.startswith(("#", "```", "|", "---")) or re.match(r"([-*+]|\d+\.)\s", line):
            found.append(([], 0.0))
        if line and not fenced and not line.startswith(("#", "```", "|", "---")):
            texts, newest = found[-1]
            found[-1] = ([*texts, re.sub(r"^([-*+]|\d+\.)\s+", "", line)], max(newest, when))
    made = [(" ".join(texts), newest) for texts, newest in found]
    return [(text, newest) for text, newest in made if 40 <= len(text) <= 500]


def replay(clone: str, commits: int, tokens: int) -> dict[str, Score]:
    """Return the scores of each order on one repository."""
    past = history(clone, commits + 20)
    known = notes(clone, past[19].id) if len(past) > 20 else []
    if not any(note.files for note in known):
        return {}
    with tempfile.TemporaryDirectory(prefix="mem-bench-") as folder:
        db = schema.connect(str(Path(folder) / "mem.db"), create=True)
        about = load(db, known)
        orders: dict[str, Callable[[Commit], set[str]]] = {
            "ours": lambda commit: shown(db, "branch:main", tokens),
            "ours, branch named after the task": lambda commit: shown(db, f"branch:{slug(commit.subject)}", tokens),
        }
        scores = {name: score(db, past, about, pick) for name, pick in orders.items()}
        for name, by_time in (("recency alone", True), ("chance", False)):
            picks = [shuffled(db, tokens, random.Random(seed), by_time=by_time) for seed in range(SHUFFLES)]
            rounds = [score(db, past, about, pick) for pick in picks]
            held, share = (sum(one[column] for one in rounds) / SHUFFLES for column in (1, 2))
            scores[name] = Score(rounds[0].commits, held, share)
        db.close()
    print(f"{Path(clone).parent.name}: {len(known)} memories, {len(about)} about a file, "
          f"{scores['ours'].commits} of {len(past) - 20} commits touch one of these files")  # fmt: skip
    return scores


def load(db: object, known: list[Note]) -> dict[str, frozenset[str]]:
    """Write the memories and return the files of those that have some, by id."""
    about = {}
    with store.transaction(db):  # type: ignore[arg-type]
        for note in sorted(known, key=lambda note: (note.at, note.text)):
            stamp = timestamp(note.at)
            memory = Memory(
                id=new_id(note.at), title=derive_title(note.text, 80), title_derived=True, content=note.text,
                created_at=stamp, updated_at=stamp,
            )  # fmt: skip
            store.insert(db, memory)  # type: ignore[arg-type]
            anchors.attach(db, memory.id, dict.fromkeys(note.files, "0" * 40))  # type: ignore[arg-type]
            if note.files:
                about[memory.id] = note.files
    return about


def score(
    db: object, past: list[Commit], about: dict[str, frozenset[str]], pick: Callable[[Commit], set[str]]
) -> Score:
    commits = held = 0
    share = 0.0
    for number in range(20, len(past)):
        touched = set(past[number].files)
        wanted = {memory for memory, files in about.items() if files & touched}
        if not wanted:
            continue
        before = [(path, one.id) for one in past[number - 1 : number - 21 : -1] for path in one.files[:60]]
        anchors.note_touched(db, before)  # type: ignore[arg-type]
        found = wanted & pick(past[number])
        commits += 1
        held += bool(found)
        share += len(found) / len(wanted)
    return Score(commits, held / max(commits, 1), share / max(commits, 1))


def shown(db: object, workspace: str, tokens: int) -> set[str]:
    return set(digest.build(db, Project("", "", workspace), now=4e9, tokens=tokens).shown)  # type: ignore[arg-type]


def with_order(db: object, tokens: int, order: Callable[..., list[closeness.Candidate]]) -> set[str]:
    closeness.ranked = order
    try:
        return shown(db, "branch:main", tokens)
    finally:
        closeness.ranked = _REAL_RANKED


def shuffled(db: object, tokens: int, rng: random.Random, *, by_time: bool) -> Callable[[Commit], set[str]]:
    """Return what shows memories in random order; with `by_time` only those of the same time are shuffled."""
    rows = db.execute(f"SELECT rowid, id, {closeness._SIZE}, updated_at FROM memories").fetchall()  # type: ignore[attr-defined]

    def pick(_: Commit) -> set[str]:
        rng.shuffle(rows)
        if by_time:
            rows.sort(key=lambda row: row[3], reverse=True)
        return with_order(db, tokens, lambda *_: [row[:3] for row in rows])

    return pick


def slug(subject: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-")[:60]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clones", nargs="+", metavar="CLONE")
    parser.add_argument("--commits", type=int, default=300)
    parser.add_argument("--tokens", type=int, default=400)
    args = parser.parse_args()
    found = [scores for clone in args.clones if (scores := replay(clone, args.commits, args.tokens))]
    print(f"\n{'order':<36}{'digest holds one':>18}{'share of them':>16}   (mean of {len(found)} repositories)")
    for name in found[0] if found else ():
        held = sum(scores[name].held for scores in found) / len(found)
        share = sum(scores[name].share for scores in found) / len(found)
        print(f"{name:<36}{held:>17.1%}{share:>16.1%}   {' '.join(f'{scores[name].held:.0%}' for scores in found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
