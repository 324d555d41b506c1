"""Put values into JSON text and take them out again, touching no other character.

An edit is a splice, made by the layout of what stands around it: indentation, line ends, trailing commas and comments
stay. Each edit is checked by reading the text before and after: nothing but the edited place may differ. Appending and
then removing gives back the same text, but for the white space inside a container that was empty.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ...memory.errors import Conflict
from .edit_paths import Path, holds, newline_of, spell, wrap
from .jsonc import Node, comment_end, parse, skip

_INDENT = re.compile(r"(?:\r\n|\n|\r)([ \t]+)(?=[^\s/])")


def append(text: str, path: Path, value: Any, *, key: str = "") -> str:
    """Return `text` with `value` as the last entry of the container at `path`, under `key` in an object.

    Containers that are missing are made: the path's last one is an array without `key`, an object with it. A text of
    white space alone counts as an empty object. Raises Conflict where the text is no JSON, or something else stands in
    the way.
    """
    body = text.removeprefix("\ufeff")
    if not body.strip():
        lead = text[: len(text) - len(body)]
        newline = newline_of(text)
        return lead + _dump(wrap(path, value, key), "  ", newline) + newline
    root = parse(text)
    _no_doubles(root, path)
    found, depth = _deepest(root, path)
    if depth == len(path):
        entry_key, entry = key, value
    else:
        entry_key, entry = str(path[depth]), wrap(path[depth + 1 :], value, key)
    if not (found.is_object if entry_key else found.is_array):
        raise Conflict(f"{spell(path[:depth])} is not {'an object' if entry_key else 'a list'}")
    if entry_key and entry_key in found.value:
        raise Conflict(f"{spell((*path[:depth], entry_key))} is there already")
    after = _insert(text, found, _entry(entry_key), entry)
    _check(root.value, parse(after).value, path[:depth], key=entry_key, added=plain(entry))
    return after


def remove(text: str, path: Path) -> str:
    """Return `text` without the entry at `path`, and without what separated it. Raises Conflict where there is none."""
    root = parse(text)
    _no_doubles(root, path)
    parent, depth = _deepest(root, path[:-1])
    index = _index(parent, path[-1]) if depth == len(path) - 1 else None
    if index is None:
        raise Conflict(f"{spell(path)} is not there")
    after = _cut(text, parent, index)
    _check(parse(after).value, root.value, path[:-1], key=path[-1], added=parent.items[index].node.value)
    return after


def prune(text: str, path: Path, keep: Any = None) -> str:
    """Return `text` without the empty containers along `path`, innermost first; those that stand in `keep`, the value
    that the text had before we came, and those that hold a comment stay."""
    while path:
        parent, depth = _deepest(parse(text), path)
        if depth < len(path):
            path = path[:-1]
            continue
        if parent.items or text[parent.start + 1 : parent.end - 1].strip() or holds(keep, path):
            return text
        text = remove(text, path)
        path = path[:-1]
    return text


def _deepest(root: Node, path: Path) -> tuple[Node, int]:
    """Return the last node along `path` that exists, and how many steps lead to it."""
    node = root
    for depth, step in enumerate(path):
        index = _index(node, step)
        if index is None:
            return node, depth
        node = node.items[index].node
    return node, len(path)


def _index(node: Node, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if node.is_array and step < len(node.items) else None
    return next((i for i, item in enumerate(node.items) if node.is_object and item.key == step), None)


def _no_doubles(root: Node, path: Path) -> None:
    node = root
    for depth, step in enumerate(path):
        if isinstance(step, str) and sum(item.key == step for item in node.items) > 1:
            raise Conflict(f"{spell(path[: depth + 1])} stands there twice; keep one")
        index = _index(node, step)
        if index is None:
            return
        node = node.items[index].node


def _insert(text: str, parent: Node, label: str, value: Any) -> str:
    newline, unit = newline_of(text), _unit(text)
    inner_end = parent.end - 1
    trailing = False
    splices: list[tuple[int, str]] = []
    if parent.items:
        end = parent.items[-1].node.end
        comma = skip(text, end)
        trailing = text.startswith(",", comma)
        at = comment_end(text, comma + 1 if trailing else end, inner_end)
        if not trailing:
            splices.append((end, ","))
        one_line = _one_line(text, parent)
        base = _line_indent(text, parent.items[-1].start)
    else:
        at = comment_end(text, parent.start + 1, inner_end)
        one_line = not _many_lines(text) and "//" not in text[parent.start : parent.end]
        base = _line_indent(text, parent.start) + unit
    if one_line:
        before = " " if parent.items or at > parent.start + 1 else ""
        entry = before + label + json.dumps(value, ensure_ascii=False)
    else:
        entry = newline + base + label + _dump(value, unit, newline).replace(newline, newline + base)
    entry += "," if trailing else ""
    if not parent.items and at == parent.start + 1:  # the blanks of an empty container give way
        tail = "" if one_line else newline + _line_indent(text, parent.start)
        return text[:at] + entry + tail + text[inner_end:]
    for place, piece in reversed([*splices, (at, entry)]):
        text = text[:place] + piece + text[place:]
    return text


def _one_line(text: str, parent: Node) -> bool:
    # A container that has its entries on the line of its bracket goes on so, unless a line comment would swallow it.
    inner = text[parent.start : parent.items[-1].node.end]
    rest = text[parent.items[-1].node.end : parent.end]
    head = text[parent.start : parent.items[0].start]
    return "\n" not in head and "//" not in rest and ("\n" not in inner or "\n" not in rest)


def _cut(text: str, parent: Node, index: int) -> str:
    item = parent.items[index]
    comma = skip(text, item.node.end)
    has_comma = text.startswith(",", comma)
    end = comma + 1 if has_comma else item.node.end
    if index:
        before = skip(text, parent.items[index - 1].node.end)  # its comma
        start = comment_end(text, before + 1, item.start)
        if not has_comma:
            return text[:before] + text[before + 1 : start] + text[end:]
    else:
        start = comment_end(text, parent.start + 1, item.start)
    if len(parent.items) == 1 and not text[parent.start + 1 : start].strip() and not text[end : parent.end - 1].strip():
        start, end = parent.start + 1, parent.end - 1
    elif has_comma and text[comma:end] and text[item.node.end : comma].strip():
        return text[:start] + text[item.node.end : comma] + text[end:]  # a comment between value and comma is foreign
    return text[:start] + text[end:]


def _check(less: Any, more: Any, path: Path, *, key: str | int, added: Any) -> None:
    """Raise Conflict unless `more` is `less` with `added` at `path` + `key`: the proof that nothing else changed."""
    expected = _with(less, path, key=key, added=added)
    if not _same(expected, more):
        raise Conflict("the edit would have changed more than its own entry, so nothing was written")


def _with(value: Any, path: Path, *, key: str | int, added: Any) -> Any:
    if path:
        step = path[0]
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[step] = _with(value[step], path[1:], key=key, added=added)
        return copy
    if isinstance(value, dict):
        return {**value, key: added}
    place = key if isinstance(key, int) else len(value)
    return [*value[:place], added, *value[place:]]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and one == other


def plain(value: Any) -> Any:
    """Return a value as `parse` would read it back."""
    return parse(json.dumps(value, ensure_ascii=False)).value


def _entry(key: str) -> str:
    return json.dumps(key, ensure_ascii=False) + ": " if key else ""


def _dump(value: Any, unit: str, newline: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline)


def _many_lines(text: str) -> bool:
    return "\n" in text.strip()


def _unit(text: str) -> str:
    """Return one step of indentation as the first indented entry shows it."""
    found = _INDENT.search(text)
    return found.group(1) if found else "  "


def _line_indent(text: str, at: int) -> str:
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    line = text[start:at]
    return line[: len(line) - len(line.lstrip(" \t"))].removeprefix("\ufeff")


__all__ = ["Path", "append", "parse", "plain", "prune", "remove"]
