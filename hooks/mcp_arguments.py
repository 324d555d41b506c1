"""A tool's arguments, checked and turned into what they mean, as agents really send them.

Numbers and truth values may come as strings, a list as a JSON list in a string, null as absent. Text stays text, even
where it looks like JSON. An argument that the tool does not have is refused by name: dropping it would lose it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..memory.errors import Rejected, UsageError
from ..memory.record import printable
from .mcp_tools import ARGUMENTS


class Arguments:
    """The arguments of one call. Every getter raises UsageError (`invalid_arguments`), and Rejected (`invalid_text`)
    for half of a character, which neither a path nor the store can hold."""

    def __init__(self, tool: str, given: Mapping[str, Any]) -> None:
        unknown = [name for name in given if name not in ARGUMENTS[tool]]
        if unknown:
            raise invalid(f"{tool} has no argument {printable(unknown[0])[:40]!r}; it has {', '.join(ARGUMENTS[tool])}")
        self._given = {name: value for name, value in given.items() if value is not None}

    def has(self, name: str) -> bool:
        """Return whether the argument was given."""
        return name in self._given

    def text(self, name: str, default: str = "") -> str:
        """Return a text as it came."""
        value = self._given.get(name, default)
        if not isinstance(value, str):
            raise invalid(f"{name} is a text")
        if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise Rejected(f"{name} holds a lone surrogate, which is no character; remove it", reason="invalid_text")
        return value

    def needed(self, name: str, what_for: str) -> str:
        """Return a text that must hold something."""
        value = self.text(name)
        if not value.strip():
            raise invalid(f"{what_for} needs {name}")
        return value

    def number(self, name: str, default: int | None = None) -> int | None:
        """Return a whole number, or `default`."""
        value = self._given.get(name, default)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, str) and value.strip().lstrip("-").isdecimal() and len(value) < 12:
            value = int(value)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise invalid(f"{name} is a whole number")
        return value

    def flag(self, name: str) -> bool:
        """Return a truth value, false where absent."""
        value = self._given.get(name, False)
        if isinstance(value, str):
            value = {"true": True, "1": True, "false": False, "0": False, "": False}.get(value.strip().lower(), value)
        if not isinstance(value, bool):
            raise invalid(f"{name} is true or false")
        return value

    def listed(self, name: str) -> object:
        """Return a list, or a string that holds one; the store says which it takes."""
        return self._given.get(name)


def invalid(message: str) -> UsageError:
    """Return the error for arguments that can't be meant."""
    return UsageError(message, reason="invalid_arguments")
