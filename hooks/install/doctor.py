"""`mem doctor`: prove that hooks, clients and store really work, and say the mend for what does not.

Nothing is changed without --fix, which does the safe mends only. Exit 1 when something is broken.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator

from ...memory import config
from ...memory.errors import MemError
from ...memory.policy import scan
from ...memory.project import Project, data_home, find_project, personal
from ...memory.record import printable
from .. import candidates, git, guard, verdict
from ..command import answer
from ..env import Env
from ..version import version_text
from . import doctor_clients, doctor_git, doctor_store, probe
from .check import BROKEN, NOTE, OK, Check
from .site import Site, find_program, find_site


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem doctor`."""
    parser.add_argument("--fix", action="store_true", help="do the safe mends: permissions, the full-text index")


def run(args: argparse.Namespace, env: Env) -> int:
    """Look at everything, mend what --fix may, print it, and return 1 if something is broken."""
    project = find_project(env.cwd, environ=env.environ, project=args.project, db=args.db)
    found = list(everything(project, env, args.project))
    done: list[str] = []
    if args.fix:
        done = [check.fix() for check in found if check.fix and check.level == BROKEN]
        found = list(everything(project, env, args.project)) if done else found
    broken = [check for check in found if check.level == BROKEN]
    value = {
        "ok": not broken,
        "fixed": done,
        "checks": [
            {"area": one.area, "level": one.level, "message": one.message, "mend": one.mend, "shown": one.shown}
            for one in found
        ],
    }
    if broken and not args.json:
        env.print(_text(found, done))
        raise MemError(f"{len(broken)} of {len(found)} checks found something broken", reason="broken")
    answer(env, args, value, _text(found, done))
    return 1 if broken else 0


def everything(project: Project, env: Env, folder: str = "") -> Iterator[Check]:
    """Yield every check there is; one that fails itself is a finding."""
    yield from _program(env)
    site = _site(env, folder)
    backups = os.path.join(data_home(env.environ), "backups")
    parts: list[tuple[str, Callable[[], Iterable[Check]]]] = [
        ("git", lambda: doctor_git.checks(site, backups) if project.root else ()),
        ("client", lambda: doctor_clients.checks(site)),
        ("store", lambda: doctor_store.checks(project, env)),
        ("guard", lambda: _allowances(project, env)),
    ]
    for area, part in parts:
        try:
            yield from part()
        except MemError as error:
            yield Check(area, BROKEN, error.message)
        except OSError as error:
            yield Check(area, BROKEN, f"{error.filename or area}: {error.strerror or error}")


def _site(env: Env, folder: str) -> Site:
    project = find_project(env.cwd, environ={**env.environ, "MEM_DB": ""}, project=folder)
    scope = "project" if project.root else "user"
    site = find_site(env.cwd, environ=env.environ, project=folder, scope=scope)
    return site if project.root else site._replace(root=personal(env.environ).folder)


def _program(env: Env) -> Iterator[Check]:
    """Which program this is, and whether PATH leads to the same one."""
    versions = f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}, {_git_version(env)}"
    yield Check("program", OK, f"{version_text()}; {versions}")
    ours = find_program(env.environ)
    there = shutil.which("mem", path=env.environ.get("PATH", os.defpath))
    if not there:
        yield Check("program", NOTE, f"PATH does not lead to mem; hooks fall back to {ours}", "put mem on PATH")
    elif os.path.realpath(there) != os.path.realpath(ours):
        said = probe.run([there, "--version"], env.cwd, env.environ).said
        if said.split()[:1] != ["mem"]:
            yield Check("program", BROKEN, f"hooks would run {there}, which is another program", f"put {ours} first")
        elif said != version_text():
            yield Check("program", NOTE, f"PATH leads to {there} ({said}), this is {ours}", "remove one of the two")


def _git_version(env: Env) -> str:
    try:
        return git.run(["--version"], cwd=env.cwd, environ=env.environ).decode("ascii", "replace").strip()
    except MemError as error:
        return error.message


def _allowances(project: Project, env: Env) -> Iterator[Check]:
    """Lines of .mem-allow that nothing needs any more would let the next finding of that value pass."""
    if not project.git_dir or not project.root:
        return
    here = env._replace(cwd=project.root)
    scope = guard.scope_of(project, config.load(project, env.environ), here)
    try:
        found = verdict.with_stale(verdict.reach(candidates.tracked(scope), scope, scan), scope)
    except git.GitFailed as error:
        if "work tree" in error.message:
            return  # a bare repository tracks no files
        raise
    for one in found.stale:
        yield Check("guard", NOTE, f".mem-allow: {one.rule} {one.fingerprint} fits nothing any more", "remove the line")
    if found.problems:
        yield Check(
            "guard", NOTE, f"tracked memory files hold {len(found.problems)} findings", "mem guard --all says which"
        )


def _text(found: list[Check], done: list[str]) -> str:
    lines = [f"fixed: {printable(one)}" for one in done]
    for check in found:
        lines.append(f"{check.level:<6} {printable(check.message)}")
        if check.mend and check.level != OK:
            lines.append(f"       mend: {printable(check.mend)}")
        if check.shown:
            lines.append(f"       it gets: {printable(check.shown)}")
    return "\n".join(lines)
