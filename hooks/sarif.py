"""A verdict in SARIF, the form in which code hosts take findings.

Source: SARIF 2.1.0 (OASIS, 2020), sections 3.13 to 3.30.
"""

from __future__ import annotations

from typing import Any

from .judge import Problem
from .verdict import Verdict
from .verdicttext import masked, mend

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as one SARIF log: what is refused as errors, what is allowed as suppressed results."""
    problems = [*verdict.problems, *(one.problem for one in verdict.allowed)]
    rules = sorted({problem.rule for problem in problems})
    driver = {
        "name": "memhooks guard",
        "rules": [{"id": rule, "shortDescription": {"text": mend(rule)}} for rule in rules],
    }
    results = [_result(problem, rules) for problem in verdict.problems]
    for one in verdict.allowed:
        suppression = {"kind": "external", "justification": one.why or "allowed without a reason"}
        results.append({**_result(one.problem, rules), "suppressions": [suppression]})
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem, rules: list[str]) -> dict[str, Any]:
    from urllib.parse import quote

    from .allowances import fingerprint

    location: dict[str, Any] = {"artifactLocation": {"uri": quote(problem.path.encode("utf-8", "surrogateescape"))}}
    if problem.where.line:
        location["region"] = {"startLine": problem.where.line, "startColumn": problem.where.column}
    said = " ".join(part for part in (problem.rule, masked(problem), problem.where.place, problem.detail) if part)
    return {
        "ruleId": problem.rule,
        "ruleIndex": rules.index(problem.rule),
        "level": "error",
        "message": {"text": said},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"memhooks/v1": fingerprint(problem.rule, problem.value)},
    }
