"""At which of git's moments a hook runs, as its arguments, the framework's variables and git's own files tell."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..memory.project import Project, busy

# What the pre-commit framework sets at the stages after a checkout, merge or rewrite. Source: its docs, "Supported git
# hooks". Its hooks get no arguments of git's.
_AFTER = ("PRE_COMMIT_CHECKOUT_TYPE", "PRE_COMMIT_IS_SQUASH_MERGE", "PRE_COMMIT_REWRITE_COMMAND")


def is_gate(argv: list[str], environ: Mapping[str, str]) -> bool:
    """Return whether a commit is about to be made, so that an exit code of 1 stops it."""
    return not argv and not any(environ.get(name) for name in _AFTER)


def is_deferred(project: Project, argv: list[str], environ: Mapping[str, str]) -> bool:
    """Return whether a hook should leave its work to a later one: git is in the middle of something, or nothing moved.

    `post-rewrite rebase` and post-merge run while the state of what they end is still there, and are not deferred.
    """
    state = busy(project.git_dir) if project.git_dir else ""
    if is_gate(argv, environ):
        return bool(state)
    words = argv[1:] if argv[:1] and argv[0].startswith("post-") else argv
    is_held = bool(project.git_dir) and os.path.exists(os.path.join(project.git_dir, "index.lock"))
    if is_held or environ.get("_PRE_COMMIT_SKIP_POST_CHECKOUT"):
        return True
    if (len(words) == 3 and words[2] == "0") or environ.get("PRE_COMMIT_CHECKOUT_TYPE") == "0":
        return True
    if words == ["rebase"] or environ.get("PRE_COMMIT_REWRITE_COMMAND") == "rebase":
        return state not in ("", "rebase")
    if words in (["0"], ["1"]) or environ.get("PRE_COMMIT_IS_SQUASH_MERGE"):
        return state not in ("", "merge")
    return bool(state)
