"""Which paths hold an agent's memory, and which are a store that must stay out of git.

Paths are relative to the repository's root, with slashes, and count in any folder. Names are compared without regard to
case, since on two of three systems `claude.md` is what an agent opens as CLAUDE.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

SHARE_FILE = "memories.ndjson"

# Source: the documents of the agent programs that read them; `.mem` and the share file are our own.
_NAMES = frozenset({
    "memory.md", "claude.md", "claude.local.md", "agents.md", "gemini.md", SHARE_FILE, ".cursorrules", ".clinerules",
})  # fmt: skip
_FOLDERS = (("memory-bank",), (".mem",), (".clinerules",), (".cursor", "rules"), (".windsurf", "rules"),
            (".serena", "memories"))  # fmt: skip
_STORES = ("mem.db", "memories.db")
_DATABASES = (".db", ".sqlite", ".sqlite3")
_SIDECARS = ("-wal", "-shm", "-journal")


def is_memory_file(path: str) -> bool:
    """Tell whether `path` is one of the files in which agents keep what they remember."""
    *folders, name = path.lower().split("/")
    if name in _NAMES:
        return True
    if not folders:
        return False
    last = folders[-1]
    return (
        (name.endswith(".md") and ".claude" in folders)
        or (last == ".github" and name == "copilot-instructions.md")
        or (last == ".beads" and name.endswith(".jsonl"))
        or any(_holds(folders, run) for run in _FOLDERS)
    )


def _holds(folders: list[str], run: tuple[str, ...]) -> bool:
    if run[0] not in folders:
        return False
    return any(tuple(folders[at : at + len(run)]) == run for at in range(len(folders)))


def is_store_file(path: str) -> bool:
    """Tell whether `path` has a name that only our store and its sidecars have."""
    *folders, name = path.lower().split("/")
    base = next((name[: -len(end)] for end in _SIDECARS if name.endswith(end)), name)
    return base in _STORES or (".mem" in folders and base.endswith(_DATABASES))


def may_be_store(path: str) -> bool:
    """Tell whether `path` is named as a database, so that its first bytes must say whose it is."""
    return path.lower().endswith(_DATABASES)


def chooser(globs: Iterable[str]) -> Callable[[str], bool]:
    """Return the test of a path against the built-in list and `globs`.

    As in .gitignore a glob without a slash fits a name in any folder, one with a slash a path from the root, and `**`
    any number of folders; a trailing slash means all that lies below.
    """
    patterns = [_pattern(glob) for glob in globs if glob]
    if not patterns:
        return is_memory_file
    import re  # only where a project names files of its own

    fits = re.compile("|".join(patterns)).fullmatch
    return lambda path: is_memory_file(path) or fits(path) is not None


def _pattern(glob: str) -> str:
    from re import escape

    anchored = "/" in glob.rstrip("/")
    if glob.endswith("/"):
        glob += "**"
    out, rest = ("" if anchored else "(?:.*/)?"), glob.removeprefix("/")
    while rest:
        if rest.startswith("**/"):
            out, rest = out + "(?:[^/]+/)*", rest[3:]
        elif rest.startswith("**"):
            out, rest = out + ".*", rest[2:]
        else:
            out, rest = out + {"*": "[^/]*", "?": "[^/]"}.get(rest[0], escape(rest[0])), rest[1:]
    return f"(?s:{out})"
