"""What the editors of JSON and YAML share: paths into a value, and the line ends of a text. Pure.

A path is a tuple of keys and list indices, from the root: ("hooks", "SessionStart", 0).
"""

from __future__ import annotations

from typing import Any

Path = tuple[str | int, ...]


def holds(value: Any, path: Path) -> bool:
    """Return whether something stands at `path` in `value`."""
    for step in path:
        if isinstance(step, int):
            known = isinstance(value, list) and step < len(value)
        else:
            known = isinstance(value, dict) and step in value
        if not known:
            return False
        value = value[step]
    return True


def wrap(path: Path, value: Any, key: str) -> Any:
    """Return containers along `path`, of which the last holds `value` alone: under `key`, or in a list without one."""
    value = {key: value} if key else [value]
    for step in reversed(path):
        value = {step: value}
    return value


def spell(path: Path) -> str:
    """Return a path as a message names it."""
    return ".".join(str(step) for step in path) or "the root"


def newline_of(text: str) -> str:
    """Return the line end that `text` uses."""
    return "\r\n" if "\r\n" in text else "\n"
