"""Undo what hides a text from a pattern: escapes, invisible characters, look-alike letters, spaced letters, wraps.

Every function gives back plain text and, where its length changes, the positions in the text it came from.
"""

from __future__ import annotations

import re
from bisect import bisect_right

Span = tuple[str, int, int]

# Zero-width and formatting characters and variation selectors: ranges, both ends included.
_INVISIBLE = (
    "\u00ad\u00ad", "\u034f\u034f", "\u061c\u061c", "\u115f\u1160", "\u17b4\u17b5", "\u180b\u180e", "\u200b\u200f",
    "\u202a\u202e", "\u2060\u206f", "\ufe00\ufe0f", "\ufeff\ufeff", "\ufff9\ufffb", "\U000e0000\U000e0fff",
)  # fmt: skip
_ALPHABETS = "\u0370-\u04ff\uff01-\uff5e"  # Greek, Cyrillic, full-width: letters that look like Latin ones
_STRANGE = "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅαοινρτυκηΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
_PLAIN = "aeopcyxijshdqwABEKMHOPCTYXIJSaoivptuknABEZHIKMNOPTYX"

# The kinds of characters that matter to emphasis: those of words and the marks. Finding a run of kinds in a translated
# text is far faster than any expression.
_KINDS = {
    code: "a" if chr(code).isalnum() or chr(code) in "_-" else "*" if chr(code) in "*`" else " " for code in range(128)
}


def unescape(text: str) -> str:
    """Return `text` with JSON and HTML escapes of white space and quotes undone, at the same length: `\\n` becomes a
    space and a line break, so that a token behind it begins at a boundary."""
    if "\\" in text:
        for escape, plain in (("\\n", " \n"), ("\\t", "  "), ("\\r", "  "), ('\\"', ' "'), ("\\u003d", "     =")):
            text = text.replace(escape, plain)
    if "&" in text:
        for escape, plain in (("&quot;", '     "'), ("&#39;", "    '"), ("&lt;", "   <"), ("&gt;", "   >")):
            text = text.replace(escape, plain)
    return text


class Positions:
    """Where each character of a shortened text stood: `removed` holds the start of every gap in the shortened text,
    `shift` how many characters had been left out up to it."""

    def __init__(self, removed: list[int], shift: list[int]) -> None:
        self.removed, self._shift = removed, shift

    def original(self, index: int) -> int:
        """Return the position in the original text of the character at `index`."""
        at = bisect_right(self.removed, index)
        return index + (self._shift[at - 1] if at else 0)

    def map(self, spans: list[Span]) -> list[Span]:
        """Return spans of the shortened text as those of the original."""
        return [(rule, self.original(start), self.original(end - 1) + 1) for rule, start, end in spans]


def strangers(text: str) -> str:
    """Return the characters of `text` that are not ASCII, each once."""
    return "" if text.isascii() else "".join(char for char in set(text) if char > "\x7f")


def _hidden(text: str, strange: str) -> list[tuple[int, int]]:
    """Return where invisible characters stand behind a letter or digit, or behind one another there."""
    chars = [char for char in strange if any(pair[0] <= char <= pair[1] for pair in _INVISIBLE)]
    places = []
    for char in chars:
        at = text.find(char)
        while at >= 0:
            places.append(at)
            at = text.find(char, at + 1)
    gaps: list[tuple[int, int]] = []
    for at in sorted(places):
        if at and (text[at - 1].isalnum() or (gaps and gaps[-1][1] == at)):
            gaps.append((at, at + 1))
    return gaps


def fold(text: str, strange: str) -> tuple[str, Positions | None]:
    """Return `text`, whose characters that are not ASCII are `strange`, as ASCII: without invisible ones inside words,
    letters that look like Latin ones as those, every other one as "?"; and how to find the original positions, None
    where they are the same."""
    if not strange:
        return text, None
    positions = None
    gaps = _hidden(text, strange)
    if gaps:
        text, positions = _without(text, gaps)
    if any("\u0370" <= char <= "\u04ff" or "\uff01" <= char <= "\uff5e" for char in strange):
        text = _latin(text)
    return text.encode("ascii", "replace").decode("ascii"), positions


def unemphasised(text: str) -> tuple[str, Positions | None]:
    """Return `text` without emphasis marks that touch a letter on both sides, as `fold` does."""
    kinds = text.translate(_KINDS)
    gaps = []
    for mark in ("*", "**", "***"):
        at = kinds.find(f"a{mark}a")
        while at >= 0:
            gaps.append((at + 1, at + 1 + len(mark)))
            at = kinds.find(f"a{mark}a", at + 1)
    return _without(text, sorted(gap for gap in gaps if text[gap[0] - 1] not in "_-"))


def _without(text: str, gaps: list[tuple[int, int]]) -> tuple[str, Positions | None]:
    pieces, removed, shift = [], [], []
    end = gone = 0
    for first, last in gaps:
        pieces.append(text[end:first])
        removed.append(first - gone)
        gone += last - first
        shift.append(gone)
        end = last
    if not gone:
        return text, None
    return "".join([*pieces, text[end:]]), Positions(removed, shift)


def _latin(text: str) -> str:
    """Return `text` with look-alike letters replaced where they stand in one word with Latin ones."""
    if not re.search(f"[a-zA-Z][{_ALPHABETS}]|[{_ALPHABETS}][a-zA-Z]|[\uff01-\uff5e]{{3}}", text):
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
            i += 2 if text[i : i + 2] == "\r\n" else 1
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
    if not re.search(r"[ .\-_*|]\w[ .\-_*|]{1,3}\w[ .\-_*|]{1,3}\w[ .\-_*|]{1,3}\w[ .\-_*|]", text):
        return []
    runs = re.finditer(r"(?<!\w)\w(?:[ .\-_*|]{1,3}\w(?!\w)){7,400}", text)
    return [(run.start(), run.end(), "".join(filter(str.isalpha, run[0])).lower()) for run in runs]
