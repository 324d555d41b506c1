"""Text to index terms and query: what the full-text index holds beside the words, and what it is asked.

Pure. The index tokenizes with porter over unicode61, which splits at everything but letters and digits. It can't split
`camelCase`, sees a run of Chinese as one word and breaks Thai and Indic words at their vowel signs. `index_parts`
gives what is missing as one more column, `match_expression` asks for the same pieces. A query is words, never FTS5
syntax: every term is quoted, so no input raises.
"""

from __future__ import annotations

import re
import unicodedata

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

# A superset of what unicode61 takes for letters and digits, with the marks that belong to a word in Arabic, Indic and
# Southeast Asian scripts; punctuation that slips in is dropped by the tokenizer.
_CHARACTER = "[0-9A-Za-z\xaa\xb5\xba\xc0-\u1fff\u200c\u200d\u2c00-\u2dff\u2e80-\u2fff\u3005-\u3007\u3021-\ud7ff\uf900-\uffff\U00010000-\U0010ffff]"  # noqa: E501
_CHUNK = re.compile(rf"{_CHARACTER}+(?:[-_./\\:'’@#+]+{_CHARACTER}+)*")
_PIECE = re.compile("[^-_./\\\\:'’@#+]+")
# Where one identifier holds two words: aB, ABc, a1, 1a.
_SEAM = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
# Scripts written without spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, kana, Han, Hangul (whose particles
# are glued to the word).
_UNSPACED = re.compile(
    "([\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff]+)"
)
# What English hangs on a stem. A word that is still being typed may hold the beginning of one, which the stemmer does
# not take off: "migratio" must find "migrat".
_ENDINGS = (
    "ations",
    "ions",
    "ities",
    "ments",
    "ness",
    "able",
    "ible",
    "ance",
    "ence",
    "ings",
    "ive",
    "ize",
    "ously",
    "ally",
)


def index_parts(title: str, content: str, labels: str) -> str:
    """Return the extra index terms of a memory, space separated: the words within identifiers, compounds written
    together, versions without their v, and pieces of two characters from scripts without spaces."""
    parts: list[str] = []
    for text in (title, content, labels):
        for chunk in _CHUNK.findall(_plain(text)):
            if not (chunk.isascii() and chunk.isalpha() and chunk[1:].islower()):
                _chunk_parts(chunk, parts)
    return " ".join(parts)


def match_expression(query: str, *, prefix: bool = False) -> str:
    """Return an FTS5 expression for the words of `query`, each quoted, joined by OR; "" where there are none.

    English stop words are dropped unless there is nothing else. With `prefix` the last word is taken as still being
    typed. Only the first `MAX_QUERY` characters and `MAX_TERMS` terms are read. Never raises.
    """
    chunks = _CHUNK.findall(_plain(query[:MAX_QUERY]))
    typing = prefix and bool(chunks) and query[-1:].isalnum()
    telling = [chunk for chunk in chunks if chunk.lower().replace("’", "'") not in STOP_WORDS]
    if typing and (not telling or telling[-1] is not chunks[-1]):
        telling.append(chunks[-1])
    terms: dict[str, None] = {}
    for chunk in telling or chunks:
        for term in _chunk_terms(chunk):
            terms[term.lower()] = None
    quoted = [_quoted(term) for term in terms][:MAX_TERMS]
    if typing:
        quoted.extend(_typed_terms(_CHUNK.findall(_plain(query[-200:]))[-1]))
    return " OR ".join(dict.fromkeys(quoted))


def _plain(text: str) -> str:
    """Return text in compatibility form (full-width letters become letters) without what SQLite can't take."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", text)


def _quoted(term: str) -> str:
    # A final * of ours stays outside the quotes; the chunk pattern lets none of the user's in, nor a quote.
    return f'"{term[:-1]}" *' if term.endswith("*") else f'"{term}"'


def _split(chunk: str) -> list[str]:
    """Return the pieces of a chunk at connectors, seams of identifiers and changes of script."""
    if chunk.isascii():
        if chunk.isalpha() and chunk[1:].islower():
            return [chunk]
        pieces = _PIECE.findall(chunk)
    else:
        pieces = [run for piece in _PIECE.findall(chunk) for run in _UNSPACED.split(piece) if run]
    return [part for piece in pieces for part in _SEAM.split(piece)]


def _bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of a run's letters; vowel signs and tone marks, which unicode61 takes for
    separators, are left out."""
    letters = "".join(filter(str.isalnum, run))
    return [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]


def _chunk_parts(chunk: str, parts: list[str]) -> None:
    pieces = _split(chunk)
    if len(pieces) > 1:
        whole = _PIECE.findall(chunk)
        parts.extend(piece for piece in pieces if piece not in whole)
        if len(whole) > 1 and len(chunk) <= 40:
            parts.append("".join(whole))
    for piece in pieces:
        if _UNSPACED.match(piece):
            pairs = _bigrams(piece)
            parts.extend(pairs)
            # The last character begins no pair; alone it lets a query of one character find it.
            parts.append(pairs[-1][-1:])
    if chunk[0] in "vV" and chunk[1:2].isdigit():
        parts.append(chunk[1:])


def _chunk_terms(chunk: str) -> list[str]:
    """Return what to ask for one chunk: the whole as a phrase, then its pieces that tell something alone."""
    pieces = _split(chunk)
    if len(pieces) == 1 and pieces[0] is chunk:
        return _unspaced_terms(chunk) if _UNSPACED.match(chunk) else [chunk]
    terms = [chunk]
    for piece in pieces:
        if _UNSPACED.match(piece):
            terms.extend(_unspaced_terms(piece))
        elif (len(piece) > 2 or (len(piece) == 2 and piece.isalpha())) and piece.lower() not in STOP_WORDS:
            terms.append(piece)
    if chunk[0] in "vV" and chunk[1:2].isdigit():
        terms.append(chunk[1:])
    return terms


def _unspaced_terms(run: str) -> list[str]:
    pairs = _bigrams(run)
    if len(pairs[0]) < 2:
        return [pairs[0] + "*"] if pairs[0] else []
    return [*pairs, " ".join(pairs)]


def _typed_terms(chunk: str) -> list[str]:
    """Return the terms for a word that is still being typed: what it may grow into, and its stem where it already
    holds the beginning of an ending."""
    last = _split(chunk)[-1]
    terms = [f'"{chunk}" *', f'"{last}" *']
    if last.isascii() and last.isalpha():
        for cut in range(1, 6):
            stem, tail = last[:-cut], last[-cut:]
            if len(stem) >= 4 and any(ending.startswith(tail) for ending in _ENDINGS):
                terms.append(f'"{stem}"')
    return terms
