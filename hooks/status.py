"""`mem init` and `mem status`: make the store, and show what there is."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from typing import Any

from ..memory import schema
from ..memory.project import Project
from ..memory.record import printable, timestamp
from ..memory.store import count_active, count_by_kind, count_superseded
from .command import answer, has_store, open_project, open_store
from .env import Env
from .version import commit, version


def init_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def init(args: Namespace, env: Env) -> int:
    """Make the store; one that is there stays as it is."""
    project = open_project(args, env)
    made = not has_store(project)
    open_store(project, env, write=True).close()
    text = f"{'made' if made else 'there already:'} {project.store_path}"
    if made and not project.pinned and project.root:
        text += "\nnext: `mem install` sets up the hooks, `mem remember TEXT` keeps a first fact"
    answer(env, args, {"store": project.store_path, "root": project.root, "created": made}, text)
    return 0


def status_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def status(args: Namespace, env: Env) -> int:
    """Show project, workspace, counts, coverage and versions."""
    project = open_project(args, env)
    value: dict[str, Any] = {
        "project": project.root, "store": project.store_path, "exists": has_store(project),
        "workspace": project.workspace, "version": version(), "commit": commit(),
    }  # fmt: skip
    if value["exists"]:
        value |= _store_facts(project, env)
    answer(env, args, value, "\n".join(f"{name}: {_shown(item)}" for name, item in value.items()))
    return 0


def _store_facts(project: Project, env: Env) -> dict[str, Any]:
    from ..memory.embed import shipped
    from ..memory.vectors import coverage

    with open_store(project, env, write=False) as store:
        model = shipped()
        covered, active = coverage(store.db, model)
        return {
            "memories": count_active(store.db, timestamp(env.now())),
            "limit": store.limits.memories,
            "kinds": count_by_kind(store.db),
            "superseded": count_superseded(store.db),
            "vectors": {"model": model.name, "covered": covered, "active": active},
            "schema": len(schema.MIGRATIONS),
            "journal_mode": store.db.execute("PRAGMA journal_mode").fetchone()[0],
            "bytes": os.path.getsize(project.store_path),
        }


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items()) or "none"
    return printable(str(value)) or "none"
