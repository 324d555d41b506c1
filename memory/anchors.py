"""Anchors: which file a memory is about, and whether that file is still what it was when the memory was written.

The tables `anchors` and `touched` belong to this module. An anchor's `blob` is the id of the file's content that the
memory is true for. A memory can be written without starting git, so `blob` may still be pending: "@<commit>" means as
of that commit, "" as of the HEAD that was last recorded. The index hook resolves it before it compares.
States: fresh (the file is as it was), stale (changed since the commit `since`), orphaned (gone since).
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Mapping

from .errors import UsageError
from .project import Project, head

MAX_PATHS = 8  # anchors that one memory's text can make
MAX_TOUCHED = 200  # rows of `touched`
_FADE = 0.9  # what a touch is worth a commit later
_MAX_TEXT = 4096

# What looks like a path: pieces joined by slashes, or a name with an extension. Whether it is one, the tree decides.
# Compiled on use: a session's start imports this module and looks for no path.
_PIECE = r"(?:[\w.@+-]+|\[[\w.]+\])"
_PATH = rf"(?<![\w/:.@~\\-])(?:\./)?((?:{_PIECE}/)+[\w.@+-]*\w|[\w+-][\w.+-]*\.[A-Za-z]\w{{0,7}})(?![\w/\\])"
_OURS = (".git/", ".mem/")


def paths_in(text: str) -> tuple[str, ...]:
    """Return what looks like a relative path in `text`, in order and without repeats, at most MAX_PATHS."""
    if "/" not in text and "." not in text:
        return ()
    found = (match.group(1).rstrip(".") for match in re.finditer(_PATH, text[:_MAX_TEXT]))
    good = (path for path in found if "/../" not in f"/{path}/" and not path.startswith(_OURS))
    return tuple(dict.fromkeys(good))[:MAX_PATHS]


def relative(root: str, cwd: str, path: str) -> str:
    """Return `path`, given from `cwd`, as git names it: from `root`, by slashes. Raises UsageError outside."""
    full = os.path.normpath(os.path.join(cwd, path))
    # The folder is resolved and the name is not: git tracks a link as itself.
    full = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
    inner = os.path.relpath(full, os.path.realpath(root))
    if not root or inner == ".." or inner.startswith(".." + os.sep) or os.path.isabs(inner):
        raise UsageError(f"{path} lies outside the project; an anchor is a file of the repository")
    return inner.replace(os.sep, "/")


def pending(project: Project, text: str = "", *, cwd: str = "", files: Iterable[str] = ()) -> dict[str, str]:
    """Return the anchors of a memory that is about to be written: `files` (from `cwd`) and the paths in its text that
    are files of the project, as of today's HEAD. Starts no process. Raises UsageError for a file that is not there."""
    if not project.git_dir or not project.root:
        return {}
    paths = []
    for path in files:
        inner = relative(project.root, cwd or project.root, path)
        if not os.path.lexists(os.path.join(project.root, inner)):
            raise UsageError(f"there is no file {path}; an anchor is a file of the repository")
        paths.append(inner)
    paths += [path for path in paths_in(text) if os.path.isfile(os.path.join(project.root, path))]
    commit = current_commit(project)
    return dict.fromkeys(paths, "@" + commit if commit else "")


def current_commit(project: Project) -> str:
    """Return the commit that HEAD names, "" where git's files do not tell. Starts no process."""
    return head(project.git_dir, project.common_dir) if project.git_dir else ""


def attach(db: sqlite3.Connection, memory_id: str, anchors: Mapping[str, str]) -> None:
    """Anchor a memory to paths, each with the blob it is true for; "" and "@<commit>" are resolved later."""
    db.executemany(
        "INSERT OR REPLACE INTO anchors(memory, path, blob, state, since) VALUES (?, ?, ?, 'fresh', '')",
        [(memory_id, path, blob) for path, blob in anchors.items() if "\n" not in path],
    )


def of(db: sqlite3.Connection, memory_id: str, commit: str = "") -> dict[str, str]:
    """Return the paths of a memory as anchors to be made anew: what replaces it is true for the code of today, that of
    `commit`, or of the HEAD last recorded where the caller knows none."""
    rows = db.execute("SELECT path FROM anchors WHERE memory = ? ORDER BY path", (memory_id,))
    return {str(row[0]): "@" + commit if commit else "" for row in rows}


def describe(db: sqlite3.Connection, memory_id: str) -> str:
    """Return what a reader must know about a memory's files, "" when they are as they were."""
    rows = db.execute(
        "SELECT path, state, since FROM anchors WHERE memory = ? AND state <> 'fresh' ORDER BY state DESC, path",
        (memory_id,),
    ).fetchall()
    if not rows:
        return ""
    path, state, since = rows[0]
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    since = f" since {since[:7]}" if since else ""
    return f"stale{since}: {path}{more} changed" if state == "stale" else f"orphaned{since}: {path}{more} is gone"


def notes(db: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """Return `describe` of the memories whose files are not as they were, by id."""
    rows = db.execute("SELECT DISTINCT memory FROM anchors WHERE state <> 'fresh'").fetchall()
    marked = {str(row[0]) for row in rows}
    return {memory_id: describe(db, memory_id) for memory_id in ids if memory_id in marked}


def note_touched(db: sqlite3.Connection, files: Iterable[tuple[str, str]]) -> None:
    """Keep which files the last commits touched, in place of what was there: (path, commit id) pairs, newest first.

    The closest file comes first: that of the newest commit, but one that many of the commits touched before it, since
    it is the likelier to be touched again. Source: tests/bench/digest.py.
    """
    newest: dict[str, str] = {}
    weights: dict[str, float] = {}
    commits: dict[str, int] = {}
    for path, commit in files:
        newest.setdefault(path, commit)
        age = commits.setdefault(commit, len(commits))
        weights[path] = weights.get(path, 0.0) + _FADE**age
    order = sorted(newest, key=lambda path: -weights[path])[:MAX_TOUCHED]
    db.execute("DELETE FROM touched")
    db.executemany(
        "INSERT INTO touched(path, commit_id, seq) VALUES (?, ?, ?)",
        [(path, newest[path], len(order) - place) for place, path in enumerate(order)],
    )


def touched(db: sqlite3.Connection, limit: int = MAX_TOUCHED) -> list[str]:
    """Return the files that the last commits touched, newest first."""
    return [str(row[0]) for row in db.execute("SELECT path FROM touched ORDER BY seq DESC LIMIT ?", (limit,))]
