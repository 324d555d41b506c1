"""Texts to vectors: the shipped static table, read memory-mapped by the standard library, and the way to larger models.

A vector is kept as int8 components with their signs packed beside them; it is compared by cosine, so its length says
nothing. File format of the table (little endian): b"SEMB2\\0", u16 bits = 4, u32 V, u32 D, u32 size of the word
blob, u32 offset[V + 1] into it (words sorted by their UTF-8 bytes), the blob, padding to 4, f32 scale[V], then rows of
D/2 bytes whose high nibbles are components 0..D/2-1 and low nibbles D/2..D-1, two's complement. The vector of word i
is scale[i] * row[i]; that of a text the sum over its WordPieces, normalised.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from .errors import Unavailable
from .named import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from array import array
    from mmap import mmap

# What only embedding needs is imported and compiled by it: words alone find most things.
SHIPPED = "mem-static-256-int4"
# sha256 of the file that is shipped; a test holds the two together. Hashing it at run time would cost more than
# the search.
SHIPPED_SHA256 = "0031d4502fb824ed20680ce2f45c7d418ddce1cc27e1c6cffcbfa86d70c0ce56"
_TITLE_WEIGHT = 0.2
_MAX_PIECES = 256  # of one text

# How the table was trained to read text; not to be tuned apart from it.
_CAMEL = "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_WORD = r"[a-z]+|[0-9]+|[^\W\d_a-z]+"
# A nibble as its value + 8, so that lanes never borrow from each other.
_HIGH = bytes(((byte >> 4) + 8) % 16 for byte in range(256))
_LOW = bytes((byte % 16 + 8) % 16 for byte in range(256))


class Vector(NamedTuple):
    """`vector`: D int8 components; `signs`: one bit a component, first component highest, 1 for positive."""

    vector: bytes
    signs: bytes


class Embedder(Protocol):
    """What turns texts into vectors. `name` and `hash` say which model, exactly; `floor` is the cosine below which
    a best answer is not worth showing, `weight` how much the cosine counts beside the words, 0 to 1."""

    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def floor(self) -> float: ...
    @property
    def weight(self) -> float: ...
    def embed_memory(self, title: str, content: str) -> Vector: ...
    def embed_query(self, text: str) -> Vector: ...


def shipped() -> StaticTable:
    """Return the model that comes with the program. The file is opened when the first text is embedded."""
    return StaticTable(os.path.join(os.path.dirname(__file__), "data", SHIPPED + ".semb"), SHIPPED, SHIPPED_SHA256[:16])


def cached(name: str, environ: Mapping[str, str]) -> Embedder:
    """Return the embedder called `name`, from package data or the local cache; opens no connection.

    Raises Unavailable where it is not there or the extra that runs it is not installed.
    """
    if name in ("", SHIPPED):
        return shipped()
    from .models import load

    return load(name, environ)


def quantize(components: list[float]) -> Vector:
    """Return a vector of any length in its stored form, the largest component as 127."""
    from array import array

    factor = 127 / (max(map(abs, components)) or 1.0)
    bits = int("".join("1" if x > 0 else "0" for x in components), 2)
    whole = array("b", [round(x * factor) for x in components])
    return Vector(whole.tobytes(), bits.to_bytes(len(components) // 8, "big"))


class StaticTable:
    """The shipped kind of model: a table of word vectors in one file."""

    floor = 0.40
    weight = 0.5

    def __init__(self, path: str, name: str, digest: str) -> None:
        self.name, self.hash, self.dimensions = name, digest, 256
        self._path = path
        self._map: mmap | None = None
        self._offsets: array[int]
        self._words = self._scales = self._rows = 0
        self._known: dict[str, list[int]] = {}

    def embed_memory(self, title: str, content: str) -> Vector:
        """Return the vector of a memory: its text with the title's weight a little raised."""
        repeated = content.lower().startswith(title.lower().rstrip("…"))
        body = self._unit(content if repeated else f"{title}. {content}")
        head = self._unit(title)
        return quantize([x + _TITLE_WEIGHT * y for x, y in zip(body, head, strict=True)])

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a text; all zeros where no word of it is known."""
        return quantize(self._unit(text))

    def _unit(self, text: str) -> list[float]:
        """Return the text's vector at length 1.

        The sum runs over whole rows at once: a row is one big integer of D lanes of 32 bits, multiplied by the
        word's weight in fixed point. That is some twenty times faster than a loop over the components.
        """
        from array import array
        from struct import unpack_from

        counts: dict[int, int] = {}
        for piece in self._pieces(text):
            counts[piece] = counts.get(piece, 0) + 1
        file = self._open()
        weights = [unpack_from("<f", file, self._scales + 4 * piece)[0] * n for piece, n in counts.items()]
        total = sum(weights)
        if not total:
            return [0.0] * self.dimensions
        unit = ((1 << 32) - len(weights) * 16) / 15 / total
        half, lanes, offset, lane = self.dimensions // 2, 0, 0, bytearray(4 * self.dimensions)
        for piece, weight in zip(counts, weights, strict=True):
            start = self._rows + half * piece
            row = file[start : start + half]
            lane[::4] = row.translate(_HIGH) + row.translate(_LOW)
            factor = int(weight * unit)
            lanes += int.from_bytes(lane, "little") * factor
            offset += 8 * factor
        sums = array("I", lanes.to_bytes(4 * self.dimensions, "little"))
        components = [value - offset for value in sums]
        length = sum([x * x for x in components]) ** 0.5
        return [x / length for x in components] if length else [0.0] * self.dimensions

    def _pieces(self, text: str) -> list[int]:
        if not text.islower():
            text = re.sub(_CAMEL, " ", text).lower()
        if not text.isascii():
            import unicodedata  # only where there is something to strip

            decomposed = unicodedata.normalize("NFD", text)
            text = "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
        found: list[int] = []
        for word in re.findall(_WORD, text):
            pieces = self._known.get(word)
            if pieces is None:
                if len(self._known) > 50_000:
                    self._known.clear()
                pieces = self._known[word] = self._word_pieces(word)
            found += pieces
            if len(found) >= _MAX_PIECES:
                break
        return found[:_MAX_PIECES]

    def _word_pieces(self, word: str) -> list[int]:
        """Return the longest known beginnings of what is left of the word, one after another."""
        whole = self._find(word.encode("utf-8", "ignore"))
        if whole >= 0:
            return [whole]
        if len(word) > 40:
            return []
        pieces, start, size = [], 0, len(word)
        while start < size:
            mark = "##" if start else ""
            for end in range(size, start, -1):
                piece = self._find((mark + word[start:end]).encode("utf-8", "ignore"))
                if piece >= 0:
                    pieces.append(piece)
                    break
            else:
                end = start + 1
            start = end
        return pieces

    def _find(self, word: bytes) -> int:
        file, offsets, base = self._open(), self._offsets, self._words
        low, high = 0, len(offsets) - 1
        while low < high:
            middle = (low + high) >> 1
            entry = file[base + offsets[middle] : base + offsets[middle + 1]]
            if entry == word:
                return middle
            if entry < word:
                low = middle + 1
            else:
                high = middle
        return -1

    def _open(self) -> mmap:
        if self._map is None:
            from array import array
            from mmap import ACCESS_READ, mmap
            from struct import error, unpack_from

            try:
                with open(self._path, "rb") as file:
                    view = mmap(file.fileno(), 0, access=ACCESS_READ)
                magic, bits, count, dimensions, size = unpack_from("<6sHIHI", view, 0)
            except (OSError, ValueError, error) as reason:
                raise self._unreadable() from reason
            start = 18 + 4 * (count + 1)
            self._scales = start + size + -(start + size) % 4
            self._rows = self._scales + 4 * count
            if (magic, bits, dimensions, len(view)) != (b"SEMB2\0", 4, 256, self._rows + count * dimensions // 2):
                raise self._unreadable()
            self._words = start
            self._offsets = array("I", view[18:start])
            self._map = view
        return self._map

    def _unreadable(self) -> Unavailable:
        return Unavailable(f"the model {self._path} can't be read; install memhooks again")
