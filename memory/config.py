"""Settings: every name with its default, and where a value comes from.

Later wins: `.mem/config.toml` (project, private), `MEM_HOME/config.toml` (user), the environment
(`digest.tokens` is MEM_DIGEST_TOKENS). Without a file there is no TOML parser on the path; with one, a parsed copy in
MEM_HOME/cache serves as long as path, mtime and size are the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import private
from .errors import MemError
from .named import TYPE_CHECKING, NamedTuple
from .project import Project, data_home
from .record import Limits, printable

if TYPE_CHECKING:
    from typing import Any


class Setting(NamedTuple):
    """A default, whose type is the setting's type, and what it is for."""

    default: Any
    help: str


SETTINGS: dict[str, Setting] = {
    "digest.personal": Setting(False, "add memories of the personal store to the digest"),
    "digest.tokens": Setting(400, "the most that a session-start digest may cost, in tokens"),
    "guard.allow_from": Setting("index", 'where .mem-allow is read: "index", or "HEAD" to ignore new lines'),
    "guard.files": Setting([], "more files that the guard looks at, as glob patterns"),
    "limits.content": Setting(500, "characters of a memory's content"),
    "limits.memories": Setting(200, "active memories of one store"),
    "limits.tags": Setting(10, "tags of one memory"),
    "limits.title": Setting(80, "characters of a memory's title"),
    "mirror.path": Setting(".mem/memory.md", "where the Markdown mirror is written, inside the project"),
    "mirror.template": Setting("", "a Jinja template of your own for the mirror"),
    "mirror.trust": Setting("", "the sha256 of a template that the repository brings and you have read"),
    "recall.model": Setting("", "a larger embedding model from the local cache instead of the shipped one"),
    "share.file": Setting("memories.ndjson", "the tracked file through which a team shares memories"),
}

Config = dict[str, "Any"]


def load(project: Project, environ: Mapping[str, str]) -> Config:
    """Return every setting by its dotted name, typed as its default.

    Raises MemError (`config`) that names the file or variable, for one that can't be read and a value that can't be.
    """
    config: Config = {name: setting.default for name, setting in SETTINGS.items()}
    home = data_home(environ)
    for path in (project_file(project), user_file(environ)):
        for name, value in _file_values(path, home).items():
            if name in SETTINGS:  # a newer program may know more
                config[name] = check(name, value, path)
    for name in SETTINGS:
        variable = "MEM_" + name.replace(".", "_").upper()
        if environ.get(variable):
            config[name] = check(name, parse(name, environ[variable]), variable)
    return config


def limits(config: Config) -> Limits:
    """Return the limits that a store goes by."""
    return Limits(config["limits.title"], config["limits.content"], config["limits.tags"], config["limits.memories"])


def project_file(project: Project) -> str:
    """Return where a project's own settings lie, "" for a pinned database."""
    return "" if project.pinned or not project.root else os.path.join(project.folder, "config.toml")


def user_file(environ: Mapping[str, str]) -> str:
    """Return where the user's settings lie."""
    return os.path.join(data_home(environ), "config.toml")


def parse(name: str, text: str) -> Any:
    """Return a value that was typed as text: JSON for lists and numbers, true/false, else the text itself."""
    default = SETTINGS[name].default
    if isinstance(default, bool):
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text.lower(), text)
    if isinstance(default, int):
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text
    if isinstance(default, list):
        import json

        try:
            return json.loads(text) if text.startswith("[") else [one.strip() for one in text.split(",") if one.strip()]
        except (ValueError, RecursionError):
            return text
    return text


def check(name: str, value: Any, source: str, *, error: type[MemError] = MemError) -> Any:
    """Return `value` if it fits the setting. Raises `error` that names the source."""
    default = SETTINGS[name].default
    fits = type(value) is type(default)
    if isinstance(default, list):
        fits = fits and all(isinstance(one, str) and _is_text(one) for one in value)
    elif isinstance(default, int) and not isinstance(default, bool):
        fits = fits and 0 < value <= 10_000_000
    elif isinstance(default, str):
        fits = fits and _is_text(value)
    if name == "guard.allow_from":
        fits = value in ("index", "HEAD")
    if not fits:
        kinds = {bool: "true or false", int: "a whole number above 0", list: "a list of texts"}
        raise error(f"{source}: {name} must be {kinds.get(type(default), 'a text')}", reason="config")
    return value


def _is_text(value: str) -> bool:
    """Return whether a value is Unicode that can be written, and no bytes of the environment that are not."""
    return value.isprintable() or value == printable(value)


def read_file(path: str) -> dict[str, Any]:
    """Return a TOML file's tables, {} where there is none. Raises MemError for a file that can't be parsed."""
    import tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise MemError(f"{path}: {getattr(error, 'strerror', None) or error}", reason="config") from error


def _file_values(path: str, home: str) -> dict[str, Any]:
    """Return a file's settings by dotted name, from the parsed copy where that is current."""
    try:
        stat = os.stat(path)
    except (OSError, ValueError):
        return {}
    import json
    import zlib

    stamp = [path, stat.st_mtime_ns, stat.st_size]
    copy = os.path.join(home, "cache", f"config-{zlib.crc32(os.fsencode(path)):08x}.json")
    try:
        with open(copy, encoding="utf-8") as file:
            cached = json.load(file)
        if cached["stamp"] == stamp:
            return dict(cached["values"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    values = {
        f"{table}.{name}": value
        for table, names in read_file(path).items()
        if isinstance(names, dict)
        for name, value in names.items()
    }
    # A date fits no setting, and neither does null.
    private.write(copy, json.dumps({"stamp": stamp, "values": values}, default=lambda _: None))
    return values
