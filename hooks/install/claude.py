"""Claude Code: `.claude/settings.json`, `.claude/settings.local.json` with --local, `~/.claude/settings.json` with
--user."""

from __future__ import annotations

import os
from typing import Any

from ..clients import CLIENTS, Client
from . import session
from .draft import Draft
from .site import Site


def path(site: Site) -> str:
    """Return the settings file of the scope at hand."""
    if site.scope == "user":
        return os.path.join(site.environ.get("CLAUDE_CONFIG_DIR") or site.path(".claude"), "settings.json")
    return site.path(".claude/settings.local.json" if site.scope == "local" else ".claude/settings.json")


def handler(hook: str, command: str, client: Client) -> dict[str, Any]:
    """Return one handler. Without a timeout SessionEnd is killed after 1.5 s."""
    made: dict[str, Any] = {"type": "command", "command": command, "timeout": session.SECONDS}
    if hook == "session-start":
        made["statusMessage"] = "Recalling memory"
    return made


SHAPE = session.Shape(
    CLIENTS["claude"],
    path,
    handler,
    grouped=True,
    trust="Claude Code asks once whether you trust this folder, and names its hooks: they run after Yes",
)


def install(site: Site, draft: Draft) -> None:
    """Plan our handlers in the settings."""
    session.install(SHAPE, site, draft)


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the settings without our handlers; of a project, this machine's as well as the shared ones."""
    for scope in ("project", "local") if site.scope == "project" else (site.scope,):
        session.uninstall(SHAPE, site._replace(scope=scope), draft)
