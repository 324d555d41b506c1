"""Judge whether a text orders an agent about.

Each rule is matched where its heads stand, in a text that `unwrap` has folded (invisible characters, look-alike
letters, emphasis); spaced letters and hidden tag characters are looked at by themselves.
"""

from __future__ import annotations

import re

from . import unwrap
from .rules_instructions import FOREIGN, LISTS, ROWS, STRICT

Span = tuple[str, int, int]

_BEFORE, _AFTER = 90, 240  # characters about a head that a pattern may need
_SIGNS = "()[]{}<>|/#,.:;!?=\n"  # what ends a word, beside blanks
_POLAR = ("override", "weaken")  # rules whose order a negation turns into a team's rule
_NEGATIONS = (
    " not", "n't", " never", " cannot", " than", " without", " who", " that", " may", " can", " could", " to", " will",
    " would", " or", " is", " are", " be", " you", " and forget", " they", " it", " which", " does",
)  # fmt: skip
# Words after which an order may begin without a new sentence.
_LEADS = (
    "please", "just", "and", "now", "must", "should", "may", "always", "then", "forward", " on", "you", "also", " to",
    "agent", "agents", "so far", "instead", "first", "actually", "immediately", "said", "execute", " or", "not",
)  # fmt: skip
_SPACED = (
    "ignoreall", "ignoreprev", "ignoretheabove", "ignoreyour", "disregardall", "disregardprev", "systemprompt",
    "youarenow", "developermode", "forgetall", "forgetprev", "forgetyour",
)  # fmt: skip


def findings(view: str, *, strict: bool = False) -> list[Span]:
    """Return rule, start and end of every instruction in `view`, ASCII without emphasis, overlaps included."""
    lower = view.lower()
    for sign in '*`"\t\r':
        lower = lower.replace(sign, " ")
    words = _words(lower)
    found: list[Span] = []
    for row in ROWS:
        if row[0] != FOREIGN and (strict or row[0] not in STRICT):
            found += _matches(row, lower, words)
    return found + [
        ("spaced-letters", start, end)
        for start, end, word in unwrap.spaced_words(lower)
        if any(sign in word for sign in _SPACED)
    ]


def foreign_findings(text: str) -> list[Span]:
    """Return what stands in `text`, the original, in other scripts and in characters that no one sees."""
    found: list[Span] = []
    scripts = "[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3\U000e0020-\U000e007e]"
    if not re.search(scripts, unwrap.strange(text)):
        return found
    for row in ROWS:
        if row[0] == FOREIGN:
            found += _matches(row, text.replace("\u0130", "I").lower(), set())  # the one letter that would grow
    hidden = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{2,}")
    found += [("hidden-text", match.start(), match.end()) for match in hidden.finditer(text)]
    return found


def _words(lower: str) -> set[str]:
    for sign in _SIGNS:
        lower = lower.replace(sign, " ")
    return set(lower.split())


def _matches(row: tuple[str, ...], lower: str, words: set[str]) -> list[Span]:
    rule, heads, place, pattern = row[:4]
    found: list[Span] = []
    compiled = None
    end = 0
    heads, _, helpers = heads.partition(";")
    near = helpers.split(",")
    for head in heads.split(","):
        if not _may_stand(head, words):
            continue
        at = lower.find(head)
        while at >= 0:
            if at >= end and (at == 0 or not lower[at - 1].isalnum() or not head.isascii()):
                about = lower[max(0, at - _BEFORE) : at + _AFTER] if helpers else ""
                match = None
                if not helpers or any(word in about for word in near):
                    compiled = compiled or re.compile(_expression(pattern))
                    match = _match(compiled, place, lower, at)
                if match and _is_order(rule, place, lower, match.start()):
                    found.append((rule, match.start(), match.end()))
                    end = match.end()
            at = lower.find(head, at + len(head))
        end = 0
    return found


def _may_stand(head: str, words: set[str]) -> bool:
    """Say whether a head's words are among the text's; one that is no plain word has to be searched for."""
    return not head.isascii() or head[0] in "<." or all(word in words or "." in word for word in head.split())


def _match(compiled: re.Pattern[str], place: str, lower: str, at: int) -> re.Match[str] | None:
    if place == "around":
        return compiled.search(lower, max(0, at - _BEFORE), at + _AFTER)
    match = compiled.match(lower, at)
    if place == "tag":
        first = at
        while not match and first and first > at - 8 and lower[first - 1] in "<[#(/|%{ ":
            first -= 1
            match = compiled.match(lower, first)
    return match


def _is_order(rule: str, place: str, lower: str, at: int) -> bool:
    """Say whether what stands before `at` leaves an order an order: not turned round, as in "never ignore the rules",
    not told of, as in "they may override them", and where the rule wants it, at the start of a clause or line."""
    before = lower[max(0, at - 40) : at].rstrip(" '(>#")
    if before.endswith("-") or (rule in _POLAR and before.endswith(_NEGATIONS)):
        return False
    if place not in ("clause", "line") or not before or before[-1] in ".!?\n:;":
        return True
    if place == "line":
        return before[-1] in "-+•" or (before[-2:-1].isdigit() and before[-1] in ".)")
    return before[-1] in ",-+•)]>%" or before.endswith(_LEADS)


def _expression(pattern: str) -> str:
    """Return a rule's pattern with its lists filled in and its blanks made runs of white space."""
    for name, words in LISTS.items():
        pattern = pattern.replace(name, words)
    return "(?<![a-z0-9])" + re.sub(r"(?<![\[{]) (?![{*+?\]])", r"[ \\n>]{1,8}", pattern)
