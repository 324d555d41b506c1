"""The notebook MEMORY.md as text: pages of it, its outline, lines that answer a query, its front matter, its guard.

Pure: text in, text or records out; reading, locking and writing the file is the caller's. Line numbers are 1-based.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from . import patch
from .errors import MemError, Rejected, UsageError
from .record import Finding, printable
from .tokens import estimate

NAME = "MEMORY.md"
READ_TOKENS = 20_000  # more in one answer would crowd out the work it is for
MAX_CHARS = 2_000_000  # a notebook beyond this is no notebook; also bounds what one call can make us do
SEARCH_LIMIT = 50
_LINE_SHOWN = 1000  # characters of a found line: fifty of them fit one answer

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_FRONT_END = ("---", "...")

# What a shell would have replaced: a client that runs no shell hands it on as it is, and the notebook would be lost
# for the name of a command. A whole text of any such form, and outside code a line of it or a common command.
_WHOLE = re.compile(r"\s*(?:\$\(.*\)|`[^`\n]*`|\$\{\w+[^}]*\}|\$\w+|<\(.*\))\s*", re.DOTALL)
_COMMANDS = r"(?:cat|head|tail|sed|awk|grep|jq|echo|printf|pwd|date|whoami|hostname|ls|git|curl|node|python3?)\b"
_RUNS = re.compile(rf"\$\(\s*(?:<|{_COMMANDS})[^)]*\)|<\(\s*{_COMMANDS}[^)]*\)|^ {{0,3}}\$\(.+\)[ \t]*$", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


class Heading(NamedTuple):
    """One heading outside code: its line, its level 1 to 6 and its words."""

    line: int
    level: int
    title: str


class Page(NamedTuple):
    """Lines `first` to `last` of `total`; `text` keeps its line ends."""

    text: str
    first: int
    last: int
    total: int


class Piece(NamedTuple):
    """A run of lines that fits one answer: the `offset` and `limit` to read it with, and where it begins."""

    offset: int
    limit: int
    title: str


class TooLarge(MemError):
    """The page asked for is over the limit; `pieces` are the pages to ask for instead."""

    reason = "too_large"

    def __init__(self, message: str, pieces: list[Piece]) -> None:
        super().__init__(message)
        self.pieces = pieces


def headings(lines: list[str]) -> list[Heading]:
    """Return the headings of `lines`, leaving out what stands in front matter and fenced code."""
    found: list[Heading] = []
    fence = ""
    start = front_matter_end(lines)
    for number, line in enumerate(lines[start:], start + 1):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
                fence = ""
        elif mark and not (mark.group(1)[0] == "`" and "`" in mark.group(2)):
            fence = mark.group(1)
        elif heading := _HEADING.fullmatch(line):
            found.append(Heading(number, len(heading.group(1)), (heading.group(2) or "").strip()))
    return found


def front_matter_end(lines: list[str]) -> int:
    """Return how many lines the YAML front matter takes, its two rulers included; 0 where there is none."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:60], 2):
        if line.rstrip() in _FRONT_END:
            return number
    return 0


def read(text: str, *, offset: int = 0, limit: int | None = None) -> Page:
    """Return `limit` lines of `text` from line `offset` (1-based; 0 means the start) to the end.

    Raises UsageError for a negative figure or an offset behind the end, TooLarge over `READ_TOKENS`.
    """
    lines = patch.split_lines(text)
    if offset < 0 or (limit is not None and limit < 1):
        raise UsageError("offset must be 0 or more and limit 1 or more")
    start = max(offset, 1)
    if start > max(len(lines), 1):
        raise UsageError(f"offset {offset} is behind the last line, which is {len(lines)}")
    last = len(lines) if limit is None else min(start - 1 + limit, len(lines))
    page = Page("".join(lines[start - 1 : last]), start, last, len(lines))
    tokens = estimate(page.text)
    if tokens > READ_TOKENS:
        if start == last:
            raise TooLarge(f"line {start} alone is about {tokens:,} tokens, over the {READ_TOKENS:,} of one answer; "
                           "search for a word in it", [])  # fmt: skip
        pieces = split_pieces(lines, start, last)
        named = "; ".join(f"offset {p.offset} limit {p.limit} ({printable(p.title)[:60]})" for p in pieces[:20])
        raise TooLarge(
            f"lines {start} to {last} are about {tokens:,} tokens, over the {READ_TOKENS:,} of one answer; "
            f"read a piece: {named}, or search, or ask for the headings",
            pieces,
        )
    return page


def split_pieces(lines: list[str], first: int, last: int) -> list[Piece]:
    """Return pages of lines `first` to `last` that fit one answer each, cut before headings where there are some."""
    titles = {heading.line: heading.title for heading in headings([line.rstrip("\r\n") for line in lines])}
    pieces: list[Piece] = []
    start, cut, tokens, since_cut = first, 0, 0, 0
    for number in range(first, last + 1):
        cost = estimate(lines[number - 1]) + 1
        if number in titles and number > start:
            cut, since_cut = number, 0
        if tokens + cost > READ_TOKENS and number > start:
            here = cut if cut > start else number
            pieces.append(Piece(start, here - start, _title_of(lines, titles, start)))
            tokens = since_cut if here == cut else 0
            start, cut = here, 0
        tokens += cost
        since_cut += cost
    pieces.append(Piece(start, last + 1 - start, _title_of(lines, titles, start)))
    return pieces


def _title_of(lines: list[str], titles: dict[int, str], line: int) -> str:
    """Return the heading that line stands under, or the beginning of the line where none is above it."""
    above = [number for number in titles if number <= line]
    return titles[max(above)] if above else lines[line - 1].strip()[:80]


def outline(text: str) -> list[Heading]:
    """Return the headings of `text`: what `head_only` shows."""
    return headings(patch.bodies(text))


class Found(NamedTuple):
    """Lines that answer a query as (number, line), and how many there are in all. Of a very long line, such as no
    person writes, what stands around the query."""

    lines: list[tuple[int, str]]
    total: int


def search(text: str, query: str, *, limit: int = SEARCH_LIMIT) -> Found:
    """Return up to `limit` lines, at most 50, that hold `query`, case ignored; where no line does, the lines that hold
    all of its words. Raises UsageError for an empty query and a limit below 1."""
    if limit < 1:
        raise UsageError("the number of results must be 1 or more")
    wanted = query.strip().casefold()
    if not wanted:
        raise UsageError("the query is empty")
    lines = patch.bodies(text)
    folded = [line.casefold() for line in lines]
    found = [i for i, line in enumerate(folded) if wanted in line]
    if not found:
        words = wanted.split()
        found = [i for i, line in enumerate(folded) if all(word in line for word in words)]
    shown = found[: min(limit, SEARCH_LIMIT)]
    return Found([(i + 1, _around(lines[i], folded[i].find(wanted.split()[0]))) for i in shown], len(found))


def _around(line: str, at: int) -> str:
    """Return a line, or `_LINE_SHOWN` characters of it around the place `at`."""
    if len(line) <= _LINE_SHOWN:
        return line
    start = max(0, min(at - _LINE_SHOWN // 2, len(line) - _LINE_SHOWN))
    end = start + _LINE_SHOWN
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")


def check_new(text: str, *, typed: bool = True) -> str:
    """Return `text`, which is to become the whole notebook; `typed` says that it came as words, not from a file.

    Raises Rejected: `empty`, `shell_substitution` where typed text is a substitution that no shell has expanded, such
    as $(cat notes.md), and what `check_text` raises.
    """
    if not text.strip():
        raise Rejected("the text is empty; a notebook is not emptied by writing nothing", reason="empty")
    check_text(text)
    found = (_WHOLE.fullmatch(text) or _RUNS.search(_without_code(text))) if typed else None
    if found:
        raise Rejected(
            f"the text holds {printable(found.group().strip())[:60]!r}, which no shell has expanded; send the text "
            "itself, or name the file as project_info_file",
            reason="shell_substitution",
        )
    return text


def check_text(text: str, old: str = "") -> None:
    """Make sure that `text` can be written in place of `old`. Raises Rejected: `too_long`, `invalid_text` for lone
    surrogates and a NUL that `old` does not hold."""
    if len(text) > max(MAX_CHARS, len(old)):
        raise Rejected(f"the text has {len(text):,} characters; the limit is {MAX_CHARS:,}", reason="too_long")
    if ("\0" in text and "\0" not in old) or _SURROGATE.search(text):
        raise Rejected("the text holds a NUL or a lone surrogate; remove it", reason="invalid_text")


def _without_code(text: str) -> str:
    """Return `text` without fenced code and code spans, where a substitution is an example."""
    kept: list[str] = []
    fence = ""
    for line in patch.bodies(text):
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not mark.group(2).strip():
                fence = ""
        elif mark:
            fence = mark.group(1)
        else:
            kept.append(line)
    return _CODE_SPAN.sub("", "\n".join(kept))


def overwritten(old: str, new: str) -> str:
    """Return `new` as the text that replaces `old`: with the front matter of `old` where it brings none, and with CRLF
    where every line of `old` ends so and none of `new` does."""
    old_lines = patch.split_lines(old)
    count = front_matter_end(patch.bodies(old))
    if count and not front_matter_end(patch.bodies(new)):
        new = "".join(old_lines[:count]) + new.removeprefix("\ufeff")
    ended = [line for line in old_lines if line[-1] in "\r\n"]
    if ended and all(line.endswith("\r\n") for line in ended):
        plain = "".join(patch.split_lines(new)[count:]) if count else new
        if "\r" not in plain:
            new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    return new


def new_findings(old: str, new: str, *, scan_old: list[Finding], scan_new: list[Finding]) -> list[Finding]:
    """Return the findings in `new` whose rule and value `old` did not hold as often: what a write would add."""
    held: dict[tuple[str, str], int] = {}
    for finding in scan_old:
        key = (finding.rule, old[finding.start : finding.end])
        held[key] = held.get(key, 0) + 1
    added: list[Finding] = []
    for finding in scan_new:
        key = (finding.rule, new[finding.start : finding.end])
        if held.get(key, 0):
            held[key] -= 1
        else:
            added.append(finding)
    return added


def place(text: str, at: int) -> tuple[int, int]:
    """Return the 1-based line and column of code point `at`."""
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def front_value(text: str, key: str) -> str:
    """Return the value of a plain `key: value` line of the front matter, without quotes; "" where it is absent."""
    lines = patch.bodies(text)
    for line in lines[1 : front_matter_end(lines)]:
        name, colon, value = line.partition(":")
        if colon and name.strip() == key:
            return value.partition(" #")[0].strip().strip("'\"")
    return ""


def with_front_value(text: str, key: str, value: str) -> str:
    """Return `text` with `key: value` in its front matter; every other byte, line ends included, stays as it is."""
    lines = patch.split_lines(text)
    count = front_matter_end(patch.bodies(text))
    end = next((line[len(line.rstrip("\r\n")) :] for line in lines if line[-1] in "\r\n"), "\n")
    if not count:
        bom = "\ufeff" if text.startswith("\ufeff") else ""
        return f"{bom}---{end}{key}: {value}{end}---{end}{end}" + text.removeprefix("\ufeff")
    for i in range(1, count - 1):
        if lines[i].partition(":")[0].strip() == key and not lines[i][0].isspace():
            own = lines[i][len(lines[i].rstrip("\r\n")) :]
            return "".join([*lines[:i], f"{key}: {value}{own}", *lines[i + 1 :]])
    return "".join([*lines[: count - 1], f"{key}: {value}{end}", *lines[count - 1 :]])
