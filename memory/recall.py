"""From a query to ranked hits: words, meaning, or both.

Active memories that have not expired are found, and nothing else. Words need no preparation; meaning needs a vector
of the embedder's model for every active memory. All reads of one search see one state of the store.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, NamedTuple

from . import vectors
from .errors import Incomplete, UsageError
from .rank import cosines, fuse, order
from .record import Hit, timestamp
from .store import MEMORY_COLUMNS, from_row, snapshot
from .words import match_expression

if TYPE_CHECKING:
    from .embed import Embedder, Vector

MODES = ("lexical", "semantic", "fused")
_DEPTH = 200  # how many of each ranking are fused
# BM25 weights of title, content, labels and parts. Source: measured on seven public sets, see tests/bench.
_FIELDS = "2.0, 1.0, 1.0, 0.5"
_Scored = list[tuple[int, float, str]]


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
    vector = embedder.embed_query(query) if embedder and mode != "lexical" else None
    with snapshot(db):
        allowed, values = _conditions(filters, timestamp(now))
        scored: _Scored = []
        if mode == "semantic" and embedder and vector:
            cosine = _semantic(db, embedder, vector, allowed=(allowed, values))
            scored = order([(rowid, score, "semantic") for rowid, score in cosine.items() if score > 0])
        else:
            words = _lexical(db, match_expression(query, prefix=prefix), allowed, values)
            scored = _fused(db, words, embedder, vector, (allowed, values))
        return _hits(db, scored[:limit])


def context(
    db: sqlite3.Connection,
    query: str,
    *,
    limit: int,
    now: float,
    embedder: Embedder | None = None,
    filters: Filters = ALL,
) -> list[Hit]:
    """Return what fits a query well enough to be shown unasked: fused hits, or none where nothing is relevant."""
    return search(db, query, limit=limit, now=now, mode="fused", embedder=embedder, filters=filters)


def _conditions(filters: Filters, now: str) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition on memories.rowid that lets a memory be found, and its values."""
    expired = "SELECT rowid FROM memories WHERE status = 'active' AND expires_at <> '' AND expires_at <= ?"
    if filters == ALL:
        return f"NOT IN ({expired})", (now,)
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
    return f"IN ({found})", (now, *(value for wanted in used.values() for value in wanted))


def _lexical(db: sqlite3.Connection, expression: str, allowed: str, values: tuple[str, ...]) -> dict[int, float]:
    """Return the BM25 scores of the best matches by row id; higher is better."""
    if not expression:
        return {}
    rows = db.execute(
        f"SELECT rowid, -bm25(words, {_FIELDS}) AS score FROM words WHERE words MATCH ? AND rowid {allowed}"  # noqa: S608
        f" ORDER BY score DESC, rowid DESC LIMIT {_DEPTH}",
        (expression, *values),
    )
    return dict(rows.fetchall())


def _semantic(
    db: sqlite3.Connection,
    embedder: Embedder,
    vector: Vector,
    *,
    allowed: tuple[str, tuple[str, ...]],
    also: tuple[int, ...] = (),
) -> dict[int, float]:
    """Return the cosines of the memories that may be found, by row id."""
    rowids, rows = vectors.candidates(db, embedder, vector, also=also)
    scores = dict(zip(rowids, cosines(vector.vector, rows), strict=True))
    places = ",".join(map(str, rowids))
    found = db.execute(
        f"SELECT rowid FROM memories WHERE rowid IN ({places}) AND rowid {allowed[0]}",  # noqa: S608 - integers
        allowed[1],
    )
    return {row[0]: scores[row[0]] for row in found}


def _fused(
    db: sqlite3.Connection,
    words: dict[int, float],
    embedder: Embedder | None,
    vector: Vector | None,
    allowed: tuple[str, tuple[str, ...]],
) -> _Scored:
    if embedder and vector:
        try:
            meaning = _semantic(db, embedder, vector, allowed=allowed, also=tuple(words))
        except Incomplete:
            meaning = {}  # derived data that is incomplete must not hide a memory
        if meaning:
            return fuse(words, meaning)
    return order([(rowid, score, "lexical") for rowid, score in words.items()])


def _hits(db: sqlite3.Connection, scored: _Scored) -> list[Hit]:
    wanted = ",".join([str(rowid) for rowid, _, _ in scored])
    rows = db.execute(f"SELECT rowid, {MEMORY_COLUMNS} FROM memories WHERE rowid IN ({wanted})")  # noqa: S608 - integers
    memories = {row[0]: from_row(row[1:]) for row in rows}
    return [Hit(memories[rowid], score, matched) for rowid, score, matched in scored]
