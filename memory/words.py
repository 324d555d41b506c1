"""Text to index terms and query: what the full-text index holds beside the words, and what it is asked.

Pure. The index tokenizes with porter over unicode61, which splits at everything but letters and digits. It can't split
`camelCase`, sees a run of Chinese as one word and breaks Thai and Indic words at their vowel signs. `index_parts`
gives what is missing as one more column, `match_expression` asks for the same pieces. A query is words, never FTS5
syntax: every term is quoted, so no input raises.
"""

from __future__ import annotations

import re
from functools import lru_cache

MAX_QUERY = 8192  # characters of a query that are read; a prompt may hold a whole file
MAX_TERMS = 96  # terms of a query: each costs a look into the index

_STOP_WORDS = (
    "a about after all also am an and any are as at be because been before being between both but by can could did do"
    " does doing don't during each few for from had has have having he her here hers him his how i if in into is it its"
    " it's just me more most my of on once only or other our out over own same she should so some such than that the"
    " their them then there these they this those through to too under until up very was we were what when where which"
    " while who whom why will with would you your"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

_JOINTS = "-_./\\\\:'’@#+"  # what holds the parts of an identifier, path, version or flag together
# A superset of what unicode61 takes for letters and digits, with the marks that belong to a word in Arabic, Indic and
# Southeast Asian scripts; punctuation that slips in is dropped by the tokenizer.
_LETTERS = (
    "0-9A-Za-z\xaa\xb5\xba\xc0-\u1fff\u200c\u200d\u2c00-\u2dff\u2e80-\u2fff\u3005-\u3007\u3021-\ud7ff\uf900-\uffff"
    "\U00010000-\U0010ffff"
)
# Scripts written without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han, Hangul (whose particles
# are glued to the word).
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Letters that are no letter with an accent, which unicode61 would take off, and how they are typed without a keyboard
# that has them.
_PLAIN = {
    "ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th",
    "Þ": "TH", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ı": "i",
}  # fmt: skip
_SEAM = "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
# What English hangs on a stem. A word that is still being typed may hold the beginning of one, which the stemmer does
# not take off: "migratio" must find "migrat".
_ENDINGS = "ations ions ities ments ness able ible ance ence ings ive ize ously ally"


def index_parts(title: str, content: str, labels: str) -> str:
    """Return the extra index terms of a memory, space separated: the words within identifiers, compounds written
    together, versions without their v, and pieces of two characters from scripts without spaces."""
    parts: list[str] = []
    text = f"{title}\n{content}\n{labels}"
    for chunk in _chunks(text):
        if chunk not in text:  # its compatibility form is another
            parts.append(chunk)
        if not chunk.isascii():
            parts.extend(_plain(chunk))
        if not (chunk.isascii() and chunk.isalpha() and chunk[1:].islower()):
            _chunk_parts(chunk, parts)
    return " ".join(parts)


def match_expression(query: str, *, prefix: bool = False) -> str:
    """Return an FTS5 expression for the words of `query`, each quoted, joined by OR; "" where there are none.

    English stop words are dropped unless there is nothing else. With `prefix` the last word is taken as still being
    typed. Only the first `MAX_QUERY` characters and `MAX_TERMS` terms are read. Never raises.
    """
    query = query[:MAX_QUERY]
    chunks = _chunks(query)
    typed = chunks[-1:] if prefix and query[-1:].isalnum() else []
    telling = [chunk for chunk in chunks if _is_telling(chunk)]
    terms = {term.lower(): None for chunk in telling or chunks for term in _chunk_terms(chunk)}
    quoted = [_quoted(term) for term in terms][:MAX_TERMS]
    quoted.extend(term for chunk in typed for term in _typed_terms(chunk))
    return " OR ".join(dict.fromkeys(quoted))


def has_telling_words(text: str) -> bool:
    """Return whether a text holds more than English stop words: whether it can be about something."""
    return any(_is_telling(chunk) for chunk in _chunks(text[:MAX_QUERY]))


def _is_telling(chunk: str) -> bool:
    return chunk.lower().replace("’", "'") not in STOP_WORDS


def _chunks(text: str) -> list[str]:
    """Return the words of a text, those that joints hold together as one, in compatibility form: full-width letters
    become letters."""
    if text.isascii():
        return _chunk_pattern("0-9A-Za-z").findall(text)
    import unicodedata  # only where there is something to fold

    return _chunk_pattern(_LETTERS).findall(unicodedata.normalize("NFKC", text))


# Compiled on use: a class of ranges all over Unicode takes as long as a search.
@lru_cache(maxsize=2)
def _chunk_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(f"[{letters}]+(?:[{_JOINTS}]+[{letters}]+)*")


@lru_cache(maxsize=1)
def _unspaced_pattern() -> re.Pattern[str]:
    return re.compile(f"([{_UNSPACED}]+)")


def _split(chunk: str) -> list[str]:
    """Return the pieces of a chunk at joints, at the seams of identifiers (aB, ABc, a1, 1a) and where a script
    without spaces begins or ends."""
    pieces = re.split(f"[{_JOINTS}]+", chunk)
    if not chunk.isascii():
        pieces = [run for piece in pieces for run in _unspaced_pattern().split(piece) if run]
    if chunk.islower() and chunk.replace("_", "").isalpha():
        return pieces
    return [part for piece in pieces for part in re.split(_SEAM, piece)]


def _is_unspaced(piece: str) -> bool:
    return not piece.isascii() and bool(_unspaced_pattern().match(piece))


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of a run's letters, or the one letter there is. Vowel signs and tone marks, which
    unicode61 takes for separators, are left out."""
    letters = "".join(filter(str.isalnum, run))
    return [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]


def _chunk_parts(chunk: str, parts: list[str]) -> None:
    pieces = _split(chunk)
    if len(pieces) > 1:
        whole = re.split(f"[{_JOINTS}]+", chunk)
        parts.extend(piece for piece in pieces if piece not in whole)
        if len(whole) > 1 and len(chunk) <= 40:
            parts.append("".join(whole))
    for piece in pieces:
        if _is_unspaced(piece):
            pairs = _pairs(piece)
            # The last character begins no pair; alone it lets a query of one character find it.
            parts.extend([*pairs, pairs[-1][-1:]])
    if _is_version(chunk):
        parts.append(chunk[1:])


def _chunk_terms(chunk: str) -> list[str]:
    """Return what to ask for one chunk: the whole as a phrase, then its pieces that tell something alone."""
    if chunk.isascii() and chunk.isalpha() and chunk[1:].islower():
        return [chunk]
    pieces = _split(chunk)
    terms = [] if _is_unspaced(chunk) else [chunk]
    for piece in pieces:
        if _is_unspaced(piece):
            terms.extend(_unspaced_terms(piece))
        elif (len(piece) > 2 or (len(piece) == 2 and piece.isalpha())) and piece.lower() not in STOP_WORDS:
            terms.append(piece)
    if _is_version(chunk):
        terms.append(chunk[1:])
    if not chunk.isascii():
        terms.extend(_plain(chunk))
    if len(pieces) == 2 and ("-" in chunk or "_" in chunk):  # pre-commit, precommit
        terms.append("".join(pieces))
    return terms


def _unspaced_terms(run: str) -> list[str]:
    pairs = _pairs(run)
    if len(pairs[0]) < 2:
        return [pairs[0] + "*"] if pairs[0] else []
    return [*pairs, " ".join(pairs)]


def _typed_terms(chunk: str) -> list[str]:
    """Return the terms for a word that is still being typed: what it may grow into, and its stem where it already
    holds the beginning of an ending."""
    last = _split(chunk)[-1]
    terms = [_quoted(chunk + "*"), _quoted(last + "*")]
    if last.isascii() and last.isalpha():
        endings = _ENDINGS.split()
        for cut in range(1, min(6, len(last) - 3)):
            if any(ending.startswith(last[-cut:]) for ending in endings):
                terms.append(_quoted(last[:-cut]))
    return terms


def _plain(chunk: str) -> list[str]:
    """Return how a word is written in plain letters, where that is another."""
    plain = "".join([_PLAIN.get(letter, letter) for letter in chunk])
    return [plain] if plain != chunk else []


def _is_version(chunk: str) -> bool:
    return chunk[0] in "vV" and chunk[1:2].isdigit()


def _quoted(term: str) -> str:
    # A final * is ours and stays outside the quotes; the chunk pattern lets none of the user's in, nor a quote.
    return f'"{term[:-1]}" *' if term.endswith("*") else f'"{term}"'
