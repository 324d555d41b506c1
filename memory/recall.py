"""From a query to ranked hits: words, meaning, or both.

Active memories that have not expired are found, and nothing else. Words need no preparation; meaning needs a vector
of the embedder's model for every active memory. All reads of one search see one state of the store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from . import vectors
from .errors import Incomplete, Unavailable, UsageError
from .named import TYPE_CHECKING, NamedTuple
from .rank import Scored, cosines, fuse, lift_areas, order
from .record import Hit, timestamp
from .store import MEMORY_COLUMNS, from_row, snapshot
from .words import match_expression

if TYPE_CHECKING:
    from .embed import Embedder, Vector

MODES = ("lexical", "semantic", "fused")
_DEPTH = 100  # how many of the lexical ranking are fused; the second hundred moved nothing
# How much of the query's words the best hit must hold to be relevant when no cosine says so. Source: measured by
# putting the queries of seven public sets to each other's stores, see tests/bench.
_SHARE = 0.67
_SHARE_OF_WORDS_ALONE = 0.45
# A hit below this part of the best score is not worth showing unasked: cutting at .3 loses no nDCG@10, at .4 .001.
_TAIL = 0.35
# BM25 weights of title, content, labels and parts. Source: measured on seven public sets, see tests/bench.
_FIELDS = "2.0, 1.0, 1.0, 0.5"
# Which memories may be found: SQL that follows a row id, its values, and whether a filter was given: then the nearest
# of all may well hold none of them.
_Condition = tuple[str, tuple[str, ...], bool]


class Filters(NamedTuple):
    """What a hit must have beside fitting the query; "" lets everything pass.

    `area` takes what lies below it too (`api` takes `api/auth`). `branch` wants the tag or source_ref `branch:NAME`.
    `since` and `before` bound created_at, as timestamps.
    """

    kind: str = ""
    area: str = ""
    tag: str = ""
    branch: str = ""
    since: str = ""
    before: str = ""


ALL = Filters()


def search(
    db: sqlite3.Connection,
    query: str,
    *,
    limit: int,
    now: float,
    mode: str = "lexical",
    embedder: Embedder | None = None,
    filters: Filters = ALL,
    prefix: bool = False,
) -> list[Hit]:
    """Return the hits for `query`, best first; at equal scores the newer memory comes first.

    "lexical" asks the full-text index; with `prefix` the last word is still being typed. "semantic" ranks by cosine.
    "fused" adds both up, and is lexical alone without an embedder or while vectors are missing or malformed.
    Raises Incomplete for "semantic" where vectors are missing or malformed, UsageError for an unknown mode.
    """
    if mode not in MODES:
        raise UsageError(f"{mode!r} is no way to search; there are {', '.join(MODES)}")
    if mode == "semantic" and embedder is None:
        raise Incomplete("searching by meaning needs a model; `mem model status` shows what there is")
    expression = match_expression(query, prefix=prefix) if mode != "semantic" else ""
    vector = _query_vector(embedder, query, needed=mode == "semantic") if mode != "lexical" else None
    with snapshot(db):
        allowed = _allowed(filters, timestamp(now))
        if mode == "lexical":
            return _hits(db, _words_alone(_lexical(db, expression, allowed, limit)), limit)
        if mode == "semantic" and embedder and vector:
            meaning = _semantic(db, embedder, vector, allowed=allowed, depth=limit)
            found = [(rowid, cosine, "semantic") for rowid, cosine in meaning.items() if cosine > 0]
            return _hits(db, order(found), limit)
        words = _lexical(db, expression, allowed, max(limit, _DEPTH))
        meaning = _meaning(db, embedder, vector, (allowed, words, limit))
        return _hits(db, _fused(db, words, meaning, embedder), limit)


def context(
    db: sqlite3.Connection,
    query: str,
    *,
    limit: int,
    now: float,
    embedder: Embedder | None = None,
    filters: Filters = ALL,
) -> list[Hit]:
    """Return what fits a query well enough to be shown unasked: the fused hits, or none where nothing is relevant.

    Something is relevant where a cosine reaches the embedder's floor, or where the best hit holds most of the query's
    words. What scores far below the best is left out.
    """
    expression = match_expression(query)
    vector = _query_vector(embedder, query)
    with snapshot(db):
        allowed = _allowed(filters, timestamp(now))
        words = _lexical(db, expression, allowed, max(limit, _DEPTH))
        meaning = _meaning(db, embedder, vector, (allowed, words, limit))
        scored = _fused(db, words, meaning, embedder)
        close = bool(embedder and meaning and max(meaning.values()) >= embedder.floor)
        if not close and not _holds(db, expression, scored, _SHARE if meaning else _SHARE_OF_WORDS_ALONE):
            return []
        least = _TAIL * scored[0][1] if meaning else 0.0
        return _hits(db, [entry for entry in scored if entry[1] >= least], limit)


def _holds(db: sqlite3.Connection, expression: str, scored: Scored, share: float) -> bool:
    """Say whether the best hit matches all terms of the expression, or at least two and `share` of them."""
    terms = expression.split(" OR ")
    if not expression or not scored:
        return False
    sql = "SELECT count(*) FROM words WHERE rowid = ? AND words MATCH ?"
    held = sum(db.execute(sql, (scored[0][0], term)).fetchone()[0] for term in terms)
    return bool(held == len(terms) or (held >= 2 and held >= share * len(terms)))


def _query_vector(embedder: Embedder | None, query: str, *, needed: bool = False) -> Vector | None:
    """Return the query's vector; None where the model knows none of its words, or can't be read and isn't `needed`."""
    try:
        vector = embedder.embed_query(query) if embedder else None
    except Unavailable:  # words find what they can without a model
        if needed:
            raise
        return None
    return vector if vector and (needed or any(vector.vector)) else None


def _allowed(filters: Filters, now: str) -> _Condition:
    """Return the SQL condition on memories.rowid that lets a memory be found, and its values."""
    # Without statistics SQLite would walk all active rows for the few that expire.
    expired = (
        "SELECT rowid FROM memories INDEXED BY memories_by_expiry"
        " WHERE status = 'active' AND expires_at <> '' AND expires_at <= ?"
    )
    if filters == ALL:
        return f"NOT IN ({expired})", (now,), False
    tests = {
        "kind = ?": (filters.kind,),
        "(area = ? OR substr(area, 1, length(?) + 1) = ? || '/')": (filters.area,) * 3,
        "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)": (filters.tag,),
        "(source_ref = 'branch:' || ? OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value = 'branch:' || ?))": (
            (filters.branch,) * 2
        ),
        "created_at >= ?": (filters.since,),
        "created_at < ?": (filters.before,),
    }
    used = {test: wanted for test, wanted in tests.items() if wanted[0]}
    condition = " AND ".join(["status = 'active'", "(expires_at = '' OR expires_at > ?)", *used])
    found = f"SELECT rowid FROM memories WHERE {condition}"  # noqa: S608 - conditions of ours, values bound
    return f"IN ({found})", (now, *(value for wanted in used.values() for value in wanted)), True


def _lexical(db: sqlite3.Connection, expression: str, allowed: _Condition, depth: int) -> dict[int, float]:
    """Return the BM25 scores of the `depth` best matches by row id; higher is better."""
    if not expression:
        return {}
    rows = db.execute(
        f"SELECT rowid, -bm25(words, {_FIELDS}) AS score FROM words WHERE words MATCH ? AND rowid {allowed[0]}"  # noqa: S608
        " ORDER BY score DESC, rowid DESC LIMIT ?",
        (expression, *allowed[1], depth),
    )
    return dict(rows.fetchall())


def _semantic(
    db: sqlite3.Connection,
    embedder: Embedder,
    vector: Vector,
    *,
    allowed: _Condition,
    depth: int,
    also: Sequence[int] = (),
) -> dict[int, float]:
    """Return the cosines of the memories that may be found, by row id."""
    within = allowed[:2] if allowed[2] else None
    rowids, rows = vectors.candidates(db, embedder, vector, depth=depth, also=also, within=within)
    scores = dict(zip(rowids, cosines(vector.vector, rows), strict=True))
    places = ",".join(map(str, rowids))
    found = db.execute(
        f"SELECT rowid FROM memories WHERE rowid IN ({places}) AND rowid {allowed[0]}",  # noqa: S608 - integers
        allowed[1],
    )
    return {row[0]: scores[row[0]] for row in found}


def _meaning(
    db: sqlite3.Connection,
    embedder: Embedder | None,
    vector: Vector | None,
    wanted: tuple[_Condition, Mapping[int, float], int],
) -> dict[int, float]:
    """Return the cosines of the best by meaning and of the best by words, none where meaning can't be judged."""
    allowed, words, depth = wanted
    if not embedder or not vector:
        return {}
    try:
        return _semantic(db, embedder, vector, allowed=allowed, depth=depth, also=list(words)[:_DEPTH])
    except Incomplete:
        return {}  # derived data that is incomplete must not hide a memory


def _fused(
    db: sqlite3.Connection, words: Mapping[int, float], meaning: Mapping[int, float], embedder: Embedder | None
) -> Scored:
    if not meaning or not embedder:
        return _words_alone(words)
    scored = fuse(words, meaning, embedder.weight)
    places = ",".join([str(rowid) for rowid, _, _ in scored[:_DEPTH]])
    areas = db.execute(f"SELECT rowid, area FROM memories WHERE area <> '' AND rowid IN ({places})")  # noqa: S608
    return lift_areas(scored, dict(areas.fetchall()))


def _words_alone(words: Mapping[int, float]) -> Scored:
    return order([(rowid, score, "lexical") for rowid, score in words.items()])


def _hits(db: sqlite3.Connection, scored: Scored, limit: int) -> list[Hit]:
    scored = scored[:limit]
    wanted = ",".join([str(rowid) for rowid, _, _ in scored])
    rows = db.execute(f"SELECT rowid, {MEMORY_COLUMNS} FROM memories WHERE rowid IN ({wanted})")  # noqa: S608 - integers
    memories = {row[0]: from_row(row[1:]) for row in rows}
    return [Hit(memories[rowid], score, matched) for rowid, score, matched in scored if rowid in memories]
