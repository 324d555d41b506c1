"""Every secret rule of the guard as data, and what turns a row into a pattern.

A rule has an id, the literals that announce it, a pattern, a source, a hit and a near miss. Literals are searched in
the text as they are; a pattern is compiled when one occurs and applied there: at the literal, or within `BACK`
characters before it where the literals start with "~"; those that start with "&" are shorter than a long token or hold
a blank, and are searched in the whole text. In patterns %w is a letter or digit, %u the URL-safe and %b the
plain base64 alphabet, %h and %H hexadecimal; word boundaries on both sides are added.
"""

from __future__ import annotations

import functools

from .named import NamedTuple
from .rules_core import ROWS as CORE
from .rules_services import ROWS as SERVICES

BACK = 200  # characters before an inner literal at which a credential may begin
AHEAD = 500  # characters after an inner literal at which one may end
FRAME = 4400  # and those of a PEM body of 4096 with its frame

_CLASSES = {"%w": "[A-Za-z0-9]", "%u": "[A-Za-z0-9_-]", "%b": "[A-Za-z0-9+/_-]", "%h": "[0-9a-f]", "%H": "[0-9a-fA-F]"}
# An emphasis underscore before the credential does not hide it.
_LEFT = "(?<![A-Za-z0-9])(?<![A-Za-z0-9]_)"
_RIGHT = "(?![A-Za-z0-9])"


class Rule(NamedTuple):
    """One row. `literals` is split at white space, behind the signs "~" and "&" of the module's docstring."""

    id: str
    literals: str
    pattern: str
    source: str
    hit: str
    near: str

    def words(self) -> list[str]:
        """Return the literals without the signs before them."""
        return self.literals.lstrip("~& ").split()


@functools.cache
def secret_rules() -> tuple[Rule, ...]:
    """Return every provider rule, the broad forms after the narrow ones."""
    return tuple(Rule(*row) for row in CORE + SERVICES)


@functools.cache
def literals() -> tuple[tuple[str, Rule], ...]:
    """Return every literal with the rule that it announces."""
    return tuple((word, rule) for rule in secret_rules() for word in rule.words())


def expression(pattern: str) -> str:
    """Return a rule's pattern as a regular expression with its classes spelled out and its boundaries added."""
    for short, long in _CLASSES.items():
        pattern = pattern.replace(short, long)
    return f"{_LEFT}(?:{pattern}){_RIGHT}"
