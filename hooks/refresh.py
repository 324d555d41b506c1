"""Bring what is derived from the store up to date: code state, vectors and the notebook's rows, one process a store.

What the index hook's detached child does, and `mem index` in the foreground. Vectors are made outside of any
transaction, in bounded batches, and each is written only if its memory is still active at the version that was
embedded; a kill loses one batch at most.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..memory import config, schema, store, vectors
from ..memory.embed import SHIPPED, Embedder, cached, shipped
from ..memory.errors import Locked, MemError, Unavailable, UsageError
from ..memory.project import Project, busy
from . import codestate
from .env import Env
from .files import Lock

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 64
_ROUNDS = 20  # HEAD may move again while a child works; no child stays for ever

Progress = Callable[[int, int], None]


class Done(NamedTuple):
    """What a run did. `remaining` counts active memories without a vector of `model`; `code` is None where git was
    not asked: no repository, or in the middle of a rebase. `skipped` are lines about what was passed over."""

    model: str
    embedded: int
    remaining: int
    code: codestate.Refreshed | None
    skipped: tuple[str, ...] = ()


def in_background(project: Project, env: Env, *, ended: str = "") -> None:
    """Refresh until HEAD is the one recorded; return at once if another process is at it. That process looks at HEAD
    again after it let go of the lock, so nothing is missed. `ended` is "rebase" or "merge" where git has just finished
    one and its state may still be there."""
    for _ in range(_ROUNDS):
        try:
            with Lock(lock_path(project), timeout=0):
                # A model that is not there must not keep anchors and the notebook from being looked at.
                done = run(project, env, ended=ended, cached_only=True)
        except Locked:
            return
        if done.code is None or done.code.head == codestate.current_head(project, env.environ):
            return


def lock_path(project: Project) -> str:
    """Return the file whose lock one refresh of this store holds; a pinned database's folder is left as it is."""
    if project.pinned:
        from zlib import crc32

        folder = project.git_dir or os.path.dirname(project.store_path)
        return os.path.join(folder, f"memhooks-{crc32(os.fsencode(project.store_path)):08x}.lock")
    return os.path.join(project.folder, "index.lock")


def run(
    project: Project, env: Env, *, limit: int | None = None, rebuild: bool = False, cached_only: bool = False,
    ended: str = "", progress: Progress | None = None,
) -> Done:  # fmt: skip
    """Refresh an existing store once and say what was done.

    `limit` bounds the memories that are embedded, all by default. `rebuild` makes vectors anew, once their model has
    started. With `cached_only` a model that is not in the cache is passed over. In the middle of a rebase, a sequence,
    a merge or a bisect the code is not looked at, unless `ended` names it.
    Raises Unavailable for a missing model, GitFailed, StoreError.
    """
    named = str(config.load(project, env.environ)["recall.model"])
    models, missing = _models(named, env, cached_only=cached_only)
    db = schema.connect(project.store_path)
    try:
        code = None
        if project.git_dir and busy(project.git_dir) in ("", ended):
            code = codestate.refresh(db, project, env.environ)
        embedded, left = 0, limit
        for model in models:
            made = embed(db, model, limit=left, rebuild=rebuild, progress=progress)
            embedded, left = embedded + made, None if left is None else left - made
        name = models[-1].name if models else named
        remaining = _remaining(db, models[-1] if models else None)
    except sqlite3.Error as error:
        raise schema.as_store_error(error, project.store_path) from error
    finally:
        db.close()
    return Done(name, embedded, remaining, code, (*missing, *_sections(project, env)))


def embed(
    db: sqlite3.Connection, model: Embedder, *, limit: int | None = None, rebuild: bool = False,
    progress: Progress | None = None,
) -> int:  # fmt: skip
    """Make the vectors that a model lacks, at most `limit`, and return how many were written.

    The model has embedded a text before `rebuild` deletes what it is to replace.
    """
    if rebuild:
        model.embed_query("a model that can't start must not cost the vectors that are there")
        with store.transaction(db):
            vectors.invalidate(db, model)
    covered, active = vectors.coverage(db, model)
    total = active - covered if limit is None else min(limit, active - covered)
    written = 0
    while limit is None or written < limit:
        rows = vectors.missing(db, model, BATCH if limit is None else min(BATCH, limit - written))
        made = _embed_batch(db, model, rows)
        written += made
        if progress and rows:
            progress(written, max(total, written))
        if not made:  # nothing to do, or all of it changed under us: the next run sees to it
            break
    return written


def _embed_batch(db: sqlite3.Connection, model: Embedder, rows: Sequence[tuple[str, int, str, str]]) -> int:
    made = [(memory_id, version, model.embed_memory(title, content)) for memory_id, version, title, content in rows]
    if not made:
        return 0
    with store.transaction(db):
        return sum(vectors.put(db, memory_id, version, model, vector) for memory_id, version, vector in made)


def _models(named: str, env: Env, *, cached_only: bool) -> tuple[list[Embedder], tuple[str, ...]]:
    """Return the embedders to serve, the one that recall uses last, and a line where one is passed over."""
    if named in ("", SHIPPED):
        return [shipped()], ()
    try:
        return [shipped(), cached(named, env.environ)], ()
    except (Unavailable, UsageError) as error:
        if not cached_only:
            raise
        return [], (f"mem: {error.message}",)


def _remaining(db: sqlite3.Connection, model: Embedder | None) -> int:
    if model:
        covered, active = vectors.coverage(db, model)
        return active - covered
    return sum(store.count_by_kind(db).values())


def _sections(project: Project, env: Env) -> tuple[str, ...]:
    """Bring the notebook's rows up to date; a notebook that can't be read is a line, not a failure."""
    if not project.root:
        return ()
    from .notebook_file import of_project, refresh_sections

    try:
        return refresh_sections(of_project(project), env)
    except MemError as error:
        return (error.message,)
