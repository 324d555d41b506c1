"""Doctor's look at the clients: what each one's settings run, what it would receive, and what trust is missing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from ...memory.errors import Conflict, MemError
from ...memory.tokens import estimate
from ..clients import CLIENTS, Client
from ..files import read
from . import claude, codex, copilot, cursor, detect, edit_toml, gemini, mcp, probe, session, trust
from .check import BROKEN, NOTE, OK, Check
from .own import program_of
from .site import Site, is_foreign

SHAPES = {
    "claude": claude.SHAPE,
    "codex": codex.SHAPE,
    "gemini": gemini.SHAPE,
    "copilot": copilot.SHAPE,
    "cursor": cursor.SHAPE,
}
_REMOVE = "look where the entry came from, and remove it"
Place = tuple[str, str, dict[str, Any]]  # scope, path, what the settings mean


def checks(site: Site) -> Iterator[Check]:
    """Yield what there is to say about every client that is used here."""
    used = detect.clients(site)
    for name, shape in SHAPES.items():
        places: list[Place] = []
        for place in _places(shape, site):
            if isinstance(place, Check):
                yield place
            else:
                places.append(place)
        ours = [place for place in places if any(session.found(place[2], event) for event in session.events(place[2]))]
        if not ours and name in used:
            yield Check("client", NOTE, f"{name} is used here, but gets no memory", f"mem install {name}")
        for scope, path, value in ours:
            yield from _settings(shape, value, path=path, scope=scope)
        if ours:
            yield from _envelope(shape.client, ours, site)
            yield from _twice(name, ours, site)
            yield trust.check(name, site, shape.trust)
        elif name == "claude" and claude.plugin(site)[0]:
            yield Check("client", OK, "claude gets its memory through the plugin {} ({})".format(*claude.plugin(site)))
    yield from _servers(site)


def _places(shape: session.Shape, site: Site) -> Iterator[Place | Check]:
    for scope in ("project", "local", "user"):
        here = site._replace(scope=scope)
        paths = [shape.path(here)] if scope != "local" or shape.client.name == "claude" else []
        if shape.client.name == "codex" and scope != "local":
            paths.append(os.path.join(codex.folder(here), "config.toml"))
        if scope == "user" and paths and paths[0] == shape.path(site._replace(scope="project")):
            continue  # the project is the home folder
        for path in paths:
            try:
                text = session.decode(read(path) or b"", path)
                value = edit_toml.value_of(text) if path.endswith(".toml") else session.value_of(text, path)
            except (Conflict, OSError) as error:
                said = error.message if isinstance(error, MemError) else error.strerror
                yield Check("client", BROKEN, f"{shape.client.name} can't read {path}: {said}", f"mend {path}")
                continue
            if value:
                yield scope, path, value


def _settings(shape: session.Shape, value: dict[str, Any], *, path: str, scope: str) -> Iterator[Check]:
    """Compare the handlers in one file with what the client's program takes."""
    client = shape.client
    mend = f"mem install {client.name}" + {"project": "", "local": " --local", "user": " --user"}[scope]
    missing = [hook for hook, event in client.events.items() if not session.found(value, event)]
    if missing:
        yield Check("client", NOTE, f"{client.name}: {path} has no {', '.join(missing)}", mend)
    for event in session.events(value):
        if event not in client.events.values() and session.found(value, event) and "tool" not in event.lower():
            yield Check("client", BROKEN, f"{client.name} knows no event {event} ({path})", f"remove it, then {mend}")
    for _, handler, matcher in session.found(value, client.events["session-start"]):
        if client.matcher and matcher != client.matcher:
            yield Check("client", NOTE, f"{client.name}: the matcher {matcher!r} leaves sessions out ({path})", mend)
        if not client.matcher and matcher:
            yield Check("client", BROKEN, f"{client.name} never matches {matcher!r} ({path})", mend)
        given = next((float(str(handler[key])) for key in handler if key.startswith("timeout")), None)
        if given is not None and given < session.SECONDS * client.timeout_unit:
            yield Check("client", NOTE, f"{client.name}: a timeout of {given:g} is too short ({path})", mend)
    if value.get("disableAllHooks") is True:
        yield Check("client", BROKEN, f"{path} turns all hooks off", f'remove "disableAllHooks" from {path}')


def _envelope(client: Client, ours: list[Place], site: Site) -> Iterator[Check]:
    """Run each session-start command as the client would, and hold what it prints against what the client takes."""
    event = client.events["session-start"]
    commands = [
        str(handler.get("command", handler.get("bash")))
        for _, _, value in ours
        for _, handler, _ in session.found(value, event)
    ]
    sent = json.dumps({"hook_event_name": event, "cwd": site.root, "source": "startup"})
    for command in dict.fromkeys(commands):
        if is_foreign(program_of(command), site):
            yield Check("client", BROKEN, f"{client.name}: `{command}` was not run: it is no mem of yours", _REMOVE)
            continue
        outcome = probe.run(["sh", "-c", f"{command} 2>/dev/null"], site.root, dict(site.environ), stdin=sent)
        if outcome.code:
            yield Check(
                "client", BROKEN, f"{client.name}: `{command}` ends with {outcome.code}", f"mem install {client.name}"
            )
        else:
            yield _received(client, event, outcome.said)


def _received(client: Client, event: str, printed: str) -> Check:
    if not printed:
        return Check("client", OK, f"{client.name} gets nothing: there is nothing to say yet")
    text = context(client, event, printed)
    if text is None:
        return Check(
            "client", BROKEN, f"{client.name} would drop what the hook prints", "report this as a bug", shown=printed
        )
    size = len(text.encode("utf-16-le")) // 2
    figures = f"{size:,} characters, about {estimate(text):,} tokens; its limit is {client.limit:,} bytes"
    if len(printed.encode()) > client.limit:
        return Check("client", BROKEN, f"{client.name}: {figures}", "mem config set digest.tokens 400", shown=printed)
    return Check("client", OK, f"{client.name} gets {figures}", shown=printed)


def context(client: Client, event: str, printed: str) -> str | None:
    """Return the text that the client would hand to its model, None where it would drop the whole."""
    try:
        value = json.loads(printed)
    except ValueError:
        return None
    if client.envelope != "nested":
        fits = isinstance(value, dict) and list(value) == [client.envelope]
        return str(value[client.envelope]) if fits else None
    nested = value.get("hookSpecificOutput") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(nested, dict) or nested.keys() != {"hookEventName", "additionalContext"}:
        return None
    return str(nested["additionalContext"]) if nested["hookEventName"] == event else None


def _twice(name: str, ours: list[Place], site: Site) -> Iterator[Check]:
    """Two registrations of one hook would tell the agent everything twice."""
    event = CLIENTS[name].events["session-start"]
    found = [(scope, path) for scope, path, value in ours for _ in session.found(value, event)]
    flag = {"user": " --user", "local": " --local"}.get(found[-1][0], "") if found else ""
    if len(found) > 1:
        paths = " and ".join(path for _, path in found)
        yield Check("client", NOTE, f"{name} is registered twice: {paths}", f"mem uninstall {name}{flag}")
    plugin, place = claude.plugin(site) if name == "claude" else ("", "")
    if plugin and found:
        yield Check(
            "client", NOTE, f"{name}: the plugin {plugin} ({place}) does the same", f"mem uninstall {name}{flag}"
        )


def _servers(site: Site) -> Iterator[Check]:
    for name in SHAPES:
        for scope in ("project", "user"):
            here = site._replace(scope=scope)
            path = mcp.settings(here, name)
            try:
                text = session.decode(read(path) or b"", path)
                found = mcp.ours(text, path)
                there = mcp.servers(text, path)
            except (Conflict, OSError):
                continue  # said above, where the client's hooks lie in it too
            for one in found:
                yield from _server(name, there[one], site)


def _server(name: str, entry: dict[str, Any], site: Site) -> Iterator[Check]:
    if is_foreign(str(entry["command"]), site) or entry.get("env"):
        yield Check("client", BROKEN, f"{name}: the MCP server was not started: it is no mem of yours", _REMOVE)
        return
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    outcome = probe.run([str(entry["command"]), *entry["args"]], site.root, site.environ, stdin=ping)
    if '"result"' in outcome.said:
        yield Check("client", OK, f"{name}: the MCP server answers")
    else:
        said = outcome.said[:200] or f"exit {outcome.code}"
        yield Check("client", BROKEN, f"{name}: the MCP server does not answer ({said})", "mem install mcp")
