"""Every call of git, with `-z`, a list of arguments and an environment that is chosen, never inherited by chance.

Git tells its hooks about the repository in variables (GIT_DIR, GIT_INDEX_FILE, …). A child that inherits them works on
that repository and that index whatever its working directory is, so they are removed, but where the caller asks for
the very index that git is about to commit (`keep_index`). Paths are `str` decoded by the file system's rule, so that
any byte survives.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from types import TracebackType

from ..memory.errors import MemError
from ..memory.named import TYPE_CHECKING, NamedTuple
from ..memory.record import printable
from .child import Child, start, talk, wait
from .loose import read_blob

if TYPE_CHECKING:
    from typing import BinaryIO


# What a user sets on purpose for every git: how to reach a remote, which configuration to read, where not to look.
# The rest of GIT_* is a hook's context.
_KEPT = frozenset({
    "GIT_ALLOW_PROTOCOL", "GIT_ASKPASS", "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH", "GIT_PROXY_COMMAND", "GIT_SSH",
    "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY", "GIT_TERMINAL_PROMPT",
})  # fmt: skip
_IDENTITY = ("GIT_AUTHOR_", "GIT_COMMITTER_")
_CAT_FILE = ["cat-file", "--batch"]
_WINDOW = 3900  # bytes of questions in flight: below PIPE_BUF (4,096), so that a write never waits for a read
GITLINK = "160000"
SYMLINK = "120000"


class GitFailed(MemError):
    """Git is missing, or ended with an exit code other than 0; the message is git's own first line."""

    reason = "git"


class Staged(NamedTuple):
    """One difference that git names. `status` is one letter of ACDMRTU, `mode` six octal digits ("000000" when gone),
    `blob` the object's id on the new side (all zeros when gone or unmerged); `old_path` differs for renames only."""

    status: str
    path: str
    old_path: str
    mode: str
    blob: str


class Tracked(NamedTuple):
    """One entry of the index; `stage` is 0, or 1 to 3 (base, ours, theirs) where a merge is unresolved."""

    path: str
    mode: str
    blob: str
    stage: int


class Blob(NamedTuple):
    """One object: the `name` asked for, its `id`, `kind` ("" when git has no such object), `size` in bytes and its
    first bytes up to the limit that was set."""

    name: str
    id: str
    kind: str
    size: int
    data: bytes


def clean_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return `environ` without the variables that tie git to one repository, one index or one hook's run."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name in _KEPT or name.startswith(_IDENTITY)
    }
    # `git -c` and GIT_CONFIG_COUNT travel as numbered pairs; half of them would be an error.
    if "GIT_CONFIG_COUNT" in environ:
        kept.update({name: value for name, value in environ.items() if name.startswith("GIT_CONFIG_")})
    return kept


def _environ(environ: Mapping[str, str], keep_index: bool) -> dict[str, str]:
    if not keep_index:
        return clean_environ(environ)
    # `git --literal-pathspecs commit` tells its hooks so too; our own path arguments mean what they say.
    return {name: value for name, value in environ.items() if not name.endswith("_PATHSPECS")}


def run(
    args: list[str], *, cwd: str, environ: Mapping[str, str], input: bytes | None = None, keep_index: bool = False
) -> bytes:
    """Return what `git args` prints, run in `cwd` with `input` on its stdin (nothing by default).

    `keep_index` hands on every GIT_ variable, for the git that reads the index about to be committed. Raises GitFailed.
    """
    env = _environ(environ, keep_index)
    env["GIT_OPTIONAL_LOCKS"] = "0"  # reading must not take index.lock away from the user's own git
    child = _start(args, cwd, env)
    out, err = talk(child, input or b"")
    code = wait(child)
    if code:
        raise _failure(args, err, code)
    return out


def parse_raw(data: bytes) -> list[Staged]:
    """Return the entries of git's `--raw -z --no-abbrev` output. Source: git-diff(1), raw output format."""
    fields = iter(data.split(b"\0"))
    found = []
    for head in fields:
        if not head.startswith(b":"):
            continue
        _, mode, _, blob, status = head.decode("ascii").split(" ")
        old_path = path = os.fsdecode(next(fields))
        if status[0] in "RC":
            path = os.fsdecode(next(fields))
        found.append(Staged(status[0], path, old_path, mode, blob))
    return found


def staged(cwd: str, environ: Mapping[str, str]) -> list[Staged]:
    """Return how the index differs from HEAD, or from nothing before the first commit; paths from the root.

    The index is the one that git's environment names, so `git commit -- path` is seen as it will be. A rename is a
    deletion and an addition. Raises GitFailed.
    """
    args = ["diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-relative"]
    args += ["--ignore-submodules=dirty"]
    try:
        return parse_raw(run(args, cwd=cwd, environ=environ, keep_index=True))
    except GitFailed:
        # Outside of a repository `git diff` complains about its options; this says what is wrong.
        run(["rev-parse", "--git-dir"], cwd=cwd, environ=environ, keep_index=True)
        raise


def tracked(
    cwd: str, environ: Mapping[str, str], names: Iterable[str] = (), *, keep_index: bool = True
) -> list[Tracked]:
    """Return the index's entries for `names` (literal files or folders, from `cwd`), or all of the repository's.

    Paths are from the root. Raises GitFailed.
    """
    names = list(names)
    literal = ["--literal-pathspecs"] if names else []
    args = [*literal, "ls-files", "--stage", "-z", "--full-name", "--", *(names or [":/"])]
    found = []
    for entry in run(args, cwd=cwd, environ=environ, keep_index=keep_index).split(b"\0"):
        if entry:
            head, _, path = entry.partition(b"\t")
            mode, blob, stage = head.decode("ascii").split(" ")
            found.append(Tracked(os.fsdecode(path), mode, blob, int(stage)))
    return found


def changed(old: str, new: str, *, cwd: str, environ: Mapping[str, str]) -> list[Staged]:
    """Return how commit or tree `new` differs from `old`, renames found; paths from the root. Raises GitFailed."""
    args = ["diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--find-renames", "--no-relative", old, new]
    return parse_raw(run(args, cwd=cwd, environ=environ))


def history(cwd: str, environ: Mapping[str, str]) -> list[tuple[str, Tracked]]:
    """Return (commit, entry) for every file that any commit brought in, children before parents.

    All refs, the stash and the reflog are walked; of a merge what differs from all its parents. Raises GitFailed.
    """
    args = ["log", "--all", "--reflog", "--topo-order", "--format=%H", "--raw", "-z", "--no-abbrev", "--no-renames"]
    fields = iter(run([*args, "-c", "--root", "--no-relative"], cwd=cwd, environ=environ).split(b"\0"))
    commit, found = "", []
    for field in fields:
        head = field.lstrip(b"\n").decode("ascii", "replace")
        parents = len(head) - len(head.lstrip(":"))
        if not parents:
            commit = head or commit
            continue
        words = head[parents:].split(" ")  # a mode for each side, an object for each side, one status
        path, mode, blob = os.fsdecode(next(fields)), words[parents], words[2 * parents + 1]
        if blob.strip("0"):
            found.append((commit, Tracked(path, mode, blob, 0)))
    return found


class Blobs:
    """One `git cat-file --batch`, asked as often as one likes and closed by `with`. Objects come one at a time, cut at
    `limit` bytes. With `objects`, git's object folder, git is started once an object does not lie there by itself."""

    def __init__(
        self, *, cwd: str, environ: Mapping[str, str], keep_index: bool = True, limit: int = 1 << 30, objects: str = ""
    ) -> None:
        self._cwd = cwd
        self._environ = _environ(environ, keep_index)
        self._environ["GIT_NO_REPLACE_OBJECTS"] = "1"  # a commit will hold the object itself, not what stands in for it
        self._environ["GIT_NO_LAZY_FETCH"] = "1"  # what a partial clone lacks is an answer, no reason for the network
        self._limit = limit
        self._objects = objects
        self._child: Child | None = None
        self._out: BinaryIO

    def __enter__(self) -> Blobs:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._child is None:
            return
        os.close(self._child.stdin)
        self._out.close()
        # Closed before its last answer was read, git dies of SIGPIPE; read() has told whatever mattered.
        os.close(self._child.stderr)
        wait(self._child)

    def read(self, names: Iterable[str]) -> Iterator[Blob]:
        """Yield the objects called `names` (ids, or `:path` and `HEAD:path`) in that order. Raises GitFailed."""
        names = iter(names)
        for name in names:
            data = read_blob(self._objects, name, self._limit) if self._objects else None
            if data is None:
                # What follows is likely packed too: git answers it in batches.
                self._objects = ""
                yield from self._batch(chain((name,), names))
            else:
                yield Blob(name, name, "blob", len(data), data)

    def _batch(self, names: Iterable[str]) -> Iterator[Blob]:
        window: list[str] = []
        room = _WINDOW
        for name in names:
            length = len(os.fsencode(name)) + 1
            if window and length > room:
                yield from self._ask(window)
                window, room = [], _WINDOW
            window.append(name)
            room -= length
        yield from self._ask(window)

    def _ask(self, names: list[str]) -> Iterator[Blob]:
        # The protocol is one question a line; a path that holds a newline can't be asked for.
        asked = b"".join(os.fsencode(name) + b"\n" for name in names if "\n" not in name)
        if self._child is None:
            self._child = _start(_CAT_FILE, self._cwd, self._environ)
            self._out = os.fdopen(self._child.stdout, "rb", buffering=65536)
        try:
            os.write(self._child.stdin, asked)
        except BrokenPipeError:
            raise self._failed() from None
        for name in names:
            yield self._answer(name) if "\n" not in name else Blob(name, "", "", 0, b"")

    def _answer(self, name: str) -> Blob:
        head = self._out.readline()
        if not head.endswith(b"\n"):
            raise self._failed()
        fields = head.decode("utf-8", "replace").split()
        if len(fields) != 3 or fields[1] not in ("blob", "tree", "commit", "tag") or not fields[2].isdigit():
            return Blob(name, "", "", 0, b"")  # "<name> missing", "<name> ambiguous"
        size = int(fields[2])
        kept = min(size, self._limit)
        data = self._out.read(kept)
        rest = size - kept + 1  # the protocol ends each object with a newline
        while len(data) == kept and rest:
            piece = self._out.read(min(rest, 1 << 20))
            if not piece:
                raise self._failed()
            rest -= len(piece)
        if len(data) < kept:
            raise self._failed()
        return Blob(name, fields[0], fields[1], size, data)

    def _failed(self) -> GitFailed:
        return _failure(_CAT_FILE, os.read(self._child.stderr, 4096) if self._child else b"")


def _start(args: list[str], cwd: str, environ: dict[str, str]) -> Child:
    """Start git with a pipe on each stream; `cwd` travels as `-C` where it is not the process's own."""
    words = ["git", *([] if cwd in ("", ".", os.getcwd()) else ["-C", cwd]), *args]
    try:
        return start(words, environ)
    except OSError as error:
        raise GitFailed(f"git could not be started ({error.strerror}); install git, or mend PATH") from None


def _failure(args: list[str], err: bytes, code: int = 1) -> GitFailed:
    lines = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()] or [f"exit code {code}"]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    said = printable((fatal or lines)[0])[:300]
    return GitFailed(f"git {next((word for word in args if not word.startswith('-')), '')} failed: {said}")
