"""Find the project, its workspace and its store by reading git's files; no process is started.

Source of the file formats: gitrepository-layout(5), git-worktree(1), gitsubmodules(7).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from .errors import StoreError, UsageError
from .named import NamedTuple

_MARKERS = ("package.json", "pyproject.toml", "go.mod", "Cargo.toml")


class Project(NamedTuple):
    """Where a memory belongs. `root` is the working tree at hand, "" for the personal store; `git_dir` is that of this
    worktree and `common_dir` the one that all worktrees share, both "" without git. `pinned` says that --db or MEM_DB
    chose the file, so that nothing but that file is written."""

    root: str
    store_path: str
    workspace: str
    git_dir: str = ""
    common_dir: str = ""
    pinned: bool = False

    @property
    def folder(self) -> str:
        """The store's folder, `.mem` of a project."""
        return os.path.dirname(self.store_path)

    @property
    def name(self) -> str:
        """What people call the project: its folder's name, or "personal"."""
        return os.path.basename(self.root) or "personal"

    @property
    def head_key(self) -> str:
        """The key of the store's `meta` under which this worktree's HEAD is recorded when its anchors are compared."""
        return "head:" + self.git_dir


def find_project(
    start: str = ".", *, environ: Mapping[str, str] = os.environ, project: str = "", db: str = ""
) -> Project:
    """Return the project that `start` lies in, or the one that `project` (a folder) or `db` (a store's file) names.

    Relative paths are taken from `start`. GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE never choose the project. Raises
    UsageError for a folder that is not there, StoreError for a `.mem` that is a link out of the project.
    """
    folder = os.path.join(start, expand_path(project, environ)) if project else start
    try:
        real = os.path.realpath(folder) if os.path.isdir(folder) else ""
    except FileNotFoundError:  # a relative folder, and the working directory was deleted under us
        real = ""
    if not real:
        gone = folder in ("", ".")
        raise UsageError("the working directory is gone; change into one" if gone else f"there is no folder {folder}")
    found = _find_root(real, environ)
    db = db or environ.get("MEM_DB", "")
    if db:
        path = os.path.abspath(os.path.join(os.path.abspath(start), expand_path(db, environ)))
        return found._replace(store_path=path, pinned=True)
    if found.root:
        _refuse_link_out(found)
    return found


def personal(environ: Mapping[str, str]) -> Project:
    """Return the personal store as a project without a root."""
    return Project("", os.path.join(data_home(environ), "personal", "memories.db"), "default")


def data_home(environ: Mapping[str, str]) -> str:
    """Return MEM_HOME, else memhooks below XDG_DATA_HOME, else below ~/.local/share; HOME may be unset."""
    if environ.get("MEM_HOME"):
        return os.path.abspath(expand_path(environ["MEM_HOME"], environ))
    data = environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(data):  # the XDG base directory specification says to ignore a relative one
        data = os.path.join(expand_path("~", environ), ".local", "share")
    return os.path.join(data, "memhooks")


def expand_path(path: str, environ: Mapping[str, str]) -> str:
    """Return a path with ~ expanded by `environ`. Raises UsageError for NUL, and for a path of another system."""
    if "\0" in path or (os.name != "nt" and _is_windows_path(path)):
        raise UsageError(f"{path!r} is no path on this system")
    if path != "~" and not path.startswith("~/"):
        return os.path.expanduser(path) if path.startswith("~") else path
    home = environ.get("HOME") or os.path.expanduser("~")
    # A container's user may have neither HOME nor an entry in the system's list; login gives such a one the root.
    return ("/" if home == "~" else home).rstrip("/") + path[1:] or "/"


def head(git_dir: str, common_dir: str) -> str:
    """Return the commit id that HEAD names, "" where there is none yet or git keeps its refs in a way of its own."""
    ref = _read(os.path.join(git_dir, "HEAD"))
    if not ref.startswith("ref: "):
        return ref if _is_commit(ref) else ""
    name = ref[5:]
    loose = _read(os.path.join(common_dir, name))
    if _is_commit(loose):
        return loose
    try:
        with open(os.path.join(common_dir, "packed-refs"), "rb") as file:
            packed = file.read()
    except OSError:
        return ""
    end = packed.find(b" " + os.fsencode(name) + b"\n")
    return packed[packed.rfind(b"\n", 0, end) + 1 : end].decode("ascii", "replace") if end >= 0 else ""


def busy(git_dir: str) -> str:
    """Return what git is in the middle of: "rebase", "sequence" (of picks or reverts), "merge", "bisect", or ""."""
    states = (
        ("rebase", "rebase-merge"), ("rebase", "rebase-apply"), ("sequence", "sequencer"), ("merge", "MERGE_HEAD"),
        ("bisect", "BISECT_LOG"),
    )  # fmt: skip
    return next((what for what, name in states if os.path.exists(os.path.join(git_dir, name))), "")


def _find_root(start: str, environ: Mapping[str, str]) -> Project:
    listed = environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)
    ceilings = {os.path.realpath(one) for one in listed if os.path.isabs(one)}
    marked, folder = "", start
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return _git_project(folder, git, environ)
        target = _read(git)
        if target.startswith("gitdir:"):
            return _git_project(folder, os.path.normpath(os.path.join(folder, target[7:].strip())), environ)
        if all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs")):
            root = os.path.dirname(folder) if os.path.basename(folder) == ".git" else folder
            return _git_project(root, folder, environ)
        if not marked and any(os.path.isfile(os.path.join(folder, name)) for name in _MARKERS):
            marked = folder
        parent = os.path.dirname(folder)
        if parent == folder or parent in ceilings:
            break
        folder = parent
    if marked:
        return Project(marked, os.path.join(marked, ".mem", "mem.db"), "default")
    return personal(environ)


def _git_project(root: str, git_dir: str, environ: Mapping[str, str]) -> Project:
    shared = _read(os.path.join(git_dir, "commondir"))
    common = os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir
    settings = _core_settings(common)
    if settings.get("bare", "").lower() in ("true", "yes", "on", "1"):
        store = os.path.join(common, "mem")
    elif "worktree" in settings and common != os.path.join(root, ".git"):  # a submodule and its linked worktrees
        store = os.path.join(common, settings["worktree"], ".mem")
    elif common == os.path.join(root, ".git") or (os.path.basename(common) == ".git" and common != git_dir):
        store = os.path.join(os.path.dirname(common), ".mem")
    else:
        store = _apart_store(root, common, environ, is_main=common == git_dir)
    path = os.path.join(os.path.normpath(store), "mem.db")
    return Project(root, path, _workspace(git_dir), git_dir, common)


def _apart_store(root: str, common: str, environ: Mapping[str, str], *, is_main: bool) -> str:
    """Return the store's folder of a repository made with --separate-git-dir. Git does not record where its main
    worktree lies, so a linked one asks the registry; where that does not know they share a folder in the git dir."""
    shared = os.path.join(common, "mem")
    if os.path.isfile(os.path.join(shared, "mem.db")):
        return shared
    if is_main:
        return os.path.join(root, ".mem")
    from .registry import registered

    for entry in registered(environ):
        target = _read(os.path.join(entry.root, ".git"))
        if target.startswith("gitdir:") and os.path.normpath(os.path.join(entry.root, target[7:].strip())) == common:
            return os.path.dirname(entry.store)
    return shared


def _core_settings(common: str) -> dict[str, str]:
    """Return `bare` and `worktree` of a repository's [core] section, names in lower case."""
    found: dict[str, str] = {}
    for name in ("config", "config.worktree"):
        section = ""
        for line in _read(os.path.join(common, name)).splitlines():
            line = line.strip()
            if line.startswith("["):
                section, _, line = line.lower().partition("]")
                line = line.strip()
            if section == "[core" and line and line[0] not in "#;":
                key, equals, value = line.partition("=")
                found[key.strip().lower()] = _setting(value) if equals else "true"
    return found


def _setting(value: str) -> str:
    """Return a value of git's config as it is meant: without quotes, or without a comment behind it."""
    value = value.strip()
    if value.startswith('"'):
        return value[1:].partition('"')[0]
    return value.partition("#")[0].partition(";")[0].rstrip()


def _workspace(git_dir: str) -> str:
    for state in ("rebase-merge", "rebase-apply"):
        name = _read(os.path.join(git_dir, state, "head-name"))
        if name.startswith("refs/heads/"):
            return "branch:" + _utf8(name[11:])
    ref = _read(os.path.join(git_dir, "HEAD"))
    if ref.startswith("ref: refs/heads/") and ref != "ref: refs/heads/.invalid":  # what a reftable repository writes
        return "branch:" + _utf8(ref[16:])
    return "commit:" + ref if _is_commit(ref) else "default"


def _utf8(name: str) -> str:
    """Return a branch's name as text that a database takes; git lets it be any bytes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_commit(text: str) -> bool:
    """Return whether a text is an object id, of SHA-1 or SHA-256."""
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def _is_windows_path(path: str) -> bool:
    return path.startswith("\\\\") or (path[:1].isalpha() and path[1:3] in (":\\", ":/"))


def _refuse_link_out(project: Project) -> None:
    """A repository may bring a `.mem` that is a symbolic link: it must not make us write elsewhere."""
    for path in (project.folder, project.store_path):
        if os.path.islink(path):
            home = os.path.realpath(os.path.dirname(project.folder))
            if not os.path.realpath(path).startswith(home + os.sep):
                raise StoreError(
                    f"{path} is a link out of the project; remove it, or name the store by MEM_DB", reason="link_out"
                )


def _read(path: str) -> str:
    """Return a small file's text without its ends' white space, "" where it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(65536).strip()
    except OSError:
        return ""
