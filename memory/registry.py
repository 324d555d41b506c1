"""The list of projects that have a store, kept in MEM_HOME/index.json: what `--scope all` and `watch --all` go by.

The file maps the sha256 of each store's root to {root, store, name, updated_at}. It can always be made anew, so it is
read with tolerance and written whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from . import private
from .named import NamedTuple
from .project import Project, data_home
from .record import seconds, timestamp

_FRESH_SECONDS = 86400  # an entry is stamped anew at most once a day


class Entry(NamedTuple):
    """One registered project; `store` is the path of its database."""

    root: str
    store: str
    name: str
    updated_at: str


def register(project: Project, environ: Mapping[str, str], now: float) -> None:
    """Note that a project has a store. A home that can't be written is no reason to fail."""
    if project.pinned or not project.root:
        return
    entries = _read(_path(environ))
    # The store's own root, whichever of its worktrees is at hand; a bare repository has none but its git dir.
    root = os.path.dirname(project.folder)
    known = entries.get(_key(root))
    if known and known.store == project.store_path and 0 <= now - seconds(known.updated_at) < _FRESH_SECONDS:
        return
    entries[_key(root)] = Entry(root, project.store_path, _name(root), timestamp(now))
    text = json.dumps({key: entry._asdict() for key, entry in sorted(entries.items())}, indent=1)
    private.write(_path(environ), text + "\n")


def registered(environ: Mapping[str, str]) -> list[Entry]:
    """Return the projects whose store is still there, by root."""
    return sorted(entry for entry in _read(_path(environ)).values() if os.path.isfile(entry.store))


def _path(environ: Mapping[str, str]) -> str:
    return os.path.join(data_home(environ), "index.json")


def _name(root: str) -> str:
    """Return what to call a project: a bare repository beside its worktrees (`shop/.bare`) by the folder around."""
    folder, name = os.path.split(root)
    return os.path.basename(folder) if name in (".git", ".bare") else name.removesuffix(".git")


def _key(root: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(root)).hexdigest()


def _read(path: str) -> dict[str, Entry]:
    try:
        with open(path, encoding="utf-8") as file:
            raw = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    entries = {}
    for key, value in raw.items() if isinstance(raw, dict) else ():
        try:
            entry = Entry(*(str(value[name]) for name in Entry._fields))
            seconds(entry.updated_at)
            entries[key] = entry
        except (KeyError, TypeError, ValueError):
            continue  # one bad entry costs no other
    return entries
