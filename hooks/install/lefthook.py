"""lefthook: commands in its configuration, in whichever form that is (YAML, JSON, TOML), and `lefthook install`."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from ...memory.errors import Conflict
from ..files import read
from . import after, detect, edit_json, edit_toml, edit_yaml, git, session
from .draft import Draft, Program, made_by
from .own import hook_of, line
from .session import Named, check_link, decode
from .shell import GATES, GIT_HOOKS
from .site import Site, hooks_folder

_MARK = b"call_lefthook"


def install(site: Site, draft: Draft) -> None:
    """Plan our commands under each git hook. Raises Conflict without a configuration."""
    path = detect.first_file(site, detect.LEFTHOOK_FILES)
    if not path:
        raise Conflict(f"there is no lefthook.yml in {site.root}; run `lefthook install` first, or `mem install git`")
    check_link(site, path)
    text = decode(draft.read(path) or b"", path)
    file = _File(path, _editor(path))
    for hook in GIT_HOOKS:
        for name in git.names_for(site, hook):
            text = file.put(text, hook, name, site)
    draft.write(path, text.encode())
    program = after.find(site, "lefthook")
    folder = hooks_folder(site) if site.git_dir else ""
    missing = tuple(os.path.join(folder, hook) for hook in GIT_HOOKS if not _is_there(os.path.join(folder, hook)))
    if missing and program and folder:
        draft.commands.append(Program((program, "install"), (*missing, _checksum(site))))
    elif missing:
        draft.notes.append("lefthook was not found here: run `lefthook install` where it is")


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the configuration without our commands, and the git hooks that only we asked for taken out."""
    path = detect.first_file(site, detect.LEFTHOOK_FILES)
    data = draft.read(path) if path else None
    if data is None:
        return
    text = decode(data, path)
    edit: Any = _editor(path)
    receipt = draft.receipts.get(path)
    original = _original(edit, receipt.original if receipt else None)
    before = text
    for hook in GIT_HOOKS:
        for name in reversed(ours(Named(path)(edit.value_of, text), hook)):
            text = _File(path, edit).take(text, hook, name, keep=original)
    if text == before:
        return
    draft.give_back(path, text.encode(), same=lambda a, b: _original(edit, a) == _original(edit, b), empty=_is_blank)
    if site.git_dir:
        _take_hooks(site, draft)


def _take_hooks(site: Site, draft: Draft) -> None:
    """Plan what `lefthook install` made because we ran it as it was before, its note of the configuration too."""
    for hook in GIT_HOOKS:
        place = os.path.join(hooks_folder(site), hook)
        made = draft.receipts.get(made_by("lefthook", place))
        if made and made.original is None and _is_there(place):
            draft.write(place, None, receipt=made_by("lefthook", place))
    note = _checksum(site)
    made = draft.receipts.get(made_by("lefthook", note))
    if made and (made.original is None or made.left_as(draft.read(note))):
        draft.write(note, made.original, receipt=made_by("lefthook", note))


def _checksum(site: Site) -> str:
    """Return the file in which lefthook notes for which configuration it has installed git's hooks."""
    return os.path.join(site.common_dir, "info", "lefthook.checksum")


def command(hook: str, name: str, site: Site) -> dict[str, Any]:
    """Return what lefthook runs for one of our hooks; git's arguments are {1}, {2} and {3} there."""
    program = site.words(portable=True)
    given = {"post-checkout": " {1} {2} {3}", "post-merge": " {1}", "post-rewrite": " {1}"}.get(hook, "")
    arguments = "" if hook in GATES else f" {hook}{given}"
    return {"run": line(program, name + arguments, remove_from="lefthook's configuration" if name == "guard" else "")}


def lines(site: Site, hook: str) -> list[str]:
    """Return the shell lines of ours that lefthook runs at one git hook. Raises Conflict."""
    path = detect.first_file(site, detect.LEFTHOOK_FILES)
    if not path:
        return []
    value = _editor(path).value_of(decode(read(path) or b"", path))
    return [str(_commands(value, hook)[name].get("run", "")) for name in ours(value, hook)]


def is_lefthooks(data: bytes) -> bool:
    """Return whether a hook file is lefthook's."""
    return _MARK in data


class _File(NamedTuple):
    """The configuration at `path` in one of its forms; `edit` is the editor for that form."""

    path: str
    edit: Any

    def put(self, text: str, hook: str, name: str, site: Site) -> str:
        """Return `text` with one command of ours. Raises Conflict where its name is another's."""
        named = Named(self.path)
        wanted, key = command(hook, name, site), f"memory-{name}"
        value = named(self.edit.value_of, text) or {}
        there = _commands(value, hook).get(key)
        if isinstance(there, dict) and there.get("run") == wanted["run"]:
            return text
        if there is not None:
            if key not in ours(value, hook):
                raise Conflict(f"{self.path} has a command {key} that is not ours; rename it, then run this again")
            text = self.take(text, hook, key, keep=value)
        if self.edit is edit_toml:
            return str(named(self.edit.append, text, (hook, "commands", key), wanted))
        return str(named(self.edit.append, text, (hook, "commands"), wanted, key=key))

    def take(self, text: str, hook: str, key: str, *, keep: Any) -> str:
        """Return `text` without one command of ours."""
        named = Named(self.path)
        if self.edit is not edit_toml:
            text = named(self.edit.remove, text, (hook, "commands", key))
            return str(named(self.edit.prune, text, (hook, "commands"), keep))
        header = f"[{hook}.commands.{key}]"
        places = [index for index, (name, _, _) in enumerate(self.edit.tables(text)) if name == header]
        if not places:
            raise Conflict(f"{self.path} holds {key} in a form that is not ours; take it out by hand")
        return str(named(self.edit.remove, text, places[0]))


def ours(value: Any, hook: str) -> list[str]:
    """Return the names of our commands under one git hook."""
    return [key for key, one in _commands(value, hook).items() if isinstance(one, dict) and hook_of(_runs(one))]


def _commands(value: Any, hook: str) -> dict[str, Any]:
    section = value.get(hook) if isinstance(value, dict) else None
    commands = section.get("commands") if isinstance(section, dict) else None
    return commands if isinstance(commands, dict) else {}


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


def _is_there(path: str) -> bool:
    return is_lefthooks(read(path) or b"")
