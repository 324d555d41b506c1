"""Doctor's look at git: which file it runs for each hook, whether ours is in it, and what that does on a probe."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ...memory.errors import MemError
from .. import git as calls
from ..files import read
from . import detect, lefthook, precommit, probe, shell
from .check import BROKEN, NOTE, OK, Check
from .draft import Draft
from .git import LEGACY
from .husky import husky_folder
from .own import hook_of, program_of, quote
from .site import Site, default_hooks_folder, hooks_folder, hooks_path_setting, is_foreign

_BY_LEGACY = "git, by way of pre-commit"


def checks(site: Site, backups: str) -> Iterator[Check]:
    """Yield what there is to say about git's hooks."""
    if not site.git_dir:
        yield Check("git", NOTE, f"{site.root} is no git repository, so there are no git hooks")
        return
    folder = hooks_folder(site)
    value, scope = hooks_path_setting(site)
    if os.path.exists(folder) and not os.path.isdir(folder):
        said = f"core.hooksPath is {value} ({scope}), so git runs no hooks at all"
        yield Check("git", BROKEN, said, f"unset core.hooksPath in the {scope} configuration, then mem install git")
        return
    if value and os.path.realpath(folder) != os.path.realpath(default_hooks_folder(site)):
        yield Check("git", NOTE, f"git looks for hooks in {folder} (core.hooksPath, {scope})")
    else:
        yield Check("git", OK, f"git looks for hooks in {folder}")
    holders = {hook: holder(site, folder, hook) for hook in shell.GIT_HOOKS}
    if not any(holders.values()):
        yield from _absent(site, folder)
        return
    for hook, found in holders.items():
        yield from _hook(site, folder, hook, found=found, backups=backups)
    yield from _doubles(site, folder)
    yield from _configured(site)


def holder(site: Site, folder: str, hook: str) -> str:
    """Return through what git reaches our hook: git, husky, pre-commit, lefthook, or "". What pre-commit moved aside
    when it wrote its own file it runs too."""
    path = os.path.join(folder, hook)
    data = read(path) if os.access(path, os.X_OK) else None
    if shell.is_ours(data):
        return "git"
    own = husky_folder(site)
    if data and own and folder == os.path.join(own, "_") and shell.is_ours(read(os.path.join(own, hook))):
        return "husky"
    if data and precommit.is_frameworks(data) and any(_commands(site, "pre-commit", hook)):
        return "pre-commit"
    if data and precommit.is_frameworks(data) and _is_in_legacy(path):
        return _BY_LEGACY
    if data and lefthook.is_lefthooks(data) and any(_commands(site, "lefthook", hook)):
        return "lefthook"
    return ""


def _is_in_legacy(path: str) -> bool:
    return os.access(path + LEGACY, os.X_OK) and shell.is_ours(read(path + LEGACY))


def _absent(site: Site, folder: str) -> Iterator[Check]:
    elsewhere = [
        name for name in ("pre-commit", "lefthook") if any(_commands(site, name, hook) for hook in shell.GATES)
    ]
    unused = default_hooks_folder(site)
    if any(shell.is_ours(read(os.path.join(place, hook))) for place in (folder, unused) for hook in shell.GIT_HOOKS):
        why = "they are not executable" if folder == unused else "git does not look there"
        yield Check("git", BROKEN, f"our hooks lie in {unused}, but {why}", "mem install git")
        return
    for name in elsewhere:
        yield Check(
            "git", BROKEN, f"the configuration of {name} names our hooks, but git does not run {name}",
            f"{name} install, or mem install {name}",
        )  # fmt: skip
    if not elsewhere:
        yield Check("git", NOTE, "no hook of ours is installed for git", "mem install")


def _hook(site: Site, folder: str, hook: str, *, found: str, backups: str) -> Iterator[Check]:
    path, mend = os.path.join(folder, hook), f"mem install {found.split(',')[0]}"
    if not found:
        yield Check("git", BROKEN, f"{hook}: {_why_not(path, backups)}", f"mem install {_manager(site)}")
    elif hook in shell.GATES and found == "pre-commit" and precommit.is_release(site) and _guards(site, hook):
        yield Check("git", OK, f"{hook}: runs the guard through pre-commit, in an environment of its own")
    elif hook in shell.GATES:
        outcome, short = _probe(site, folder, hook, found)
        if not outcome.refused:
            said = (outcome.said.splitlines() or [""])[-1][:200]
            yield Check(
                "git", BROKEN, f"{hook}: the guard let a token pass through {found} (exit {outcome.code}: {said})",
                mend,
            )  # fmt: skip
        elif not short.refused and short.code == 0:
            yield Check("git", BROKEN, f"{hook}: with a short PATH the guard lets a token pass", mend)
        elif not short.refused:
            yield Check(
                "git", NOTE, f"{hook}: the guard works here; programs with a window may not find mem on their PATH",
                f"mkdir -p ~/.local/bin && ln -s {quote(site.program)} ~/.local/bin/mem",
            )  # fmt: skip
        else:
            yield Check("git", OK, f"{hook}: runs the guard through {found}; it refused a token on a probe")
    else:
        yield Check("git", OK, f"{hook}: runs {', '.join(shell.GIT_HOOKS[hook])} through {found}")
    yield from _block(site, folder, hook, found)


def _why_not(path: str, backups: str) -> str:
    if shell.is_ours(read(path)):
        return f"{path} is not executable, so git passes it by"
    if not Draft(backups).receipts.get(path):
        return "git runs nothing of ours"
    why = "another program wrote the file anew" if os.path.lexists(path) else "the file is gone"
    return f"git runs nothing of ours any more: {why}"


def _block(site: Site, folder: str, hook: str, found: str) -> Iterator[Check]:
    """Tell what became of our block in a file that others write too: what stands before it could end the hook."""
    place = {"git": folder, "husky": husky_folder(site)}.get(found)
    if not place:
        return
    path = os.path.join(place, hook)
    data = read(path) or b""
    if not shell.blocks(data):
        yield Check("git", BROKEN, f"{path} holds half of our block", f"take it out by hand, then mem install {found}")
    elif shell.blocks(data) > 1:
        yield Check("git", BROKEN, f"{path} holds our block {shell.blocks(data)} times", f"mem install {found}")
    elif not shell.comes_first(data):
        yield Check("git", NOTE, f"{path} has lines before our block, which may end it", f"mem install {found}")


def _probe(site: Site, folder: str, hook: str, found: str) -> tuple[probe.Outcome, probe.Outcome]:
    if found == "husky":
        words = ["sh", "-e", os.path.join(husky_folder(site), hook)]
    elif found in ("git", _BY_LEGACY):
        words = [os.path.join(folder, hook) + (LEGACY if found == _BY_LEGACY else "")]
    else:
        line = next((line for line in _commands(site, found, hook) if hook_of(line) == "guard"), "")
        if is_foreign(program_of(line), site):
            nothing = probe.Outcome(1, "it was not run: the configuration names no mem of yours")
            return nothing, nothing
        words = ["sh", "-c", line]
    with probe.repository(site.environ) as (place, environ):
        return probe.run(words, place, environ), probe.run(words, place, probe.short_path(environ))


def _commands(site: Site, manager: str, hook: str) -> list[str]:
    """Return the shell lines of ours that a manager runs at one git hook."""
    try:
        if manager == "pre-commit":
            return precommit.lines(site, hook)
        return lefthook.lines(site, hook)
    except MemError:
        return []


def _guards(site: Site, hook: str) -> bool:
    return any(hook_of(line) == "guard" for line in _commands(site, "pre-commit", hook))


def _manager(site: Site) -> str:
    return next(iter(detect.managers(site)), "git")


def _doubles(site: Site, folder: str) -> Iterator[Check]:
    """Tell where one commit would run the guard twice."""
    path = os.path.join(folder, "pre-commit")
    data = read(path) or b""
    ways = ["git"] if shell.is_ours(data) or (precommit.is_frameworks(data) and _is_in_legacy(path)) else []
    ways += ["pre-commit"] if precommit.is_frameworks(data) and _commands(site, "pre-commit", "pre-commit") else []
    ways += ["lefthook"] if lefthook.is_lefthooks(data) and _commands(site, "lefthook", "pre-commit") else []
    if len(ways) > 1:
        yield Check(
            "git", NOTE, f"the guard runs twice in one commit, through {' and '.join(ways)}", f"mem uninstall {ways[0]}"
        )


def _configured(site: Site) -> Iterator[Check]:
    """Newer git runs hooks that its configuration names, besides the files."""
    try:
        raw = calls.run(
            ["config", "--null", "--get-regexp", r"^hook\..*\.command$"], cwd=site.root, environ=site.environ
        )
    except calls.GitFailed:
        return
    named = [part.partition(b"\n") for part in raw.split(b"\0") if part]
    for name, _, command in named:
        yield Check("git", NOTE, f"git's configuration has a hook of its own: {_text(name)} = {_text(command)}")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
