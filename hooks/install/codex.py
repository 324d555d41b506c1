"""Codex CLI: `.codex/hooks.json`, `~/.codex/hooks.json` with --user; where `config.toml` beside it holds hooks already,
ours go there too, since Codex wants one place for them."""

from __future__ import annotations

import os
from typing import Any

from ..clients import CLIENTS, Client
from . import session
from .draft import Draft
from .site import Site


def folder(site: Site) -> str:
    """Return Codex's folder in the scope at hand."""
    if site.scope == "user":
        return site.environ.get("CODEX_HOME") or os.path.join(site.home, ".codex")
    return site.path(".codex")


def path(site: Site) -> str:
    """Return the hooks file of the scope at hand."""
    return os.path.join(folder(site), "hooks.json")


def handler(hook: str, command: str, client: Client) -> dict[str, Any]:
    """Return one handler. Codex rejects keys that it does not know."""
    return {"type": "command", "command": command, "timeout": session.SECONDS * client.timeout_unit}


SHAPE = session.Shape(
    CLIENTS["codex"],
    path,
    handler,
    grouped=True,
    trust="Codex runs no hook before you have trusted it: start codex, trust the folder, type /hooks and trust each one"
    " (untrusted hooks are skipped in silence)",
)


def install(site: Site, draft: Draft) -> None:
    """Plan our handlers in the file."""
    session.install(SHAPE, site, draft)


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the file without our handlers."""
    session.uninstall(SHAPE, site, draft)
