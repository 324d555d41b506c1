"""Copilot CLI: a file of our own, `.github/hooks/memhooks.json`, `~/.copilot/hooks/memhooks.json` with --user."""

from __future__ import annotations

from typing import Any

from ..clients import CLIENTS, Client
from . import session
from .draft import Draft
from .site import Site


def path(site: Site) -> str:
    """Return the hooks file of the scope at hand."""
    return site.path(".copilot/hooks/memhooks.json" if site.scope == "user" else ".github/hooks/memhooks.json")


def handler(hook: str, command: str, client: Client) -> dict[str, Any]:
    """Return one handler."""
    return {"type": "command", "bash": command, "timeoutSec": session.SECONDS * client.timeout_unit}


SHAPE = session.Shape(
    CLIENTS["copilot"],
    path,
    handler,
    grouped=False,
    trust="Copilot CLI skips the hooks of a folder that you have not trusted, in silence: trust it when asked, or add"
    " --trust-folder to `copilot -p`",
    header=(("version", 1),),
)


def install(site: Site, draft: Draft) -> None:
    """Plan our handlers in the file."""
    session.install(SHAPE, site, draft)


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the file without our handlers."""
    session.uninstall(SHAPE, site, draft)
