"""All candidates of one run to one verdict: what is refused, what is allowed, and how much was looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..memory.record import printable
from . import allowances, candidates, git
from .candidates import Asked, Scope
from .judge import Problem, Scan, judge

HEAD = "HEAD"


class Allowed(NamedTuple):
    """A problem that a line of `.mem-allow` lets pass; `new` says that this commit adds the line."""

    problem: Problem
    why: str
    new: bool


class Verdict(NamedTuple):
    """What a run found. `offered` files were there to choose from, `files` (with `size` bytes) were judged; `stale`
    are the allowances that nothing needed, known after a run over everything only."""

    problems: tuple[Problem, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    files: int = 0
    size: int = 0
    offered: int = 0
    notes: tuple[str, ...] = ()
    stale: tuple[allowances.Allowance, ...] = ()


def reach(
    asked: Asked, scope: Scope, scan: Scan, *, allow_from: str = "index", extra: Iterable[Problem] = ()
) -> Verdict:
    """Return the verdict on `asked`, with the problems in `extra` (the store's) judged by the same allowances.

    `allow_from` is "index", or "HEAD" to pass over allowances that the commit itself adds. Raises GitFailed.
    """
    if not asked.entries:  # nothing for git to read
        return _weigh(_Looked.at(asked, scope, scan, None), scope, extra, allow_from)
    with git.Blobs(cwd=scope.cwd, environ=scope.environ, limit=candidates.LIMIT + 1) as blobs:
        looked = _Looked.at(asked, scope, scan, blobs)
    return _weigh(looked, scope, extra, allow_from)


class _Looked(NamedTuple):
    problems: list[Problem]
    files: set[str]
    size: int
    asked: Asked

    @classmethod
    def at(cls, asked: Asked, scope: Scope, scan: Scan, blobs: git.Blobs | None) -> _Looked:
        problems: list[Problem] = []
        files: set[str] = set()
        size = 0
        for item in candidates.read(asked, scope, blobs):
            if isinstance(item, Problem):
                problems.append(item)
            else:
                files.add(item.path)
                size += len(item.data)
                problems += judge(item, scan)
        return cls(problems, files, size, asked)


def _weigh(looked: _Looked, scope: Scope, extra: Iterable[Problem], allow_from: str) -> Verdict:
    problems = _distinct([*looked.problems, *extra])
    asked = looked.asked
    counted = (len(looked.files), looked.size, asked.offered, tuple(printable(note) for note in asked.notes))
    if not problems or not scope.root:
        return Verdict(tuple(problems), (), *counted)
    now, before = allowed_lines(scope)
    if allow_from == HEAD:
        now = before
    refused, allowed = [], []
    for problem in problems:
        key = (problem.rule, allowances.fingerprint(problem.rule, problem.value))
        if key in now:
            allowed.append(Allowed(problem, now[key], key not in before))
        else:
            refused.append(problem)
    return Verdict(tuple(refused), tuple(allowed), *counted)


def allowed_lines(scope: Scope) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """Return the allowances in the index and those in HEAD. Raises GitFailed."""
    with git.Blobs(cwd=scope.cwd, environ=scope.environ) as blobs:
        index, head = (
            allowances.parse(blob.data) if blob.kind == "blob" else {}
            for blob in blobs.read([f":{allowances.ALLOW_FILE}", f"HEAD:{allowances.ALLOW_FILE}"])
        )
    return index, head


def with_stale(verdict: Verdict, scope: Scope) -> Verdict:
    """Return the verdict of a run over everything with the allowances in the index that fit nothing any more."""
    used = {(one.problem.rule, allowances.fingerprint(one.problem.rule, one.problem.value)) for one in verdict.allowed}
    lines = allowed_lines(scope)[0] if scope.root else {}
    stale = (allowances.Allowance(*key, why) for key, why in sorted(lines.items()) if key not in used)
    return verdict._replace(stale=tuple(stale))


def _distinct(problems: list[Problem]) -> list[Problem]:
    """Drop the second sight of one finding: in the working copy on the line where the index has it."""
    found: dict[tuple[object, ...], Problem] = {}
    for problem in problems:
        found.setdefault((problem.path, problem.rule, problem.value, problem.where.line, problem.where.place), problem)
    return list(found.values())
