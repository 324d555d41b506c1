"""Make a value harmless inside Markdown: what a person reads is the text itself, whatever marks it holds.

Backslashes only, and only where CommonMark or GitHub's tables would see a mark, since agents read the source. HTML
entities are never written: many readers of a mirror show them as they stand.
"""

from __future__ import annotations

import re

from ..memory.record import printable

_PUNCTUATION = r"!-/:-@\[-`{-~"
# One pass over a line. A backslash is a mark only before punctuation and at the end (where the template goes on), an
# underscore only at the edge of a word, < only where a tag or an autolink could begin, & only before an entity's name.
_INLINE = re.compile(
    rf"\\(?=[{_PUNCTUATION}]|$)|[*`\[\]|]|(?<![^\W_])_+|_+(?![^\W_])|<(?=[A-Za-z/!?<]|$)|~(?!/)|&(?=#?\w+;|$)"
)
# What opens a block where a line starts. Source: CommonMark 0.31, sections 4 and 5. The rules of conflict markers
# (<<<<<<<, =======, >>>>>>>) fall under the same heads, so no memory can make the mirror look unmerged.
_BLOCK = re.compile(r"#{1,6}(?=\s|$)|[-+](?=\s|$|-)|=|>|<|(?<=^)\d{1,9}(?=[.)](?:\s|$))|:(?=-)")


def escape(text: str) -> str:
    """Return `text` so that Markdown shows it as it is; control characters and the ends of its lines go."""
    return "\n".join(_line(line.strip()) for line in printable(text).split("\n"))


def item(text: str, indent: int = 2) -> str:
    """Return escaped text whose lines after the first stand inside a list item."""
    first, *rest = escape(text).split("\n")
    return "\n".join([first, *(" " * indent + line if line else "" for line in rest)])


def one_line(text: str) -> str:
    """Return escaped text on one line, for headings and tables."""
    return _line(" ".join(printable(text).split()))


def _line(line: str) -> str:
    escaped = _INLINE.sub(_slashes, line)
    start = _BLOCK.match(escaped)
    if not start:
        return escaped
    if start.group()[0].isdigit():
        return f"{start.group()}\\{escaped[start.end() :]}"
    return "\\" + escaped


def _slashes(mark: re.Match[str]) -> str:
    return "".join("\\" + character for character in mark.group())
