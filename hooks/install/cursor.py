"""Cursor: `.cursor/hooks.json`, `~/.cursor/hooks.json` with --user. Written by its documents: it was never run."""

from __future__ import annotations

from typing import Any

from ..clients import CLIENTS, Client
from . import session
from .draft import Draft
from .site import Site


def path(site: Site) -> str:
    """Return the hooks file of the scope at hand."""
    return site.path(".cursor/hooks.json")


def handler(hook: str, command: str, client: Client) -> dict[str, Any]:
    """Return one handler."""
    return {"command": command, "timeout": session.SECONDS * client.timeout_unit}


SHAPE = session.Shape(
    CLIENTS["cursor"],
    path,
    handler,
    grouped=False,
    trust="Cursor runs hooks in trusted workspaces only: trust this one when asked",
    header=(("version", 1),),
)


def install(site: Site, draft: Draft) -> None:
    """Plan our handlers in the file."""
    session.install(SHAPE, site, draft)


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the file without our handlers."""
    session.uninstall(SHAPE, site, draft)
