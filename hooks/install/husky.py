"""husky 9: a marked block at the head of the files in `.husky`, which husky runs with `sh -e`; `.husky/_` is husky's
own and stays as it is."""

from __future__ import annotations

import os

from ...memory.errors import Conflict, MemError
from . import git, shell
from .draft import Draft
from .session import check_link
from .site import Site, hooks_folder


def install(site: Site, draft: Draft) -> None:
    """Plan our block in each of husky's hook files. Raises Conflict without husky, or for a file that is no shell."""
    folder = husky_folder(site)
    if not folder:
        raise Conflict(f"there is no .husky folder in {site.root}; run `npx husky init`, or `mem install git`")
    for hook in shell.GIT_HOOKS:
        path = os.path.join(folder, hook)
        check_link(site, path)
        data = draft.read(path)
        if data is not None and not shell.can_hold(data):
            raise Conflict(f"{path} is no shell script, and husky runs only those; mend it, then run this again")
        rest = shell.remove(data, path) if data is not None else None
        content = shell.block(hook, git.names_for(site, hook), program=git.fallback(site), whole=rest is None)
        draft.write(path, shell.insert(rest, content) if rest is not None else content)
    if not _is_active(site, folder):
        draft.notes.append("git does not look into husky's folder yet: run `npx husky`")
    draft.notes.append(f"commit the files in {os.path.relpath(folder, site.root)}: a teammate without mem is told how")


def uninstall(site: Site, draft: Draft) -> None:
    """Plan husky's hook files as they were."""
    folder = husky_folder(site)
    for hook in shell.GIT_HOOKS if folder else ():
        path = os.path.join(folder, hook)
        data = draft.read(path)
        if data is not None and shell.is_ours(data):
            draft.write(path, shell.remove(data, path))


def husky_folder(site: Site) -> str:
    """Return husky's folder: the parent of the one that core.hooksPath names, else `.husky` where there is one."""
    try:
        folder = hooks_folder(site)
    except MemError:
        folder = ""
    if os.path.basename(folder) == "_" and os.path.exists(os.path.join(folder, "h")):
        return os.path.dirname(folder)
    usual = os.path.join(site.root, ".husky")
    return usual if os.path.isdir(usual) else ""


def _is_active(site: Site, folder: str) -> bool:
    try:
        return os.path.dirname(hooks_folder(site)) == folder
    except MemError:
        return False
