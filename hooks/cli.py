"""The `mem` command: the table of commands and hooks, loaded on use, and the one boundary for errors.

Standard output holds the answer and nothing else. A failure is one line on standard error (a JSON object with --json)
and an exit code: 1 failed, 2 wrong words, 130 interrupted, 141 the reader went away. No traceback reaches a user.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module

from ..memory.errors import MemError, UsageError
from ..memory.named import TYPE_CHECKING, NamedTuple
from .env import Env

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import NoReturn


class Command(NamedTuple):
    """Where a command lies: `run` and `arguments` of a module, or NAME and NAME_arguments where it has several."""

    module: str
    name: str
    help: str


COMMANDS = {
    "init": Command("status", "init", "make the project's store"),
    "status": Command("status", "status", "show the project, its store, counts and versions"),
    "doctor": Command("install.doctor", "", "find what is wrong and say how to mend it"),
    "demo": Command("demo", "", "show all hooks at work in a throw-away repository"),
    "remember": Command("remember", "remember", "keep a fact"),
    "correct": Command("remember", "correct", "replace a memory by a better one"),
    "forget": Command("remember", "forget", "erase a memory and its history"),
    "confirm": Command("remember", "confirm", "say that a memory still holds after its files changed"),
    "recall": Command("recall", "recall", "find what fits a few words, within 500 tokens"),
    "context": Command("recall", "context", "find by words and meaning together, for an agent's context"),
    "search": Command("recall", "search", "search with filters, by words or by meaning"),
    "list": Command("recall", "list_", "list memories, without their bodies"),
    "get": Command("recall", "get", "show one memory whole"),
    "state": Command("state", "", "show, set or clear where work on this branch stands"),
    "index": Command("index", "", "bring vectors, anchors and the notebook's index up to date"),
    "model": Command("model", "", "show or fetch embedding models"),
    "export": Command("exchange", "export", "write memories as NDJSON"),
    "import": Command("exchange", "import_", "read memories from NDJSON"),
    "share": Command("share", "", "exchange memories with the team's share file"),
    "quarantine": Command("quarantine", "", "show what was kept out of the store when it came in"),
    "mirror": Command("mirror", "", "render the Markdown mirror"),
    "notebook": Command("notebook", "", "read, search, write and patch MEMORY.md"),
    "dream": Command("dream", "", "say what the notebook and the store could do without"),
    "guard": Command("guard", "", "check memory files for secrets and hostile instructions"),
    "install": Command("install.command", "install", "install hooks for git and for agents"),
    "uninstall": Command("install.command", "uninstall", "take them out again"),
    "watch": Command("watch", "", "keep mirror and index current as files change"),
    "mcp": Command("mcp", "", "serve memory over the Model Context Protocol"),
    "report": Command("report", "", "write one HTML page about the store"),
    "config": Command("config", "", "show and change settings"),
}

# What git and the clients call: `mem hook NAME`. None may fail the event it hangs on but the first three.
HOOKS = {
    "guard": ("guard", "hook"),
    "mirror": ("mirror", "hook"),
    "share": ("share", "hook"),
    "index": ("index", "hook"),
    "session-start": ("session", "session_start"),
    "subagent-start": ("session", "subagent_start"),
    "prompt": ("session", "prompt"),
    "pre-compact": ("session", "pre_compact"),
    "session-end": ("session", "session_end"),
    "pre-tool": ("pretool", "hook"),
    "post-tool": ("dream", "hook"),
}


def entry() -> NoReturn:
    """Run the process's own command and end without the interpreter's tear-down, which would cost a hook as much CPU
    as its work. Nothing waits for it: stores are closed, and threads are joined where they are started."""
    # A collection of what imports left costs 4 ms and frees nothing; servers and the daemon still get theirs.
    gc.set_threshold(50_000, 10, 10)
    sys.unraisablehook = _interrupted_where_nothing_can_be_raised
    try:
        code = main()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
    except KeyboardInterrupt:
        code = 130
    os._exit(code)


def _interrupted_where_nothing_can_be_raised(unraisable: sys.UnraisableHookArgs) -> None:
    """End on an interrupt that came in a callback of the interpreter's own, which would print it and go on."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        os._exit(130)
    sys.__unraisablehook__(unraisable)


def main(argv: list[str] | None = None) -> int:
    """Run one command, by default the process's own, and return its exit code."""
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        return 130


def _run(argv: list[str]) -> int:
    env = Env.real()
    try:
        code = _hook(argv[1:], env) if argv[:1] == ["hook"] else _command(argv, env)
        env.stdout.flush()
        return code
    except BrokenPipeError:
        _drop(env)
        return 141
    except MemError as error:
        return _fail(env, argv, error)
    except Exception as error:  # noqa: BLE001 - the boundary
        return _fail(env, argv, _bug(error, env))


def _drop(env: Env) -> None:
    """Send what standard output still holds nowhere, or the interpreter complains at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), env.stdout.fileno())


def _command(argv: list[str], env: Env) -> int:
    flags, rest = _global_flags(argv)
    if rest[:1] == ["--version"]:
        import json

        from .version import version_json, version_text

        as_json = "--json" in (*flags, *rest)
        env.print(json.dumps(version_json()) if as_json else version_text())
        return 0
    if rest and rest[0] in ("-h", "--help", "help"):
        env.print(_overview())
        return 0
    if not rest:
        if not flags:
            env.say(_overview())
        raise UsageError("say what to do; `mem --help` lists the commands")
    name = rest[0]
    if name not in COMMANDS:
        raise UsageError(f"mem has no command {name!r}; `mem --help` lists them")
    command = COMMANDS[name]
    module = import_module(f".{command.module}", __package__)
    parser = _parser(name, command.help)
    getattr(module, f"{command.name}_arguments".lstrip("_"))(parser)
    try:
        args = _parse(parser, [*flags, *rest[1:]])
    except SystemExit as asked:  # --help, which is printed by now
        return int(asked.code or 0)
    return int(getattr(module, command.name or "run")(args, env))


def _parse(parser: ArgumentParser, words: list[str]) -> Namespace:
    """Return the parsed words; options may stand between positionals: `config set --user NAME VALUE`."""
    try:
        return parser.parse_args(words)
    except UsageError as error:
        if "--" not in words:  # which parse_intermixed_args forgets about
            with suppress(TypeError, UsageError):  # TypeError: it can't, for a command with sub-commands
                return parser.parse_intermixed_args(words)
        raise error


def _global_flags(argv: list[str]) -> tuple[list[str], list[str]]:
    """Split off the flags that every command takes, wherever they stand before a lone `--`."""
    flags: list[str] = []
    rest: list[str] = []
    words = iter(argv)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word.partition("=")[0] in ("--json", "--db", "--project"):
            flags.append(word)
            if word in ("--db", "--project"):
                flags += [value for value in (next(words, None),) if value is not None]
        else:
            rest.append(word)
    return flags, rest


def _parser(name: str, description: str) -> ArgumentParser:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            is_dash = message.startswith(("unrecognized", "the following"))
            hint = "; put -- before words that begin with a dash" if is_dash else ""
            raise UsageError(f"{message}{hint}; see `{self.prog} --help`")

        def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
            raise SystemExit(status)

    def formatter(prog: str) -> argparse.HelpFormatter:
        return argparse.HelpFormatter(prog, width=100)  # without a width it imports shutil, even to parse

    words = description[0].upper() + description[1:] + "."
    parser = Parser(prog=f"mem {name}", description=words, allow_abbrev=False, formatter_class=formatter)
    parser.add_argument("--json", action="store_true", help="answer with one JSON value")
    parser.add_argument("--db", default="", metavar="FILE", help="use this store and no other")
    parser.add_argument("--project", default="", metavar="DIR", help="act as if started in this folder")
    return parser


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.help}" for name, command in COMMANDS.items()]
    hooks = "  mem hook NAME  what git and agents call: " + ", ".join(HOOKS)
    return "\n".join(
        ["usage: mem [--json] [--db FILE] [--project DIR] COMMAND …", "", *lines, "", hooks, "", "  mem COMMAND --help"]
    )


def _hook(argv: list[str], env: Env) -> int:
    """Run a hook. A refresh hook that fails leaves a line in the log and exits 0; the guard fails closed."""
    if not argv or argv[0] not in HOOKS:
        raise UsageError(f"mem hook takes one of {', '.join(HOOKS)}")
    module, function = HOOKS[argv[0]]
    try:
        code = int(getattr(import_module(f".{module}", __package__), function)(argv[1:], env))
        env.stdout.flush()
        return code
    except BrokenPipeError:
        raise
    except MemError as error:
        failure = error
    except Exception as error:  # noqa: BLE001 - the boundary of hooks, which must not fail their event
        failure = _bug(error, env)
    if argv[0] == "guard":
        raise failure
    _log(f"{argv[0]}: {failure.message}", env)
    return 0


def _log(line: str, env: Env) -> None:
    from ..memory.project import find_project
    from .log import note

    try:
        project = find_project(env.cwd, environ=env.environ)
    except MemError:
        return
    note(project.folder, line, env.now())


def _bug(error: Exception, env: Env) -> MemError:
    """Return what to tell of an error that nobody foresaw; its traceback goes to MEM_HOME/errors.log."""
    import sqlite3
    import traceback

    from ..memory import private
    from ..memory.project import data_home
    from ..memory.record import timestamp

    if isinstance(error, sqlite3.Error):
        from ..memory.schema import as_store_error

        return as_store_error(error, "")
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return MemError(f"{where}{error.strerror or error}", reason="io")
    path = os.path.join(data_home(env.environ), "errors.log")
    try:
        private.make_folder(os.path.dirname(path))
        with open(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600), "a", encoding="utf-8") as file:
            file.write(f"{timestamp(env.now())}\n{''.join(traceback.format_exception(error))}\n")
    except OSError:
        path = "nowhere: it could not be written"
    return MemError(f"internal error ({type(error).__name__}); please report it with {path}", reason="internal")


def _fail(env: Env, argv: list[str], error: MemError) -> int:
    from ..memory.record import printable

    line = " ".join(printable(error.message).split())
    if "--json" in argv:
        import json

        body = {"message": line, "reason": error.reason, "exit_code": error.exit_code}
        line = json.dumps({"error": body}, ensure_ascii=False)
    else:
        line = f"mem: {line}"
    try:
        env.say(line)
        env.stderr.flush()
        env.stdout.flush()
    except (OSError, ValueError):
        _drop(env)
    return error.exit_code
