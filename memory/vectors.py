"""The vectors table: one row for each memory and model, complete or said to be incomplete.

`model` holds the embedder's name and hash (`name@hash`), so that vectors of another file of the same name never mix;
`version` is the memory's version that was embedded, `hash` that of the embedded text. A row of another version is
missing; one of a wrong length is malformed. All functions take an open connection; those that read more than once
expect the caller's snapshot.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from . import rank
from .errors import Incomplete
from .named import TYPE_CHECKING

if TYPE_CHECKING:
    from .embed import Embedder, Vector

EXACT = 600  # up to so many vectors all are compared exactly; above, those nearest by sign bits
NEAREST = 200  # how many those are: they hold 99 of 100 of the exact best ten


# Row ids of memories and their vectors, int8, D a row; parallel.
_Candidates = tuple[list[int], bytes]
_JOIN = (
    "SELECT m.rowid, v.vector, length(v.signs) FROM memories m LEFT JOIN vectors v"
    " ON v.memory = m.id AND v.model = ? AND v.version = m.version "
)
# A title that was taken from the content says nothing more.
_TEXT = "CASE title_derived WHEN 1 THEN '' ELSE title END, content"


class Malformed(Incomplete):
    """A stored vector that can't be one of this model."""


def identity(embedder: Embedder) -> str:
    """Return what the `model` column holds for an embedder."""
    return f"{embedder.name}@{embedder.hash}"


def text_hash(title: str, content: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of the embedded text."""
    import hashlib  # only where vectors are written

    return hashlib.sha256(f"{title}\0{content}".encode("utf-8", "replace")).hexdigest()[:16]


def put(db: sqlite3.Connection, memory_id: str, version: int, embedder: Embedder, vector: Vector) -> bool:
    """Write the vector of a memory if that is still active at the `version` that was embedded; say whether it was.
    Runs in the caller's transaction."""
    row = db.execute(
        f"SELECT {_TEXT} FROM memories WHERE id = ? AND version = ? AND status = 'active'",  # noqa: S608
        (memory_id, version),
    ).fetchone()
    if row is None:
        return False
    db.execute(
        "INSERT OR REPLACE INTO vectors(memory, model, version, hash, vector, signs) VALUES (?, ?, ?, ?, ?, ?)",
        (memory_id, identity(embedder), version, text_hash(*row), vector.vector, vector.signs),
    )
    return True


def coverage(db: sqlite3.Connection, embedder: Embedder) -> tuple[int, int]:
    """Return (memories with a vector of this model at their version, active memories)."""
    row = db.execute(
        "SELECT count(v.version), count(*) FROM memories m LEFT JOIN vectors v"
        " ON v.memory = m.id AND v.model = ? AND v.version = m.version WHERE m.status = 'active'",
        (identity(embedder),),
    ).fetchone()
    return int(row[0]), int(row[1])


def missing(db: sqlite3.Connection, embedder: Embedder, limit: int) -> list[tuple[str, int, str, str]]:
    """Return (id, version, title, content) of active memories that lack a vector of this model or hold a malformed
    one, oldest first."""
    rows = db.execute(
        f"SELECT m.id, m.version, {_TEXT} FROM memories m LEFT JOIN vectors v"  # noqa: S608
        " ON v.memory = m.id AND v.model = ? AND v.version = m.version"
        " WHERE m.status = 'active' AND (v.memory IS NULL OR length(v.vector) <> ? OR length(v.signs) <> ?)"
        " ORDER BY m.rowid LIMIT ?",
        (identity(embedder), embedder.dimensions, embedder.dimensions // 8, limit),
    )
    return [(str(row[0]), int(row[1]), str(row[2]), str(row[3])) for row in rows]


def invalidate(db: sqlite3.Connection, embedder: Embedder) -> None:
    """Delete all vectors of a model, for `mem index --rebuild`. Runs in the caller's transaction."""
    db.execute("DELETE FROM vectors WHERE model = ?", (identity(embedder),))


def candidates(
    db: sqlite3.Connection,
    embedder: Embedder,
    query: Vector,
    *,
    depth: int = NEAREST,
    also: Sequence[int] = (),
    within: tuple[str, tuple[str, ...]] | None = None,
) -> _Candidates:
    """Return the vectors worth an exact comparison: all in a small store, else the nearest by sign bits, `depth` or
    `NEAREST` of them, and those of the memories whose row ids are in `also`.

    `within` is an SQL condition on a row id of memories, and its values: all that it lets through are returned then.
    Raises Incomplete where any active memory has no vector of this model, Malformed where one has a wrong length.
    """
    active = db.execute("SELECT count(*) FROM memories WHERE status = 'active'").fetchone()[0]
    model = identity(embedder)
    if within:
        covered = coverage(db, embedder)[0]
        if covered < active:
            raise _incomplete(active - covered, active)
        rows = db.execute(f"{_JOIN} WHERE m.status = 'active' AND m.rowid {within[0]}", (model, *within[1]))
        return _checked(rows, embedder)
    if active <= EXACT:
        return _checked(db.execute(f"{_JOIN} WHERE m.status = 'active'", (model,)), embedder)
    places, signs = _all_signs(db, embedder, active)
    near = rank.nearest(rank.distances(query.signs, signs), max(depth, NEAREST))
    listed = ",".join([places[position] for position in near])
    # A vector of an older version than its memory is missing.
    found = db.execute(
        "SELECT m.rowid, CASE WHEN m.version = v.version AND m.status = 'active' THEN v.vector END, length(v.signs)"  # noqa: S608
        f" FROM vectors v JOIN memories m ON m.id = v.memory WHERE v.rowid IN ({listed})"
    ).fetchall()
    rest = ",".join(map(str, set(also).difference([row[0] for row in found])))
    # The + keeps SQLite from walking all active memories instead of going to the rows.
    found += db.execute(f"{_JOIN} WHERE +m.status = 'active' AND m.rowid IN ({rest})", (model,))
    return _checked(found, embedder)


def nearest(db: sqlite3.Connection, embedder: Embedder, query: Vector, limit: int) -> list[tuple[str, float]]:
    """Return (id, cosine) of the active memories closest to a query vector, best first, ties by the newest row.

    Raises Incomplete and Malformed as `candidates` does.
    """
    rowids, vectors = candidates(db, embedder, query, depth=limit)
    best = sorted(zip(rank.cosines(query.vector, vectors), rowids, strict=True), reverse=True)[:limit]
    wanted = ",".join([str(rowid) for _, rowid in best])
    ids = dict(db.execute(f"SELECT rowid, id FROM memories WHERE rowid IN ({wanted})"))  # noqa: S608 - integers
    return [(ids[rowid], cosine) for cosine, rowid in best]


def _all_signs(db: sqlite3.Connection, embedder: Embedder, active: int) -> tuple[list[str], bytes]:
    """Return the row ids of all vectors of a model and their signs, one after another.

    SQLite joins them: it is twice as fast as fetching rows. group_concat takes a blob for text, whatever its bytes.
    """
    size = embedder.dimensions
    covered, malformed, places, signs = db.execute(
        "SELECT count(*), total(length(vector) <> ? OR length(signs) <> ?), group_concat(rowid),"
        " CAST(group_concat(signs, '') AS BLOB) FROM vectors WHERE model = ?",
        (size, size // 8, identity(embedder)),
    ).fetchone()
    if covered < active:
        raise _incomplete(active - covered, active)
    if malformed or len(signs) != covered * size // 8:
        raise _malformed()
    return places.split(","), signs


def _checked(rows: Iterable[tuple[int, bytes | None, int]], embedder: Embedder) -> _Candidates:
    found = list(rows)
    blocks = [vector for _, vector, _ in found if vector is not None]
    size = embedder.dimensions
    if any(not isinstance(block, bytes) or len(block) != size for block in blocks) or any(
        signs not in (None, size // 8) for _, _, signs in found
    ):
        raise _malformed()
    if len(blocks) < len(found):
        raise _incomplete(len(found) - len(blocks), len(found))
    return [rowid for rowid, _, _ in found], b"".join(blocks)


def _incomplete(missing: int, active: int) -> Incomplete:
    return Incomplete(f"{missing:,} of {active:,} memories have no vector yet; `mem index` makes them")


def _malformed() -> Malformed:
    return Malformed("a stored vector is malformed; `mem index --rebuild` makes all anew")
