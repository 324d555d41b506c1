"""How many tokens a text costs an agent, never too few, and how entries are fitted to a budget.

Pure but for reading the table of word costs, once. The estimate is an upper bound of the counts of eight tokenizers
(Claude's three, cl100k, o200k, Llama 3, Qwen 3, Gemma 3), about a fifth over on Markdown; the real one need not be
installed. Frequent English words cost what the dearest tokenizer takes for them; other words go by length and by
letter pairs that English rarely has; what is outside common use in a script goes by its UTF-8 bytes, which no
tokenizer exceeds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache

RESERVE = 1.05  # on top of the bound, for tokenizers to come

_WORD = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SPACES = re.compile(" {2,}")
_DIGITS = str.maketrans("", "", "0123456789")
# Upper bound of one character by block: (first code point past the block, tokens). Source: measured, see tests/bench.
_BLOCKS = (
    (0x250, 1.15),  # Latin with accents
    (0x370, 1.3),  # phonetic letters, combining marks
    (0x530, 1.38),  # Greek, Cyrillic
    (0x800, 1.25),  # Armenian, Hebrew, Arabic
    (0x2000, 2.55),  # Indic and Southeast Asian scripts
    (0x2E80, 2.2),  # punctuation, arrows, mathematics, box drawing
    (0xA000, 1.6),  # kana and Han
    (0xAC00, 2.55),
    (0xD7B0, 1.6),  # Hangul
    (0xFE00, 2.55),
    (0xFE10, 2.2),  # variation selectors
    (0xFF00, 2.55),
    (0xFFF0, 1.6),  # full-width forms
    (0x10000, 2.55),
    (0x110000, 6.0),  # emoji and rare planes
)


def estimate(text: str) -> int:
    """Return how many tokens `text` takes at most; 0 for the empty text."""
    if not text:
        return 0
    total = 2.5 + sum(map(_word_cost, _WORD.findall(text)))
    digits = len(text) - len(text.translate(_DIGITS)) if text.isascii() else sum(c in "0123456789" for c in text)
    marks = sum(map(text.count, _MARKS))
    total += 1.31 * digits + 1.02 * marks + 1.65 * (text.count("\n") + text.count("\t"))
    total += 0.17 * sum(len(run) - 1 for run in _SPACES.findall(text))
    if not text.isascii():
        total += sum(map(_character_cost, filter(_is_foreign, text)))
    return int(total * RESERVE) + 1


def fit(entries: Sequence[str], budget: int, *, spent: int = 0, joint: int = 0) -> list[int]:
    """Return the positions of the entries that fit into `budget` tokens, in order.

    Whole entries only: one that does not fit is skipped and the next one tried. `spent` tokens are gone already,
    `joint` is the cost of what joins two entries.
    """
    chosen = []
    for position, entry in enumerate(entries):
        cost = estimate(entry) + joint
        if spent + cost <= budget:
            spent += cost
            chosen.append(position)
    return chosen


_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def _is_foreign(character: str) -> bool:
    return character > "\x7f"


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, float], frozenset[str]]:
    """Return the costs of frequent words and the letter pairs that are usual in English."""
    costs: dict[str, float] = {}
    pairs: list[str] = []
    with open(os.path.join(os.path.dirname(__file__), "data", "token_costs.txt"), encoding="ascii") as lines:
        heading = ""
        for line in lines:
            if line.startswith("# "):
                heading = line[2:].strip()
            elif heading == "pairs":
                pairs.extend(line.split())
            else:
                costs.update(dict.fromkeys(line.split(), float(heading)))
    return costs, frozenset(pairs)


@lru_cache(maxsize=4096)
def _word_cost(word: str) -> float:
    costs, usual = _table()
    size, plain = len(word), word.lower()
    if size > 1 and word.isupper():
        return 1.1 + 1.55 * (size - 2)
    cost = costs.get(plain)
    if cost is None:
        if size == 1:
            cost = 1.0
        else:
            cost = 2.1 if size <= 3 else 2.15 if size <= 5 else 3.1 if size <= 8 else 3.55 + 0.69 * (size - 9)
            cost += 0.84 * sum(plain[i : i + 2] not in usual for i in range(size - 1))
    return cost + 1.5 if word[0] < "a" else cost


@lru_cache(maxsize=4096)
def _character_cost(character: str) -> float:
    code = ord(character)
    if 0x3400 <= code < 0xA000 or 0xAC00 <= code < 0xD7B0:
        return 1.6 if _is_common(character) else 3.05
    return next(cost for end, cost in _BLOCKS if code < end)


def _is_common(character: str) -> bool:
    """Say whether a Han character or Hangul syllable is in everyday use: the first levels of the national standards
    GB 2312, Big5, JIS X 0208, and KS X 1001."""
    if character >= "\uac00":
        return len(character.encode("euc_kr", "ignore")) == 2
    return any(
        first <= character.encode(codec, "ignore")[:1] <= last
        for codec, first, last in (
            ("gb2312", b"\xb0", b"\xd7"),
            ("big5", b"\xa4", b"\xc6"),
            ("shift_jis", b"\x88", b"\x97"),
        )
    )
