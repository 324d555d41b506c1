"""Whether a client's own files say that the user trusts this folder; only the client can change that."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from ...memory.errors import MemError
from ..files import read
from . import codex, edit_toml
from .check import NOTE, OK, Check
from .site import Site


def check(client: str, site: Site, what_to_do: str) -> Check:
    """Return what is known about trust. A folder counts as trusted if the client's files name it or one above it."""
    look = _LOOKS.get(client)
    try:
        trusted = look(site) if look else None
    except (OSError, ValueError, MemError, AttributeError, TypeError):
        trusted = None
    if trusted is None:
        return Check("client", NOTE, f"{client}: whether it trusts this folder is not known here", what_to_do)
    if trusted:
        return Check("client", OK, f"{client} trusts this folder", what_to_do if client == "codex" else "")
    return Check("client", NOTE, f"{client} does not trust this folder yet, and runs no hook of it", what_to_do)


def _claude(site: Site) -> bool:
    known = _json(os.path.join(site.environ.get("CLAUDE_CONFIG_DIR") or site.home, ".claude.json"))
    projects = known.get("projects") or {}
    return any((projects.get(folder) or {}).get("hasTrustDialogAccepted") is True for folder in _above(site.root))


def _codex(site: Site) -> bool:
    path = os.path.join(codex.folder(site._replace(scope="user")), "config.toml")
    projects = edit_toml.value_of((read(path) or b"").decode()).get("projects") or {}
    return any((projects.get(folder) or {}).get("trust_level") == "trusted" for folder in _above(site.root))


def _gemini(site: Site) -> bool:
    if site.environ.get("GEMINI_CLI_TRUST_WORKSPACE") == "true":
        return True
    known = _json(os.path.join(site.home, ".gemini", "trustedFolders.json"))
    return any(known.get(folder) == "TRUST_FOLDER" for folder in _above(site.root))


def _copilot(site: Site) -> bool:
    known = _json(os.path.join(site.home, ".copilot", "config.json"))
    listed = known.get("trusted_folders", known.get("trustedFolders")) or []
    return any(folder in listed for folder in _above(site.root))


_LOOKS: dict[str, Callable[[Site], bool]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "copilot": _copilot,
}


def _json(path: str) -> dict[str, Any]:
    value = json.loads(read(path) or b"{}")
    return value if isinstance(value, dict) else {}


def _above(folder: str) -> list[str]:
    found = [folder]
    while os.path.dirname(found[-1]) != found[-1]:
        found.append(os.path.dirname(found[-1]))
    return found
