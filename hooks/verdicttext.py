"""A verdict as people and programs read it. No value of a finding is ever shown: a mask and a fingerprint are."""

from __future__ import annotations

from typing import Any

from ..memory.policy import explain, mask
from ..memory.record import printable
from .allowances import ALLOW_FILE, Allowed, fingerprint
from .judge import OWN_RULES, REASONS, Problem
from .verdict import Verdict, count, nothing_seen

_SHOWN = 50  # findings that a terminal gets; --json has all


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as an object; `line` and `column` count from 1 and are 0 where a place has none."""
    return {
        "path": problem.path,
        "line": problem.where.line,
        "column": problem.where.column,
        "place": problem.where.place,
        "copy": problem.copy,
        "rule": problem.rule,
        "category": problem.category,
        "masked": masked(problem),
        "fingerprint": fingerprint(problem.rule, problem.value),
        "detail": problem.detail,
        "mend": mend(problem.rule),
    }


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as one JSON object."""
    return {
        "files": verdict.files,
        "bytes": verdict.size,
        "findings": [problem_json(problem) for problem in verdict.problems],
        "allowed": [{**problem_json(one.problem), "why": one.why, "new": one.new} for one in verdict.allowed],
        "stale_allowances": [one._asdict() for one in verdict.stale],
        "notes": [*map(shown, verdict.notes), *nothing_seen(verdict)],
    }


def masked(problem: Problem) -> str:
    """Return what may be shown of a problem's value: nothing where the value is only a path."""
    return "" if problem.rule in OWN_RULES else printable(mask(problem.value))


def mend(rule: str) -> str:
    """Return what a rule finds and how to mend it, in one line."""
    return OWN_RULES.get(rule) or explain(rule)


def reason(verdict: Verdict) -> str:
    """Return the stable word for a refusal: the gravest category of its problems, secrets first."""
    categories = {problem.category for problem in verdict.problems}
    return next((word for category, word in REASONS.items() if category in categories), "failed")


def lines(verdict: Verdict) -> list[str]:
    """Return the lines that say what was found, how to mend it and how to allow it; each thing is said once."""
    said = [line(problem) for problem in verdict.problems[:_SHOWN]]
    if len(verdict.problems) > _SHOWN:
        said.append(f"… and {len(verdict.problems) - _SHOWN} more; `mem guard --json` lists all")
    said += [f"  {rule}: {mend(rule)}" for rule in dict.fromkeys(problem.rule for problem in verdict.problems)]
    if verdict.problems:
        said.append(_how_to_allow(verdict.problems))
    said += [_allowed_line(one) for one in verdict.allowed if one.new]
    said += [
        f"{one.rule} {one.fingerprint} in {ALLOW_FILE} fits nothing any more; take it out" for one in verdict.stale
    ]
    return [*said, *map(shown, verdict.notes), *nothing_seen(verdict)]


def summary(verdict: Verdict) -> str:
    """Return the verdict in one line."""
    found, files = len(verdict.problems), len({problem.path for problem in verdict.problems})
    judged = count(max(verdict.files, files), "memory file")
    if not found:
        return f"{judged} judged, {verdict.size:,} bytes: nothing to object to"
    return f"{count(found, 'finding')} in {files} of {judged}"


def shown(path: str) -> str:
    r"""Return a path for a terminal: what is not printable as `\xNN` or `\uNNNN`."""
    return path if path.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in path)


def position(problem: Problem) -> str:
    """Return a problem's place as file:line:column, or with the place in words where it has no line."""
    where, path = problem.where, shown(problem.path)
    notes = [note for note in (printable(where.place), problem.copy) if note]
    spot = f"{path}:{where.line}:{where.column}" if where.line else path
    return f"{spot} ({'; '.join(notes)})" if notes else spot


def line(problem: Problem) -> str:
    """Return a problem in one line: where, which rule, the mask, the fingerprint."""
    said = f"{position(problem)}: {problem.rule}"
    for part in (masked(problem), printable(problem.detail)):
        said += f" {part}" if part else ""
    return f"{said} [{fingerprint(problem.rule, problem.value)}]"


def _how_to_allow(problems: tuple[Problem, ...]) -> str:
    first = problems[0]
    command = f'mem guard allow {first.rule} {fingerprint(first.rule, first.value)} --why "…"'
    return f"  Looked at it, and it is harmless? `{command}`, then `git add {ALLOW_FILE}`"


def _allowed_line(one: Allowed) -> str:
    why = f": {one.why}" if one.why else ", without a reason"
    return f"{position(one.problem)}: {one.problem.rule} allowed by a line that is new in {ALLOW_FILE}{why}"
