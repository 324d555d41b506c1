"""`mem install` and `mem uninstall`: plan every target in one draft, show the diff, ask where nothing was named, do it.

A target that refuses leaves its files as they were; the others are done, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
from importlib import import_module
from typing import Any, NamedTuple

from ...memory.errors import MemError, NotFound, UsageError
from ...memory.project import data_home, find_project
from ...memory.record import printable
from .. import sharefile
from ..clients import CLIENTS
from ..command import answer
from ..env import Env
from . import after, detect
from .draft import Draft
from .site import Site, find_site

TARGETS = {
    "git": "git",
    "pre-commit": "precommit",
    "husky": "husky",
    "lefthook": "lefthook",
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "cursor": "cursor",
    "copilot": "copilot",
    "mcp": "mcp",
}


class Outcome(NamedTuple):
    """What was planned: the targets that worked, and (target, message, reason) of those that refused."""

    targets: tuple[str, ...]
    refused: tuple[tuple[str, str, str], ...]


def install_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem install`."""
    _arguments(parser)
    parser.add_argument(
        "--tool-guard", action="store_true", help="let the guard judge what an agent's tools write, before they do"
    )
    parser.add_argument(
        "--shared-hooks", action="store_true", help="write into a hooks folder that all your repositories use"
    )


def uninstall_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem uninstall`."""
    _arguments(parser)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"one or more of {', '.join(TARGETS)}")
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument("--local", action="store_true", help="Claude Code: settings of this machine, not shared")
    scope.add_argument("--user", action="store_true", help="the client's settings in your home folder")
    parser.add_argument("--client", default="", metavar="NAME", help="target mcp: for this client only")
    parser.add_argument("--yes", "-y", action="store_true", help="don't ask")
    parser.add_argument("--dry-run", action="store_true", help="print the diff and change nothing")


def install(args: argparse.Namespace, env: Env) -> int:
    """Carry out `mem install`."""
    return _run(args, env, "install")


def uninstall(args: argparse.Namespace, env: Env) -> int:
    """Carry out `mem uninstall`."""
    return _run(args, env, "uninstall")


def _run(args: argparse.Namespace, env: Env, verb: str) -> int:
    site = _site(args, env)
    targets = _named(args.targets) or detect.targets(site, verb)
    if not targets:
        raise NotFound(
            f"there is neither git nor an agent's folder or program in {site.path('')}: name a target, one of"
            f" {', '.join(TARGETS)}"
        )
    draft = Draft(os.path.join(data_home(env.environ), "backups"))
    outcome = plan(site._replace(named=tuple(targets)), draft, targets, verb)
    if verb == "install":
        draft.notes.extend(_waiting(args, env))
    if args.dry_run:
        return _answer(args, env, draft, verb=verb, outcome=outcome, done=False)
    if not args.targets and not args.yes and draft.steps:
        _show(env, verb, outcome, draft)
        if not _agrees(env):
            raise MemError("nothing was changed: the answer was no", reason="declined")
    draft.apply()
    refused = (*outcome.refused, *after.run_all(draft, site))
    return _answer(args, env, draft, verb=verb, outcome=outcome._replace(refused=refused), done=True)


def plan(site: Site, draft: Draft, targets: list[str], verb: str) -> Outcome:
    """Plan `verb` ("install" or "uninstall") of each target; what a refusing one had planned is taken back."""
    done: list[str] = []
    refused: list[tuple[str, str, str]] = []
    for name in targets:
        taken = draft.snapshot()
        try:
            getattr(import_module(f".{TARGETS[name]}", __package__), verb)(site, draft)
            done.append(name)
        except MemError as error:
            draft.rollback(taken)
            refused.append((name, error.message, error.reason))
    return Outcome(tuple(done), tuple(refused))


def _waiting(args: argparse.Namespace, env: Env) -> list[str]:
    """Say that memories of the team are there to be taken in."""
    project = find_project(env.cwd, environ={**env.environ, "MEM_DB": ""}, project=args.project)
    try:
        count = sharefile.waiting(project, env)
    except (MemError, OSError):
        return []  # doctor says what is wrong with the store or the file
    return [f"{count:,} memories that your team shares wait here: `mem share in` takes them in"] if count else []


def _site(args: argparse.Namespace, env: Env) -> Site:
    if args.client and args.client not in CLIENTS:
        raise UsageError(f"{args.client!r} is no client; the clients are {', '.join(CLIENTS)}")
    scope = "user" if args.user else "local" if args.local else "project"
    site = find_site(env.cwd, environ=env.environ, project=args.project, scope=scope)
    tool_guard, shared = getattr(args, "tool_guard", False), getattr(args, "shared_hooks", False)
    return site._replace(client=args.client, shared=shared, tool_guard=tool_guard)


def _named(names: list[str]) -> list[str]:
    for name in names:
        if name not in TARGETS:
            raise UsageError(f"{name!r} is no target; the targets are {', '.join(TARGETS)}")
    return sorted(dict.fromkeys(names), key=lambda name: name == "mcp")  # which looks at what the others will make


def _agrees(env: Env) -> bool:
    if not env.stdin.isatty():
        raise UsageError("nobody is there to ask; add --yes, --dry-run, or name the targets")
    env.stderr.write("Do this? [y/N] ")
    env.stderr.flush()
    return env.stdin.readline().strip().lower() in ("y", "yes")


def _show(env: Env, verb: str, outcome: Outcome, draft: Draft) -> None:
    env.say(f"mem {verb}: {', '.join(outcome.targets) or 'nothing'}")
    env.say(draft.diff())


def _answer(
    args: argparse.Namespace, env: Env, draft: Draft, *, verb: str, outcome: Outcome, done: bool
) -> int:  # fmt: skip
    paths = draft.paths()
    notes = list(dict.fromkeys(draft.notes))
    value: dict[str, Any] = {"targets": list(outcome.targets), "changed": paths, "done": done, "notes": notes}
    if not done:
        value["diff"] = draft.diff()
    what = "\n".join(f"{verb}ed: {printable(path)}" for path in paths) if done else draft.diff().rstrip("\n")
    text = "\n".join([what or "nothing to change", *(f"note: {note}" for note in notes)])
    if outcome.refused:
        if paths:
            env.say(text)
        message = "; ".join(f"{name}: {what}" for name, what, _ in outcome.refused)
        raise MemError(message, reason=outcome.refused[0][2])
    answer(env, args, value, text)
    return 0
