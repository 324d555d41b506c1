"""All candidates of one run to one verdict: what is refused, what is allowed, and how much was looked at."""

from __future__ import annotations

from collections.abc import Iterable

from ..memory.named import TYPE_CHECKING, NamedTuple
from . import candidates, git
from .candidates import Asked, Scope
from .judge import Problem, Scan, judge

if TYPE_CHECKING:
    from .allowances import Allowance, Allowed

    Lines = dict[tuple[str, str], str]


class Verdict(NamedTuple):
    """What a run found. `offered` files were there to choose from, `files` (with `size` bytes) were judged; `stale`
    are the allowances that nothing needed, known after a run over everything only."""

    problems: tuple[Problem, ...] = ()
    allowed: tuple[Allowed, ...] = ()
    files: int = 0
    size: int = 0
    offered: int = 0
    notes: tuple[str, ...] = ()
    stale: tuple[Allowance, ...] = ()


def reach(
    asked: Asked, scope: Scope, scan: Scan, *, allow_from: str = "index", extra: Iterable[Problem] = ()
) -> Verdict:
    """Return the verdict on `asked`, with the problems in `extra` (the store's) judged by the same allowances.

    `allow_from` is "index", or "HEAD" to pass over allowances that the commit itself adds. Raises GitFailed.
    """
    if asked.entries:
        limit = candidates.LIMIT + 1
        with git.Blobs(cwd=scope.cwd, environ=scope.environ, limit=limit, objects=scope.objects) as blobs:
            found = _look(asked, scope, scan, blobs)
    else:
        found = _look(asked, scope, scan, None)
    problems = _distinct([*found.problems, *extra])
    if problems and scope.root:
        return _weigh(found._replace(problems=tuple(problems)), scope, allow_from)
    return found._replace(problems=tuple(problems))


def _look(asked: Asked, scope: Scope, scan: Scan, blobs: git.Blobs | None) -> Verdict:
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
    return Verdict(tuple(problems), (), len(files), size, asked.offered, asked.notes)


def _weigh(found: Verdict, scope: Scope, allow_from: str) -> Verdict:
    """Return a verdict with the problems that `.mem-allow` lets pass moved to `allowed`."""
    from .allowances import Allowed, fingerprint

    now, before = allowed_lines(scope)
    if allow_from == "HEAD":
        now = before
    refused, allowed = [], []
    for problem in found.problems:
        key = (problem.rule, fingerprint(problem.rule, problem.value))
        if key in now:
            allowed.append(Allowed(problem, now[key], key not in before))
        else:
            refused.append(problem)
    return found._replace(problems=tuple(refused), allowed=tuple(allowed))


def allowed_lines(scope: Scope) -> tuple[Lines, Lines]:
    """Return the allowances in the index and those in HEAD as {(rule, fingerprint): why}. Raises GitFailed."""
    from .allowances import ALLOW_FILE, parse

    with git.Blobs(cwd=scope.cwd, environ=scope.environ) as blobs:
        index, head = (
            parse(blob.data) if blob.kind == "blob" else {}
            for blob in blobs.read([f":{ALLOW_FILE}", f"HEAD:{ALLOW_FILE}"])
        )
    return index, head


def with_stale(verdict: Verdict, scope: Scope) -> Verdict:
    """Return the verdict of a run over everything with the allowances in the index that fit nothing any more."""
    from .allowances import Allowance, fingerprint

    used = {(one.problem.rule, fingerprint(one.problem.rule, one.problem.value)) for one in verdict.allowed}
    lines = allowed_lines(scope)[0] if scope.root else {}
    stale = (Allowance(*key, why) for key, why in sorted(lines.items()) if key not in used)
    return verdict._replace(stale=tuple(stale))


def _distinct(problems: list[Problem]) -> list[Problem]:
    """Drop the second sight of one finding: in the working copy on the line where the index has it."""
    found: dict[tuple[object, ...], Problem] = {}
    for problem in problems:
        found.setdefault((problem.path, problem.rule, problem.value, problem.where.line, problem.where.place), problem)
    return list(found.values())


def nothing_seen(verdict: Verdict) -> list[str]:
    """Return the line that tells a clean verdict from one that looked at nothing, or no line."""
    if verdict.size or verdict.problems:
        return []
    if verdict.files:
        return [f"nothing was judged: {count(verdict.files, 'memory file')}, all empty"]
    return [f"nothing was judged: no memory file among {count(verdict.offered, 'file')}"]


def count(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where it must be."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
