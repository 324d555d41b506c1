"""What git says about the code, brought into the store: the files of the last commits, and whether anchors still hold.

Driven by state: HEAD is compared with what the store holds, so a hook that was missed or killed costs nothing but time.
All of git runs before the one transaction that writes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..memory import anchor_states, anchors, store
from ..memory.anchor_states import Anchor, Seen
from ..memory.project import Project, head
from . import git

_COMMITS = 20  # whose files count as touched lately
_FILES_PER_COMMIT = 60  # of a larger one nobody works on all
_MAX_PATHSPECS = 400  # what fits into a command line everywhere
# The empty file, by SHA-1 and SHA-256: there are many, so it tells nothing about a rename.
_EMPTY = (
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
)
_SWEPT = "anchors_swept"  # the row up to which texts were looked through for paths


class Refreshed(NamedTuple):
    """What a refresh did: the HEAD it saw, files noted as touched, anchors that changed or are new."""

    head: str
    touched: int
    anchors: int


def current_head(project: Project, environ: Mapping[str, str]) -> str:
    """Return the commit id of HEAD, "" before the first commit; git is asked where its files do not tell."""
    found = head(project.git_dir, project.common_dir)
    if found or not os.path.isdir(os.path.join(project.common_dir, "reftable")):
        return found
    try:
        asked = git.run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], cwd=project.root, environ=environ)
    except git.GitFailed:
        return ""
    return asked.decode("ascii").strip()


def refresh(db: sqlite3.Connection, project: Project, environ: Mapping[str, str]) -> Refreshed:
    """Compare the store with HEAD and record what changed; HEAD itself last, so a kill is made up for.

    Raises GitFailed, sqlite3.Error.
    """
    new = current_head(project, environ)
    if not new:
        return Refreshed("", 0, 0)
    repository = _Repository(project, environ, store.meta(db, project.head_key), new)
    commits = repository.last_commits()
    before = anchor_states.every(db)
    swept, found = _sweep(db, repository)
    resolved = repository.resolve([*before, *found])
    seen = repository.seen(resolved)
    after = [anchor_states.compare(anchor, seen) for anchor in resolved]
    changed = 0
    with store.transaction(db):
        anchors.note_touched(db, commits)
        for old, settled in zip(before, after[: len(before)], strict=True):
            if settled or not os.path.lexists(os.path.join(project.root, old.path)):  # else still to be committed
                changed += anchor_states.settle(db, old, settled)
        for settled in after[len(before) :]:
            changed += anchor_states.add(db, settled) if settled else 0
        store.set_meta(db, _SWEPT, str(swept))
        store.set_meta(db, project.head_key, new)
    return Refreshed(new, len(commits), changed)


def _sweep(db: sqlite3.Connection, repository: _Repository) -> tuple[int, list[Anchor]]:
    """Return the row up to which texts are looked through now, and anchors to the tracked files that they name."""
    last = int(store.meta(db, _SWEPT) or 0)
    mentioned: list[Anchor] = []
    while True:
        rows = anchor_states.unread(db, last)
        if not rows:
            break
        last = rows[-1][0]
        mentioned += [Anchor(memory, path, "") for _, memory, text in rows for path in anchors.paths_in(text)]
    return last, mentioned


class _Repository:
    """The questions that a refresh asks git, between the HEAD last recorded ("" for none) and the new one."""

    def __init__(self, project: Project, environ: Mapping[str, str], old: str, new: str) -> None:
        self.cwd, self.environ, self.new = project.root, environ, new
        self.old = old if old and old != new and self._kind(old) == "commit" else ""

    def last_commits(self) -> list[tuple[str, str]]:
        """Return (path, commit id) of the files of the last commits, newest first."""
        files: list[tuple[str, str]] = []
        for commit, paths in self._log(["-n", str(_COMMITS), self.new]):
            files += [(path, commit) for path in paths[:_FILES_PER_COMMIT]]
        return files

    def resolve(self, found: list[Anchor]) -> list[Anchor]:
        """Return the anchors with the blob that a pending one stands for: as of the commit it names, of the HEAD last
        recorded, or of today's for a file that was not tracked then."""
        names = {self._base(one): "" for one in found if one.is_pending}
        names |= {f"{self.new}:{one.path}": "" for one in found if one.is_pending}
        blobs = self._blobs(names)
        return [
            one._replace(blob=blobs.get(self._base(one)) or blobs.get(f"{self.new}:{one.path}", ""))
            if one.is_pending
            else one
            for one in found
        ]

    def seen(self, found: list[Anchor]) -> Seen:
        """Return what HEAD holds at the anchors' paths, with renames and the commits that changed them."""
        blobs = self._at_head(one.path for one in found)
        missing = [one for one in found if one.path not in blobs and not one.is_pending]
        renames = self._renames(missing) if missing else {}
        blobs |= self._at_head(renames.values())
        settled = [one for one in found if not one.is_pending]
        moved = {one.path for one in settled if blobs.get(renames.get(one.path, one.path)) != one.blob}
        moved |= {renames[path] for path in moved if path in renames}
        first, last = self._changes(sorted(moved))
        return Seen(self.new, blobs, renames, first, last)

    def _blobs(self, names: Iterable[str]) -> dict[str, str]:
        """Return the blob ids of `<commit>:<path>` names; what is no file there is left out."""
        wanted = [name for name in names if "\n" not in name and name]
        if not wanted:
            return {}
        asked = b"".join(os.fsencode(name) + b"\n" for name in wanted)
        answers = git.run(
            ["cat-file", "--batch-check=%(objecttype) %(objectname)"], cwd=self.cwd, environ=self.environ, input=asked
        ).split(b"\n")
        found = {}
        for name, line in zip(wanted, answers, strict=False):
            kind, _, blob = line.partition(b" ")
            if kind == b"blob" and len(blob) in (40, 64):
                found[name] = blob.decode("ascii")
        return found

    def _base(self, anchor: Anchor) -> str:
        commit = anchor.blob[1:] if anchor.blob else self.old or self.new
        return f"{commit}:{anchor.path}"

    def _at_head(self, paths: Iterable[str]) -> dict[str, str]:
        names = {f"{self.new}:{path}": path for path in paths}
        return {names[name]: blob for name, blob in self._blobs(names).items()}

    def _kind(self, commit: str) -> str:
        try:
            return git.run(["cat-file", "-t", commit], cwd=self.cwd, environ=self.environ).decode("ascii").strip()
        except git.GitFailed:
            return ""

    def _renames(self, missing: list[Anchor]) -> dict[str, str]:
        """Return new paths by old ones: as git finds them between both HEADs, else by the very same blob."""
        if self.old:
            changes = git.changed(self.old, self.new, cwd=self.cwd, environ=self.environ)
            return {one.old_path: one.path for one in changes if one.status == "R"}
        renames: dict[str, str] = {}
        lost = {one.blob: one.path for one in missing if one.state == "fresh" and one.blob not in _EMPTY}
        if lost:
            listed = git.run(["ls-tree", "-r", "-z", "--full-tree", self.new], cwd=self.cwd, environ=self.environ)
            for entry in listed.split(b"\0"):
                line, _, path = entry.partition(b"\t")
                blob = line.rpartition(b" ")[2].decode("ascii", "replace")
                if blob in lost:
                    renames[lost.pop(blob)] = os.fsdecode(path)
        return renames

    def _changes(self, paths: list[str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the first and the last commit since the recorded HEAD that changed each path; without a recorded
        HEAD, the last one at all."""
        first: dict[str, str] = {}
        last: dict[str, str] = {}
        if not paths:
            return first, last
        spec = ["--", *paths[:_MAX_PATHSPECS]]
        span = [f"{self.old}..{self.new}"] if self.old else ["-n", "200", self.new]
        for commit, files in self._log([*span, *spec]):
            for path in files:
                last.setdefault(path, commit)
                first[path] = commit
        return (first if self.old else last), last

    def _log(self, words: list[str]) -> list[tuple[str, list[str]]]:
        """Return (commit id, paths) of `git log`, newest first."""
        args = ["--literal-pathspecs", "-c", "log.showSignature=false", "log", "--format=%x01%H", "--name-only", "-z"]
        data = git.run([*args, "--no-renames", "--no-color", *words], cwd=self.cwd, environ=self.environ)
        commits: list[tuple[str, list[str]]] = []
        for part in data.split(b"\0"):
            part = part.lstrip(b"\n")
            if part.startswith(b"\x01"):
                commits.append((part[1:].decode("ascii"), []))
            elif part and commits:
                commits[-1][1].append(os.fsdecode(part))
        return commits
