"""Claude Code: `.claude/settings.json`, `.claude/settings.local.json` with --local, `~/.claude/settings.json` with
--user."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from ...memory.errors import Conflict
from ..clients import CLIENTS, Client
from ..files import read
from . import session
from .draft import Draft
from .site import Site

PLUGINS = ("mem", "memhooks")  # the names by which a marketplace may offer ours


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


def plugin(site: Site) -> tuple[str, str]:
    """Return our plugin's name and the settings that turn it on, both "" where none do."""
    for scope in ("local", "project", "user"):
        place = path(site._replace(scope=scope))
        with contextlib.suppress(Conflict, OSError):
            plugins = session.value_of(session.decode(read(place) or b"", place), place).get("enabledPlugins")
            for name, on in plugins.items() if isinstance(plugins, dict) else ():
                if name.split("@")[0] in PLUGINS and on is True:
                    return name, place
    return "", ""


def install(site: Site, draft: Draft) -> None:
    """Plan our handlers in the settings."""
    session.install(SHAPE, site, draft)
    name, place = plugin(site)
    if name:
        draft.notes.append(f"the plugin {name} ({place}) does the same: turn it off there, or `mem uninstall claude`")


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the settings without our handlers; of a project, this machine's as well as the shared ones."""
    for scope in ("project", "local") if site.scope == "project" else (site.scope,):
        session.uninstall(SHAPE, site._replace(scope=scope), draft)
