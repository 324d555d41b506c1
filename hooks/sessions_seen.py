"""What each session was shown, in `.mem/sessions.json`: so that a digest is not printed twice, nor a memory repeated.

Best effort: a file that can't be read counts as empty, one that can't be written is no failure. Two hooks of one event
may run at the same time (a plugin and an installed hook), so the file is read and written under a lock on itself, and
who comes second sees what the first has printed.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping

from ..memory.named import TYPE_CHECKING, NamedTuple
from ..memory.project import Project, data_home

if TYPE_CHECKING:
    from typing import Any


KEPT = 50  # newest sessions
SHOWN = 100  # newest memories of one session
_LIMIT = 1 << 20  # bytes that are read
_WAIT = 0.1  # seconds for another hook's few milliseconds


class Seen(NamedTuple):
    """One session: its id, what started it last and when (seconds since the epoch), the digest's hash, and the last
    eight digits of the ids of the memories shown in it, newest last."""

    session: str
    source: str = ""
    at: float = 0.0
    hash: str = ""
    shown: tuple[str, ...] = ()


def place(project: Project, environ: Mapping[str, str]) -> str:
    """Return the file for a store's sessions; a pinned database's folder is left as it is."""
    if not project.pinned:
        return os.path.join(project.folder, "sessions.json")
    from zlib import crc32

    return os.path.join(data_home(environ), "cache", f"sessions-{crc32(os.fsencode(project.store_path)):08x}.json")


def update(path: str, change: Callable[[list[Seen]], Seen | None]) -> None:
    """Hand the records (newest first) of the file to `change` and put the one it returns in front.

    `change` is called exactly once, whatever happens to the file.
    """
    descriptor = _open(path)
    try:
        records = _read(descriptor)
        new = change(records)
        if new is not None and descriptor >= 0:
            new = new._replace(shown=new.shown[-SHOWN:])
            _write(descriptor, [new, *(one for one in records if one.session != new.session)][:KEPT])
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # lets go of the lock


def _open(path: str) -> int:
    """Return a descriptor of the locked file, -1 where that can't be had."""
    try:
        if os.path.basename(os.path.dirname(path)) == "cache":  # ours to make; a store's folder is there
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return -1
    try:
        import fcntl
    except ImportError:
        return descriptor
    until = time.monotonic() + _WAIT
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except OSError:
            if time.monotonic() > until:
                os.close(descriptor)
                return -1
            time.sleep(0.005)


def _read(descriptor: int) -> list[Seen]:
    if descriptor < 0:
        return []
    try:
        data = json.loads(os.read(descriptor, _LIMIT) or b"[]")
        return [_record(one) for one in data][:KEPT]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []


def _record(value: dict[str, Any]) -> Seen:
    shown = tuple(str(one) for one in value["shown"])
    return Seen(str(value["session"]), str(value["source"]), float(value["at"]), str(value["hash"]), shown)


def _write(descriptor: int, records: list[Seen]) -> None:
    data = json.dumps([one._asdict() for one in records]).encode()
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, data)
        os.ftruncate(descriptor, len(data))
    except OSError:
        return
