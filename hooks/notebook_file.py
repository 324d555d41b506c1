"""The notebook as a file: where it may lie, reading it, and writing it whole, locked and past the guard.

`mem notebook` and the MCP tools both go through here. Every path is judged with symbolic links resolved, an absent one
by its nearest folder that exists, before anything is read or written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..memory import notebook, patch
from ..memory.errors import Conflict, NotFound, Rejected, UsageError
from ..memory.project import Project, data_home, expand_path, find_project
from ..memory.record import printable
from . import files
from .env import Env

_FILE_LIMIT = 4 * notebook.MAX_CHARS  # bytes: as many as the characters may take


class Bounds(NamedTuple):
    """The folders that may be touched, resolved; `given` says that --allowed-dir named them."""

    folders: tuple[str, ...]
    given: bool

    def hold(self, path: str) -> bool:
        """Return whether `path` lies in one of the folders."""
        return any(files.inside(folder, path) for folder in self.folders)


class Notebook(NamedTuple):
    """A project's notebook: `path` is the file with links resolved, `name` what people call it."""

    project: Project
    path: str
    name: str = notebook.NAME


class Written(NamedTuple):
    """What a write did: the new text, the lines that are new, and whether bytes changed."""

    text: str
    first: int
    last: int
    changed: bool


def bounds(named: Sequence[str], env: Env, *, project: str = "") -> Bounds:
    """Return the folders that --allowed-dir names; without one, the project at hand, or the folder outside of any.

    Raises UsageError for a folder that is not there.
    """
    found = []
    for name in named:
        folder = os.path.realpath(os.path.join(env.cwd, expand_path(name, env.environ)))
        if not os.path.isdir(folder):
            raise UsageError(f"--allowed-dir: there is no folder {printable(name)}")
        found.append(folder)
    if found:
        return Bounds(tuple(found), True)
    start = os.path.join(env.cwd, expand_path(project, env.environ)) if project else env.cwd
    root = find_project(start, environ=env.environ).root
    return Bounds((os.path.realpath(root or start),), False)


def choose_folder(path: str, limits: Bounds, env: Env) -> str:
    """Return the folder that a caller's project path means: absolute, or from the working directory; "" is that.

    The path of the notebook itself, written yet or not, stands for its folder. Raises Rejected (`not_allowed`) outside
    the bounds, UsageError for a folder that is not there.
    """
    folder = os.path.normpath(os.path.join(env.cwd, expand_path(path, env.environ)))
    if not limits.hold(folder):
        allowed = ", ".join(limits.folders)
        raise Rejected(f"{printable(folder)} is outside the allowed folders ({allowed})", reason="not_allowed")
    if os.path.basename(folder) == notebook.NAME and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise UsageError(f"there is no folder {printable(folder)}", reason="not_found")
    return folder


def choose_project(folder: str, limits: Bounds, env: Env, *, db: str = "") -> Project:
    """Return the project of `folder`. Raises Rejected (`not_allowed`) where its root is out of bounds."""
    project = find_project(folder, environ=env.environ, db=db)
    if project.root and not limits.hold(project.root):
        raise Rejected(f"the project {printable(project.root)} is outside the allowed folders", reason="not_allowed")
    return project


def locate(folder: str, limits: Bounds, project: Project) -> Notebook:
    """Return the notebook of `project`, or of `folder` outside of any. Raises Rejected where a link leads out."""
    named = os.path.join(project.root or folder, notebook.NAME)
    path = os.path.realpath(named)
    if not limits.hold(path):
        raise Rejected(f"{printable(named)} is a link out of the allowed folders", reason="not_allowed")
    return Notebook(project, path)


def of_project(project: Project) -> Notebook:
    """Return the notebook at the root of `project`, which has a root. Raises Rejected where a link leads out of it."""
    return locate(project.root, Bounds((os.path.realpath(project.root),), True), project)


def load(book: Notebook) -> str:
    """Return the notebook's text, line ends as they are. Raises NotFound where there is none, Conflict where it is no
    text in UTF-8."""
    data = read_regular(book.path)
    if data is None:
        raise NotFound(f"there is no notebook {printable(book.path)} yet; writing one makes it", reason="no_notebook")
    return decode(data, book.path)


def read_regular(path: str) -> bytes | None:
    """Return the bytes of a regular file, None where there is none. Raises Conflict for what is no file or too large:
    a pipe would never end."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(found.st_mode):
        raise Conflict(f"{printable(path)} is not a regular file", reason="not_a_file")
    if found.st_size > _FILE_LIMIT:
        raise Conflict(
            f"{printable(path)} has {found.st_size:,} bytes; the limit is {_FILE_LIMIT:,}", reason="too_large"
        )
    return files.read(path)


def decode(data: bytes, path: str) -> str:
    """Return bytes as text. Raises Conflict for what is not UTF-8: writing it back would lose it."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Conflict(f"{printable(path)} is not UTF-8 (byte {error.start + 1}); convert it first") from error


def read_source(name: str, limits: Bounds, env: Env) -> str:
    """Return the text of a file that is to become the notebook. Raises Rejected out of bounds, NotFound, Conflict."""
    path = os.path.normpath(os.path.join(env.cwd, expand_path(name, env.environ)))
    if not limits.hold(path):
        raise Rejected(f"{printable(path)} is outside the allowed folders", reason="not_allowed")
    data = read_regular(path)
    if data is None:
        raise NotFound(f"there is no file {printable(path)}")
    return decode(data, path)


def overwrite(book: Notebook, text: str, env: Env, *, typed: bool = True) -> Written:
    """Make `text` the notebook; front matter that it does not bring, and the line ends in use, stay. `typed` says that
    it came as words, not from a file.

    Raises Rejected (secret_detected, instruction_detected, shell_substitution, …), Conflict, Locked, OSError.
    """
    notebook.check_new(text, typed=typed)
    return change(book, env, lambda old: _whole(notebook.overwritten(old, text)))


def change(book: Notebook, env: Env, edit: Callable[[str], Written], *, absent_ok: bool = True) -> Written:
    """Let `edit` turn the old text into the new one, under the lock, and write that past the guard.

    An absent notebook is the empty text where `absent_ok`, else NotFound. Raises what `edit` raises, Rejected,
    Conflict where another program changed the file meanwhile, Locked after 5 s, OSError.
    """
    with _lock(book, env):
        before = read_regular(book.path)
        if before is None and not absent_ok:
            load(book)
        old = "" if before is None else decode(before, book.path)
        new = edit(old)
        notebook.check_text(new.text, old)
        refuse_findings(old, new.text, book)
        if read_regular(book.path) != before:
            raise Conflict(f"{printable(book.path)} was changed by another program meanwhile; read it again")
        changed = files.write_atomic(book.path, new.text.encode("utf-8"))
    return new._replace(changed=changed)


def refuse_findings(old: str, new: str, book: Notebook) -> None:
    """Raise Rejected (secret_detected, instruction_detected) for what `new` holds, `old` did not, and `.mem-allow`
    does not let pass. The message shows four characters of a secret at most."""
    from ..memory.policy import explain, mask, scan

    found = scan(new)
    if not found:
        return
    found = notebook.new_findings(old, new, scan_old=scan(old), scan_new=found)
    if found:
        allowed = passes(book)
        found = [one for one in found if not allowed(one.rule, new[one.start : one.end])]
    if found:
        first = min(found, key=lambda one: (one.category != "secret", one.start))
        line, column = notebook.place(new, first.start)
        value = new[first.start : first.end]
        shown = mask(value) if first.category == "secret" else printable(value)[:60]
        raise Rejected(
            f"{book.name}:{line}:{column}: {first.rule} ({shown!r}). {explain(first.rule)}",
            reason=f"{first.category}_detected",
        )


def passes(book: Notebook) -> Callable[[str, str], bool]:
    """Return the question whether the project's `.mem-allow` lets a value pass that a rule objects to."""
    from . import allowances

    return allowances.passes(book.project.root or os.path.dirname(book.path))


def _whole(text: str) -> Written:
    return Written(text, 1, len(patch.split_lines(text)), False)


def _lock(book: Notebook, env: Env) -> files.Lock:
    """Return the lock of this notebook: in our home, since beside the notebook it would be the user's to ignore."""
    from zlib import crc32

    folder = os.path.join(data_home(env.environ), "locks")
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError:
        import tempfile

        folder = tempfile.gettempdir()
    return files.Lock(os.path.join(folder, f"notebook-{crc32(os.fsencode(book.path)):08x}.lock"))


def refresh_sections(book: Notebook, env: Env) -> tuple[str, ...]:
    """Bring the notebook's rows in the store up to date, where there is a store; return one line for each section that
    was left out. An absent notebook has no rows. Raises StoreError, Conflict."""
    project = book.project
    if not os.path.isfile(project.store_path):
        return ()
    import sqlite3

    from ..memory import schema, sections

    data = read_regular(book.path)
    text = "" if data is None else decode(data, book.path)
    try:
        db = schema.connect(project.store_path)
        try:
            done = sections.refresh(db, book.name, text, allowed=passes(book))
        finally:
            db.close()
    except sqlite3.Error as error:
        raise schema.as_store_error(error, project.store_path) from error
    return tuple(f"{book.name}:{one.line}: left out of recall: {one.rule}" for one in done.skipped)
