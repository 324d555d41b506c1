"""What every command needs: the project and store that its flags name, and one way to answer."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Callable

from ..memory import config as settings
from ..memory import registry
from ..memory.api import Store
from ..memory.errors import Rejected, Unavailable, UsageError
from ..memory.named import TYPE_CHECKING
from ..memory.project import Project, find_project, personal
from .env import Env

if TYPE_CHECKING:
    from typing import Any

    from ..memory.embed import Embedder


def open_project(args: Namespace, env: Env) -> Project:
    """Return the project that --db, --project, the environment or the working directory names.

    `--scope personal`, where a command has it, names the personal store.
    """
    if getattr(args, "scope", "") == "personal":
        if args.db:
            raise UsageError("--db and --scope personal name two stores; give one")
        return personal(env.environ)
    return find_project(env.cwd, environ=env.environ, project=args.project, db=args.db)


def open_store(project: Project, env: Env, *, write: bool) -> Store:
    """Open the project's store, making and registering it where `write` says so.

    Raises NotFound where there is none and nothing is to be written, and StoreError.
    """
    limits = settings.limits(settings.load(project, env.environ))
    opened = Store.open(project.store_path, create=write, limits=limits, clock=env.clock)
    if write:
        registry.register(project, env.environ, env.now())
    return opened


def has_store(project: Project) -> bool:
    """Return whether the project has a store; for a reader none is like an empty one."""
    return os.path.exists(project.store_path)


def chosen_model(project: Project, env: Env) -> Embedder | None:
    """Return the larger model that `recall.model` names, None for the shipped one.

    One that is not in the cache, or that nobody knows, is said on standard error, and the shipped one serves.
    """
    name = settings.load(project, env.environ)["recall.model"]
    if not name:
        return None
    from ..memory.embed import cached

    try:
        return cached(name, env.environ)
    except (Unavailable, UsageError) as error:
        env.say(f"mem: {error.message}")
        return None


def user_name(env: Env) -> str:
    """Return who is at work: $USER, else the system's name for the process's owner, else ""."""
    name = env.environ.get("USER") or env.environ.get("LOGNAME") or env.environ.get("USERNAME")
    if name or os.name == "nt":
        return name or ""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user without an entry
        return ""


def answer(env: Env, args: Namespace, value: Any, text: str) -> None:
    """Print `value` as one JSON value under --json, else `text`; an empty text prints nothing."""
    if args.json:
        env.print(json.dumps(value, ensure_ascii=False))
    elif text:
        env.print(text)


def read_text(text: str, env: Env, limit: int = 1 << 20) -> str:
    """Return `text`, or standard input where it is "-". Raises UsageError for bytes that are not UTF-8, Rejected for
    more than `limit` characters."""
    if text == "-":
        text = env.stdin.read(limit + 1)
    utf8(text, "the text")
    if len(text) > limit:
        raise Rejected(f"the text has more than {limit:,} characters", reason="too_long")
    return text


def utf8(text: str, what: str) -> str:
    """Return `text`. Raises UsageError where bytes of another encoding, or half a character, came with it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} is not UTF-8", reason="invalid_text") from None
    return text


def whole_number(most: int) -> Callable[[str], int]:
    """Return the `type` of an option that takes a whole number from 1 to `most`; it raises UsageError."""

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() else 0
        if not 1 <= number <= most:
            raise UsageError(f"{text!r} is not a number from 1 to {most:,}")
        return number

    return parse
