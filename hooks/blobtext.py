"""The texts that a file's bytes may be read as, with a way back from an offset to a line.

A scanner that reads a file in one way is passed by a file that is meant to be read in another. So bytes are decoded by
their byte order mark, else as UTF-8 and, where they are not valid, as latin-1 too; NUL bytes are scanned over and also
taken out, which uncovers UTF-16 without a mark; escapes of JSON are undone; a SQLite file is read row by row.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from ..memory.named import NamedTuple

_MARKS = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_JSON = (".ndjson", ".jsonl", ".json")
_LARGE = 4 << 20  # bytes from which a text is read in pieces
_SEGMENT, _REPEATED = 1 << 20, 16_384  # bytes of a piece, and of those that the next one repeats
_SQLITE = b"SQLite format 3\0"
_APPLICATION_ID = b"MEMH"  # memory/schema.py APPLICATION_ID, big-endian at byte 68

Mark = tuple[int, int, str]


class Text(NamedTuple):
    """One reading of a file. Without `marks` the text's own lines are the file's; a mark (offset, line, place) says
    that from `offset` on the text stands on `line`, or, where that is 0, in a `place` such as "table x, row 3"."""

    text: str
    marks: tuple[Mark, ...] = ()


class Place(NamedTuple):
    """Where something begins: `line` and `column` count from 1 in code points; 0 where a place has neither."""

    line: int
    column: int
    place: str = ""


def is_sqlite(data: bytes) -> bool:
    """Tell whether `data` begins as a SQLite file does."""
    return data.startswith(_SQLITE)


def is_our_store(data: bytes) -> bool:
    """Tell whether `data` is a store of memhooks. Source: sqlite.org/fileformat2.html, section 1.3."""
    return is_sqlite(data) and data[68:72] == _APPLICATION_ID


def texts(path: str, data: bytes) -> Iterator[Text]:
    """Yield the readings of `data`, the plainest first. A SQLite file's rows are not among them: see `storetext`."""
    is_json = path.lower().endswith(_JSON)
    if _is_wide_text(data):
        for first, text in _segments(data):
            yield Text(text, _line_marks(text, first))
            if is_json and "\\" in text:
                yield unescaped(text, first)
        return
    for text in decodings(data):
        yield Text(text)
        if is_json and "\\" in text:
            yield unescaped(text)


def _is_wide_text(data: bytes) -> bool:
    """Tell whether `data` is large plain UTF-8 of which one character may make a text of four bytes each."""
    if len(data) < _LARGE or data.isascii() or b"\0" in data or b"\r" in data or data.startswith(b"\xef\xbb\xbf"):
        return False
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _SEGMENT):
            decoder.decode(data[start : start + _SEGMENT])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _segments(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield large UTF-8 in pieces of whole lines, each with the number of its first line; a piece repeats the last
    lines of the one before, so that what spans both is seen."""
    start, line = 0, 1
    while start < len(data):
        end = data.find(b"\n", start + _SEGMENT) + 1 or len(data)
        begin = data.rfind(b"\n", 0, max(start - _REPEATED, 0)) + 1
        yield line - data.count(b"\n", begin, start), data[begin:end].decode("utf-8")
        line += data.count(b"\n", start, end)
        start = end


def _line_marks(text: str, first: int) -> tuple[Mark, ...]:
    marks, at = [(0, first, "")], text.find("\n") + 1
    while at:
        first += 1
        marks.append((at, first, ""))
        at = text.find("\n", at) + 1
    return tuple(marks)


def decodings(data: bytes) -> Iterator[str]:
    """Yield what `data` says in each encoding that it may be in. Bytes that no encoding explains become U+FFFD."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):  # and go on: a mark proves nothing about how an agent reads the file
            yield data.decode(encoding, "replace")
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    try:
        yield data.decode("utf-8")
    except UnicodeDecodeError:
        yield data.decode("utf-8", "replace")
        yield data.decode("latin-1")
    if b"\0" in data:
        yield from _wide(data)
        yield data.replace(b"\0", b"").decode("utf-8", "replace")


def _wide(data: bytes) -> Iterator[str]:
    """Yield UTF-16 without a mark: text in a Latin script has a NUL in nearly every other byte."""
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = data[start::2]
        if half.count(0) > len(half) * 0.6:
            yield data.decode(encoding, "replace")


def unescaped(text: str, first: int = 1) -> Text:
    r"""Return JSON text with `\uXXXX`, `\n`, `\"` and their like undone, up to three levels deep.

    `first` is the number of its first line. Without a parser, so that a broken line, a repeated key or JSON within
    JSON hides nothing.
    """
    import re  # the scanner has loaded it already

    escape = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|(["\\/bfnrt]))')
    surrogate = re.compile("[\ud800-\udfff]")
    plain = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

    def undo(match: re.Match[str]) -> str:
        if match.group(1):
            return chr(int(match.group(1), 16))
        return plain.get(match.group(2), match.group(2))

    parts: list[str] = []
    marks: list[Mark] = []
    offset = 0
    for number, line in enumerate(text.split("\n"), first):
        for _ in range(3):
            if "\\" not in line:
                break
            line = escape.sub(undo, line)
        if not line.isascii() and surrogate.search(line):
            line = line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        marks.append((offset, number, ""))
        parts.append(line)
        offset += len(line) + 1
    return Text("\n".join(parts), tuple(marks))


def places(text: Text, offsets: list[int]) -> list[Place]:
    """Return the place of each of `offsets`, which must be in ascending order. Lines end in LF, CR or CR LF."""
    return [_marked(text, offset) for offset in offsets] if text.marks else _counted(text.text, offsets)


def _counted(text: str, offsets: list[int]) -> list[Place]:
    found, line, seen, start = [], 1, 0, 0  # `start` is where the line begins
    has_cr = "\r" in text
    for offset in offsets:
        line += text.count("\n", seen, offset)
        last = text.rfind("\n", seen, offset)
        if has_cr:
            # From one earlier: a CR LF with a half on each side of `seen` is one end of a line, not two.
            line += text.count("\r", seen, offset) - text.count("\r\n", max(seen - 1, 0), offset)
            last = max(last, text.rfind("\r", seen, offset))
        start = last + 1 if last >= 0 else start
        seen = offset
        found.append(Place(line, offset - start + 1))
    return found


def _marked(text: Text, offset: int) -> Place:
    low, high = 0, len(text.marks)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if text.marks[middle][0] <= offset else (low, middle)
    begins, line, place = text.marks[low]
    return Place(line, offset - begins + 1 if line else 0, place)
