"""Judge whether a text orders an agent about.

The text is folded first (invisible characters, look-alike letters, emphasis), then each rule is searched around its
words; spaced letters and hidden tag characters are looked at by themselves.
"""

from __future__ import annotations

import re

from . import unwrap
from .rules_instructions import LISTS, ROWS, STRICT

Span = tuple[str, int, int]

_BEFORE, _AFTER = 90, 260  # characters around a rule's word that its pattern sees
_POLAR = ("override", "weaken")  # rules whose order a negation turns into a team's rule
_NEGATIONS = (" not", "n't", "never", "cannot", "not to", "than", "without", "who", "that", "may", "can", "to", "will")
_SPACED = (
    "ignoreall", "ignoreprev", "ignoretheabove", "ignoreyour", "disregardall", "disregardprev", "systemprompt",
    "youarenow", "developermode", "forgetall", "forgetprev", "forgetyour",
)  # fmt: skip


def findings(text: str, *, strict: bool = False) -> list[Span]:
    """Return rule, start and end of every instruction in `text`, overlaps included."""
    plain, positions = unwrap.visible(text)
    found = _plain_findings(plain, strict)
    if positions is not None:
        found = [(rule, positions.original(start), positions.original(end - 1) + 1) for rule, start, end in found]
    if not text.isascii():
        found += _hidden(text)
    return found


def _plain_findings(text: str, strict: bool) -> list[Span]:
    lower = unwrap.latin(text).lower()
    if len(lower) != len(text):  # a few capitals grow in lower case
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    bare, positions = unwrap.unemphasised(lower)
    for sign in "*`\"“”\t\r~":
        bare = bare.replace(sign, " ")
    found: list[Span] = []
    for rule, near, pattern, *_ in ROWS:
        if strict or rule not in STRICT:
            found += _around(rule, near, pattern, bare)
    if positions is not None:
        found = [(rule, positions.original(start), positions.original(end - 1) + 1) for rule, start, end in found]
    spaced = unwrap.spaced_words(lower)
    return found + [
        ("spaced-letters", start, end) for start, end, word in spaced if any(sign in word for sign in _SPACED)
    ]


def _around(rule: str, near: str, pattern: str, lower: str) -> list[Span]:
    found: list[Span] = []
    compiled = None
    for word in near.split():
        at, done = lower.find(word), 0
        while at >= 0:
            compiled = compiled or re.compile(_expression(pattern))
            match = compiled.search(lower, max(at - _BEFORE, done), at + _AFTER)
            if match and match.end() > match.start():
                if not (rule in _POLAR and _is_negated(lower, match.start())):
                    found.append((rule, match.start(), match.end()))
                done = match.end()
            at = lower.find(word, max(at + len(word), done))
    return found


def _is_negated(lower: str, start: int) -> bool:
    """Say whether the words before `start` turn an order round, or tell of it: "never ignore the rules", "may
    override these guidelines"."""
    before = lower[max(0, start - 30) : start].rpartition("\n")[2].rstrip()
    return before.endswith(_NEGATIONS)


def _expression(pattern: str) -> str:
    """Return a rule's pattern with its lists filled in and its blanks made runs of white space."""
    for name, words in LISTS.items():
        pattern = pattern.replace(name, words)
    return re.sub(r"(?<![\[{]) (?![{*+?\]])", "[ \\\\n>]{1,8}", pattern)


def _hidden(text: str) -> list[Span]:
    """Return runs of tag characters, which spell a text that no one sees; a flag emoji's are none."""
    hidden = re.compile("(?<!\U0001f3f4)(?<![\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{2,}")
    return [("hidden-text", match.start(), match.end()) for match in hidden.finditer(text)]
