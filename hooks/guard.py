"""Keep secrets and hostile instructions out of commits: `mem hook guard`, `mem guard`.

The index is judged, not the working copy, and an error of our own is a refusal. As a hook the guard talks on standard
error, where git and the pre-commit framework show it, and is silent about a clean commit. Exit code 1 refuses.

An amended commit is compared with HEAD as any other, since git does not tell its hooks that it amends: what an earlier
commit let in shows up when the file is staged again, and by `mem guard --all`. A cherry-pick, a revert or a rebase
without a conflict runs no pre-commit hook: `mem guard --all` and `mem guard sweep` find what comes that way.
"""

from __future__ import annotations

import os

from ..memory import config as settings
from ..memory.errors import MemError, Rejected, UsageError
from ..memory.named import TYPE_CHECKING
from ..memory.policy import scan
from ..memory.project import Project, busy, find_project
from . import candidates, verdict
from .candidates import Asked, Scope
from .env import Env
from .judge import Problem
from .memory_files import chooser
from .verdict import Verdict

if TYPE_CHECKING:
    import argparse


def hook(argv: list[str], env: Env) -> int:
    """Judge the index, or with file names (as the pre-commit framework calls it) those files that hold memory."""
    names = argv[1:] if argv[:1] == ["--"] else argv
    project = find_project(env.cwd, environ=env.environ)
    config = settings.load(project, env.environ)
    scope = scope_of(project, config, env)
    asked = candidates.named(scope, names, choose=True) if names else candidates.staged(scope)
    if names and busy(project.git_dir) == "merge":
        # In a merge the framework names only the files that had a conflict; the rest of the merge is judged too.
        asked = _joined(asked, candidates.staged(scope))
    found = verdict.reach(asked, scope, scan, allow_from=config["guard.allow_from"])
    if not (found.problems or found.allowed or found.notes):
        for line in verdict.nothing_seen(found):
            env.say(f"mem guard: {line}")
        return 0
    from . import verdicttext  # a clean commit has no use for it

    for line in verdicttext.lines(found):
        env.say(line if found.problems else f"mem guard: {line}")
    if not found.problems:
        return 0
    env.say(f"mem guard: {verdicttext.summary(found)}; refused")
    return 1


def scope_of(project: Project, config: settings.Config, env: Env) -> Scope:
    """Return the scope of a run in `project`: which files hold memory there."""
    mirror = config["mirror.path"]
    listed = chooser(config["guard.files"])
    # A repository may lie elsewhere than its files (`git --git-dir=… --work-tree=…`): its hooks run at the top of them.
    root = project.root if project.git_dir else env.cwd if "GIT_DIR" in env.environ else ""
    objects = os.path.join(project.common_dir, "objects") if project.common_dir else ""
    return Scope(root, env.cwd, env.environ, lambda path: path == mirror or listed(path), mirror, objects)


def _joined(first: Asked, second: Asked) -> Asked:
    entries = tuple(dict.fromkeys((*first.entries, *second.entries)))
    notes = tuple(dict.fromkeys((*first.notes, *second.notes)))
    return Asked(entries, first.working, notes, max(first.offered, second.offered))


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `mem guard`."""
    parser.usage = (
        "mem guard [FILE…] [--all] [--json | --sarif]\n"
        "       mem guard allow RULE FINGERPRINT [--why TEXT]\n"
        "       mem guard sweep [--json]"
    )
    parser.add_argument("words", nargs="*", metavar="FILE", help="files to judge; without any, what is staged")
    parser.add_argument("--all", action="store_true", help="judge every tracked memory file, and the store")
    parser.add_argument("--sarif", action="store_true", help="answer in SARIF 2.1.0, for code hosts")
    parser.add_argument("--why", default="", metavar="TEXT", help="allow: the reason, for those who review the line")


def run(args: argparse.Namespace, env: Env) -> int:
    """Judge files or the index and report; or add an allowance; or sweep store and history."""
    project = find_project(env.cwd, environ=env.environ, project=args.project, db=args.db)
    if args.project:
        env = env._replace(cwd=project.root or env.cwd)
    if args.words[:1] == ["allow"]:
        return _allow(args, env, project)
    if args.words[:1] == ["sweep"]:
        from .sweep import run_sweep  # it reads all of history: no business of a commit

        return run_sweep(args, env, project)
    config = settings.load(project, env.environ)
    scope = scope_of(project, config, env)
    found = _reach(args, scope, project, config)
    _report(args, env, found)
    if found.problems:
        from . import verdicttext

        raise Rejected(verdicttext.summary(found), reason=verdicttext.reason(found))
    return 0


def _reach(args: argparse.Namespace, scope: Scope, project: Project, config: settings.Config) -> Verdict:
    extra: list[Problem] = []
    if args.all:
        if args.words:
            raise UsageError("--all judges everything; leave the file names out")
        asked = candidates.tracked(scope) if scope.root else Asked()
        if os.path.exists(project.store_path):
            from .sweep import store_problems

            extra = store_problems(project, scan)
    elif args.words:
        asked = candidates.named(scope, args.words, choose=False)
    else:
        asked = candidates.staged(scope)
    found = verdict.reach(asked, scope, scan, allow_from=config["guard.allow_from"], extra=extra)
    return verdict.with_stale(found, scope) if args.all else found


def _report(args: argparse.Namespace, env: Env, found: Verdict) -> None:
    """Print the report that was asked for; in plain form the findings are talk, as a refusal is no answer."""
    import json

    from . import verdicttext

    if args.sarif:
        from .sarif import sarif

        env.print(json.dumps(sarif(found), ensure_ascii=False, indent=2))
    elif args.json:
        env.print(json.dumps(verdicttext.verdict_json(found), ensure_ascii=False))
    else:
        for line in verdicttext.lines(found):
            env.say(line)
        if not found.problems and found.size:
            env.print(verdicttext.summary(found))


def _allow(args: argparse.Namespace, env: Env, project: Project) -> int:
    """Add a line to the tracked `.mem-allow`. It is not staged: that is the user's word."""
    import json

    from . import allowances
    from .files import read, write_atomic

    if len(args.words) != 3:
        raise UsageError('say `mem guard allow RULE FINGERPRINT --why "…"`, as the guard printed it')
    if not project.root:
        raise MemError("an allowance is a line in the repository's .mem-allow, and this is no repository")
    allowance = allowances.check(args.words[1], args.words[2], args.why)
    path = os.path.join(project.root, allowances.ALLOW_FILE)
    if os.path.islink(path):
        raise MemError(f"{allowances.ALLOW_FILE} is a link; make it a file of this repository")
    write_atomic(path, allowances.added(read(path) or b"", allowance))
    if args.json:
        env.print(json.dumps({**allowance._asdict(), "file": path}, ensure_ascii=False))
    else:
        env.print(f"{allowance.rule} {allowance.fingerprint} is in {allowances.ALLOW_FILE}")
        env.say(f"it counts once it is staged: git add {allowances.ALLOW_FILE}")
    return 0
