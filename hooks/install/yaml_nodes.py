"""Read YAML into nodes that know their place in the text, by PyYAML, and find one's way among them. Pure."""

from __future__ import annotations

import re
from typing import Any

from ...memory.errors import Conflict, Unavailable
from .edit_paths import Path

DEPTH = 100
_ALIAS = re.compile(r"[\s:-]*\*[^\s,\[\]{}]+")


def parse(text: str) -> Any:
    """Return the root node of the only document in `text`, None where it is empty. Raises Conflict."""
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise Unavailable("editing YAML takes PyYAML: pip install pyyaml") from None
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Conflict(f"{where}{getattr(error, 'problem', None) or 'no YAML'}") from None
    except RecursionError:
        raise Conflict("too many levels") from None


def value_of(text: str) -> Any:
    """Return what `text` means: dicts, lists and scalars as their text, "" where it is null or empty."""
    return _plain(parse(text))


def kind(node: Any) -> str:
    """Return "mapping", "sequence" or "scalar"."""
    return str(node.id)


def is_missing(node: Any) -> bool:
    """Return whether a key has no value at all."""
    return kind(node) == "scalar" and node.value == "" and node.style is None


def _plain(node: Any, depth: int = DEPTH) -> Any:
    if node is None:
        return ""
    if not depth:
        raise Conflict(f"more than {DEPTH} levels")
    if kind(node) == "mapping":
        return {_key(name): _plain(value, depth - 1) for name, value in node.value}
    if kind(node) == "sequence":
        return [_plain(one, depth - 1) for one in node.value]
    return node.value if node.style is None else f"{node.style}{node.value}" if node.style in "|>" else node.value


def _key(node: Any) -> str:
    if kind(node) != "scalar":
        raise Conflict("a key is a collection")
    return str(node.value)


def deepest(root: Any, path: Path) -> tuple[Any, int]:
    """Return the last node along `path` that exists, and how many steps lead to it."""
    node = root
    for depth, step in enumerate(path):
        index = find_index(node, step)
        if index is None:
            return node, depth
        node = node.value[index][1] if kind(node) == "mapping" else node.value[index]
    return node, len(path)


def find_index(node: Any, step: str | int) -> int | None:
    """Return which child `step` names, None where there is none. Raises Conflict for a key that stands twice."""
    if isinstance(step, int):
        return step if kind(node) == "sequence" and step < len(node.value) else None
    if kind(node) != "mapping":
        return None
    places = [index for index, (name, _) in enumerate(node.value) if name.value == step]
    if len(places) > 1:
        raise Conflict(f"{step} stands there twice; keep one")
    return places[0] if places else None


def leaf_end(text: str, node: Any) -> int:
    """Return where the last thing of a node ends that is not white space or a comment."""
    while kind(node) != "scalar" and not node.flow_style and node.value:
        last = node.value[-1]
        before = last[0] if isinstance(last, tuple) else node.value[-2] if len(node.value) > 1 else node
        child = last[1] if isinstance(last, tuple) else last
        if child.start_mark.index < before.start_mark.index:  # an alias: its marks are those of what it names
            end_of_before = leaf_end(text, before) if before is not node else node.start_mark.index
            alias = _ALIAS.match(text, end_of_before)
            return alias.end() if alias else end_of_before
        node = last[0] if isinstance(last, tuple) and is_missing(child) else child
    end: int = node.end_mark.index
    start = node.start_mark.index
    return start + len(text[start:end].rstrip()) if kind(node) == "scalar" and node.style in ("|", ">") else end


def spans(text: str, node: Any) -> list[tuple[int, int]]:
    """Return where each entry of a collection begins and ends; a block's includes the dash."""
    if kind(node) == "mapping":
        return [(key.start_mark.index, leaf_end(text, value) if not is_missing(value) else key.end_mark.index + 1)
                for key, value in node.value]  # fmt: skip
    found = []
    for one in node.value:
        start = one.start_mark.index
        found.append((start if node.flow_style else text.rfind("-", 0, start), leaf_end(text, one)))
    return found
