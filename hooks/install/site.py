"""Where an installation takes place: the repository, the home folder, the program, and what the user chose."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import NamedTuple

from ...memory.errors import MemError, UsageError
from ...memory.project import expand_path, find_project
from .. import git
from ..files import inside
from .own import quote


class Site(NamedTuple):
    """`root` is the working tree (a bare repository's own folder), the working directory without git; `git_dir` and
    `common_dir` are "" without git. `scope` is project, local (this machine's, not shared) or user. `program` is the
    absolute path of mem, `on_path` whether PATH finds a mem. `client` narrows the target mcp to one client, `shared`
    permits to write into a hooks folder that other repositories use too, `named` are the targets of this run,
    `tool_guard` asks for the guard before an agent's tool writes a memory file."""

    root: str
    git_dir: str
    common_dir: str
    home: str
    environ: Mapping[str, str]
    program: str
    on_path: bool
    scope: str = "project"
    client: str = ""
    shared: bool = False
    named: tuple[str, ...] = ()
    tool_guard: bool = False

    def path(self, name: str) -> str:
        """Return the path of a file from the root, or from the home folder in the scope user."""
        return os.path.join(self.home if self.scope == "user" else self.root, name)

    def words(self, *, portable: bool) -> str:
        """Return the shell words that start mem. `portable` is for files that are shared with other machines: there
        it is the bare name if PATH knows it; else it is the path of this installation."""
        return "mem" if portable and self.on_path else quote(self.program)


def find_site(start: str, *, environ: Mapping[str, str], project: str = "", scope: str = "project") -> Site:
    """Return the site that `start` lies in. Raises UsageError outside of any project in the scope project or local."""
    found = find_project(start, environ={**environ, "MEM_DB": ""}, project=project)
    if not found.root and scope != "user":
        raise UsageError(f"{os.path.abspath(start)} is no project: go to one, or name --user for your home folder")
    home = expand_path("~", environ)
    program = find_program(environ)
    on_path = bool(shutil.which("mem", path=environ.get("PATH", os.defpath)))
    return Site(found.root, found.git_dir, found.common_dir, home, environ, program, on_path, scope)


def find_program(environ: Mapping[str, str]) -> str:
    """Return the absolute path of the mem that runs, its links unresolved: a link stays when what it names moves on."""
    name = os.path.abspath(sys.argv[0]) if sys.argv and sys.argv[0] else ""
    beside = os.path.join(os.path.dirname(sys.executable), "mem")
    on_path = shutil.which("mem", path=environ.get("PATH", os.defpath)) or ""
    for path in (name, on_path, beside):
        if os.path.basename(path) in ("mem", "mem.exe") and os.access(path, os.X_OK):
            return os.path.abspath(path)
    return beside


def hooks_folder(site: Site) -> str:
    """Return the folder in which git looks for the hooks of this repository, absolute. Raises MemError.

    Git resolves a relative core.hooksPath from the folder that hooks run in: the working tree, or a bare repository.
    """
    if not site.git_dir:
        raise MemError(f"{site.root} is no git repository; run `git init` first", reason="no_repository")
    raw = git.run(["rev-parse", "--git-path", "hooks"], cwd=site.root, environ=site.environ)
    return os.path.normpath(os.path.join(site.root, os.fsdecode(raw.rstrip(b"\n"))))


def hooks_path_setting(site: Site) -> tuple[str, str]:
    """Return core.hooksPath as it is set and by whom (local, worktree, global, system, command), both "" if unset."""
    try:
        raw = git.run(
            ["config", "--show-scope", "--null", "--get", "core.hooksPath"], cwd=site.root, environ=site.environ
        )
    except git.GitFailed:
        return _setting_of_old_git(site)
    scope, _, value = raw.partition(b"\0")
    return os.fsdecode(value.rstrip(b"\0")), os.fsdecode(scope)


def _setting_of_old_git(site: Site) -> tuple[str, str]:
    """Git before 2.26 has no --show-scope; the setting may also not be there at all."""
    for scope, options in (("local", ["--local"]), ("global", [])):
        try:
            words = ["config", *options, "--null", "--get", "core.hooksPath"]
            return os.fsdecode(git.run(words, cwd=site.root, environ=site.environ).rstrip(b"\0")), scope
        except git.GitFailed:
            continue
    return "", ""


def default_hooks_folder(site: Site) -> str:
    """Return where git looks for hooks when core.hooksPath is not set."""
    return os.path.join(site.common_dir, "hooks")


def release() -> tuple[str, str] | None:
    """Return the project's address and this version's tag, None for a build that is no release."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        package = distribution("memhooks")
    except PackageNotFoundError:
        return None
    urls = dict(entry.split(", ", 1) for entry in package.metadata.get_all("Project-URL") or [] if ", " in entry)
    address = next((urls[name] for name in urls if name.lower() in ("repository", "source")), "")
    # An install from a folder or a commit says so: pre-commit could not get that from the address.
    if not address or package.read_text("direct_url.json") or not package.version.replace(".", "").isdigit():
        return None
    return address, f"v{package.version}"


def is_foreign(program: str, site: Site) -> bool:
    """Return whether a command names no program of the user's own: what the repository brings is not started."""
    if not program or program == "mem":
        return not program
    place = os.path.realpath(os.path.join(site.root, program))
    return not os.path.isabs(program) or (inside(site.root, place) and place != os.path.realpath(site.program))
