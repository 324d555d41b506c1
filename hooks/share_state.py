"""Whether the share file and the store have anything to tell each other, as cheaply as a hook may ask.

After each exchange the store records what both looked like (`meta`). Nothing is parsed here; a wrong "no" costs the
exchange that was not needed, and a "yes" is only said where neither side changed a byte that is shared.
"""

from __future__ import annotations

import os
import sqlite3

from ..memory import config, schema
from ..memory.project import Project
from .env import Env

ALLOW_FILE = ".mem-allow"  # as in allowances.py, which a hook without findings need not load


def is_settled(project: Project, env: Env, *, is_gate: bool) -> bool:
    """Return whether a hook has nothing to do: before a commit (`is_gate`) the file holds what is shared, after one the
    store what the file holds. Raises StoreError, OSError."""
    path = os.path.join(project.root, str(config.load(project, env.environ)["share.file"]))
    has_file = os.path.isfile(path)
    if not os.path.isfile(project.store_path):
        return is_gate or not has_file
    if not has_file and not is_gate:
        return True
    db = schema.connect(project.store_path, readonly=True, timeout=0.25)
    try:
        if not has_file:
            return not db.execute(
                "SELECT EXISTS (SELECT 1 FROM memories WHERE shared = 1 AND origin = '')"
                " OR EXISTS (SELECT 1 FROM tombstones WHERE shared = 1)"
            ).fetchone()[0]
        stamp = file_stamp(project, path)
        key, now = (out_key(path), out_stamp(db, stamp)) if is_gate else (in_key(path), stamp)
        row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row is not None and row[0] == now
    except sqlite3.Error as error:
        raise schema.as_store_error(error, project.store_path) from error
    finally:
        db.close()


def in_key(path: str) -> str:
    """Return under which key of `meta` the file that was read last is known."""
    return "share:" + os.path.realpath(path)


def out_key(path: str) -> str:
    """Return under which key of `meta` the file and the memories that were written last are known."""
    return "shared:" + os.path.realpath(path)


def file_stamp(project: Project, path: str) -> str:
    """Return what stands for the bytes of the share file and of the allowances that judge it."""
    from hashlib import sha256

    digest = sha256()
    for name in (path, os.path.join(project.root, ALLOW_FILE)):
        try:
            with open(name, "rb") as file:
                digest.update(file.read())
        except OSError:
            digest.update(b"none")
        digest.update(b"\0\0")
    return digest.hexdigest()


def out_stamp(db: sqlite3.Connection, stamp: str) -> str:
    """Return what stands for the file and for everything shared in the store. Versions and times tell a change."""
    from hashlib import sha256

    digest = sha256(stamp.encode())
    for query in (
        "SELECT id, version, updated_at, status, origin FROM memories WHERE shared = 1 ORDER BY id",
        "SELECT id, version, forgotten_at FROM tombstones WHERE shared = 1 ORDER BY id",
    ):
        for row in db.execute(query):
            digest.update(repr(row).encode())
    return digest.hexdigest()
