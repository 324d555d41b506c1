"""Add tables to TOML text and take them out again, touching no other line.

A table is appended at the end, after a blank line, and removed from its header to its last line. tomllib checks both
sides: nothing but the added or removed tables may differ.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from ...memory.errors import Conflict
from .edit_paths import newline_of

_HEADER = re.compile(r"^[ \t]*\[\[?[^\[\]]*\]?\][ \t]*(?:#.*)?$")
_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


def value_of(text: str) -> dict[str, Any]:
    """Return what `text` means. Raises Conflict with the line that is wrong."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Conflict(str(error)) from None


def append(text: str, name: tuple[str, ...], values: dict[str, Any], *, array: bool = False) -> str:
    """Return `text` with the table `name` at its end, as one more of an array of tables where `array` says so.

    Raises Conflict where the text is no TOML, or holds something of that name that can't be added to.
    """
    before = value_of(text)
    newline = newline_of(text)
    lines = [_header(name, array), *(f"{_key(key)} = {_value(value)}" for key, value in values.items())]
    gap = "" if not text.removeprefix("\ufeff") else newline if text.endswith("\n") else newline * 2
    after = text + gap + newline.join(lines) + newline
    try:
        meant = value_of(after)
    except Conflict:
        meant = {}
    if meant != _grown(before, name, values, array):
        raise Conflict(f"{'.'.join(name)} is there already in another form; add {lines[0]} by hand")
    return after


def remove(text: str, index: int, *, with_subtables: int = 0) -> str:
    """Return `text` without its table number `index` and as many of the tables that follow it as `with_subtables`
    says, each with the blank line before it."""
    found = tables(text)
    lines = text.splitlines(keepends=True)
    for _, start, stop in reversed(found[index : index + 1 + with_subtables]):
        if start and not lines[start - 1].strip("\r\n \t\ufeff"):
            start -= 1
        del lines[start:stop]
    after = "".join(lines)
    value_of(after)
    return after


def same(one: bytes, other: bytes) -> bool:
    """Return whether two files mean the same."""
    try:
        return value_of(one.decode()) == value_of(other.decode())
    except (Conflict, UnicodeDecodeError):
        return one == other


def tables(text: str) -> list[tuple[str, int, int]]:
    """Return the tables in `text` as (header as written, first line, the line after its last one), in order.

    Comments and blank lines after a table's last entry belong to what follows.
    """
    lines = text.splitlines(keepends=True)
    found: list[tuple[str, int, int]] = []
    for number in _header_lines(lines):
        found.append((lines[number].strip().lstrip("\ufeff"), number, number + 1))
    ends = [start for _, start, _ in found[1:]] + [len(lines)]
    result = []
    for (header, start, _), end in zip(found, ends, strict=True):
        while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        result.append((header, start, end))
    return result


def _header_lines(lines: list[str]) -> list[int]:
    """Return the lines that are headers: those up to which the text is complete TOML, so that no string or array that
    goes over lines can look like one."""
    found = []
    for number, line in enumerate(lines):
        if _HEADER.match(line.rstrip("\r\n").lstrip("\ufeff")) and _is_complete("".join(lines[:number])):
            found.append(number)
    return found


def _is_complete(text: str) -> bool:
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        return False
    return True


def _header(name: tuple[str, ...], array: bool) -> str:
    dotted = ".".join(map(_key, name))
    return f"[[{dotted}]]" if array else f"[{dotted}]"


def _key(name: str) -> str:
    return name if _BARE.match(name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str) and "\x7f" not in value:
        return json.dumps(value, ensure_ascii=False)  # a basic string; the escapes of JSON are TOML's too
    return json.dumps(value)


def _grown(value: Any, name: tuple[str, ...], values: dict[str, Any], array: bool) -> Any:
    """Return what the text must mean afterwards."""
    if not isinstance(value, dict | list):
        return None
    if isinstance(value, list):  # a name leads into the last table of an array
        return [*value[:-1], _grown(value[-1], name, values, array)] if value else None
    head, rest = name[0], name[1:]
    if rest:
        return {**value, head: _grown(value.get(head, {}), rest, values, array)}
    if not array:
        return None if head in value else {**value, head: values}
    listed = value.get(head, [])
    return {**value, head: [*listed, values]} if isinstance(listed, list) else None
