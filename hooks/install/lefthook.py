"""lefthook: commands in its configuration, in whichever form that is (YAML, JSON, TOML), and `lefthook install`."""

from __future__ import annotations

import os
from typing import Any

from ...memory.errors import Conflict
from . import after, detect, edit_json, edit_toml, edit_yaml, git, session
from .draft import Draft, Program
from .own import hook_of, line
from .session import Named, check_link, decode
from .shell import GIT_HOOKS
from .site import Site, hooks_folder

_MARK = b"call_lefthook"


def install(site: Site, draft: Draft) -> None:
    """Plan our commands under each git hook. Raises Conflict without a configuration."""
    path = detect.first_file(site, detect.LEFTHOOK_FILES)
    if not path:
        raise Conflict(f"there is no lefthook.yml in {site.root}; run `lefthook install` first, or `mem install git`")
    check_link(site, path)
    text = decode(draft.read(path) or b"", path)
    named = Named(path)
    edit: Any = _editor(path)
    for hook in GIT_HOOKS:
        for name in git.names_for(site, hook):
            text = _put(edit, named, text, hook, name, site)
    draft.write(path, text.encode())
    program = after.find(site, "lefthook")
    folder = hooks_folder(site) if site.git_dir else ""
    missing = tuple(os.path.join(folder, hook) for hook in GIT_HOOKS if not _is_lefthooks(os.path.join(folder, hook)))
    if missing and program and folder:
        draft.commands.append(Program((program, "install"), missing))
    elif missing:
        draft.notes.append("lefthook was not found here: run `lefthook install` where it is")


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the configuration without our commands, and the git hooks that only we asked for taken out."""
    path = detect.first_file(site, detect.LEFTHOOK_FILES)
    data = draft.read(path) if path else None
    if data is None:
        return
    text = decode(data, path)
    named = Named(path)
    edit: Any = _editor(path)
    receipt = draft.receipts.get(path)
    original = _original(edit, receipt.original if receipt else None)
    before = text
    for hook in GIT_HOOKS:
        for name in reversed(_ours(named(edit.value_of, text), hook)):
            text = _take(edit, named, text, hook, name, original)
    if text == before:
        return
    draft.give_back(path, text.encode(), same=lambda a, b: _original(edit, a) == _original(edit, b), empty=_is_blank)
    if not site.git_dir:
        return
    for hook in GIT_HOOKS:
        place = os.path.join(hooks_folder(site), hook)
        made = draft.receipts.get(place)
        if made and made.original is None and _is_lefthooks(place):
            draft.write(place, None)


def command(hook: str, name: str, site: Site) -> dict[str, Any]:
    """Return what lefthook runs for one of our hooks; git's arguments are {1}, {2} and {3} there."""
    program = site.words(portable=True)
    arguments = {"post-checkout": " {1} {2} {3}", "post-merge": " {1}", "post-rewrite": " {1}"}.get(hook, "")
    return {"run": line(program, name + arguments, remove_from="lefthook's configuration" if name == "guard" else "")}


def _put(edit: Any, named: Named, text: str, hook: str, name: str, site: Site) -> str:
    wanted = command(hook, name, site)
    value = named(edit.value_of, text) or {}
    key = f"memory-{name}"
    commands = value.get(hook, {}).get("commands", {}) if isinstance(value.get(hook, {}), dict) else {}
    there = commands.get(key) if isinstance(commands, dict) else None
    if isinstance(there, dict) and there.get("run") == wanted["run"]:
        return text
    if there is not None:
        if key not in _ours(value, hook):
            raise Conflict(f"{named.path} has a command {key} that is not ours; rename it, then run this again")
        text = _take(edit, named, text, hook, key, value)
    if edit is edit_toml:
        return str(named(edit.append, text, (hook, "commands", key), wanted))
    return str(named(edit.append, text, (hook, "commands"), wanted, key=key))


def _take(edit: Any, named: Named, text: str, hook: str, key: str, keep: Any) -> str:
    if edit is not edit_toml:
        text = named(edit.remove, text, (hook, "commands", key))
        return str(named(edit.prune, text, (hook, "commands"), keep))
    header = f"[{hook}.commands.{key}]"
    places = [index for index, (name, _, _) in enumerate(edit.tables(text)) if name == header]
    if not places:
        raise Conflict(f"{named.path} holds {key} in a form that is not ours; take it out by hand")
    return str(named(edit.remove, text, places[0]))


def _ours(value: Any, hook: str) -> list[str]:
    commands = value.get(hook) if isinstance(value, dict) else None
    commands = commands.get("commands") if isinstance(commands, dict) else None
    if not isinstance(commands, dict):
        return []
    return [key for key, one in commands.items() if isinstance(one, dict) and hook_of(_runs(one))]


def _runs(one: dict[str, Any]) -> Any:
    run = one.get("run")
    return run.replace("{", "").replace("}", "") if isinstance(run, str) else None


def _editor(path: str) -> Any:
    end = path.rpartition(".")[2]
    return {"json": _Json, "jsonc": _Json, "toml": edit_toml}.get(end, edit_yaml)


class _Json:
    """edit_json with the name that the other editors have for reading."""

    append, remove, prune = (staticmethod(one) for one in (edit_json.append, edit_json.remove, edit_json.prune))

    @staticmethod
    def value_of(text: str) -> Any:
        return session.value_of(text, "")


def _original(edit: Any, data: bytes | None) -> Any:
    try:
        return None if data is None else edit.value_of(data.decode()) or {}
    except (Conflict, UnicodeDecodeError):
        return None


def _is_blank(data: bytes) -> bool:
    return data.strip() in (b"", b"{}")


def _is_lefthooks(path: str) -> bool:
    from ..files import read

    return _MARK in (read(path) or b"")
