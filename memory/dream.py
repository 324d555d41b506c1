"""What can go from a notebook, found without a model: the plan that an agent or a person then carries out.

Pure and deterministic: the same texts, memories and clock give the same plan. The plan names lines and reasons and
changes nothing. Yardsticks: a notebook is due over 50 KB when its last dream is over a day old; a pass makes it about
30 % smaller.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import notebook, patch
from .likeness import held, repeated
from .policy import redact, scan
from .record import Memory, seconds, timestamp
from .sections import split

DUE_BYTES = 50 * 1024
DUE_SECONDS = 86_400.0
STAMP = "last_dream"
SHRINK = 0.3
DORMANT_SECONDS = 90 * 86_400.0
RECENT_KEPT = 5  # entries of a "Recent …" section that stay as they are

_DATE = re.compile(r"(?<![\d-])(20\d\d)-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\d-])")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_RECENT = re.compile(r"\b(recent|latest|session|progress|log|changelog|journal|history)\b", re.IGNORECASE)


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
    items = [
        *_repeated(text, path),
        *_held_elsewhere(text, path, others or {}),
        *_dormant(text, path, now),
        *_old_entries(text, path),
    ]
    kept = _apart(items, patch.bodies(text))
    for memory, why, detail in sorted(old, key=lambda one: (one.why, one.memory.id)):
        kept.append(Item(why, "", 0, 0, detail, memory.title, memory.id))
    size = len(text.encode("utf-8", "replace"))
    return Plan(tuple(kept), size, int(size * (1 - SHRINK)))


def _apart(items: list[Item], lines: list[str]) -> list[Item]:
    """Return the items without overlap, by line: of two the longer stays whole, the other keeps its own lines."""
    taken: set[int] = set()
    kept: list[Item] = []
    for item in sorted(items, key=lambda item: (item.first - item.last, item.first, item.action)):
        free = [n for n in range(item.first, item.last + 1) if n not in taken]
        taken.update(free)
        for place, number in enumerate(free):
            if place and number == free[place - 1] + 1:
                kept[-1] = kept[-1]._replace(last=number)
            else:
                kept.append(item._replace(first=number, last=number))
    filled = [item for item in kept if any(line.strip() for line in lines[item.first - 1 : item.last])]
    return sorted(filled, key=lambda item: item.first)


def _repeated(text: str, path: str) -> list[Item]:
    """Return what nearly repeats an earlier place."""
    items: list[Item] = []
    for pair in repeated(text):
        where = _lines(pair.other_first, pair.other_last)
        reason = f"nearly the same as {where}; keep one, with what only the other says"
        items.append(Item("duplicate", path, pair.first, pair.last, reason, _shown(pair.text)))
    return items


def _held_elsewhere(text: str, path: str, others: dict[str, str]) -> list[Item]:
    """Return what an instruction file holds already, which every session loads anyway."""
    items: list[Item] = []
    for name in sorted(others):
        for pair in held(text, others[name]):
            where = _lines(pair.other_first, pair.other_last)
            reason = f"{name} {where} hold it already, and every session loads that file"
            items.append(Item("held_elsewhere", path, pair.first, pair.last, reason, _shown(pair.text)))
    return items


def _lines(first: int, last: int) -> str:
    return f"lines {first}-{last}"


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
    """Return the beginning of a text, without what the guard objects to: a plan is read by agents and kept in logs."""
    line = redact(" ".join(text.split()), scan(" ".join(text.split())))
    return line if len(line) <= 100 else line[:99] + "…"
