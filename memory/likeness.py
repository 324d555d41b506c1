"""Which blocks of a Markdown text say nearly the same: paragraphs, list items and table rows, by their words.

Pure and deterministic. Blocks are compared only where they share word triples, so that the work stays about linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from . import notebook, patch

_NEAR = 0.85  # of the words of both, in order
_SHARED = 0.4  # of the smaller one's triples, before two blocks are compared at all
_WITHIN = 6  # triples that a block must have to count as standing within another
_COMMON = 100  # a triple in more blocks than that tells nothing, and would make the work quadratic
_MIN_WORDS = 5  # shorter blocks repeat by nature ("- done", "```")

# Scripts without spaces count by the character.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W{_UNSPACED}]+|[{_UNSPACED}]")
_CODE = re.compile(r"`([^`]+)`")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULER = re.compile(r"\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?)?\s*")

Triple = tuple[str, ...]


class Block(NamedTuple):
    """A paragraph, a list item or a table row: its lines (1-based), its words folded, and the text itself."""

    first: int
    last: int
    words: tuple[str, ...]
    text: str


class Pair(NamedTuple):
    """Runs of blocks that say the same in the same order: lines `first` to `last`, and those that they repeat."""

    first: int
    last: int
    other_first: int
    other_last: int
    text: str


class Known:
    """Blocks seen so far, by their word triples."""

    def __init__(self, blocks: list[Block] | None = None) -> None:
        self.blocks: list[Block] = []
        self._index: dict[Triple, list[int]] = {}
        for block in blocks or []:
            self.add(block)

    def add(self, block: Block) -> None:
        """Know one block more."""
        for triple in _triples(block):
            self._index.setdefault(triple, []).append(len(self.blocks))
        self.blocks.append(block)

    def match(self, block: Block) -> int:
        """Return the place of the first block that is nearly the same, -1 where none is."""
        mine = _triples(block)
        shared: dict[int, int] = {}
        for triple in mine:
            places = self._index.get(triple, ())
            for i in places if len(places) <= _COMMON else ():
                shared[i] = shared.get(i, 0) + 1
        return next((i for i in sorted(shared) if _same(block, self.blocks[i], shared[i], len(mine))), -1)


def blocks(text: str) -> list[Block]:
    """Return the paragraphs, list items and table rows of `text` that have five words and more; code, headings, the
    heads of tables and front matter are left out."""
    lines = patch.bodies(text)
    found: list[Block] = []
    for first, last in _spans(lines):
        body = "\n".join(lines[first - 1 : last]).strip()
        words = tuple(_WORD.findall(body.casefold()))
        if len(words) >= _MIN_WORDS:
            found.append(Block(first, last, words, body))
    return found


def repeated(text: str) -> list[Pair]:
    """Return the runs of blocks of `text` that nearly repeat earlier ones."""
    known = Known()
    places: list[tuple[Block, int]] = []
    for block in blocks(text):
        at = known.match(block)
        places.append((block, at))
        if at < 0:
            known.add(block)
    lines = patch.bodies(text)
    return _runs(places, known.blocks, lines, lines)


def held(text: str, other: str) -> list[Pair]:
    """Return the runs of blocks of `text` that `other` holds nearly as they are."""
    known = Known(blocks(other))
    places = [(block, known.match(block)) for block in blocks(text)]
    return _runs(places, known.blocks, patch.bodies(text), patch.bodies(other))


def _spans(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each block."""
    titles = {heading.line for heading in notebook.headings(lines)}
    start = notebook.front_matter_end(lines)
    first, fence = 0, ""
    for number, line in enumerate([*lines, ""], 1):
        mark = _FENCE.match(line)
        outside = bool(fence or mark or number <= start or number in titles or not line.strip())
        # The head of a table says what its columns are, and many tables have the same.
        outside = outside or bool(number < len(lines) and "|" in line and _RULER.fullmatch(lines[number]))
        if mark:
            fence = "" if fence and mark.group(1).startswith(fence) else fence or mark.group(1)
        if first and (outside or _ITEM.match(line) or line.lstrip().startswith("|")):
            yield first, number - 1
            first = 0
        if not outside and not first:
            first = number


def _runs(places: list[tuple[Block, int]], others: list[Block], lines: list[str], other_lines: list[str]) -> list[Pair]:
    """Join neighbours that repeat neighbours, where what lies between (headings, code, short lines) is the same."""
    pairs: list[Pair] = []
    for block, at in places:
        if at < 0:
            continue
        other, last = others[at], pairs[-1] if pairs else None
        between = lines[last.last : block.first - 1] if last else []
        if last and other.first > last.other_last and between == other_lines[last.other_last : other.first - 1]:
            pairs[-1] = last._replace(last=block.last, other_last=other.last)
        else:
            pairs.append(Pair(block.first, block.last, other.first, other.last, block.text))
    return pairs


def _same(block: Block, other: Block, shared: int, mine: int) -> bool:
    """Return whether two blocks are nearly the same: 85 % of the words of both in the same order and the same names
    and figures, or all but 5 % of `block` within `other` and no name or figure that is not there."""
    names, others = _names(block), _names(other)
    if len(block.words) <= len(other.words) and mine >= _WITHIN and shared >= 0.95 * mine and names <= others:
        return True
    if shared < _SHARED * min(mine, len(_triples(other))) or names != others:
        return False
    from difflib import SequenceMatcher

    return SequenceMatcher(None, block.words, other.words, autojunk=False).ratio() >= _NEAR


def _names(block: Block) -> set[str]:
    """Return the words with digits and the code spans: two lines that differ in a version, a port or a path say two
    things."""
    return {word for word in block.words if not word.isalpha()} | set(_CODE.findall(block.text))


def _triples(block: Block) -> frozenset[Triple]:
    return frozenset(block.words[i : i + 3] for i in range(len(block.words) - 2))
