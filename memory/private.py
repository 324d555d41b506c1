"""Folders and small files of our own, private from the first byte.

The files can always be made anew: caches, the registry, what a session saw.
"""

from __future__ import annotations

import os


def make_folder(folder: str) -> None:
    """Make a folder and what is missing above it, each 0700 whatever the umask; one that is there stays as it is.

    Raises OSError. Source: the XDG base directory specification asks for 0700.
    """
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    for one in reversed(missing):
        try:
            os.mkdir(one, 0o700)
        except FileExistsError:  # another process was faster
            if not os.path.isdir(one):
                raise
        else:
            os.chmod(one, 0o700)


def write(path: str, text: str) -> bool:
    """Write a file, 0600 from its first byte, whole or not at all; return whether that worked.

    The folder is made, 0700, where it is not there. Best effort: nothing is raised, since nothing is lost.
    """
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        make_folder(os.path.dirname(path))
        with open(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except (OSError, ValueError):
        return False
    return True
