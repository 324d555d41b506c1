"""Read JSON with comments and trailing commas into nodes that know their place in the text.

The grammar is RFC 8259 with what editors and agent programs add to settings files: // and /* */ comments, one trailing
comma in a container, a byte order mark. Anything else, an empty text too, raises Conflict with its line.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ...memory.errors import Conflict

DEPTH = 100  # containers within containers: settings have four, and Python's stack is finite


class Node(NamedTuple):
    """One value: `text[start:end]`. `items` are its children in order, keys "" in an array; `value` is what it means,
    numbers as their literal text, so that comparing never rounds."""

    start: int
    end: int
    value: Any
    items: tuple[Item, ...] = ()

    @property
    def is_object(self) -> bool:
        return isinstance(self.value, dict)

    @property
    def is_array(self) -> bool:
        return isinstance(self.value, list)


class Item(NamedTuple):
    """One child of a container; `start` is where its key begins (its value in an array)."""

    key: str
    start: int
    node: Node


class Number(str):
    """The literal of a number, kept apart from a string of the same letters."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and str.__eq__(self, other)

    __hash__ = str.__hash__


_BLANK = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_LITERALS = {"true": True, "false": False, "null": None}


def parse(text: str) -> Node:
    """Return the root of `text`. Raises Conflict where it is no JSON."""
    start = skip(text, 1 if text.startswith("\ufeff") else 0)
    root = _value(text, start, DEPTH)
    end = skip(text, root.end)
    if end != len(text):
        raise _wrong(text, end, "text after the end")
    return root


def skip(text: str, at: int) -> int:
    """Return where the next token begins at or after `at`: white space and comments are passed over."""
    while True:
        found = _BLANK.match(text, at) or _COMMENT.match(text, at)
        if not found:
            return at
        at = found.end()


def comment_end(text: str, at: int, limit: int) -> int:
    """Return where the last comment ends that begins in `text[at:limit]`, `at` where there is none."""
    last = at
    while at < limit:
        found = _BLANK.match(text, at) or _COMMENT.match(text, at)
        if not found:
            break
        at = found.end()
        if found.re is _COMMENT:
            last = at
    return last


def _value(text: str, at: int, depth: int) -> Node:
    if text.startswith(("{", "["), at):
        if not depth:
            raise _wrong(text, at, f"more than {DEPTH} levels")
        return _container(text, at, depth)
    if found := _STRING.match(text, at):
        return Node(at, found.end(), _string(text, at, found.group()))
    if found := _NUMBER.match(text, at):
        return Node(at, found.end(), Number(found.group()))
    for word, value in _LITERALS.items():
        if text.startswith(word, at):
            return Node(at, at + len(word), value)
    raise _wrong(text, at, "no value")


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    items: list[Item] = []
    at = skip(text, start + 1)
    while not text.startswith(close, at):
        begin, key = at, ""
        if is_object:
            key, at = _key(text, at)
        node = _value(text, at, depth - 1)
        items.append(Item(key, begin, node))
        at = skip(text, node.end)
        if text.startswith(",", at):
            at = skip(text, at + 1)
        elif not text.startswith(close, at):
            raise _wrong(text, at, f"neither a comma nor {close}")
    value: Any = {item.key: item.node.value for item in items} if is_object else [item.node.value for item in items]
    return Node(start, at + 1, value, tuple(items))


def _key(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    colon = skip(text, found.end()) if found else at
    if not found or not text.startswith(":", colon):
        raise _wrong(text, at, "no key")
    return _string(text, at, found.group()), skip(text, colon + 1)


def _string(text: str, at: int, literal: str) -> str:
    try:
        return str(json.loads(literal))
    except ValueError:
        raise _wrong(text, at, "a broken string") from None


def _wrong(text: str, at: int, what: str) -> Conflict:
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    return Conflict(f"line {line}, column {column}: {what}")
