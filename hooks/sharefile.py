"""The tracked file through which a team shares memories: merged with the store in both directions, never overwritten.

One record a line, sorted by id. `merge=union` in .gitattributes keeps both sides of every merge, which brings back old
lines and disorder; readers and writers reduce by id, so that all arrive at the same records.
"""

from __future__ import annotations

import os

from ..memory import config as settings
from ..memory import exchange, ndjson, quarantine
from ..memory import store as rows
from ..memory.api import Store
from ..memory.errors import MemError, UsageError
from ..memory.named import NamedTuple
from ..memory.ndjson import Line
from ..memory.project import Project
from ..memory.quarantine import Kept
from ..memory.record import printable, short, timestamp
from . import allowances, files, share_state
from .command import has_store, open_store
from .env import Env


class Written(NamedTuple):
    """What writing the share file did: the paths that changed, and a word for each memory that was left out."""

    changed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def locate(project: Project, env: Env, named: str = "") -> str:
    """Return the share file's path: `named` by a person, else `share.file`, which must lie in the project.

    Raises UsageError.
    """
    if named:
        return os.path.abspath(os.path.join(env.cwd, named))
    if not project.root:
        raise UsageError("the personal store is shared with nobody; name a FILE to exchange it by")
    chosen = str(settings.load(project, env.environ)["share.file"])
    path = os.path.normpath(os.path.join(project.root, chosen))
    parts = os.path.relpath(os.path.realpath(path), os.path.realpath(project.root)).lower().split(os.sep)
    if not files.inside(project.root, path) or parts[0] in (".", ".git", ".mem"):
        raise UsageError(f"share.file {printable(chosen)!r} leads out of the project; name a file in it")
    return path


def write(project: Project, env: Env, path: str, *, tidy: bool = True) -> Written:
    """Merge the store's shared memories into the file at `path`; without any, no file is made.

    Without `tidy` a file whose lines are the right ones in another order is left alone. What the guard objects to
    stays out. Raises BrokenLine, StoreError, OSError.
    """
    told = _told(project, env)
    with files.Lock(_lock(project, path)):
        lines = ndjson.parse(ndjson.split(files.read(path) or b""))
        theirs = ndjson.reduce(lines)
        # A teammate's record is only brought up to date where the file has it: a branch that lacks it stays as it is.
        ours = [Line(0, ndjson.dump(raw), raw) for raw, is_foreign in told if not is_foreign or raw["id"] in theirs]
        best, left_out = _judged(project, path, ndjson.reduce([*lines, *ours]), theirs)
        text = [_text(line) for _, line in sorted(best.items())]
        if not text or (not tidy and sorted(text) == sorted({line.text for line in lines})):
            if not left_out:
                _note_settled(project, env, path)
            return Written(left_out=left_out)
        changed = [path] if files.write_atomic(path, "".join(line + "\n" for line in text).encode()) else []
    attributes = _attributes(project, path)
    return Written((*changed, *([attributes] if attributes else [])), left_out)


def waiting(project: Project, env: Env) -> int:
    """Return how many memories of the file the store does not know: a clone fires no hook that would take them in.

    Raises BrokenLine, UsageError, StoreError, OSError.
    """
    data = files.read(locate(project, env)) if project.root and not project.pinned else None
    best = ndjson.reduce(ndjson.parse(ndjson.split(data or b"")))
    there = {ident for ident, line in best.items() if line.raw.get("status") != "forgotten"}
    if not there or not has_store(project):
        return len(there)
    with open_store(project, env, write=False) as store:
        return len(there - rows.known_ids(store.db))


def drop(project: Project, path: str, ident: str) -> bool:
    """Take a memory's lines out of the file; return whether there were any. Raises BrokenLine, OSError."""
    with files.Lock(_lock(project, path)):
        data = files.read(path)
        if data is None:
            return False
        lines = ndjson.parse(ndjson.split(data))
        kept = [line.text for line in lines if line.raw["id"] != ident]
        if len(kept) == len(lines):
            return False
        return files.write_atomic(path, "".join(line + "\n" for line in kept).encode())


def read(project: Project, env: Env, path: str, *, always: bool = False) -> exchange.ImportResult:
    """Merge the file at `path` into the store, making one for the first memories; quarantine what may not come in.

    A file that was merged before is not looked at again unless `always`. Raises BrokenLine, StoreError, OSError.
    """
    key, stamp = share_state.in_key(path), share_state.file_stamp(project, path)
    data = files.read(path)
    if data is None or not data.strip():
        return exchange.ImportResult()
    if not always and has_store(project):
        with open_store(project, env, write=False) as store:
            if rows.meta(store.db, key) == stamp:
                return exchange.ImportResult()
    lines = ndjson.split(data)
    ndjson.parse(lines)  # a broken file makes no store
    with open_store(project, env, write=True) as store:
        name = os.path.basename(path)
        result = exchange.share_lines(store, lines, origin=name, allowed=allowances.passes(project.root))
        is_waiting = any(one.rule == "cap_reached" for one in result.skipped)
        with rows.transaction(store.db):
            _quarantine(store, name, result.refused)
            rows.set_meta(store.db, key, "" if is_waiting else stamp)
    return result


def _note_settled(project: Project, env: Env, path: str) -> None:
    """Let the next hook know that there was nothing to write."""
    if not has_store(project) or project.pinned:
        return
    with open_store(project, env, write=False) as store, rows.transaction(store.db):
        stamp = share_state.out_stamp(store.db, share_state.file_stamp(project, path))
        rows.set_meta(store.db, share_state.out_key(path), stamp)


def _told(project: Project, env: Env) -> list[tuple[ndjson.Raw, bool]]:
    """Return the store's records, and of each whether it came by a share file."""
    if not has_store(project):
        return []
    with open_store(project, env, write=False) as store:
        foreign = exchange.foreign_ids(store)
        return [(raw, raw["id"] in foreign) for raw in exchange.shared_records(store)]


def _judged(
    project: Project, path: str, best: dict[str, Line], theirs: dict[str, Line]
) -> tuple[dict[str, Line], tuple[str, ...]]:
    """Return the lines that may be written, and a word for each that may not: what the file holds already is not
    judged again, and stays where ours is refused."""
    allowed = allowances.passes(project.root)
    kept, left_out = {}, []
    for ident, line in best.items():
        is_new = line.number == 0 and line.text != (theirs[ident].text if ident in theirs else "")
        found = exchange.judge(line.raw, allowed=allowed) if is_new else None
        if found:
            name = f"{short(ident)} is not written to {os.path.basename(path)}"
            left_out.append(f"{name}: {found[1].rule}; correct or forget it")
        if not found or ident in theirs:
            kept[ident] = theirs[ident] if found else line
    return kept, tuple(left_out)


def _text(line: Line) -> str:
    """Return the line to write; of a forgotten memory nothing but the fact stays."""
    if line.raw.get("status") != "forgotten":
        return line.text
    return ndjson.dump(ndjson.stone_raw(ndjson.to_stone(line.raw, "")))


def _quarantine(store: Store, source: str, refused: tuple[exchange.Refusal, ...]) -> None:
    now = timestamp(store.now())
    quarantine.replace(store.db, source, (Kept(one.id, source, one.rule, one.masked, now) for one in refused))


def _attributes(project: Project, path: str) -> str:
    """Have git merge the file by union; return the path of .gitattributes if a line was added."""
    if not project.git_dir or not project.root or not files.inside(project.root, path):
        return ""
    attributes = os.path.join(project.root, ".gitattributes")
    name = os.path.relpath(path, project.root).replace(os.sep, "/")
    before = files.read(attributes) or b""
    for line in before.decode("utf-8", "surrogateescape").splitlines():
        words = line.split()
        if words and words[0].strip('"').lstrip("/") in (name, os.path.basename(name)) and "merge" in line:
            return ""
    if not files.inside(project.root, attributes):
        raise MemError(".gitattributes is a link out of the project; add `memories.ndjson merge=union` to it yourself")
    end = b"\r\n" if b"\r\n" in before else b"\n"
    start = before + end if before and not before.endswith((b"\n", b"\r")) else before
    pattern = f'"{name}"' if any(char.isspace() for char in name) else name
    files.write_atomic(attributes, start + f"{pattern} merge=union text eol=lf".encode() + end)
    return attributes


def summary(result: exchange.ImportResult) -> str:
    """Return what a merge did as one line, and a line for each record that was passed over or refused."""
    counts = {"added": result.added, "updated": result.updated, "forgotten": result.forgotten}
    head = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing new"
    if result.unchanged:
        head += f", {result.unchanged} unchanged"
    told = [f"line {one.line}: passed over, {one.why}" for one in result.skipped]
    told += [f"line {one.line}: kept out, {one.why}" for one in result.refused]
    return "\n".join([head, *told])


def _lock(project: Project, path: str) -> str:
    if os.path.isdir(project.folder) and not project.pinned:
        return os.path.join(project.folder, "share.lock")
    return os.path.join(project.git_dir or os.path.dirname(path), "memhooks-share.lock")
