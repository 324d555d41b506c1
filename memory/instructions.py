"""Judge whether a text orders an agent about.

Each rule is matched where its heads stand, in a text that `unwrap` has folded (invisible characters, look-alike
letters, emphasis); spaced letters and hidden tag characters are looked at by themselves.
"""

from __future__ import annotations

import functools
import re

from . import unwrap
from .named import TYPE_CHECKING
from .rules_instructions import FOREIGN, LISTS, ROWS, STRICT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Span = tuple[str, int, int]
Words = tuple[tuple[str, ...], ...]

# What forbids, at its own length as the rules write it: a blank of theirs is any run of blanks.
_FORBIDDING = (
    ("must not ", "  do not "),
    ("should not ", "    do not "),
    ("mustn't ", "  don't "),
    ("shall not ", "   do not "),
)
_BEFORE, _AFTER = 90, 240  # characters about a head that a pattern may need
_BLOCK, _SEAM = 4096, 64  # characters whose words are gathered at once, and behind them for heads across the seam
_SIGNS = {ord(sign): " " for sign in "()[]{}<>|/#,.:;!?=\n"}  # what ends a word, beside blanks
_MARKS = {ord(sign): " " for sign in '*`"\t\r'}  # emphasis and quotes
_POLAR = ("override", "override-plain", "override-owned", "weaken")  # their order, negated, is a team's rule
_NEGATIONS = (
    " not", "n't", " never", " cannot", " than", " without", " who", " that", " may", " can", " could", " to", " will",
    " would", " or", " is", " are", " be", " you", " and forget", " they", " it", " which", " does",
)  # fmt: skip
# Words after which an order may begin without a new sentence.
_LEADS = (
    "please", "kindly", "simply", "just", "and", "now", "must", "should", "may", "always", "then", "forward", " on",
    "you", "also", " to", "agent", "agents", "so far", "instead", "first", "actually", "immediately", "said", "execute",
    " or", "not",
)  # fmt: skip
_SPACED = (
    "ignoreall", "ignoreprev", "ignoretheabove", "ignoreyour", "disregardall", "disregardprev", "systemprompt",
    "youarenow", "developermode", "forgetall", "forgetprev", "forgetyour",
)  # fmt: skip


def findings(view: str, *, strict: bool = False) -> list[Span]:
    """Return rule, start and end of every instruction in `view`, ASCII without emphasis, overlaps included."""
    lower = view.lower().translate(_MARKS)
    for said, plain in _FORBIDDING:
        lower = lower.replace(said, plain)
    index = _heads()
    found: list[Span] = []
    for start in range(0, len(lower), _BLOCK):
        words = _words(lower[start : start + _BLOCK + _SEAM])
        for first in [word for word in index if word in words]:
            for row, head in index[first]:
                if _needed(head) <= words and (strict or row[0] not in STRICT):
                    found += _matches(row, head, lower, (start, start + _BLOCK))
    return [(rule, _word_start(view, start), end) for rule, start, end in found] + [
        ("spaced-letters", start, end)
        for start, end, word in unwrap.spaced_words(lower)
        if any(sign in word for sign in _SPACED)
    ]


def _word_start(view: str, start: int) -> int:
    """Return where the word at `start` begins: of "must not" a rule has seen "do not", which is shorter."""
    first = start
    while first and start - first < 6 and view[first].isalpha() and view[first - 1].isalpha():
        first -= 1
    return first


@functools.cache
def _heads() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the rules' rows and heads by the first word of the head."""
    index: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for row in ROWS:
        for head in row[1].partition(";")[0].split(",") if row[0] != FOREIGN else ():
            first = head.strip().partition(" ")[0]
            if not first.isalpha():
                first = next((word for word in head.split() if word in _needed(head)), min(_needed(head)))
            index.setdefault(first, []).append((row, head))
    return index


@functools.cache
def _needed(head: str) -> frozenset[str]:
    """Return the words that stand wherever `head` does."""
    return frozenset(_words(head))


def foreign_findings(text: str, strange: str) -> list[Span]:
    """Return what stands in `text`, the original, in other scripts and in characters that no one sees; `strange` are
    its characters that are not ASCII."""
    found: list[Span] = []
    scripts = [char for char in strange if "\u0400" <= char <= "\u04ff" or "\u3040" <= char <= "\ud7a3"]
    if not scripts and max(strange, default="") < "\U000e0020":
        return found
    for row in ROWS:
        if row[0] == FOREIGN:
            lower = text.replace("\u0130", "I").lower()  # the one letter that would grow
            found += [span for head in row[1].split(",") for span in _matches(row, head, lower, (0, len(lower)))]
    hidden = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{2,}")
    found += [("hidden-text", match.start(), match.end()) for match in hidden.finditer(text)]
    return found


def _words(lower: str) -> set[str]:
    return set(lower.translate(_SIGNS).split())


def _matches(row: tuple[str, ...], head: str, lower: str, block: tuple[int, int]) -> list[Span]:
    """Return what one rule finds at one of its heads that begins in `block`, a range of positions."""
    rule, heads, place, pattern = row[:4]
    near, reach = heads.partition(";")[2], _AFTER
    if near.startswith("<"):
        near, reach = near[1:], 0
    found: list[Span] = []
    first, last = block
    last += len(head) - 1
    at = lower.find(head, first, last)
    while at >= 0:
        begins = at == 0 or not lower[at - 1].isalnum() or not head.isascii()
        if begins and (not near or _has((near.split(","),), lower[max(0, at - _BEFORE) : at + reach])):
            for match in _apply(pattern, place, lower, at):
                if _is_order(rule, place, lower, match.start()):
                    found.append((rule, match.start(), match.end()))
        at = lower.find(head, at + len(head), last)
    return found


def _plain(text: str) -> str:
    """Return `text` with every run that a pattern's blank may match as one blank."""
    if "\n" in text or ">" in text:
        text = text.replace("\n", " ").replace(">", " ")
    while "  " in text:
        text = text.replace("  ", " ")
    return text


def _apply(pattern: str, place: str, lower: str, at: int) -> Iterator[re.Match[str]]:
    """Yield the match of each alternative of a pattern about the head at `at` that has the words it needs."""
    about = _plain(lower[max(0, at - _BEFORE if place == "around" else at - 8) : at + _AFTER])
    clause = ""
    for beginning, needed, in_clause, alternative in _alternatives(pattern):
        if beginning not in about or not _has(needed, about):
            continue
        if in_clause:
            clause = clause or _clause(_plain(lower[at : at + _AFTER]))
            if not _has(in_clause, clause):
                continue
        match = _match(alternative, place, lower, at)
        if match:
            yield match


def _has(lists: Iterable[Iterable[str]], text: str) -> bool:
    """Say whether `text` holds a word of each list. It runs for every head in a text: no generators here."""
    for words in lists:
        for word in words:
            if word in text:
                break
        else:
            return False
    return True


def _clause(text: str) -> str:
    """Return the beginning of `text` up to the sign that ends a clause."""
    for sign in ".,;:!?()":
        text = text.partition(sign)[0]
    return text + " "


@functools.cache
def _alternatives(pattern: str) -> tuple[tuple[str, Words, Words, str], ...]:
    """Return a pattern's alternatives: how each begins, the lists of words of which one must be near, those of which
    one must be in the head's clause, and its own pattern."""
    alternatives = []
    for alternative in pattern.split("¦"):
        near: list[tuple[str, ...]] = []
        clause: list[tuple[str, ...]] = []
        while alternative.startswith("@"):
            _, words, alternative = alternative.split("@", 2)
            (clause if words[0] == "<" else near).append(tuple(words.removeprefix("<").split(",")))
        alternatives.append((_beginning(alternative), tuple(near), tuple(clause), alternative))
    return tuple(alternatives)


def _match(pattern: str, place: str, lower: str, at: int) -> re.Match[str] | None:
    """Match a pattern at, before or about a head."""
    compiled = re.compile(_expression(pattern))
    if place == "around":
        return compiled.search(lower, max(0, at - _BEFORE), at + _AFTER)
    match = compiled.match(lower, at)
    first = at
    while place == "tag" and not match and first and first > at - 8 and lower[first - 1] in "<[#(/|%{ ":
        first -= 1
        match = compiled.match(lower, first)
    return match


def _is_order(rule: str, place: str, lower: str, at: int) -> bool:
    """Say whether what stands before `at` leaves an order an order: not turned round, as in "never ignore the rules",
    not told of, as in "they may override them", and where the rule wants it, at the start of a clause or line."""
    before = lower[max(0, at - 40) : at].rstrip(" '(>#")
    if lower[at - 1 : at] == "-" or (rule in _POLAR and before.endswith(_NEGATIONS)):
        return False
    if place not in ("clause", "line") or not before or before[-1] in ".!?\n:;":
        return True
    if place == "line":
        return before[-1] in "-+•" or (before[-2:-1].isdigit() and before[-1] in ".)")
    return before[-1] in ",-+•)]>%" or before.endswith(_LEADS)


def _beginning(pattern: str) -> str:
    """Return the characters with which every match of a pattern begins, its blanks as they are in `_plain`."""
    text = ""
    i = 0
    while i < len(pattern) and pattern[i] not in "([.^$|{>":
        if pattern[i] == "\\":
            i += 1
            if pattern[i].isalpha():
                break
        if pattern[i + 1 : i + 2] in ("?", "*", "+", "{"):
            break
        text += pattern[i]
        i += 1
    return text.strip()


@functools.cache
def _expression(pattern: str) -> str:
    """Return a rule's pattern with its lists filled in and its blanks made runs of white space."""
    for name, words in LISTS.items():
        pattern = pattern.replace(name, words)
    return "(?<![a-z0-9])" + re.sub(r"(?<![\[{]) (?![{*+?\]])", r"[ \\n>]{1,8}", pattern)
