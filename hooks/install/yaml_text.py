"""Write values as YAML text that every version of YAML reads alike; for the entries that we add."""

from __future__ import annotations

import json
import re
from typing import Any

_LINE = re.compile(r"^[A-Za-z](?:(?!: | #)[ -~])*[!-9;-~]$")  # as a mapping's value, where brackets may stand
_PLAIN = re.compile(r"^[A-Za-z_./][\w./ -]*$", re.ASCII)  # nothing that YAML 1.1 or 1.2 could take for another type
_RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", ".nan", ".inf"}


def block(value: Any, indent: int, newline: str, *, gap: int = 1) -> str:
    """Return a dict or list in block style, each line indented by `indent`; the last line has no end. `gap` is the
    number of blanks after a dash."""
    blank = " " * indent
    lines: list[str] = []
    if isinstance(value, list):
        for one in value:
            inner = indent + 1 + gap
            body = block(one, inner, newline) if isinstance(one, dict) else " " * inner + scalar(one)
            lines.append(blank + "-" + " " * gap + body[inner:])
        return newline.join(lines)
    for key, one in value.items():
        is_block = isinstance(one, dict) or (isinstance(one, list) and one and isinstance(one[0], dict))
        head = f"{blank}{scalar(key)}:"
        is_line = isinstance(one, str) and _LINE.match(one) and one.lower() not in _RESERVED
        text = newline + block(one, indent + 2, newline) if is_block else f" {one if is_line else scalar(one)}"
        lines.append(head + text)
    return newline.join(lines)


def scalar(value: Any) -> str:
    """Return text, a number, a truth value or a list of these as it stands on a line."""
    if isinstance(value, list):
        return "[" + ", ".join(map(scalar, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if _PLAIN.match(value) and value.lower() not in _RESERVED and not value.endswith(" "):
        return str(value)
    return "'" + value.replace("'", "''") + "'" if value.isprintable() else _quoted(value)


def flow(value: Any) -> str:
    """Return any value on one line, in the form that YAML shares with JSON."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return _quoted(value) if isinstance(value, str) else scalar(value)


def _quoted(text: str) -> str:
    """Return text in double quotes; beyond the first plane YAML has an escape of its own where JSON has two."""
    return '"' + "".join(f"\\U{ord(one):08x}" if ord(one) > 0xFFFF else json.dumps(one)[1:-1] for one in text) + '"'
