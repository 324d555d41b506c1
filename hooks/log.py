"""The log of hooks that may not speak: `.mem/hooks.log`, a line an event, bounded."""

from __future__ import annotations

import os

from ..memory.record import printable, timestamp

LIMIT = 65536  # bytes; past it the newer half is kept


def note(folder: str, line: str, now: float) -> None:
    """Append a line to the log in a store's folder. Never raises, and never makes the folder."""
    path = os.path.join(folder, "hooks.log")
    text = f"{timestamp(now)[:19]}Z {printable(line)[:500]}\n"
    try:
        if os.path.exists(path) and os.path.getsize(path) > LIMIT:
            _halve(path)
        descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        return


def _halve(path: str) -> None:
    with open(path, "rb") as file:
        file.seek(-LIMIT // 2, os.SEEK_END)
        tail = file.read().partition(b"\n")[2]
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.write(tail)
    os.replace(temporary, path)
