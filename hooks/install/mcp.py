"""The MCP server in the settings of each client: JSON `mcpServers`, or Codex's TOML `[mcp_servers.NAME]`."""

from __future__ import annotations

import os
from typing import Any

from ...memory.errors import Conflict
from . import codex, detect, edit_json, edit_toml
from .draft import Draft
from .own import is_server
from .session import Named, check_link, decode, is_empty, original_value, same, value_of
from .site import Site

NAMES = ("memory", "memhooks")  # the second where the first is another server's
_PROJECT = {
    "claude": ".mcp.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "copilot": ".mcp.json",
}
_USER = {
    "claude": ".claude.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/mcp.json",
    "copilot": ".copilot/mcp-config.json",
}


def install(site: Site, draft: Draft) -> None:
    """Plan the server for each client that was found, or for the one that --client names. Raises Conflict."""
    for name in _clients(site):
        path = settings(site, name)
        check_link(site, path)
        text = decode(draft.read(path) or b"", path)
        draft.write(path, _put(text, path, server(site, name)).encode())
    draft.notes.append("clients ask whether to start a server that a project brings: say yes, or approve it by /mcp")


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the settings of every client without the server."""
    for name in [site.client] if site.client else detect.CLIENT_MARKS:
        path = settings(site, name)
        data = draft.read(path)
        if data is not None:
            _take(decode(data, path), path, draft)


def server(site: Site, client: str) -> dict[str, Any]:
    """Return the entry that starts our server."""
    program = "mem" if site.scope == "project" and site.on_path else site.program
    entry: dict[str, Any] = {"command": program, "args": ["mcp"]}
    # Copilot's own file asks for what others leave out.
    return {"type": "local", **entry, "tools": ["*"]} if client == "copilot" and site.scope == "user" else entry


def settings(site: Site, client: str) -> str:
    """Return the file in which a client looks for servers in the scope at hand."""
    if client == "codex":
        return os.path.join(codex.folder(site), "config.toml")
    files = _USER if site.scope == "user" else _PROJECT
    if client == "claude" and site.scope == "user" and site.environ.get("CLAUDE_CONFIG_DIR"):
        return os.path.join(site.environ["CLAUDE_CONFIG_DIR"], files[client])
    return site.path(files[client])


def servers(text: str, path: str) -> dict[str, Any]:
    """Return the servers that a settings file names."""
    value = Named(path)(edit_toml.value_of, text) if path.endswith(".toml") else value_of(text, path)
    found = value.get("mcp_servers" if path.endswith(".toml") else "mcpServers", {})
    return found if isinstance(found, dict) else {}


def ours(text: str, path: str) -> list[str]:
    """Return the names under which a settings file starts our server."""
    return [
        name
        for name, one in servers(text, path).items()
        if isinstance(one, dict) and is_server(one.get("command"), one.get("args"))
    ]


def _clients(site: Site) -> list[str]:
    if site.client:
        return [site.client]
    there = detect.clients(site)
    found = [name for name in detect.CLIENT_MARKS if name in there or name in site.named] or ["claude"]
    # In a project Copilot reads Claude's file.
    return [name for name in found if name != "copilot" or site.scope == "user" or "claude" not in found]


def _put(text: str, path: str, wanted: dict[str, Any]) -> str:
    there = servers(text, path)
    for name in ours(text, path):
        if _serves(there[name], edit_json.plain(wanted)):
            return text
        text = _without(text, path, name, keep=value_of(text, path) if not path.endswith(".toml") else None)
    name = next((one for one in NAMES if one not in there or one in ours(text, path)), "")
    if not name:
        raise Conflict(f"{path} has servers called {' and '.join(NAMES)} already, and neither is ours; rename one")
    named = Named(path)
    if path.endswith(".toml"):
        return str(named(edit_toml.append, text, ("mcp_servers", name), wanted))
    return str(named(edit_json.append, text, ("mcpServers",), wanted, key=name))


def _serves(there: dict[str, Any], wanted: Any) -> bool:
    """Return whether an entry may stay: the user may have added arguments, or fields of their own."""
    given = {**there, "args": (there.get("args") or [])[: len(wanted["args"])]}
    return all(given.get(key) == value for key, value in wanted.items())


def _take(text: str, path: str, draft: Draft) -> None:
    is_toml = path.endswith(".toml")
    original = None if is_toml else original_value(draft, path)
    names = ours(text, path)
    for name in names:
        text = _without(text, path, name, keep=original)
    if names:
        means, blank = (edit_toml.same, _is_blank) if is_toml else (same, is_empty)
        draft.give_back(path, text.encode(), same=means, empty=blank)


def _without(text: str, path: str, name: str, *, keep: Any) -> str:
    named = Named(path)
    if not path.endswith(".toml"):
        return str(named(edit_json.prune, named(edit_json.remove, text, ("mcpServers", name)), ("mcpServers",), keep))
    heads = [index for index, (head, _, _) in enumerate(edit_toml.tables(text)) if head == f"[mcp_servers.{name}]"]
    if len(heads) != 1:
        raise Conflict(f"{path} holds the server {name} in a form that is not ours; take it out by hand")
    below = sum(head.startswith(f"[mcp_servers.{name}.") for head, _, _ in edit_toml.tables(text)[heads[0] + 1 :])
    return str(named(edit_toml.remove, text, heads[0], with_subtables=below))


def _is_blank(data: bytes) -> bool:
    return not data.strip()
