"""Which program this is: its version, and the commit that it was built from where that is known."""

from __future__ import annotations

import os

from ..memory.project import find_project, head


def version() -> str:
    """Return the installed distribution's version, "0+unknown" when run from a tree that was never installed.

    It is read off the name of the metadata's folder: importlib.metadata costs more than the rest of an answer.
    """
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for name in os.listdir(home):
        if name.startswith("memhooks-") and name.endswith(".dist-info"):
            return name[9:-10]
    return "0+unknown"


def commit() -> str:
    """Return the commit id that the program was built from, "" where it is not known.

    A wheel holds it in `commit.txt` (see stamp.py); a checkout is asked itself.
    """
    folder = os.path.dirname(os.path.realpath(__file__))
    try:
        with open(os.path.join(folder, "commit.txt"), encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        pass
    if os.path.exists(os.path.join(os.path.dirname(folder), "pyproject.toml")):
        project = find_project(folder, environ={})
        return head(project.git_dir, project.common_dir) if project.git_dir else ""
    return ""


def version_text() -> str:
    """Return the line that `mem --version` prints."""
    built = commit()
    return f"mem {version()}" + (f" (commit {built[:12]})" if built else "")


def version_json() -> dict[str, str]:
    """Return the same as an object; `commit` is "" where it is not known."""
    return {"version": version(), "commit": commit()}
