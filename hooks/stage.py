"""At which of git's moments a hook runs, as its arguments, the framework's variables and git's own files tell."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..memory.project import Project, busy

# What the pre-commit framework sets at the stages after a checkout, merge or rewrite. Source: its docs, "Supported git
# hooks". Its hooks get no arguments of git's.
_AFTER = ("PRE_COMMIT_CHECKOUT_TYPE", "PRE_COMMIT_IS_SQUASH_MERGE", "PRE_COMMIT_REWRITE_COMMAND")


def is_gate(argv: list[str], environ: Mapping[str, str]) -> bool:
    """Return whether a commit is about to be made, so that an exit code of 1 stops it."""
    return not argv and not any(environ.get(name) for name in _AFTER)


def is_deferred(project: Project, argv: list[str], environ: Mapping[str, str]) -> bool:
    """Return whether a hook should leave its work to a later one: git is in the middle of something, or nothing moved.

    Before a commit git holds index.lock itself, and that counts for nothing.
    """
    if is_gate(argv, environ):
        return bool(project.git_dir and busy(project.git_dir))
    return moves_nothing(argv, environ) or is_busy(project, just_ended(argv, environ))


def moves_nothing(argv: list[str], environ: Mapping[str, str]) -> bool:
    """Return whether git calls for something that moves no HEAD: a checkout of files (third argument 0), or the
    framework putting unstaged changes aside."""
    words = _words(argv)
    if environ.get("_PRE_COMMIT_SKIP_POST_CHECKOUT") or environ.get("PRE_COMMIT_CHECKOUT_TYPE") == "0":
        return True
    return len(words) == 3 and words[2] == "0"


def just_ended(argv: list[str], environ: Mapping[str, str]) -> str:
    """Return "rebase" or "merge" where git has just finished one, though its state is still there: post-rewrite fires
    before rebase-merge is removed, post-merge (which has the squash flag alone) before MERGE_HEAD is. Else ""."""
    words = _words(argv)
    if words == ["rebase"] or environ.get("PRE_COMMIT_REWRITE_COMMAND") == "rebase":
        return "rebase"
    return "merge" if words in (["0"], ["1"]) or environ.get("PRE_COMMIT_IS_SQUASH_MERGE") else ""


def is_busy(project: Project, ended: str) -> bool:
    """Return whether git is in the middle of something else than what has just `ended`: a later hook sees to it."""
    if not project.git_dir:
        return False
    return os.path.exists(os.path.join(project.git_dir, "index.lock")) or busy(project.git_dir) not in ("", ended)


def to_add(paths: Iterable[str], cwd: str, environ: Mapping[str, str]) -> str:
    """Return files as words for `git add`, as they are named from where the user stands: git runs its hooks at the
    top and says in GIT_PREFIX which folder below it that is."""
    from shlex import quote

    from ..memory.record import printable

    here = os.path.join(cwd, environ.get("GIT_PREFIX", ""))
    return " ".join(quote(printable(os.path.relpath(path, here))) for path in paths)


def _words(argv: list[str]) -> list[str]:
    """Return what git gave its hook, without the hook's name before it."""
    return argv[1:] if argv[:1] and argv[0].startswith("post-") else argv
