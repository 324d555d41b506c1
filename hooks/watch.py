"""`mem watch`: keep mirror, index, shared memories and report current while files change.

One process for a project, or for all registered ones. That it runs is told by a lock, never by a pid, so a crash leaves
nothing behind that the next start has to clear. It reads and renders; it never commits and never stages.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from ..memory import registry, schema
from ..memory.errors import Locked, MemError, Unavailable, UsageError
from ..memory.project import Project, data_home
from ..memory.record import printable, seconds
from . import detach, files, service
from .command import answer, open_project
from .env import Env
from .watch_loop import STATUS, Loop, OutOfTime
from .watch_project import Watched, lock_path

_WAIT = 10.0  # seconds for a watcher to start or to end
_ACTIONS = ("start", "stop", "status", "service")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the words of `mem watch`."""
    parser.add_argument("action", nargs="?", choices=_ACTIONS, help="none: watch in the foreground")
    parser.add_argument("what", nargs="?", choices=("install", "remove"), help="of the service")
    parser.add_argument("--once", action="store_true", help="bring everything up to date once, and end")
    parser.add_argument("--all", action="store_true", help="all projects that have a store, in one process")
    parser.add_argument("--dry-run", action="store_true", help="print the service file instead of writing it")


def run(args: argparse.Namespace, env: Env) -> int:
    """Carry out `mem watch`."""
    project = open_project(args, env)
    if project.pinned:
        raise UsageError("a database named by --db or MEM_DB has no files to keep current")
    if not project.root and not args.all:
        raise UsageError("there is no project here to watch; go to one, or watch --all")
    if args.what and args.action != "service":
        raise UsageError(f"watch {args.action} takes no {args.what}")
    if args.action == "service":
        return service.run(args, env, "" if args.all else project.root)
    if args.action:
        return {"start": _start, "stop": _stop, "status": _status}[args.action](project, args, env)
    return _once(project, args, env) if args.once else _watch(project, args, env)


def _roots(project: Project, args: argparse.Namespace, env: Env) -> list[str]:
    return [entry.root for entry in registry.registered(env.environ)] if args.all else [project.root]


def _once(project: Project, args: argparse.Namespace, env: Env) -> int:
    """Do all that a watcher would, and say what failed."""
    told, failed = [], False
    for root in _roots(project, args, env):
        ran: list[str] = []
        try:
            watched = Watched(root, env)
            ran = sorted(set(watched.look(time.monotonic())), key=[action.name for action in watched.actions].index)
            errors = [one.message for one in watched.failures.values()]
        except (MemError, OSError) as error:
            if not args.all:
                raise
            env.say(f"mem watch: {root}: {error}")  # what is wrong with one project is no reason to leave the others
            errors = [str(error)]
        failed = failed or bool(errors)
        told.append({"root": root, "ran": ran, "errors": errors})
    text = "\n".join(f"{one['root']}: {', '.join(one['ran']) or 'nothing to do'}" for one in told)
    answer(env, args, {"projects": told}, text)
    return int(failed)


def _watch(project: Project, args: argparse.Namespace, env: Env) -> int:
    if os.name == "nt":
        raise Unavailable("mem watch needs Linux or macOS; hooks and `mem watch --once` do the same on Windows")
    _make_folder(project, args, env)
    path = _lock_path(project, args, env)
    if _holder(path):
        raise Locked(f"a watcher runs already (process {_holder(path)}); `mem watch stop` ends it")
    try:
        if not args.all:
            return _ended(Loop(env, lambda: [project.root]).run())
        with files.Lock(path, timeout=0.25):
            with open(path, "w", encoding="ascii") as file:
                file.write(f"{os.getpid()}\n")
            return _ended(Loop(env, lambda: _roots(project, args, env), keep=True).run())
    except OutOfTime:
        return 0


def _ended(number: int) -> int:
    """Return the exit code for the signal that ended the watch, 1 where another watcher took over."""
    if number == 0:
        return 1
    return 130 if number == signal.SIGINT else 0


def _start(project: Project, args: argparse.Namespace, env: Env) -> int:
    _make_folder(project, args, env)
    path = _lock_path(project, args, env)
    pid = _holder(path)
    if not pid:
        words = ["watch", "--all"] if args.all else ["--project", project.root, "watch"]
        cwd = data_home(env.environ) if args.all else project.root
        detach.spawn([*detach.program(), *words], cwd=cwd, environ=env.environ)
        pid = _wait(path, running=True)
        if not pid:
            raise MemError(f"the watcher did not start; {os.path.join(project.folder, 'hooks.log')} may say why")
        answer(env, args, {"running": True, "pid": pid, "started": True}, f"the watcher runs (process {pid})")
    else:
        answer(env, args, {"running": True, "pid": pid, "started": False}, f"a watcher runs already (process {pid})")
    return 0


def _stop(project: Project, args: argparse.Namespace, env: Env) -> int:
    path = _lock_path(project, args, env)
    pid = _holder(path)
    if pid:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        except PermissionError as error:
            raise MemError(f"the watcher (process {pid}) belongs to another user") from error
        if _wait(path, running=False):
            raise Locked(f"the watcher (process {pid}) did not end")
    answer(env, args, {"running": False, "stopped": bool(pid)}, "the watcher ended" if pid else "no watcher runs")
    return 0


def _status(project: Project, args: argparse.Namespace, env: Env) -> int:
    if args.all:
        known = [{"root": entry.root, **_told(os.path.dirname(entry.store), env)}
                 for entry in registry.registered(env.environ)]  # fmt: skip
        running = bool(_holder(_lock_path(project, args, env)))
        lines = [f"{one['root']}: {_line(one)}" for one in known]
        answer(env, args, {"running": running, "projects": known}, "\n".join(lines) or "no projects are registered")
    else:
        value = _told(project.folder, env)
        answer(env, args, value, _line(value))
    return 0


def _told(folder: str, env: Env) -> dict[str, Any]:
    """Return the status that a watcher wrote, if one runs."""
    pid = _holder(os.path.join(folder, "watch.lock"))
    if not pid:
        return {"running": False}
    try:
        with open(os.path.join(folder, STATUS), encoding="utf-8") as file:
            told = dict(json.load(file))
        uptime = round(max(0.0, env.now() - seconds(str(told["started_at"]))), 1)
    except (OSError, ValueError, KeyError, TypeError):
        return {"running": True, "pid": pid}
    return {"running": True, **told, "pid": pid, "uptime_seconds": uptime}


def _line(value: Mapping[str, Any]) -> str:
    if not value["running"]:
        return "no watcher runs"
    head = f"a watcher runs (process {value['pid']})"
    if "counts" not in value:
        return f"{head}, and has just started"
    counts = ", ".join(f"{name} {count}" for name, count in value["counts"].items())
    lines = [f"{head} for {value['uptime_seconds']:.0f} s, by {value['mode']}", f"  last event: {value['last_event']}",
             f"  last error: {value['last_error'] or 'none'}", f"  {counts}"]  # fmt: skip
    return "\n".join(map(printable, lines))


def _lock_path(project: Project, args: argparse.Namespace, env: Env) -> str:
    return os.path.join(data_home(env.environ), "watch.lock") if args.all else lock_path(project)


def _make_folder(project: Project, args: argparse.Namespace, env: Env) -> None:
    """Make the folder in which the lock lies: of a project's `.mem` it is all that is made."""
    schema.make_folder(data_home(env.environ) if args.all else project.folder)


def _holder(path: str) -> int:
    """Return the pid of the process that holds the lock at `path`, 0 where nobody does."""
    if not os.path.exists(path):
        return 0
    try:
        with files.Lock(path, timeout=0):
            return 0
    except Locked:
        pass
    try:
        with open(path, encoding="ascii") as file:
            return int(file.read() or -1)
    except (OSError, ValueError):
        return -1


def _wait(path: str, *, running: bool) -> int:
    """Wait until a watcher runs, or until none does, and return its pid (0 for none)."""
    deadline = time.monotonic() + _WAIT
    while True:
        pid = _holder(path)
        if (pid > 0 if running else pid == 0) or time.monotonic() > deadline:
            return max(pid, 0) if running else pid
        time.sleep(0.05)
