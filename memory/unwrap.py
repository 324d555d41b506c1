"""Undo what hides a text from a pattern: escapes, invisible characters, look-alike letters, spaced letters, wraps.

Every function gives back plain text and, where its length changes, the positions in the text it came from.
"""

from __future__ import annotations

import re
from bisect import bisect_right

# Zero-width and formatting characters and variation selectors, where they stand inside or behind a word.
_INVISIBLE = (
    "(?<=\\w)[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
# A word in which Latin letters touch Greek, Cyrillic or full-width ones.
_MIXED = "[a-zA-Z][\u0370-\u04ff\uff21-\uff5a]|[\u0370-\u04ff\uff21-\uff5a][a-zA-Z]|[\uff21-\uff5a]{3}"
_STRANGE = "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅαοινρτυκηΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_PLAIN = "aeopcyxijshdqwABEKMHOPCTYXIJSaoivptuknABEZHIKMNOPTYX"


def unescape(text: str) -> str:
    """Return `text` with JSON and HTML escapes of white space and quotes undone, at the same length: `\\n` becomes two
    spaces, so that a token behind it begins at a boundary."""
    if "\\" in text:
        for escape, plain in (("\\n", "  "), ("\\t", "  "), ("\\r", "  "), ('\\"', ' "'), ("\\u003d", "     =")):
            text = text.replace(escape, plain)
    if "&" in text:
        for escape, plain in (("&quot;", '     "'), ("&#39;", "    '"), ("&lt;", "   <"), ("&gt;", "   >")):
            text = text.replace(escape, plain)
    return text


class Positions:
    """Where each character of a shortened text stood: `removed` holds the start of every gap in the shortened text,
    `shift` how many characters had been left out up to it."""

    def __init__(self, removed: list[int], shift: list[int]) -> None:
        self._removed, self._shift = removed, shift

    def original(self, index: int) -> int:
        """Return the position in the original text of the character at `index`."""
        at = bisect_right(self._removed, index)
        return index + (self._shift[at - 1] if at else 0)


def visible(text: str) -> tuple[str, Positions | None]:
    """Return `text` without invisible characters inside words, and how to find the original positions; None for those
    when nothing was removed."""
    return _without(text, _INVISIBLE) if not text.isascii() else (text, None)


def unemphasised(text: str) -> tuple[str, Positions | None]:
    """Return `text` without emphasis marks that touch a letter on both sides, as `visible` does."""
    return _without(text, r"(?<=[A-Za-z0-9_-])(?:\*{1,3}|`|</?[bi]>)(?=[A-Za-z0-9_-])")


def _without(text: str, pattern: str) -> tuple[str, Positions | None]:
    pieces, removed, shift = [], [], []
    end = gone = 0
    for gap in re.finditer(pattern, text):
        pieces.append(text[end : gap.start()])
        removed.append(gap.start() - gone)
        gone += gap.end() - gap.start()
        shift.append(gone)
        end = gap.end()
    if not gone:
        return text, None
    return "".join([*pieces, text[end:]]), Positions(removed, shift)


def latin(text: str) -> str:
    """Return `text` with full-width forms and the Greek and Cyrillic letters that look like Latin ones replaced, at the
    same length, when such letters stand beside Latin ones."""
    if text.isascii() or not re.search(_MIXED, text):
        return text
    for strange, plain in zip(_STRANGE, _PLAIN, strict=True):
        text = text.replace(strange, plain)
    return text.translate({code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)})


def collapse(text: str, start: int, limit: int) -> tuple[str, list[int]]:
    """Return up to `limit` characters from `start` without emphasis marks and line wraps, and their positions.

    A wrap is a line break with the indentation, quote or comment marks that follow it. White space inside a line or a
    blank line ends the text.
    """
    out: list[str] = []
    positions: list[int] = []
    i, end = start, min(len(text), start + limit * 2)
    while i < end and len(out) < limit:
        char = text[i]
        if char in "\n\r":
            i += 1
            while i < end and text[i] in " \t>#|":
                i += 1
            if i < end and text[i] in "\n\r":
                break
            continue
        if char in " \t":
            break
        if char not in "*`\\":
            out.append(char)
            positions.append(i)
        i += 1
    return "".join(out), positions


def spaced_words(text: str) -> list[tuple[int, int, str]]:
    """Return the runs of single spaced letters ("i g n o r e  a l l") as start, end and letters without spaces."""
    runs = re.finditer(r"(?<!\w)\w(?:[ .\-_*|]{1,3}\w(?!\w)){7,400}", text)
    return [(run.start(), run.end(), "".join(filter(str.isalpha, run[0])).lower()) for run in runs]
