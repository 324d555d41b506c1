"""`mem quarantine`: what the share file brought and the guard kept out of the store, without its text."""

from __future__ import annotations

import argparse

from ..memory import policy, quarantine
from ..memory import store as rows
from ..memory.record import printable, short
from .command import answer, has_store, open_project, open_store
from .env import Env


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the words of `mem quarantine`."""
    parser.add_argument("--drop", default="", metavar="ID", help="forget that a record was kept out")


def run(args: argparse.Namespace, env: Env) -> int:
    """List what was kept out, newest first, with the rule and how to mend it; or drop an entry."""
    project = open_project(args, env)
    kept: list[quarantine.Kept] = []
    if has_store(project) or args.drop:
        with open_store(project, env, write=False) as store:
            if args.drop:
                with rows.transaction(store.db):
                    quarantine.drop(store.db, args.drop)
            kept = quarantine.entries(store.db)
    value = {"quarantine": [one._asdict() for one in kept]}
    lines = [
        f"{short(one.id)}  {one.rule}  {printable(one.masked)}  ({one.source}, {one.seen_at[:10]})" for one in kept
    ]
    lines += [f"{rule}: {policy.explain(rule)}" for rule in sorted({one.rule for one in kept})]
    if kept:
        lines.append("Mend the line in the share file, or `mem guard allow` it there; then `mem share in`.")
    answer(env, args, value, "\n".join(lines) or "nothing was kept out")
    return 0
