"""The shared storage module: what memhooks remembers, and how it is found again. It imports nothing from hooks/.

The public names are loaded on first use, so that a hook pays only for the modules that it needs.
"""

from __future__ import annotations

from importlib import import_module

from .named import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .api import Store
    from .errors import MemError, Rejected
    from .policy import scan
    from .project import Project, find_project
    from .record import Cursor, Finding, Forgotten, Hit, Memory

__all__ = [
    "Cursor", "Finding", "Forgotten", "Hit", "MemError", "Memory", "Project", "Rejected", "Store", "find_project",
    "scan",
]  # fmt: skip

_HOME = {
    "Cursor": "record", "Finding": "record", "Forgotten": "record", "Hit": "record", "MemError": "errors",
    "Memory": "record", "Project": "project", "Rejected": "errors", "Store": "api", "find_project": "project",
    "scan": "policy",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)
