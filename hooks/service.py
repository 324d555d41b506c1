"""Write the service file that starts the watcher with the user's session: a systemd user unit or a launchd agent.

The file is written and taken away, and the command that makes the system read it is said; starting services is left to
the user. A file of that name that is not ours is left alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from ..memory.errors import Conflict, UsageError
from ..memory.project import expand_path
from ..memory.record import printable
from . import child, detach, files
from .command import answer
from .env import Env

_MARK = b"`mem watch service install`"
_VARIABLES = ("MEM_HOME", "XDG_DATA_HOME")  # what decides which projects and settings the watcher finds


class Service(NamedTuple):
    """A service file: where it lies, its text, and the commands that make the system take it up and let it go."""

    path: str
    text: str
    enable: str
    disable: str


def run(args: argparse.Namespace, env: Env, root: str) -> int:
    """Carry out `mem watch service`; `root` is the project's, "" for all."""
    if not args.what:
        raise UsageError("mem watch service install, or remove")
    made = describe(root, env, platform=sys.platform)
    if args.dry_run:
        answer(env, args, {"path": made.path, "text": made.text}, made.text.rstrip("\n"))
        return 0
    before = files.read(made.path)
    if before is not None and _MARK not in before:
        raise Conflict(f"{made.path} is not ours and is left alone; move it away first")
    if args.what == "install":
        os.makedirs(os.path.dirname(made.path), exist_ok=True)
        changed, then = files.write_atomic(made.path, made.text.encode(), mode=0o644), made.enable
    else:
        changed, then = before is not None, made.disable
        if changed:
            os.unlink(made.path)
    said = f"{made.path}: {('written' if args.what == 'install' else 'removed') if changed else 'nothing to do'}"
    answer(env, args, {"path": made.path, "changed": changed, "then": then}, f"{said}\nnow run: {then}")
    return 0


def describe(root: str, env: Env, *, platform: str) -> Service:
    """Return the service for one project, or for all where `root` is "". Raises UsageError where there is none."""
    from ..templates import render

    name = "memhooks-watch" + (f"-{_slug(root)}" if root else "")
    words = [*_program(env.environ), *(["--project", root, "watch"] if root else ["watch", "--all"])]
    variables = [(key, env.environ[key]) for key in _VARIABLES if env.environ.get(key)]
    if any("\n" in text for text in [*words, *(value for _, value in variables)]):
        raise UsageError("a path with a line end in it can't stand in a service file")
    home = expand_path("~", env.environ)
    if platform == "darwin":
        label = "org.memhooks." + name
        path = os.path.join(home, "Library", "LaunchAgents", f"{label}.plist")
        text = render("services/launchd.plist.j2", label=label, words=words, variables=variables)
        return Service(path, text, f"launchctl load -w '{path}'", f"launchctl remove {label}")
    if not platform.startswith("linux"):
        raise UsageError("there is a service for systemd (Linux) and launchd (macOS) only")
    config = env.environ.get("XDG_CONFIG_HOME", "")
    config = config if os.path.isabs(config) else os.path.join(home, ".config")
    path = os.path.join(config, "systemd", "user", f"{name}.service")
    text = render(
        "services/systemd.service.j2",
        description="memhooks: keep the memory of " + (_bare(os.path.basename(root)) if root else "all projects"),
        command=" ".join(map(quote, words)),
        environment=[quote(f"{key}={value}", command=False) for key, value in variables],
    )
    reload = "systemctl --user daemon-reload"
    return Service(path, text, f"{reload} && systemctl --user enable --now {name}",
                   f"systemctl --user disable --now {name}; {reload}")  # fmt: skip


def quote(word: str, *, command: bool = True) -> str:
    """Return a word for a line of a systemd unit, of a `command` or of Environment=, where $ has no meaning.

    Source: systemd.service(5), "Command lines"; systemd.exec(5), Environment=.
    """
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$" if command else "$")):
        word = word.replace(plain, escaped)
    return f'"{word}"'


def _bare(name: str) -> str:
    return printable(name).replace("%", "%%")


def _program(environ: Mapping[str, str]) -> list[str]:
    """Return the installed `mem` if there is one: the service should survive an update of its environment."""
    try:
        return [child.find_program("mem", environ)]
    except OSError:
        return detach.program()


def _slug(root: str) -> str:
    import hashlib

    name = os.path.basename(root)
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_") else "-" for char in name)
    return f"{plain}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:8]}"
