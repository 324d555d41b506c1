"""`mem report`: one self-contained HTML page about a store: memories, timeline, coverage, use, and what went stale.

The page loads nothing and runs nothing (its own policy forbids both), so it can be mailed or kept. The same state gives
the same bytes: the watcher keeps a page that is there current, and touches it only when they change.
"""

from __future__ import annotations

import argparse
import os

from ..memory import overview
from ..memory.api import Store
from ..memory.errors import NotFound, UsageError
from ..memory.project import Project
from ..memory.record import KINDS, printable
from . import files
from .command import answer, open_project
from .env import Env

NAME = "report.html"
_SHOWN = 10  # memories in the lists of what is used most
_BARS = 45  # of the timeline; older ones are left out


def refresh(project: Project, env: Env) -> bool:
    """Bring the report up to date if one was made; return whether its bytes changed. Raises StoreError, OSError."""
    path = os.path.join(project.folder, NAME)
    if project.pinned or not os.path.isfile(path) or not os.path.isfile(project.store_path):
        return False
    return files.write_atomic(path, render(project, env).encode(), mode=0o600)


def render(project: Project, env: Env) -> str:
    """Return the page. Raises StoreError."""
    from ..templates import render as fill

    with Store.open(project.store_path, create=False, readonly=True, clock=env.clock) as store:
        told = overview.gather(store.db, env.now())
    periods = told.periods[-_BARS:]
    return fill(
        "report.html.j2",
        name=project.name,
        told=told,
        kinds=[(kind, [one for one in told.active if one.kind == kind]) for kind in KINDS],
        periods=periods,
        tallest=max((one.active + one.history for one in periods), default=1) or 1,
        shown=_SHOWN,
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem report`."""
    parser.add_argument("-o", "--output", default="", metavar="FILE", help="default: .mem/report.html, kept current")
    parser.add_argument("--stdout", action="store_true", help="print the page instead of writing it")


def run(args: argparse.Namespace, env: Env) -> int:
    """Write the page and say where it lies."""
    project = open_project(args, env)
    if not os.path.isfile(project.store_path):
        raise NotFound("there is nothing to report yet: no store; `mem remember` makes one", reason="no_store")
    text = render(project, env)
    if args.stdout:
        answer(env, args, {"html": text}, text.rstrip("\n"))
        return 0
    if project.pinned and not args.output:
        raise UsageError("a database named by --db or MEM_DB has no place for a report; give --output FILE")
    path = os.path.abspath(os.path.join(env.cwd, args.output)) if args.output else os.path.join(project.folder, NAME)
    if os.path.isdir(path) or path == project.store_path:
        raise UsageError(f"{printable(args.output)} is no place for a report")
    changed = files.write_atomic(path, text.encode(), mode=0o600)
    answer(env, args, {"path": path, "changed": changed}, path)
    return 0
