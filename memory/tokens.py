"""How many tokens a text costs an agent, never too few, and how entries are fitted to a budget.

Pure but for reading the table of word costs, once. The estimate is an upper bound of the counts of eight tokenizers
(Claude's three, cl100k, o200k, Llama 3, Qwen 3, Gemma 3), about a fifth over on Markdown; the real one need not be
installed. Frequent English words cost what the dearest tokenizer takes for them; other words go by length and by
letter pairs that English rarely has; what is outside common use in a script goes by its UTF-8 bytes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache

RESERVE = 1.05  # on top of the bound, for tokenizers to come

_WORD = "[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_FOREIGN = "[^\x00-\x7f]"
_CONTROL = "[\x00-\x08\x0b-\x1f]"
_MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
# What an everyday character of a script costs within words: (first code point past the block, tokens). Any other costs
# its UTF-8 bytes: tokenizers fall back to those.
_EVERYDAY = (
    (0x250, 1.15),  # Latin with accents
    (0x530, 1.38),  # Greek, Cyrillic
    (0x900, 1.25),  # Hebrew, Arabic
    (0x2000, 2.0),  # Devanagari, Thai
    (0x2E80, 1.5),  # dashes, quotes, arrows
    (0x110000, 1.4),  # kana, Han, Hangul, full-width punctuation
)
# What some tokenizers spell out first: squared and circled words, ligatures; and emoji, for which one takes more
# tokens than bytes.
_SPELLED_OUT = ((0x3200, 0x3400), (0xFB00, 0xFE00), (0x10000, 0x110000))


def estimate(text: str) -> int:
    """Return how many tokens `text` takes at most; 0 for the empty text."""
    if not text:
        return 0
    total = 2.5 + sum(map(_word_cost, re.findall(_WORD, text)))
    total += 1.31 * sum(map(text.count, "0123456789")) + 1.02 * sum(map(text.count, _MARKS))
    total += 1.65 * (text.count("\n") + text.count("\t"))
    total += 0.17 * sum([len(run) - 1 for run in re.findall("  +", text)])
    if not text.isascii():
        foreign = re.findall(_FOREIGN, text)
        total += sum(map(_character_cost, foreign))
        total += _edges(text, set(foreign))
    if not text.isprintable():
        total += len(re.findall(_CONTROL, text))
    return int(total * RESERVE) + 1


def fit(entries: Sequence[str], budget: int) -> list[int]:
    """Return the positions of the entries that fit into `budget` tokens, in order.

    Whole entries only: one that does not fit is skipped and the next one tried.
    """
    chosen, spent = [], 0
    for position, entry in enumerate(entries):
        cost = estimate(entry)
        if spent + cost <= budget:
            spent += cost
            chosen.append(position)
    return chosen


@lru_cache(maxsize=1)
def _table() -> tuple[dict[str, float], frozenset[str], frozenset[str]]:
    """Return the costs of frequent words, the letter pairs that are usual in English, and everyday characters."""
    with open(os.path.join(os.path.dirname(__file__), "data", "token_costs.txt"), encoding="utf-8") as file:
        sections = dict(section.split("\n", 1) for section in file.read().split("\n# ")[1:])
    pairs, single = sections.pop("pairs").split(), sections.pop("single")
    costs: dict[str, float] = {}
    for cost, words in sections.items():
        costs.update(dict.fromkeys(words.split(), float(cost)))
    return costs, frozenset(pairs), frozenset(single)


@lru_cache(maxsize=4096)
def _word_cost(word: str) -> float:
    costs, usual, _ = _table()
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


def _is_spelled_out(character: str) -> bool:
    return any(first <= ord(character) < end for first, end in _SPELLED_OUT)


@lru_cache(maxsize=4096)
def _character_cost(character: str) -> float:
    code = ord(character)
    if character in _table()[2]:
        return next(cost for end, cost in _EVERYDAY if code < end)
    if _is_spelled_out(character):
        return 6.0
    from unicodedata import normalize  # rarely needed

    # Some tokenizers take the composed form; some the small letter, with a token that says so.
    forms = (character, normalize("NFC", character), character.lower())
    size = max(len(form.encode("utf-8", "replace")) for form in forms)
    return size + (character != character.lower())


def _edges(text: str, foreign: set[str]) -> int:
    """Return what words that begin or end with a character that costs its bytes take beside these: some tokenizers
    mark where a word begins and where it ends, unless they know it."""
    rare = {one for one in foreign - _table()[2] if not _is_spelled_out(one)}
    if not rare:
        return 0
    letters = {one for one in foreign if ("_" + one).isidentifier()}
    count, last, kind = 0, "", 0
    for character in text:
        before, kind = kind, 0 if character < "\x80" else 1 if character in letters else 2
        if kind != before:
            count += (last in rare) + (character in rare)
        last = character
    return count + (last in rare)
