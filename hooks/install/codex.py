"""Codex CLI: `.codex/hooks.json`, `~/.codex/hooks.json` with --user; where `config.toml` beside it holds hooks already,
ours go there too, since Codex wants one place for them."""

from __future__ import annotations

import os
from typing import Any

from ...memory.errors import Conflict
from ..clients import CLIENTS, Client
from . import edit_toml, session
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
    """Plan our handlers in `config.toml` where it holds hooks, else in `hooks.json`. Raises Conflict."""
    config = os.path.join(folder(site), "config.toml")
    text = session.decode(draft.read(config) or b"", config)
    if session.events(session.Named(config)(edit_toml.value_of, text)):
        session.check_link(site, config)
        draft.write(config, _put(text, config, site).encode())
        draft.notes.append(SHAPE.trust)
    else:
        session.install(SHAPE, site, draft)


def uninstall(site: Site, draft: Draft) -> None:
    """Plan both files without our handlers."""
    session.uninstall(SHAPE, site, draft)
    config = os.path.join(folder(site), "config.toml")
    data = draft.read(config)
    before = session.decode(data or b"", config)
    text = _take(before, config)
    if text != before:
        draft.give_back(config, text.encode(), same=edit_toml.same, empty=lambda left: not left.strip())


def _put(text: str, config: str, site: Site) -> str:
    named = session.Named(config)
    for event, matcher, made in session.wanted(SHAPE, site):
        ours = session.found(edit_toml.value_of(text), event)
        if len(ours) == 1 and session.serves(ours[0][1:], made, matcher):
            continue
        text = _take(text, config, event) if ours else text
        group = {"matcher": matcher} if matcher else {}
        text = named(edit_toml.append, text, ("hooks", event), group, array=True)
        text = named(edit_toml.append, text, ("hooks", event, "hooks"), made, array=True)
    return text


def _take(text: str, config: str, event: str = "") -> str:
    """Return `text` without our handlers (of one event), and without the groups that held nothing else."""
    named = session.Named(config)
    value = named(edit_toml.value_of, text)
    for name in [event] if event else session.events(value):
        for path, _, _ in reversed(session.found(value, name)):
            found = edit_toml.tables(text)
            groups = [index for index, (header, _, _) in enumerate(found) if header == f"[[hooks.{name}]]"]
            handlers = [index for index, (header, _, _) in enumerate(found) if header == f"[[hooks.{name}.hooks]]"]
            if len(path) != 5 or len(groups) <= int(path[2]):
                raise Conflict(f"{config} holds our hooks in a form that is not ours; take them out by hand")
            group = value["hooks"][name][int(path[2])]
            mine = [index for index in handlers if index > groups[int(path[2])]][int(path[4])]
            text = named(edit_toml.remove, text, mine)
            if len(group["hooks"]) == 1 and group.keys() <= {"matcher", "hooks"}:
                text = named(edit_toml.remove, text, groups[int(path[2])])
    return text
