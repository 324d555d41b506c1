"""What there is to install into: hook managers in the repository, agent programs in the project and at home."""

from __future__ import annotations

import os
import shutil

from . import claude
from .site import Site

# What shows that a client is used: a folder in the project, one at home, its program.
CLIENT_MARKS = {
    "claude": (".claude", ".claude", "claude"),
    "codex": (".codex", ".codex", "codex"),
    "gemini": (".gemini", ".gemini", "gemini"),
    "cursor": (".cursor", ".cursor", "cursor"),
    "copilot": (".github/hooks", ".copilot", "copilot"),
}
PRE_COMMIT_FILES = (".pre-commit-config.yaml", ".pre-commit-config.yml")
LEFTHOOK_FILES = tuple(
    f"{folder}{dot}lefthook.{end}"
    for folder, dot in (("", ""), ("", "."), (".config/", ""))
    for end in ("yml", "yaml", "json", "jsonc", "toml")
)


def targets(site: Site, verb: str) -> list[str]:
    """Return the targets to propose: those found, plain git hooks where no hook manager is; to uninstall, all that
    could be there."""
    git_targets = managers(site) if site.git_dir and site.scope != "user" else []
    if verb == "uninstall":
        managed = ["git", "pre-commit", "husky", "lefthook"] if site.git_dir and site.scope != "user" else []
        return [*managed, *CLIENT_MARKS, "mcp"]
    if site.git_dir and site.scope != "user" and not git_targets:
        git_targets = ["git"]
    found = clients(site)
    return [*git_targets, *found, *(["mcp"] if found else [])]


def managers(site: Site) -> list[str]:
    """Return the hook managers that the repository is set up for."""
    found = []
    if first_file(site, PRE_COMMIT_FILES[:1]):
        found.append("pre-commit")
    if os.path.isdir(os.path.join(site.root, ".husky")):
        found.append("husky")
    if first_file(site, LEFTHOOK_FILES):
        found.append("lefthook")
    return found


def clients(site: Site) -> list[str]:
    """Return the clients that leave traces in the project, at home or on PATH, and do not have ours by a plugin."""
    path = site.environ.get("PATH", os.defpath)
    has_plugin = bool(claude.plugin(site)[0])
    return [
        name
        for name, (project, home, program) in CLIENT_MARKS.items()
        if not (name == "claude" and has_plugin)
        and (
            (site.scope != "user" and os.path.isdir(os.path.join(site.root, project)))
            or os.path.isdir(os.path.join(site.home, home))
            or shutil.which(program, path=path)
        )
    ]


def first_file(site: Site, names: tuple[str, ...]) -> str:
    """Return the path of the first of `names` that is a file below the root, "" where none is."""
    return next((path for name in names if os.path.isfile(path := os.path.join(site.root, name))), "")
