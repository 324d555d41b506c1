"""Look for what got in before there was a guard: in the whole store, and in every version of the memory files.

A secret that a commit ever held is out, whatever the newest version says, so each is named with its oldest commit and
the word to rotate it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..memory import config as settings
from ..memory.errors import Rejected
from ..memory.policy import scan
from ..memory.project import Project
from ..memory.schema import connect
from . import allowances, candidates, git, storetext, verdict, verdicttext
from .blobtext import Text, decodings
from .env import Env
from .judge import LOOSE_RULES, Candidate, Problem, Scan, judge, judge_texts, unreadable

if TYPE_CHECKING:
    import argparse

_ROTATE = "revoke it at its issuer and make a new one: whoever has a copy of the history has it"
_FORGET = "`mem forget` erases it from the store; in history it does no harm unless it is read again"


class Trace(NamedTuple):
    """One value in history: the oldest `problem` and in how many `versions` of files it stands."""

    problem: Problem
    versions: int


def store_problems(project: Project, scan: Scan) -> list[Problem]:
    """Return what is wrong in any text column of the project's store. Raises StoreError."""
    shown = _shown(project)
    db = connect(project.store_path, readonly=True)
    try:
        return judge_texts(shown, storetext.rows(db), scan)
    finally:
        db.close()


def raw_problems(project: Project, scan: Scan, known: list[Problem]) -> list[Problem]:
    """Return what stands in the store's files outside of its rows: free pages and the write-ahead log."""
    values = {(problem.rule, problem.value) for problem in known}
    found: list[Problem] = []
    for end in ("", "-wal"):
        try:
            with open(project.store_path + end, "rb") as file:
                data = file.read(candidates.LIMIT)
        except FileNotFoundError:
            continue
        for problem in judge_texts(_shown(project) + end, map(Text, decodings(data)), scan):
            # Full-text and index pages repeat the words of rows; a secret is one word, an instruction is not. There the
            # next cell may run on behind a value that is known.
            known_value = any(rule == problem.rule and value in problem.value for rule, value in values)
            if problem.category == "secret" and problem.rule not in LOOSE_RULES and not known_value:
                values.add((problem.rule, problem.value))
                found.append(problem._replace(where=problem.where._replace(line=0, column=0, place="erased rows")))
    return found


def history_traces(scope: candidates.Scope, scan: Scan) -> tuple[list[Trace], int]:
    """Return what any version of a memory file held, oldest first, and how many versions there are."""
    versions: dict[tuple[str, str], str] = {}
    for commit, entry in git.history(scope.cwd, scope.environ):
        if entry.mode != git.GITLINK and scope.chosen(entry.path):
            versions[entry.path, entry.blob] = commit  # the last one written is the oldest
    ordered = list(reversed(versions.items()))
    traces: dict[tuple[str, str], Trace] = {}
    with git.Blobs(cwd=scope.cwd, environ=scope.environ, keep_index=False, limit=candidates.LIMIT + 1) as blobs:
        answers = blobs.read(blob for (_, blob), _ in ordered)
        for ((path, _), commit), blob in zip(ordered, answers, strict=True):
            for problem in _version_problems(path, commit, blob, scan):
                key = (problem.rule, problem.value)
                known = traces.get(key, Trace(problem, 0))
                traces[key] = known._replace(versions=known.versions + 1)
    return list(traces.values()), len(ordered)


def _version_problems(path: str, commit: str, blob: git.Blob, scan: Scan) -> Iterator[Problem]:
    copy = f"commit {commit[:12]}"
    if blob.kind != "blob" or blob.size > candidates.LIMIT:
        yield unreadable(path, "this version can't be read", copy)
        return
    seen = set()
    for problem in judge(Candidate(path, blob.data, copy), scan):
        if (problem.rule, problem.value) not in seen and problem.category in ("secret", "instruction", "unreadable"):
            seen.add((problem.rule, problem.value))
            yield problem


def run_sweep(args: argparse.Namespace, env: Env, project: Project) -> int:
    """Read store and history, print what was found, and refuse (exit 1) where there is something to rotate."""
    import json

    from .guard import scope_of

    scope = scope_of(project, settings.load(project, env.environ), env)
    stored: list[Problem] = []
    if os.path.exists(project.store_path):
        stored = store_problems(project, scan)
        stored += raw_problems(project, scan, stored)
    traces, versions = history_traces(scope, scan) if scope.root else ([], 0)
    lines = verdict.allowed_lines(scope)[0] if scope.root and (stored or traces) else {}
    found = [trace for trace in (*(Trace(one, 0) for one in stored), *traces) if not _is_allowed(trace.problem, lines)]
    if args.json:
        answer = {"versions": versions, "store": os.path.exists(project.store_path), "findings": _json(found)}
        env.print(json.dumps(answer, ensure_ascii=False))
    elif found:
        for line in _lines(found):
            env.say(line)
    else:
        env.print(f"the store and {versions:,} versions of memory files were read: nothing to object to")
    if found:
        problems = tuple(trace.problem for trace in found)
        said = f"{verdict.count(len(found), 'finding')} in the store and {versions:,} versions of memory files"
        raise Rejected(said, reason=verdicttext.reason(verdict.Verdict(problems)))
    return 0


def _is_allowed(problem: Problem, lines: dict[tuple[str, str], str]) -> bool:
    return (problem.rule, allowances.fingerprint(problem.rule, problem.value)) in lines


def _json(found: list[Trace]) -> list[dict[str, Any]]:
    return [
        {
            **verdicttext.problem_json(trace.problem),
            "versions": trace.versions,
            "rotate": trace.problem.category == "secret",
        }
        for trace in found
    ]


def _lines(found: list[Trace]) -> list[str]:
    said = []
    for trace in found:
        versions = f", {trace.versions} versions" if trace.versions > 1 else ""
        said.append(verdicttext.line(trace.problem) + versions)
    categories = {trace.problem.category for trace in found}
    if "secret" in categories:
        said.append(f"  secrets: {_ROTATE}")
    if "instruction" in categories:
        said.append(f"  instructions: {_FORGET}")
    return said


def _shown(project: Project) -> str:
    root = project.root
    inside = root and project.store_path.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(project.store_path, root).replace(os.sep, "/") if inside else project.store_path
