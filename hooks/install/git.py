"""Plain git hooks: a marked block in each hook file, in the folder where git looks.

Where git looks is what git says. core.hooksPath is never set or changed. A hook that is no shell script, that is a
link, or that is switched off by its mode is moved aside under another name and handed over to.
"""

from __future__ import annotations

import os

from ...memory.config import load
from ...memory.errors import Conflict
from ...memory.project import find_project
from . import shell
from .draft import Draft
from .site import Site, default_hooks_folder, hooks_folder, hooks_path_setting

SUFFIX = ".before-memhooks"


def install(site: Site, draft: Draft) -> None:
    """Plan our block in each hook of this repository. Raises Conflict where git looks in a folder that is not ours to
    write in, and says whose it is."""
    folder = hooks_folder(site)
    _check_folder(site, folder)
    portable = is_in_work_tree(site, folder)
    program = fallback(site) if portable else site.words(portable=False)
    for hook in shell.GIT_HOOKS:
        _install_one(os.path.join(folder, hook), hook, site=site, program=program, draft=draft)
    if portable:
        draft.notes.append(f"git looks for hooks in {folder}, which your repository may track: commit the change if so")


def uninstall(site: Site, draft: Draft) -> None:
    """Plan the hook files as they were."""
    folder = hooks_folder(site)
    folders = [folder] if folder == default_hooks_folder(site) else [folder, default_hooks_folder(site)]
    for place in folders:
        for hook in shell.GIT_HOOKS:
            _uninstall_one(os.path.join(place, hook), draft)


def installed(site: Site) -> dict[str, bool]:
    """Return for each hook whether the file that git runs holds our block."""
    from ..files import read

    folder = hooks_folder(site)
    return {hook: shell.is_ours(read(os.path.join(folder, hook))) for hook in shell.GIT_HOOKS}


def fallback(site: Site) -> str:
    """Return where a shared hook file looks for mem off the PATH, as a shell word: the usual place below the home
    folder, or this installation's where PATH does not know mem at all."""
    if site.on_path:
        return '"$HOME/.local/bin/mem"'
    home = site.home.rstrip(os.sep) + os.sep
    plain = site.program[len(home) :]
    if site.program.startswith(home) and plain.replace("/", "").replace(".", "").replace("-", "").isalnum():
        return f'"$HOME/{plain}"'
    return site.words(portable=False)


def names_for(site: Site, hook: str) -> tuple[str, ...]:
    """Return the hooks of ours that a git hook runs; the mirror holds up a commit only where it is not in `.mem`."""
    names = shell.GIT_HOOKS[hook]
    if hook not in shell.GATES:
        return names
    project = find_project(site.root, environ={**site.environ, "MEM_DB": ""})
    private = str(load(project, site.environ)["mirror.path"]).startswith(".mem/")
    return tuple(name for name in names if name != "mirror" or not private)


def _install_one(path: str, hook: str, *, site: Site, program: str, draft: Draft) -> None:
    data = draft.read(path)
    beside = os.path.basename(path) + SUFFIX
    names = names_for(site, hook)
    rest = data
    if data is not None and shell.is_ours(data):
        rest = shell.remove(data, path)  # put in anew below, so that twice is once
    elif os.path.lexists(path) and not (_runs(path) and shell.can_hold(data or b"")):
        draft.move(path, os.path.join(os.path.dirname(path), beside))
        rest = None
    if rest is not None:
        draft.write(path, shell.insert(rest, shell.block(hook, names, program=program)))
        return
    handed_over = draft.exists(os.path.join(os.path.dirname(path), beside))
    content = shell.block(hook, names, program=program, beside=beside if handed_over else "", whole=True)
    draft.write(path, shell.insert(None, content), mode=0o755)


def _runs(path: str) -> bool:
    return os.access(path, os.X_OK) and not os.path.islink(path)


def _uninstall_one(path: str, draft: Draft) -> None:
    data = draft.read(path)
    if data is None or not shell.is_ours(data):
        return
    after = shell.remove(data, path)
    draft.write(path, after)
    if after is None and os.path.lexists(path + SUFFIX):
        draft.move(path + SUFFIX, path)


def _check_folder(site: Site, folder: str) -> None:
    value, scope = hooks_path_setting(site)
    if os.path.basename(folder) == "_" and os.path.exists(os.path.join(folder, "h")):
        raise Conflict(f"husky manages the hooks in {folder}; run `mem install husky` instead")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise Conflict(f"core.hooksPath is {value}, which switches hooks off; unset it, then install again")
    if os.path.realpath(folder) == os.path.realpath(default_hooks_folder(site)) or site.shared:
        return
    if scope in ("global", "system"):
        raise Conflict(
            f"core.hooksPath is set for all your repositories ({scope}: {value}), so git does not look into this one's"
            f" own hooks folder. To check every repository, add --shared-hooks: the blocks then go into {folder}."
            " Or use the pre-commit framework: `mem install pre-commit`"
        )


def is_in_work_tree(site: Site, folder: str) -> bool:
    """Return whether a folder lies among the files that the repository may track."""
    inside = os.path.realpath(folder).startswith(os.path.realpath(site.root) + os.sep)
    return inside and not os.path.realpath(folder).startswith(os.path.realpath(site.common_dir) + os.sep)
