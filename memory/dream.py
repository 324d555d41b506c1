"""What can go from a notebook, found without a model: the plan that an agent or a person then carries out.

Pure and deterministic: the same texts, memories and clock give the same plan. The plan names lines and reasons and
changes nothing. Yardsticks: a notebook is due over 50 KB when its last dream is over a day old; a pass makes it about
30 % smaller.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import notebook, patch
from .record import Memory, seconds, timestamp
from .sections import split

DUE_BYTES = 50 * 1024
DUE_SECONDS = 86_400.0
STAMP = "last_dream"
SHRINK = 0.3
DORMANT_SECONDS = 90 * 86_400.0
RECENT_KEPT = 5  # entries of a "Recent …" section that stay as they are

_NEAR = 0.85
_SHARED = 0.4
_WITHIN = 6
_COMMON = 100  # a triple in more blocks than that tells nothing, and would make the work quadratic
_MIN_WORDS = 5  # shorter blocks repeat by nature ("- done", "```")
_WORD = re.compile(r"\w+")
_DATE = re.compile(r"(?<![\d-])(20\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_RECENT = re.compile(r"\b(recent|latest|session|progress|log|changelog|journal|history)\b", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


class Check(NamedTuple):
    """Whether a notebook is due, and the figures that say so; `last_dream` is "" where it was never dreamed."""

    due: bool
    size: int
    last_dream: str
    reason: str


class Item(NamedTuple):
    """One thing that can go: lines `first` to `last` of `path` ("" and 0 for a memory, which `id` names then)."""

    action: str
    path: str
    first: int
    last: int
    reason: str
    text: str
    id: str = ""


class Plan(NamedTuple):
    """The items in order, what the notebook weighs and what it should weigh after the pass, in bytes."""

    items: tuple[Item, ...]
    size: int
    target: int


class Block(NamedTuple):
    """A paragraph, a list item or a table row: its lines, its words folded, and the text itself."""

    first: int
    last: int
    words: tuple[str, ...]
    text: str


class Old(NamedTuple):
    """A memory that the store holds but should perhaps not: `why` is "expired" or "stale" with its detail."""

    memory: Memory
    why: str
    detail: str


def check(text: str, now: float) -> Check:
    """Return whether the notebook `text` is due for a dream at `now` (epoch seconds)."""
    size = len(text.encode("utf-8", "replace"))
    last = notebook.front_value(text, STAMP)
    try:
        age = now - seconds(last) if last else None
    except ValueError:
        age = None  # a stamp that can't be read says nothing: as if never dreamed
    if size <= DUE_BYTES:
        return Check(False, size, last, f"{size:,} bytes, at most {DUE_BYTES:,} need no dream")
    if age is not None and age <= DUE_SECONDS:
        return Check(False, size, last, f"dreamed {max(age, 0) / 3600:.0f} hours ago, at most 24 need no other")
    since = "never dreamed" if age is None else f"last dreamed {age / 86400:.1f} days ago"
    return Check(True, size, last, f"{size:,} bytes and {since}")


def stamp(text: str, now: float) -> str:
    """Return `text` with `last_dream` set to `now` in its front matter."""
    return notebook.with_front_value(text, STAMP, timestamp(now)[:19] + "Z")


def plan(text: str, *, now: float, path: str = notebook.NAME, others: dict[str, str] | None = None,
         old: tuple[Old, ...] = ()) -> Plan:  # fmt: skip
    """Return what can go from the notebook `text`.

    `others` are instruction files by path (CLAUDE.md, AGENTS.md), whose text the notebook need not repeat; `old` are
    memories that have expired or whose files have moved on.
    """
    mine = blocks(text)
    items = [
        *_repeated(mine, path),
        *_held_elsewhere(mine, path, {name: blocks(other) for name, other in (others or {}).items()}),
        *_dormant(text, path, now),
        *_old_entries(text, path),
    ]
    taken: set[int] = set()
    kept: list[Item] = []
    for item in sorted(items, key=lambda item: (item.first, -item.last, item.action)):
        span = set(range(item.first, item.last + 1))
        if not span & taken:
            taken |= span
            kept.append(item)
    for memory, why, detail in sorted(old, key=lambda one: (one.why, one.memory.id)):
        kept.append(Item(why, "", 0, 0, detail, memory.title, memory.id))
    size = len(text.encode("utf-8", "replace"))
    return Plan(tuple(kept), size, int(size * (1 - SHRINK)))


def blocks(text: str) -> list[Block]:
    """Return the paragraphs, list items and table rows of `text`; code, headings and front matter are left out."""
    lines = patch.bodies(text)
    titles = {heading.line for heading in notebook.headings(lines)}
    start = notebook.front_matter_end(lines)
    found: list[Block] = []
    open_lines: list[int] = []
    fence = ""

    def close() -> None:
        if open_lines:
            body = "\n".join(lines[number - 1] for number in open_lines)
            found.append(Block(open_lines[0], open_lines[-1], tuple(_WORD.findall(body.casefold())), body.strip()))
            open_lines.clear()

    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if fence or mark:
            close()
            if mark:
                fence = "" if fence and mark.group(1).startswith(fence) else fence or mark.group(1)
            continue
        if number <= start or number in titles or not line.strip():
            close()
            continue
        if _ITEM.match(line) or line.lstrip().startswith("|"):
            close()
        open_lines.append(number)
    close()
    return [block for block in found if len(block.words) >= _MIN_WORDS]


def _triples(words: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(words[i : i + 3] for i in range(len(words) - 2))


def _match(block: Block, index: dict[tuple[str, ...], list[int]], known: list[Block]) -> int:
    """Return the first of `known` that is nearly the same as `block`, -1 where none is.

    Nearly the same: 85 % of the words of both stand in the same order and their figures are equal, or `block` stands
    within the other but for 5 %. Only blocks that share word triples are compared.
    """
    from difflib import SequenceMatcher

    mine = _triples(block.words)
    shared: dict[int, int] = {}
    for triple in mine:
        places = index.get(triple, ())
        for i in places if len(places) <= _COMMON else ():
            shared[i] = shared.get(i, 0) + 1
    for i in sorted(shared):
        other = known[i]
        smaller = min(len(mine), len(_triples(other.words)))
        if len(block.words) <= len(other.words) and len(mine) >= _WITHIN and shared[i] >= 0.95 * len(mine):
            return i
        if shared[i] < _SHARED * smaller or _figures(block) != _figures(other):
            continue
        if SequenceMatcher(None, block.words, other.words, autojunk=False).ratio() >= _NEAR:
            return i
    return -1


def _figures(block: Block) -> set[str]:
    """Return the words with digits: two lines that differ in a version or a port say two things."""
    return {word for word in block.words if not word.isalpha()}


def _index(known: list[Block]) -> dict[tuple[str, ...], list[int]]:
    index: dict[tuple[str, ...], list[int]] = {}
    for i, block in enumerate(known):
        for triple in _triples(block.words):
            index.setdefault(triple, []).append(i)
    return index


def _repeated(mine: list[Block], path: str) -> list[Item]:
    """Return the blocks that nearly repeat an earlier one."""
    items: list[Item] = []
    known: list[Block] = []
    index: dict[tuple[str, ...], list[int]] = {}
    for block in mine:
        at = _match(block, index, known)
        if at >= 0:
            reason = (
                f"nearly the same as lines {known[at].first}-{known[at].last}; keep one, with what only the other says"
            )
            items.append(Item("duplicate", path, block.first, block.last, reason, _shown(block.text)))
            continue
        for triple in _triples(block.words):
            index.setdefault(triple, []).append(len(known))
        known.append(block)
    return items


def _held_elsewhere(mine: list[Block], path: str, others: dict[str, list[Block]]) -> list[Item]:
    """Return the blocks that an instruction file holds already, which every session loads anyway."""
    items: list[Item] = []
    for name in sorted(others):
        index = _index(others[name])
        for block in mine:
            at = _match(block, index, others[name])
            if at >= 0:
                where = others[name][at]
                reason = f"{name} lines {where.first}-{where.last} hold it already, and every session loads that file"
                items.append(Item("held_elsewhere", path, block.first, block.last, reason, _shown(block.text)))
    return items


def _newest(text: str) -> str:
    return max((match.group() for match in _DATE.finditer(text)), default="")


def _dormant(text: str, path: str, now: float) -> list[Item]:
    """Return the sections whose newest date is over three months old: topics that nobody came back to."""
    items: list[Item] = []
    for section in split(text):
        newest = _newest(section.text)
        if not newest:
            continue
        days = int((now - seconds(newest)) // 86400) if _is_date(newest) else 0
        if days * 86400 > DORMANT_SECONDS:
            reason = f"newest date is {newest}, {days} days ago; condense to what still holds, or drop"
            name = section.heading or "(no heading)"
            items.append(Item("dormant", path, section.first_line, section.last_line, reason, name))
    return items


def _is_date(day: str) -> bool:
    try:
        seconds(day)
    except ValueError:
        return False
    return True


def _old_entries(text: str, path: str) -> list[Item]:
    """Return what lies behind the newest entries of sections such as "Recent Sessions", to be tightened."""
    items: list[Item] = []
    lines = patch.bodies(text)
    for section in split(text):
        if not _RECENT.search(section.heading.rpartition(" › ")[2]):
            continue
        span = range(section.first_line, section.last_line + 1)
        dated = [number for number in span if _ITEM.match(lines[number - 1]) and _DATE.search(lines[number - 1])]
        if len(dated) <= RECENT_KEPT:
            continue
        falling = _newest(lines[dated[0] - 1]) >= _newest(lines[dated[-1] - 1])
        first = dated[RECENT_KEPT] if falling else dated[0]
        last = section.last_line if falling else dated[-RECENT_KEPT] - 1
        while last > first and not lines[last - 1].strip():
            last -= 1
        count = len(dated) - RECENT_KEPT
        reason = f"{count} entries older than the newest {RECENT_KEPT}; tighten each to one line, or drop"
        items.append(Item("tighten", path, first, last, reason, section.heading))
    return items


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 100 else line[:99] + "…"
