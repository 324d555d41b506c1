"""The texts that a file's bytes may be read as, with a way back from an offset to a line.

A scanner that reads a file in one way is passed by a file that is meant to be read in another. So bytes are decoded by
their byte order mark, else as UTF-8 and, where they are not valid, as latin-1 too; NUL bytes are scanned over and also
taken out, which uncovers UTF-16 without a mark; escapes of JSON are undone; a SQLite file is read row by row.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..memory.named import NamedTuple

_MARKS = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_JSON = (".ndjson", ".jsonl", ".json")
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
    for text in decodings(data):
        yield Text(text)
        if "\\" in text and path.lower().endswith(_JSON):
            yield unescaped(text)


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


def unescaped(text: str) -> Text:
    r"""Return JSON text with `\uXXXX`, `\n`, `\"` and their like undone, up to three levels deep.

    Without a parser, so that a broken line, a repeated key or JSON within JSON hides nothing.
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
    for number, line in enumerate(text.split("\n"), 1):
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
