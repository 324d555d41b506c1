"""`mem quarantine`: what the share file brought and the guard kept out of the store, without its text."""

from __future__ import annotations

import argparse

from ..memory import policy
from ..memory.errors import NotFound
from ..memory.record import printable, short
from .command import answer, has_store, open_project, open_store
from .env import Env


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the words of `mem quarantine`."""
    parser.add_argument("--drop", default="", metavar="ID", help="forget that a record was kept out")


def run(args: argparse.Namespace, env: Env) -> int:
    """List what was kept out, newest first, with the rule and how to mend it; or drop an entry."""
    project = open_project(args, env)
    rows: list[tuple[str, ...]] = []
    if has_store(project):
        with open_store(project, env, write=bool(args.drop)) as store:
            if args.drop:
                store.db.execute("DELETE FROM quarantine WHERE id = ? OR id LIKE ?", (args.drop, "%" + args.drop))
                if not store.db.execute("SELECT changes()").fetchone()[0]:
                    raise NotFound(f"nothing in quarantine has the id {printable(args.drop)}")
            rows = store.db.execute(
                "SELECT id, source, rule, masked, seen_at FROM quarantine ORDER BY seen_at DESC, id"
            ).fetchall()
    names = ("id", "source", "rule", "masked", "seen_at")
    value = {"quarantine": [dict(zip(names, row, strict=True)) for row in rows]}
    lines = [f"{short(row[0])}  {row[2]}  {printable(row[3])}  ({row[1]}, {row[4][:10]})" for row in rows]
    lines += [f"{rule}: {policy.explain(rule)}" for rule in sorted({row[2] for row in rows})]
    if rows:
        lines.append("Mend the line in the share file, or `mem guard allow` it there; then `mem share in`.")
    answer(env, args, value, "\n".join(lines) or "nothing was kept out")
    return 0
