"""What a run of the guard looks at: which entries of the index, which working copies, and their bytes.

A commit is judged by the index. A file that is named is judged by its entry, and by its bytes on disk where they differ
or git does not know it. Nothing is left out in silence: what can't be read is a problem, and what is passed over
(submodules) is a note.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping

from ..memory.named import NamedTuple
from . import git
from .blobtext import is_our_store
from .judge import Candidate, Problem, unreadable
from .memory_files import is_store_file, may_be_store

LIMIT = 64 << 20  # bytes of one file; a larger one can't be judged in the time a commit may take
_LIST_ALL = 200  # names above which the whole index is listed: a command line has an end
_SIDES = {2: "ours", 3: "theirs"}  # of an unresolved merge; 1 is their base, which is history


class Scope(NamedTuple):
    """What is asked of the guard. `root` is the working tree's top, "" without git; `chosen` tells a memory file by
    its path from there; `mirror` is the mirror's path; `objects` is git's object folder, "" where unknown."""

    root: str
    cwd: str
    environ: Mapping[str, str]
    chosen: Callable[[str], bool]
    mirror: str = ""
    objects: str = ""


class Asked(NamedTuple):
    """What was found to judge: `entries` of the index, `working` files as (path to show, path on disk), `notes` for
    people, and `offered`, how many files the choice was made from."""

    entries: tuple[git.Tracked, ...] = ()
    working: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    offered: int = 0


def staged(scope: Scope) -> Asked:
    """Return what the commit under way would record. Raises GitFailed."""
    changes = git.staged(scope.cwd, scope.environ)
    entries, notes, unmerged = [], [], []
    for change in changes:
        if change.mode == git.GITLINK:
            notes.append(f"{change.path} is a submodule and not looked into; its own hooks judge it")
        elif change.status != "D" and _wanted(scope, change.path):
            if change.status == "U":
                unmerged.append(change.path)
            else:
                entries.append(git.Tracked(change.path, change.mode, change.blob, 0))
    if unmerged:
        listed = git.tracked(scope.cwd, scope.environ)
        entries += [entry for entry in listed if entry.stage in _SIDES and entry.path in unmerged]
    return Asked(tuple(entries), (), tuple(notes), len(changes))


def tracked(scope: Scope) -> Asked:
    """Return every memory file that git tracks, with its working copy. Raises GitFailed."""
    listed = git.tracked(scope.cwd, scope.environ)
    entries = tuple(entry for entry in listed if entry.stage != 1 and _wanted(scope, entry.path))
    working = tuple((path, os.path.join(scope.root, path)) for path in dict.fromkeys(entry.path for entry in entries))
    return Asked(entries, working, (), len(listed))


def named(scope: Scope, names: list[str], *, choose: bool) -> Asked:
    """Return the files called `names`, as git and the disk have them; with `choose` only those that hold memory.

    A folder stands for what lies below it. Raises GitFailed.
    """
    files = [path for name in names for path in _below(os.path.join(scope.cwd, name), choose=choose)]
    shown = {path: _from_root(scope, path) for path in files}
    if choose:
        shown = {path: name for path, name in shown.items() if _wanted(scope, name)}
    inside = [name for path, name in shown.items() if not os.path.isabs(name)]
    entries: tuple[git.Tracked, ...] = ()
    if inside and scope.root:
        some = inside if len(inside) <= _LIST_ALL else []
        wanted = set(inside)
        listed = git.tracked(scope.root, scope.environ, some)
        entries = tuple(entry for entry in listed if entry.path in wanted and entry.stage != 1)
    notes = tuple(
        f"{entry.path} is a submodule and not looked into; its own hooks judge it"
        for entry in entries
        if entry.mode == git.GITLINK
    )
    links = {entry.path for entry in entries if entry.mode == git.GITLINK}
    working = tuple((name, path) for path, name in shown.items() if name not in links)
    return Asked(tuple(entry for entry in entries if entry.path not in links), working, notes, len(files))


def read(asked: Asked, scope: Scope, blobs: git.Blobs | None) -> Iterator[Candidate | Problem]:
    """Yield the bytes of all that was asked for, one file at a time, or the problem of a file that can't be read."""
    working = dict(asked.working)
    known: list[bytes] = []  # what the index holds of the path at hand: one blob, or the sides of a merge
    last = ""
    if asked.entries and blobs is not None:
        for entry, blob in zip(asked.entries, blobs.read(entry.blob for entry in asked.entries), strict=True):
            if entry.path != last:
                yield from _working(scope, last, working, known)
                known, last = [], entry.path
            if entry.path in working:
                known.append(blob.data)
            yield from _staged(scope, entry, blob)
        yield from _working(scope, last, working, known)
        yield from _link_targets(asked, scope, blobs)
    for path in list(working):
        yield from _working(scope, path, working, [])


def _wanted(scope: Scope, path: str) -> bool:
    return scope.chosen(path) or is_store_file(path) or may_be_store(path)


def _candidate(scope: Scope, path: str, data: bytes, copy: str) -> Iterator[Candidate]:
    # A database that is neither a memory file nor a store of ours is someone's data.
    if not may_be_store(path) or scope.chosen(path) or is_store_file(path) or is_our_store(data):
        yield Candidate(path, data, copy, path == scope.mirror)


def _staged(scope: Scope, entry: git.Tracked, blob: git.Blob) -> Iterator[Candidate | Problem]:
    if blob.kind != "blob":
        yield unreadable(entry.path, f"git has no blob {entry.blob[:12]}")
    elif blob.size > LIMIT:
        yield unreadable(entry.path, f"larger than {LIMIT >> 20} MB")
    else:
        yield from _candidate(scope, entry.path, blob.data, _SIDES.get(entry.stage, ""))


def _link_targets(asked: Asked, scope: Scope, blobs: git.Blobs) -> Iterator[Candidate | Problem]:
    """A memory file may be a link to a file that is none by its name: then that is what an agent reads."""
    judged = {entry.path for entry in asked.entries}
    links = [entry for entry in asked.entries if entry.mode == git.SYMLINK]
    while links:
        link = links.pop()
        (target,) = blobs.read([link.blob])
        path = os.path.normpath(os.path.join(os.path.dirname(link.path), os.fsdecode(target.data)))
        if path in judged or os.path.isabs(path) or path.startswith(".."):
            continue
        judged.add(path)
        (blob,) = blobs.read([f":{path}"])
        if blob.kind == "blob":
            # Its mode is unknown here; a link's blob read as text is harmless.
            yield from _staged(scope, git.Tracked(path, "", blob.id, 0), blob)


def _working(scope: Scope, path: str, working: dict[str, str], known: list[bytes]) -> Iterator[Candidate | Problem]:
    """Yield the working copy of `path`, taken out of `working`, unless the index holds the same bytes."""
    if path not in working:
        return
    copy = "working copy" if known else "not in the index" if scope.root else ""
    try:
        pieces = _read_file(working.pop(path))
    except FileNotFoundError:
        if not known:
            yield unreadable(path, "there is no such file")
        return
    except OSError as error:
        yield unreadable(path, error.strerror or str(error), copy)
        return
    for data in pieces:
        if len(data) > LIMIT:
            yield unreadable(path, f"larger than {LIMIT >> 20} MB", copy)
        elif data not in known:
            yield from _candidate(scope, path, data, copy)


def _read_file(file: str) -> list[bytes]:
    """Return a file's bytes; of a link, where it leads and then what lies there."""
    mode = os.lstat(file).st_mode
    pieces = []
    if stat.S_ISLNK(mode):
        pieces = [os.fsencode(os.readlink(file))]
        mode = os.stat(file).st_mode if os.path.exists(file) else 0
        if not stat.S_ISREG(mode):
            return pieces
    if not stat.S_ISREG(mode):
        raise OSError("not a regular file")
    with open(file, "rb") as stream:
        return [*pieces, stream.read(LIMIT + 1)]


def _below(path: str, *, choose: bool) -> Iterator[str]:
    if os.path.islink(path) or not os.path.isdir(path) or os.path.exists(os.path.join(path, ".git")):
        yield path
        return
    for folder, folders, files in os.walk(path):
        # A repository within this one is judged by its own hooks.
        inner = [name for name in folders if os.path.lexists(os.path.join(folder, name, ".git"))]
        folders[:] = sorted(set(folders) - {".git", *inner})
        for name in sorted(files):
            yield os.path.join(folder, name)


def _from_root(scope: Scope, path: str) -> str:
    """Return `path` from the root with slashes, or absolute where it lies outside. The file itself may be a link."""
    folder, name = os.path.split(os.path.abspath(path))
    full = os.path.join(os.path.realpath(folder), name)
    top = scope.root or os.path.realpath(scope.cwd)
    return full[len(top) + 1 :].replace(os.sep, "/") if full.startswith(top.rstrip(os.sep) + os.sep) else full
