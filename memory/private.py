"""Small files of our own that can always be made anew: caches, the registry, what a session saw."""

from __future__ import annotations

import os


def write(path: str, text: str) -> bool:
    """Write a file, 0600 from its first byte, whole or not at all; return whether that worked.

    The folder is made, 0700, where it is not there. Best effort: nothing is raised, since nothing is lost.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        with open(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except (OSError, UnicodeError):
        return False
    return True
