"""Put entries into YAML text and take them out again, touching no other line.

PyYAML says where each node lies; the edit is a splice of whole lines (or within the brackets of a flow collection),
laid out as its neighbours are. Each edit is checked by reading the text before and after: nothing but the entry may
differ. Anchors, comments, quotes, line ends and documents' marks are never rewritten, since no line of others is.
"""

from __future__ import annotations

from typing import Any

from ...memory.errors import Conflict
from .edit_paths import Path, holds, newline_of, spell, wrap
from .yaml_nodes import deepest, find_index, is_missing, kind, leaf_end, parse, spans, value_of
from .yaml_text import block, flow, scalar


def append(text: str, path: Path, value: Any, *, key: str = "") -> str:
    """Return `text` with `value` as the last entry of the collection at `path`, under `key` in a mapping.

    Collections that are missing are made. Raises Conflict where something else stands in the way.
    """
    root = parse(text)
    if root is None:
        return _end_line(text) + block(wrap(path, value, key), 0, newline_of(text)) + newline_of(text)
    found, depth = deepest(root, path)
    entry_key, entry = (key, value) if depth == len(path) else (str(path[depth]), wrap(path[depth + 1 :], value, key))
    if is_missing(found) and depth:
        after = _fill(text, root, path[:depth], {entry_key: entry} if entry_key else [entry])
    elif kind(found) != ("mapping" if entry_key else "sequence"):
        raise Conflict(f"{spell(path[:depth])} is no {'mapping' if entry_key else 'list'}")
    elif entry_key and any(name.value == entry_key for name, _ in found.value):
        raise Conflict(f"{spell((*path[:depth], entry_key))} is there already")
    elif found.flow_style and not found.value and not root.flow_style and depth == 1:
        after = _open(text, found, {entry_key: entry} if entry_key else [entry])
    elif found.flow_style:
        after = _insert_flow(text, found, (scalar(entry_key) + ": " if entry_key else "") + flow(entry))
    else:
        after = _insert_block(text, found, {entry_key: entry} if entry_key else [entry])
    _check(value_of(text), value_of(after), path[:depth], key=entry_key, added=as_text(entry))
    return after


def prepend(text: str, key: str, value: Any) -> str:
    """Return `text` with `key: value` as the first entry of its root mapping. Raises Conflict."""
    root = parse(text)
    if root is None or root.flow_style or kind(root) != "mapping":
        return append(text, (), value, key=key)
    at = root.start_mark.index
    if root.start_mark.column or text[at] in "&!{":
        raise Conflict("the root does not begin at the start of a line")
    after = text[:at] + block({key: value}, 0, newline_of(text)) + newline_of(text) + text[at:]
    _check(value_of(text), value_of(after), (), key=key, added=as_text(value))
    return after


def remove(text: str, path: Path, *, empty: str = "") -> str:
    """Return `text` without the entry at `path`; `empty` is what stands in the place of a block that it was all of.

    Raises Conflict where there is no such entry, or it shares its line.
    """
    root = parse(text)
    parent: Any
    parent, depth = deepest(root, path[:-1]) if root is not None else (None, -1)
    index = find_index(parent, path[-1]) if depth == len(path) - 1 else None
    if index is None:
        raise Conflict(f"{spell(path)} is not there")
    places = spans(text, parent)
    after = _cut_flow(text, parent, places, index) if parent.flow_style else _cut_block(text, *places[index])
    before = value_of(text)
    removed: Any = before
    for step in path:
        removed = removed[step]
    now = value_of(after)
    if len(places) == 1 and not parent.flow_style:  # an emptied block is null
        _check_same(_set(before, path[:-1], ""), now)
        if empty and len(path) == 2:
            colon = _key_end(parse(after), path[0])
            after = after[:colon] + " " + empty + after[colon:]
            _check_same(_set(before, path[:-1], value_of(empty)), value_of(after))
    else:
        _check(now, before, path[:-1], key=path[-1], added=removed)
    return after


def prune(text: str, path: Path, keep: Any = None) -> str:
    """Return `text` without the entries along `path` that hold nothing, innermost first; those in `keep`, the value
    that the text had before we came, stay."""
    while path:
        root = parse(text)
        found: Any
        found, depth = deepest(root, path) if root is not None else (None, -1)
        if depth == len(path):
            if not (is_missing(found) or found.value == []) or holds(keep, path):
                return text
            text = remove(text, path)
        path = path[:-1]
    return text


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    end = len(text) if found < 0 else found
    return end - 1 if end > at and text[end - 1] == "\r" else end


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _insert_block(text: str, node: Any, value: Any) -> str:
    start, newline = node.start_mark, newline_of(text)
    gap = 1
    if kind(node) == "sequence":
        if text[start.index] != "-":
            raise Conflict("a list that does not begin with a dash")
        first = node.value[0].start_mark
        gap = first.index - start.index - 1 if first.line == start.line else 1
    elif text[start.index] in "&!":
        raise Conflict("a mapping with an anchor or a tag")
    at = _line_end(text, leaf_end(text, node))
    return text[:at] + newline + block(value, start.column, newline, gap=gap) + text[at:]


def _fill(text: str, root: Any, path: Path, value: Any) -> str:
    """Give the key at `path`, which has no value, one."""
    parent, _ = deepest(root, path[:-1])
    index = find_index(parent, path[-1]) or 0
    if parent.flow_style or kind(parent) != "mapping":
        raise Conflict(f"{spell(path)} has no value; give it one or remove it")
    key = parent.value[index][0]
    at = _line_end(text, key.end_mark.index)
    newline = newline_of(text)
    return text[:at] + newline + block(value, key.start_mark.column + 2, newline) + text[at:]


def _open(text: str, node: Any, value: Any) -> str:
    """Put a block in the place of an empty flow collection; a comment behind that stays on its line."""
    start, end = node.start_mark.index, node.end_mark.index
    at = _line_end(text, end)
    line = text[:start].rstrip(" \t") + text[end:at]
    return line + newline_of(text) + block(value, 2, newline_of(text)) + text[at:]


def _key_end(root: Any, key: str | int) -> int:
    """Return the place behind the colon of a key of the root mapping that has no value."""
    return next(int(name.end_mark.index) + 1 for name, _ in root.value if name.value == key)


def _insert_flow(text: str, node: Any, entry: str) -> str:
    close = node.end_mark.index - 1
    if not node.value:
        return text[: node.start_mark.index + 1] + entry + text[close:]
    end = spans(text, node)[-1][1]
    comma = text.find(",", end, close)
    if comma >= 0 and not text[end:comma].strip():
        return text[: comma + 1] + " " + entry + "," + text[comma + 1 :]
    return text[:end] + ", " + entry + text[end:]


def _cut_block(text: str, start: int, end: int) -> str:
    begin = _line_start(text, start)
    begin += text.startswith("\ufeff", begin)
    if text[begin:start].strip():
        raise Conflict("the entry shares its line with another one; take it out by hand")
    stop = _line_end(text, end)
    if stop == len(text):  # no newline at the end: then the one before the entry goes
        return text[:begin].removesuffix("\n").removesuffix("\r")
    return text[:begin] + text[text.index("\n", stop) + 1 :]


def _cut_flow(text: str, node: Any, places: list[tuple[int, int]], index: int) -> str:
    start, end = places[index]
    close = node.end_mark.index - 1
    comma = text.find(",", end, close)
    has_comma = comma >= 0 and not text[end:comma].strip()
    if len(places) == 1:
        return text[: node.start_mark.index + 1] + text[close:]
    if index == len(places) - 1:
        before = text.index(",", places[index - 1][1])
        return text[: before + 1] + text[comma + 1 :] if has_comma else text[: places[index - 1][1]] + text[end:]
    return text[:start] + text[places[index + 1][0] :]


def _check(less: Any, more: Any, path: Path, *, key: str | int, added: Any) -> None:
    parent = less
    for step in path:
        parent = parent[step]
    if isinstance(parent, dict):
        grown: Any = {**parent, key: added}
    elif isinstance(parent, list):
        place = key if isinstance(key, int) else len(parent)
        grown = [*parent[:place], added, *parent[place:]]
    else:
        grown = {key: added} if key != "" else [added]
    _check_same(_set(less, path, grown), more)


def _check_same(expected: Any, value: Any) -> None:
    if expected != value:
        raise Conflict("the edit would have changed more than its own entry, so nothing was written")


def _set(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _set(value[path[0]], path[1:], new)
    return copy


def as_text(value: Any) -> Any:
    """Return a value as `value_of` would read it back."""
    return value_of(block(value, 0, "\n") if isinstance(value, dict | list) else scalar(value))


def _end_line(text: str) -> str:
    return text if not text.removeprefix("\ufeff") or text.endswith("\n") else text + newline_of(text)


__all__ = ["Path", "append", "as_text", "parse", "prepend", "prune", "remove", "value_of"]
