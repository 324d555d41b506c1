"""Refuse an agent's write of a secret or a hostile instruction into a memory file, before it reaches the disk.

Optional: the client calls `mem hook pre-tool` before each tool. The text that the file would hold is judged as a commit
judges it, and only for what the file does not hold already. Everything else, and any doubt, is let pass: the guard at
the commit has the last word. What is printed is the client's own form of a refusal, or nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping

from ..memory import config as settings
from ..memory.named import TYPE_CHECKING
from ..memory.policy import explain, mask, scan
from ..memory.project import find_project
from ..memory.record import Finding, printable
from . import clients
from .candidates import LIMIT, Scope
from .env import Env, read_event
from .guard import scope_of

if TYPE_CHECKING:
    from typing import Any


# Keys under which the tools of Claude Code, Codex, Gemini CLI, Copilot CLI and Cursor name a file and its new text.
_PATHS = ("file_path", "path", "filePath", "notebook_path", "target_file")
_WHOLE = ("content", "file_text", "contents")
_NEW = ("new_string", "new_str", "newString", "new_source", "code_edit", "insert_text")
_OLD = ("old_string", "old_str", "oldString")
_WRITES = (">", "tee ", "apply_patch", "sed -i", "*** Update File", "*** Add File")


def hook(argv: list[str], env: Env) -> int:
    """Read a client's event from stdin and print a refusal, or nothing."""
    event = read_event(env)
    tool = _input(event)
    if not tool:
        return 0
    cwd = str(event.get("cwd") or env.cwd)
    project = find_project(cwd if os.path.isdir(cwd) else env.cwd, environ=env.environ)
    scope = scope_of(project, settings.load(project, env.environ), env._replace(cwd=project.root or cwd))
    for path, old, new in _writes(tool, scope, cwd):
        known = {(found.rule, old[found.start : found.end]) for found in scan(old)}
        for found in scan(new):
            value = new[found.start : found.end]
            if (found.rule, value) not in known and not _is_allowed(scope, found.rule, value):
                reason = _reason(path, found, value)
                env.print(json.dumps(_denial(clients.detect(argv, env.environ, event), reason)))
                return 0
    return 0


def _input(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tool's arguments; Copilot sends them as a string of JSON."""
    tool = event.get("tool_input", event.get("toolArgs", event.get("tool_args")))
    if isinstance(tool, str):
        try:
            tool = json.loads(tool)
        except ValueError:
            return {}
    return tool if isinstance(tool, dict) else {}


def _writes(tool: dict[str, Any], scope: Scope, cwd: str) -> Iterator[tuple[str, str, str]]:
    """Yield (path, text before, text after) for each memory file that the tool is about to write."""
    path = _first(tool, _PATHS)
    if path:
        full = os.path.join(cwd, path)
        shown = os.path.relpath(os.path.realpath(full), scope.root or cwd).replace(os.sep, "/")
        named = os.path.relpath(full, scope.root or cwd).replace(os.sep, "/")
        if scope.chosen(shown) or scope.chosen(named):
            before = _read(full)
            yield shown, before, _after(tool, before)
    command = tool.get("command", tool.get("input"))
    if isinstance(command, list):
        command = " ".join(map(str, command))
    if isinstance(command, str) and any(word in command for word in _WRITES):
        # A shell command that names a memory file and writes something: judged as it stands.
        words = command.replace("'", " ").replace('"', " ").replace(">", " ").replace(":", " ").split()
        name = next((word for word in words if scope.chosen(word.removeprefix("./"))), "")
        if name:
            yield name, _read(os.path.join(cwd, name)), command


def _after(tool: dict[str, Any], before: str) -> str:
    """Return what the file would hold: the new text whole, or the old one with its edits."""
    whole = _first(tool, _WHOLE)
    if whole:
        return whole
    edits = tool.get("edits")
    text = before
    for edit in [*edits, tool] if isinstance(edits, list) else [tool]:
        if isinstance(edit, dict):
            old, new = _first(edit, _OLD), _first(edit, _NEW)
            text = text.replace(old, new) if old and old in text else f"{text}\n{new}"
    return text


def _first(tool: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((tool[name] for name in names if isinstance(tool.get(name), str)), "")


def _read(path: str) -> str:
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > LIMIT:
            return ""
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError:
        return ""


def _is_allowed(scope: Scope, rule: str, value: str) -> bool:
    from .allowances import fingerprint
    from .verdict import allowed_lines

    return bool(scope.root) and (rule, fingerprint(rule, value)) in allowed_lines(scope)[0]


def _reason(path: str, found: Finding, value: str) -> str:
    what = "a secret" if found.category == "secret" else "an instruction to the reader"
    return (
        f"memory guard: {printable(path)} would hold {what} ({found.rule}, {printable(mask(value))})."
        f" Memory files are committed and read by every later session. {explain(found.rule)}"
    )


def _denial(client: clients.Client, reason: str) -> dict[str, Any]:
    """Return the refusal in the client's own form. Source: each client's documents of its hooks."""
    if client.name == "gemini":
        return {"decision": "deny", "reason": reason}
    if client.name == "cursor":
        return {"permission": "deny", "decision": "deny", "user_message": reason, "agent_message": reason}
    denial = {"permissionDecision": "deny", "permissionDecisionReason": reason}
    if client.name == "copilot":
        return denial
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denial}}
