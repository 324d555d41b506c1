"""Which memories are close to what is being worked on: the candidates of a digest, scored for this session.

Every query is bounded by an index and a LIMIT, so that 10,000 memories cost what 200 do. Nothing depends on the clock
but expiry: freshness counts from the newest memory, so that the same state gives the same order tomorrow.
"""

from __future__ import annotations

import os
import re
import sqlite3

from .anchors import touched
from .project import Project
from .record import Cursor, seconds

# What a kind is worth before anything else is known: rules that are broken unawares come before plain facts.
KIND_WEIGHTS = {
    "constraint": 0.50, "gotcha": 0.48, "convention": 0.44, "decision": 0.42, "goal": 0.40, "procedure": 0.38,
    "preference": 0.34, "finding": 0.30, "fact": 0.30,
}  # fmt: skip
FRESHNESS_WEIGHT = 0.40  # of the newest memory; half of it HALF_LIFE_DAYS older
HALF_LIFE_DAYS = 30.0
USE_WEIGHT = 0.05  # a doubling of recalls, MAX_USE doublings at most
MAX_USE = 5
WORDS_WEIGHT = 0.90  # all words of the session
ANCHOR_WEIGHT = 1.10  # anchored to the file that was touched last, or that is being edited
FOLDER_WEIGHT = 0.45  # anchored to a neighbour of such a file

_NEWEST = 200  # candidates by time alone: as many as the default cap of a store
_WORD_HITS = 24  # newest memories a word; one that has as many tells little
_MAX_WORDS = 14
_MAX_FILES = 24  # touched files that count
_MAX_FOLDERS = 6
_MAX_EDITED = 64  # anchored files whose times are looked at
_AT_A_PATH = 12  # newest memories of one file or folder
_POINTED_TO = 120  # memories that files or words point to, beyond the newest
_SIZE = "length(title) * (1 - title_derived) + length(content)"
_COLUMNS = f"rowid, id, {_SIZE} AS size, kind, updated_at, recall_count, confidence"
_Row = tuple[int, str, int, str, str, int, float]
Candidate = tuple[int, str, int]  # row id, id, characters; plain, since hundreds are made at each session's start
Weights = dict[str, float]  # words or paths of the session, 1 for the closest
# The first paths in order, by jumps through the index: DISTINCT would walk all of it.
_SOME_PATHS = """WITH RECURSIVE paths(path) AS (SELECT min(path) FROM anchors UNION ALL
    SELECT (SELECT min(path) FROM anchors WHERE path > paths.path) FROM paths WHERE paths.path IS NOT NULL LIMIT ?)
    SELECT path FROM paths WHERE path IS NOT NULL"""
_LIVE = "status = 'active' AND pinned = ? AND (expires_at = '' OR expires_at > ?)"

# What branch names, file names and plans hold for form's sake.
_NOISE_TEXT = """feature feat features fix fixes bugfix hotfix bug chore refactor release releases main master develop
    dev trunk wip test tests docs doc default branch commit src lib index init
    mod py js ts go rs md json toml yaml yml the and for with from into that this then when are not but has have its our
    out all any can add adds make use new let get set now next also after before should must will without"""
_NOISE = frozenset(_NOISE_TEXT.split())
_WORD = re.compile(r"\w+(?:[-.]\w+)*")


def pinned(db: sqlite3.Connection, stamp: str) -> list[Candidate]:
    """Return the pinned memories that are not expired at `stamp`, newest first."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM memories WHERE {_LIVE} ORDER BY updated_at DESC, rowid DESC LIMIT {_NEWEST}",  # noqa: S608
        (1, stamp),
    )
    return [row[:3] for row in rows]


def ranked(db: sqlite3.Connection, words: Weights, files: Weights, stamp: str) -> list[Candidate]:
    """Return the candidates that are not pinned nor expired at `stamp`, those closest to `words` and `files` first."""
    anchored = _anchored(db, files)
    worded = _worded(db, words)
    rows = _rows(db, stamp, anchored, worded)
    fresh = _freshness({row[4][:10] for row in rows})
    scored = []
    rows.sort(key=lambda row: (row[4], row[1]), reverse=True)  # of equal scores the newest comes first
    for row in rows:
        rowid, memory_id, _, kind, updated_at, recalls, confidence = row
        score = KIND_WEIGHTS.get(kind, 0.3) + fresh[updated_at[:10]] + USE_WEIGHT * min(MAX_USE, recalls.bit_length())
        score *= 0.5 + 0.5 * confidence
        if memory_id in anchored:
            score += anchored[memory_id]
        if rowid in worded:
            score += WORDS_WEIGHT * worded[rowid]
        scored.append((score, row[:3]))
    scored.sort(key=lambda pair: pair[0], reverse=True)
    return [candidate for _, candidate in scored]


def session_of(db: sqlite3.Connection, project: Project, cursor: Cursor) -> tuple[Weights, Weights]:
    """Return what the branch, its cursor, the last commits and the anchored files' times tell about the session: words
    and files with their weights."""
    files: Weights = {}
    for place, path in enumerate(touched(db, _MAX_FILES)):
        files[path] = 1.0 / (1.0 + place / 8)
    for path in _edited(db, project):
        files[path] = 1.0
    words: Weights = {}
    if project.workspace.startswith("branch:"):
        _add_words(words, project.workspace[7:], 1.0)
    for text, weight in ((cursor.next, 0.8), (cursor.goal, 0.8), (cursor.blockers, 0.6), (cursor.checkpoint, 0.5)):
        _add_words(words, text, weight)
    for path, weight in sorted(files.items(), key=lambda item: -item[1])[:12]:
        _add_words(words, os.path.basename(path), 0.5 * weight)
        _add_words(words, os.path.basename(os.path.dirname(path)), 0.3 * weight)
    best = sorted(words.items(), key=lambda item: -item[1])[:_MAX_WORDS]
    return dict(best), files


def fitting(db: sqlite3.Connection, characters: int, stamp: str) -> list[Candidate]:
    """Return some memories of at most so many characters, the longest first, and the shortest ones at last.

    Reads the whole store; called only where the closest candidates left much of a budget unused.
    """
    query = f"SELECT {_COLUMNS} FROM memories WHERE {_LIVE} AND size <= ? ORDER BY size"  # noqa: S608
    rows = db.execute(f"{query} DESC, id LIMIT 32", (0, stamp, characters)).fetchall()
    rows += db.execute(f"{query}, id LIMIT 8", (0, stamp, characters)).fetchall()
    return [row[:3] for row in rows]


def _freshness(days: set[str]) -> Weights:
    """Return what a memory of each day (ISO dates) is worth for its freshness, counted from the newest."""
    moments: Weights = {}
    for day in days:
        try:
            moments[day] = seconds(day)
        except ValueError:  # a time that another program wrote must not cost the session its digest
            moments[day] = 0.0
    newest = max(moments.values(), default=0.0)
    return {day: FRESHNESS_WEIGHT * 0.5 ** ((newest - at) / 86400 / HALF_LIFE_DAYS) for day, at in moments.items()}


def _rows(db: sqlite3.Connection, stamp: str, anchored: dict[str, float], worded: dict[int, float]) -> list[_Row]:
    """Return the rows of all candidates: the newest, and those that files or words point to."""
    rows: list[_Row] = db.execute(
        f"SELECT {_COLUMNS} FROM memories WHERE {_LIVE} ORDER BY updated_at DESC, rowid DESC LIMIT {_NEWEST}",  # noqa: S608
        (0, stamp),
    ).fetchall()
    if len(rows) < _NEWEST:
        return rows
    found: dict[int, _Row] = {row[0]: row for row in rows}
    pointed = sorted(worded.keys() - found.keys(), key=lambda rowid: (-worded[rowid], rowid))[:_POINTED_TO]
    near = sorted(anchored, key=lambda memory_id: (-anchored[memory_id], memory_id))[:_POINTED_TO]
    for column, keys in (("rowid", pointed), ("id", near)):
        marks = ", ".join("?" * len(keys))
        # The plus keeps SQLite from walking all active rows instead of looking up these few.
        live = _LIVE.replace("status", "+status").replace("pinned", "+pinned")
        more = db.execute(f"SELECT {_COLUMNS} FROM memories WHERE {column} IN ({marks}) AND {live}", (*keys, 0, stamp))  # noqa: S608
        found.update((row[0], row) for row in more)
    return list(found.values())


def _anchored(db: sqlite3.Connection, files: Weights) -> dict[str, float]:
    """Return the score of memories by the files that they are anchored to, or the folders of these."""
    scores: dict[str, float] = {}
    folders: dict[str, float] = {}
    for path, weight in files.items():
        rows = db.execute("SELECT memory FROM anchors WHERE path = ? ORDER BY memory DESC LIMIT ?", (path, _AT_A_PATH))
        for (memory,) in rows:
            scores[memory] = max(scores.get(memory, 0.0), ANCHOR_WEIGHT * weight)
        folder = os.path.dirname(path)
        if folder:
            folders[folder] = max(folders.get(folder, 0.0), weight)
    for folder, weight in sorted(folders.items(), key=lambda item: -item[1])[:_MAX_FOLDERS]:
        # "0" follows "/" in every collation of ours: the range holds what lies below the folder.
        within = (folder + "/", folder + "0", _AT_A_PATH)
        rows = db.execute("SELECT memory FROM anchors WHERE path > ? AND path < ? LIMIT ?", within)
        for (memory,) in rows:
            scores[memory] = max(scores.get(memory, 0.0), FOLDER_WEIGHT * weight)
    return scores


def _worded(db: sqlite3.Connection, words: Weights) -> dict[int, float]:
    """Return how much of the session's words each memory holds, 0 to 1, rare words counting most."""
    scores: dict[int, float] = {}
    worths = []
    for word, weight in words.items():
        expression = _quoted(word)
        rows = db.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT {_WORD_HITS}",  # noqa: S608
            (expression,),
        ).fetchall()
        worth = weight / (1.0 + len(rows) / 8)
        worths.append(worth if rows else 0.0)
        for (rowid,) in rows:
            scores[rowid] = scores.get(rowid, 0.0) + worth
    full = sum(sorted(worths)[-3:]) or 1.0
    return {rowid: min(1.0, score / full) for rowid, score in scores.items()}


def _quoted(word: str) -> str:
    """Return a full-text expression for one word of letters and digits."""
    if word.isascii():
        return f'"{word}"'
    from .words import match_expression  # knows scripts without spaces; its patterns are costly to compile

    return match_expression(word) or f'"{word}"'


def _add_words(words: Weights, text: str, weight: float) -> None:
    for compound in _WORD.findall(text):
        for word in dict.fromkeys((compound, *compound.replace("_", "-").replace(".", "-").split("-"))):
            low = word.lower()
            if len(low) > 2 and low not in _NOISE and not low.isdigit():
                words[low] = max(words.get(low, 0.0), weight)


def _edited(db: sqlite3.Connection, project: Project) -> list[str]:
    """Return anchored files that were written after HEAD last moved: the working tree's changes, as far as a bounded
    number of file times tells. Git is not started."""
    if not project.root or not project.git_dir:
        return []
    try:
        moved = os.stat(os.path.join(project.git_dir, "logs", "HEAD")).st_mtime
    except OSError:
        return []
    looked, edited = 0, []
    for (path,) in db.execute(_SOME_PATHS, (_MAX_EDITED,)):
        try:
            changed = os.stat(os.path.join(project.root, path)).st_mtime
        except (OSError, ValueError):
            continue
        looked += 1
        if changed > moved:
            edited.append(path)
    # A fresh clone writes its files after the log: where most look edited, the times tell nothing.
    return edited if len(edited) <= max(4, looked // 2) else []


def sections(db: sqlite3.Connection, words: Weights, limit: int = 3) -> list[tuple[str, str, int, int]]:
    """Return (path, heading, first line, last line) of the notebook's sections that hold the session's words."""
    expression = " OR ".join(_quoted(word) for word in list(words)[:8])
    if not expression:
        return []
    rows = db.execute(
        "SELECT s.path, s.heading, s.first_line, s.last_line FROM section_words w JOIN sections s ON s.rowid = w.rowid"
        " WHERE section_words MATCH ? AND s.heading <> '' ORDER BY w.rank, s.path, s.first_line LIMIT ?",
        (expression, limit),
    )
    return [(str(path), str(heading), int(first), int(last)) for path, heading, first, last in rows]
