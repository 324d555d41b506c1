"""A draft of changes to files: planned in memory, shown as a diff, applied whole or not at all.

Each file that is changed for the first time is copied to MEM_HOME/backups, with a receipt of what it was, so that an
uninstall gives it back byte for byte. A file that is not what the draft was made from is not written: Conflict.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from ...memory.errors import Conflict
from ...memory.record import printable
from ..files import read, write_atomic
from .receipt import Receipts


class Edit(NamedTuple):
    """One file's content before and after; None where there is no file. `mode` is for a new file, `receipt` the name
    of its receipt where that is not the path."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    receipt: str = ""

    @property
    def name(self) -> str:
        """Return the name of the file's receipt."""
        return self.receipt or self.path


class Move(NamedTuple):
    """A file or link that gets another name."""

    source: str
    target: str


class Chmod(NamedTuple):
    """A file that becomes executable."""

    path: str
    before: int
    after: int


class Program(NamedTuple):
    """A program to run afterwards, and the files that it makes or removes: they get a receipt as ours do."""

    words: tuple[str, ...]
    files: tuple[str, ...] = ()

    def receipt_name(self, path: str) -> str:
        """Return the name of such a receipt, which is another than that of our own edits of the file."""
        return made_by(os.path.basename(self.words[0]), path)


def made_by(program: str, path: str) -> str:
    """Return the name of the receipt for a file that `program` made because we ran it."""
    return f"{path} ({program})"


Step = Edit | Move | Chmod
Snapshot = tuple[list[Step], list[str], list[Program], dict[str, bytes | None]]


class Draft:
    """Collect changes; what is read through it shows the changes already planned.

    `notes` is what the user must still do or should know, `commands` the programs to run afterwards.
    """

    def __init__(self, backups: str) -> None:
        self.receipts = Receipts(backups)
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.commands: list[Program] = []
        self._planned: dict[str, bytes | None] = {}

    def read(self, path: str) -> bytes | None:
        """Return the file's content as it will be, None where there will be none."""
        try:
            return self._planned[path] if path in self._planned else read(path)
        except OSError as error:
            raise Conflict(f"{path} cannot be read: {error.strerror or error}") from None

    def write(self, path: str, after: bytes | None, *, mode: int | None = None, receipt: str = "") -> None:
        """Plan `after` as the content of `path`, None to remove it. The same content plans nothing."""
        before = self.read(path)
        if before == after:
            return
        self._planned[path] = after
        for index, step in enumerate(self.steps):
            if isinstance(step, Edit) and step.path == path:
                self.steps[index] = step._replace(after=after, mode=step.mode or mode)
                return
        self.steps.append(Edit(path, before, after, mode, receipt))

    def exists(self, path: str) -> bool:
        """Return whether there will be a file or link of that name."""
        return self._planned[path] is not None if path in self._planned else os.path.lexists(path)

    def move(self, source: str, target: str) -> None:
        """Plan to rename a file or link. Raises Conflict where the new name is taken."""
        if self.exists(target):
            raise Conflict(f"{target} is in the way; remove it, or move it elsewhere")
        self._planned[target], self._planned[source] = self.read(source) or b"", None
        self.steps.append(Move(source, target))

    def make_executable(self, path: str) -> None:
        """Plan that whoever may read `path` may run it; nothing where the user can run it already."""
        if os.path.exists(path) and not os.access(path, os.X_OK):
            mode = stat.S_IMODE(os.stat(path).st_mode)
            self.steps.append(Chmod(path, mode, mode | (mode & 0o444) >> 2))

    def give_back(
        self, path: str, after: bytes, *, same: Callable[[bytes, bytes], bool], empty: Callable[[bytes], bool]
    ) -> None:
        """Plan the removal of our entries, `after` being the content without them.

        Where the file is still as we left it and `after` means what the file held before we came, it gets those very
        bytes, or is removed if it was not there. `same` compares meanings, `empty` tells a file that holds nothing.
        """
        receipt = self.receipts.get(path)
        if receipt is None:
            self.write(path, after)
            return
        untouched = receipt.left_as(read(path))
        original = receipt.original
        if original is None:
            self.write(path, None if empty(after) else after)
        elif untouched and same(after, original):
            self.write(path, original)
        else:
            self.write(path, after)

    def snapshot(self) -> Snapshot:
        """Return what is planned so far, for `rollback`."""
        return list(self.steps), list(self.notes), list(self.commands), dict(self._planned)

    def rollback(self, taken: Snapshot) -> None:
        """Forget what was planned after the snapshot."""
        self.steps, self.notes, self.commands, self._planned = taken

    def diff(self) -> str:
        """Return what the draft changes as a unified diff, control characters removed."""
        return "".join(_diff(step) for step in self.steps if not isinstance(step, Edit) or step.before != step.after)

    def apply(self) -> list[str]:
        """Change the files and return their paths. Raises Conflict, having put back what it had changed already."""
        done: list[tuple[Step, list[str]]] = []
        try:
            for step in self.steps:
                done.append((step, self._do(step)))
        except BaseException as error:  # an interrupt too leaves nothing half done
            for step, folders in reversed(done):
                _undo(step, folders)
            if not isinstance(error, OSError):
                raise
            raise Conflict(f"{error.filename or ''}: {error.strerror or error}; nothing was changed") from None
        self._close(done)
        return self.paths()

    def paths(self) -> list[str]:
        """Return the files that the draft changes, in order."""
        changed = [step for step in self.steps if isinstance(step, Move) or step.before != step.after]
        return list(dict.fromkeys(step.target if isinstance(step, Move) else step.path for step in changed))

    def _close(self, done: list[tuple[Step, list[str]]]) -> None:
        """Note what was left where, and remove the folders that were ours and are empty now."""
        emptied: set[str] = set()
        for step, folders in done:
            if isinstance(step, Edit):
                receipt = self.receipts.get(step.name)
                emptied.update(receipt.folders if receipt and step.after is None else ())
                self.receipts.close(step.name, step.before, step.after, folders)
        for folder in sorted(emptied, key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(folder)

    def _do(self, step: Step) -> list[str]:
        if isinstance(step, Move):
            os.rename(step.source, step.target)
            return []
        if isinstance(step, Chmod):
            os.chmod(step.path, step.after)
            return []
        if read(step.path) != step.before:
            raise Conflict(f"{step.path} changed in the meantime and was left alone; run the command again")
        if step.after is None:
            os.unlink(step.path)
            return []
        self.receipts.keep(step.name, step.before)
        folders = _make_folders(os.path.dirname(step.path))
        write_atomic(step.path, step.after, mode=step.mode)
        return folders


def _make_folders(folder: str) -> list[str]:
    missing: list[str] = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for one in reversed(missing):
        os.mkdir(one)
    return missing


def _undo(step: Step, folders: list[str]) -> None:
    with contextlib.suppress(OSError):
        if isinstance(step, Move):
            os.rename(step.target, step.source)
        elif isinstance(step, Chmod):
            os.chmod(step.path, step.before)
        elif step.before is None:
            os.unlink(step.path)
            for folder in folders:
                os.rmdir(folder)
        else:
            write_atomic(step.path, step.before)


def _diff(step: Step) -> str:
    if isinstance(step, Move):
        return f"rename {printable(step.source)}\n    to {printable(step.target)}\n"
    if isinstance(step, Chmod):
        return f"mode of {printable(step.path)}\n    {step.before:o} to {step.after:o}\n"
    lines = difflib.unified_diff(
        _lines(step.before),
        _lines(step.after),
        "/dev/null" if step.before is None else printable(step.path),
        "/dev/null" if step.after is None else printable(step.path),
        lineterm="",
    )
    return "".join(printable(line).rstrip("\n") + "\n" for line in lines)


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines[:-1], lines[-1] + "\n\\ No newline at end of file"]
