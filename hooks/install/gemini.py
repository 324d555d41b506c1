"""Gemini CLI: `.gemini/settings.json`, `~/.gemini/settings.json` with --user. Its timeouts are in milliseconds, and its
matcher is compared as a whole, so there is none."""

from __future__ import annotations

from typing import Any

from ..clients import CLIENTS, Client
from . import session
from .draft import Draft
from .site import Site


def path(site: Site) -> str:
    """Return the settings file of the scope at hand."""
    return site.path(".gemini/settings.json")


def handler(hook: str, command: str, client: Client) -> dict[str, Any]:
    """Return one handler."""
    return {
        "name": f"memhooks-{hook}",
        "type": "command",
        "command": command,
        "timeout": session.SECONDS * client.timeout_unit,
    }


SHAPE = session.Shape(
    CLIENTS["gemini"],
    path,
    handler,
    grouped=True,
    trust="Gemini CLI runs hooks in trusted folders only: answer its question, or set GEMINI_CLI_TRUST_WORKSPACE=true"
    " for `gemini -p`",
)


def install(site: Site, draft: Draft) -> None:
    """Plan our handlers in the settings."""
    session.install(SHAPE, site, draft)


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the settings without our handlers."""
    session.uninstall(SHAPE, site, draft)
