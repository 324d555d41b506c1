"""Session hooks in a client's JSON settings: our handlers go into the lists that are there and come out again.

What each client's settings look like stands in its own file; what is the same for all of them is here. Foreign entries
keep their place and their bytes. Our handlers are known by the command that they run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from ...memory.errors import Conflict
from .. import git
from ..clients import Client
from . import edit_json
from .draft import Draft
from .own import hook_of
from .site import Site

# Event and matcher of the guard before a tool, where a client's program is known to take it.
_TOOL_EVENTS = {
    "claude": ("PreToolUse", "Write|Edit|MultiEdit|NotebookEdit|Bash"),
    "codex": ("PreToolUse", ""),
    "gemini": ("BeforeTool", ""),
    "copilot": ("preToolUse", ""),
}
SECONDS = 15  # a cold start on a slow machine took more than 5. Source: reports to claude-mem and codex-plugin-cc


class Shape(NamedTuple):
    """How one client writes its hooks down.

    `path` says where its settings lie, `handler` makes one handler of (hook, command, client); `grouped` settings
    hold handlers in groups with a matcher; `header` is what the root must hold besides; `trust` is what the user must
    still do.
    """

    client: Client
    path: Callable[[Site], str]
    handler: Callable[[str, str, Client], dict[str, Any]]
    grouped: bool
    trust: str
    header: tuple[tuple[str, Any], ...] = ()


def install(shape: Shape, site: Site, draft: Draft) -> None:
    """Plan our handlers in the client's settings; those that are there and serve are left alone. Raises Conflict."""
    path = shape.path(site)
    check_link(site, path)
    before = draft.read(path)
    text = decode(before or b"", path)
    with_name = Named(path)
    for key, value in shape.header:
        if key not in value_of(text, path):
            text = with_name(edit_json.append, text, (), value, key=key)
    for entry in wanted(shape, site):
        text = with_name(_put, text, entry, shape.grouped)
    draft.write(path, text.encode())
    draft.notes.append(shape.trust)
    if site.scope == "project" and not site.on_path:
        draft.notes.append(f"{path} names {site.program}: put mem on PATH and install again before you share the file")


def uninstall(shape: Shape, site: Site, draft: Draft) -> None:
    """Plan the client's settings without our handlers. Raises Conflict."""
    path = shape.path(site)
    check_link(site, path)
    before = draft.read(path)
    if before is None:
        return
    text = decode(before, path)
    original = original_value(draft, path)
    with_name = Named(path)
    if not any(found(value_of(text, path), event) for event in events(value_of(text, path))):
        return
    for event in events(value_of(text, path)):
        text = with_name(_take, text, event, original)
    value = value_of(text, path)
    if original is not None or os.path.basename(path).startswith("memhooks."):
        for key, header in shape.header:
            if value.get(key) == edit_json.plain(header) and key not in (original or {}):
                text = with_name(edit_json.remove, text, (key,))
    draft.give_back(path, text.encode(), same=same, empty=lambda data: is_empty(data, shape.header))


def wanted(shape: Shape, site: Site) -> list[tuple[str, str, dict[str, Any]]]:
    """Return our entries as (the client's event, matcher, handler)."""
    program = site.words(portable=site.scope == "project")
    made = []
    for hook, event in shape.client.events.items():
        command = f"{program} hook {hook} --client {shape.client.name}"
        matcher = shape.client.matcher if hook == "session-start" else ""
        made.append((event, matcher, shape.handler(hook, command, shape.client)))
    if site.tool_guard and shape.client.name in _TOOL_EVENTS:
        event, matcher = _TOOL_EVENTS[shape.client.name]
        command = f"{program} hook pre-tool --client {shape.client.name}"
        made.append((event, matcher, shape.handler("pre-tool", command, shape.client)))
    return made


def events(value: Any) -> list[str]:
    """Return the events that settings hold handlers for."""
    hooks = value.get("hooks") if isinstance(value, dict) else None
    return list(hooks) if isinstance(hooks, dict) else []


def found(value: Any, event: str) -> list[tuple[edit_json.Path, dict[str, Any], str]]:
    """Return our handlers of one event as (path, handler, matcher), in order."""
    listed = value["hooks"].get(event) if event in events(value) else None
    ours: list[tuple[edit_json.Path, dict[str, Any], str]] = []
    for index, entry in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(entry, dict):
            continue
        if _is_ours(entry):
            ours.append((("hooks", event, index), entry, ""))
        handlers = entry.get("hooks")
        for place, handler in enumerate(handlers if isinstance(handlers, list) else []):
            if isinstance(handler, dict) and _is_ours(handler):
                ours.append((("hooks", event, index, "hooks", place), handler, str(entry.get("matcher", ""))))
    return ours


def decode(data: bytes, path: str) -> str:
    """Return a settings file's text. Raises Conflict where it is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Conflict(f"{path} is not UTF-8 and was left alone; save it as UTF-8, then run this again") from None


def value_of(text: str, path: str) -> dict[str, Any]:
    """Return what settings mean, {} for an empty text. Raises Conflict where they are no JSON object."""
    if not text.removeprefix("\ufeff").strip():
        return {}
    value = Named(path)(edit_json.parse, text).value
    if not isinstance(value, dict):
        raise Conflict(f"{path}: the root is not an object, so the file was left alone; mend it, then run this again")
    return value


def same(one: bytes, other: bytes) -> bool:
    """Return whether two settings files mean the same."""
    try:
        return value_of(one.decode(), "") == value_of(other.decode(), "")
    except (Conflict, UnicodeDecodeError):
        return one == other


def is_empty(data: bytes, header: tuple[tuple[str, Any], ...] = ()) -> bool:
    """Return whether settings say nothing but their header."""
    try:
        value = value_of(data.decode(), "")
    except (Conflict, UnicodeDecodeError):
        return False
    return all(key in dict(header) or (key == "hooks" and value[key] == {}) for key in value)


def original_value(draft: Draft, path: str) -> dict[str, Any] | None:
    """Return what settings meant before we came, {} where there was no file, None where that is not known."""
    receipt = draft.receipts.get(path)
    if receipt is None:
        return None
    try:
        return value_of((receipt.original or b"").decode(), path)
    except (Conflict, UnicodeDecodeError):
        return None


def check_link(site: Site, path: str) -> None:
    """Raise Conflict where a link that the repository brings would lead the write out of the project."""
    if site.scope == "user" or not site.git_dir:
        return
    root = os.path.realpath(site.root)
    if os.path.realpath(path).startswith(root + os.sep):
        return
    parts = os.path.relpath(path, site.root).split(os.sep)
    names = [os.path.join(*parts[: count + 1]) for count in range(len(parts))]
    entries = git.tracked(site.root, site.environ, names, keep_index=False)
    if any(entry.mode == git.SYMLINK and entry.path in names for entry in entries):
        raise Conflict(f"{path} is a link that the repository brings and that leads out of it; remove the link first")


class Named:
    """Call edits so that their Conflict names the file and says that it was left alone."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, edit: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
        try:
            return edit(*args, **options)
        except Conflict as error:
            raise Conflict(
                f"{self.path}: {error.message}; the file was left alone: mend it, then run this again"
            ) from None


def _put(text: str, entry: tuple[str, str, dict[str, Any]], grouped: bool) -> str:
    event, matcher, handler = entry
    value = edit_json.parse(text).value if text.removeprefix("\ufeff").strip() else {}
    ours = found(value, event)
    if len(ours) == 1 and serves(ours[0][1:], handler, matcher):
        return text
    if ours:
        text = _take(text, event, value)
    if not grouped:
        return edit_json.append(text, ("hooks", event), handler)
    group = {"matcher": matcher, "hooks": [handler]} if matcher else {"hooks": [handler]}
    return edit_json.append(text, ("hooks", event), group)


def serves(there: tuple[dict[str, Any], str], wanted: dict[str, Any], matcher: str) -> bool:
    """Return whether a handler of ours, `there` with its matcher, may stay as it is: the user may have given it more
    time, or fields of their own."""
    handler = there[0]
    for key, value in wanted.items():
        if key.startswith("timeout"):
            if key not in handler or float(str(handler[key])) < value:
                return False
        elif key != "statusMessage" and handler.get(key) != value:
            return False
    return there[1] == matcher


def _take(text: str, event: str, original: Any) -> str:
    for path, _, _ in reversed(found(edit_json.parse(text).value, event)):
        text = edit_json.remove(text, path)
        if len(path) > 3:
            group: Any = edit_json.parse(text).value
            for step in path[:3]:
                group = group[step]
            if not group["hooks"] and group.keys() <= {"matcher", "hooks"}:
                text = edit_json.remove(text, path[:3])
    return edit_json.prune(text, ("hooks", event), keep=original)


def _is_ours(handler: dict[str, Any]) -> bool:
    return bool(hook_of(handler.get("command", handler.get("bash"))))
