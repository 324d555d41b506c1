"""`mem recall`, `context`, `search`, `list` and `get`: what reads memories."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable

from ..memory import registry
from ..memory.errors import MemError, NotFound, UsageError
from ..memory.project import Project, personal
from ..memory.record import KINDS, Hit, Memory, check_kind, past, printable
from ..memory.tokens import estimate
from .command import answer, chosen_model, has_store, open_project, open_store, utf8
from .env import Env
from .show import hit_json, hits_text, memory_json, memory_text, row_text

RECALL_TOKENS = 500
CONTEXT_BYTES = 32768


def recall_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+")
    parser.add_argument("--limit", "-n", type=_count(10), default=5, metavar="N", help="at most N hits, 1 to 10")
    parser.add_argument("--scope", choices=("project", "personal", "all"), default="project", help="which stores")


def recall(args: Namespace, env: Env) -> int:
    """Find by words; at most --limit hits whose titles and contents cost 500 tokens together."""
    project = open_project(args, env)
    query = utf8(" ".join(args.query), "the query")
    hits, warnings = _find(project, env, query, args.limit)
    if args.scope == "all":
        more, foreign = _find_elsewhere(project, env, query, args.limit)
        hits, warnings = hits + more, warnings | foreign
    kept, spent = [], 0
    for hit in hits[: args.limit]:
        cost = estimate(f"{hit.memory.title}\n{hit.memory.content}")
        if spent + cost <= RECALL_TOKENS:
            kept.append(hit)
            spent += cost
    _answer_hits(env, args, kept, warnings)
    return 0


def _find(project: Project, env: Env, query: str, limit: int) -> tuple[list[Hit], dict[str, str]]:
    if not has_store(project):
        return [], {}
    with open_store(project, env, write=False) as store:
        hits = store.search(query, limit=limit, mode="lexical")
        store.stamp(hits)
    return hits, {}


def _find_elsewhere(here: Project, env: Env, query: str, limit: int) -> tuple[list[Hit], dict[str, str]]:
    """Return hits of every other registered store, with the warning that each carries."""
    others = [
        (Project(entry.root, entry.store, "default"), f"from another project: {entry.name}")
        for entry in registry.registered(env.environ)
    ]
    hits: list[Hit] = []
    warnings: dict[str, str] = {}
    for other, warning in [*others, (personal(env.environ), "from your personal store")]:
        if other.store_path == here.store_path:
            continue
        try:
            found, _ = _find(other, env, query, limit)
        except MemError as error:  # what is wrong elsewhere is no reason to find nothing here
            env.say(f"mem: {printable(error.message)}")
            continue
        hits += found
        warnings |= {hit.memory.id: warning for hit in found}
    return hits, warnings


def context_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+")
    parser.add_argument("-n", type=_count(100), default=10, metavar="N", help="at most N hits")
    parser.add_argument("--max-bytes", type=_count(1 << 20), default=CONTEXT_BYTES, metavar="BYTES")


def context(args: Namespace, env: Env) -> int:
    """Find by words and meaning together; nothing where nothing is relevant."""
    project = open_project(args, env)
    query = utf8(" ".join(args.query), "the query")
    hits: list[Hit] = []
    if has_store(project):
        with open_store(project, env, write=False) as store:
            hits = store.context(query, limit=args.n, embedder=chosen_model(project, env))
            store.stamp(hits)
    kept, spent = [], 0
    for hit in hits:
        cost = len(memory_text(hit.memory, env.now()).encode()) + 1
        if spent + cost <= args.max_bytes:
            kept.append(hit)
            spent += cost
    _answer_hits(env, args, kept, {})
    return 0


def search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+")
    parser.add_argument("--semantic", action="store_true", help="by meaning; needs every memory's vector")
    parser.add_argument("-n", type=_count(1000), default=10, metavar="N", help="at most N hits")
    _filter_arguments(parser)
    parser.add_argument("--branch", default="", help="only those tagged branch:NAME")
    parser.add_argument(
        "--since", default="", metavar="WHEN", help="written since a date, or within a span such as 30d"
    )
    parser.add_argument("--before", default="", metavar="WHEN", help="written before a date, or longer ago than a span")


def search(args: Namespace, env: Env) -> int:
    """Search with filters."""
    project = open_project(args, env)
    query = utf8(" ".join(args.query), "the query")
    filters = {
        "kind": check_kind(args.kind) if args.kind else "", "area": args.area, "tag": args.tag, "branch": args.branch,
        "since": past(args.since, env.now()), "before": past(args.before, env.now()),
    }  # fmt: skip
    hits: list[Hit] = []
    if has_store(project):
        with open_store(project, env, write=False) as store:
            model = chosen_model(project, env) if args.semantic else None
            mode = "semantic" if args.semantic else "lexical"
            hits = store.search(query, limit=args.n, mode=mode, embedder=model, **filters)
    _answer_hits(env, args, hits, {})
    return 0


def list__arguments(parser: ArgumentParser) -> None:
    _filter_arguments(parser)
    parser.add_argument("--stale", action="store_true", help="only those whose files changed since")
    parser.add_argument("--all", action="store_true", help="with superseded ones")
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def list_(args: Namespace, env: Env) -> int:
    """List memories, newest first, one line each."""
    project = open_project(args, env)
    memories: list[Memory] = []
    states: dict[str, str] = {}
    if has_store(project):
        from ..memory.anchors import notes

        with open_store(project, env, write=False) as store:
            kind = check_kind(args.kind) if args.kind else ""
            memories = store.list(kind=kind, area=args.area, tag=args.tag, include_superseded=args.all)
            states = notes(store.db, [memory.id for memory in memories])
    if args.stale:
        memories = [memory for memory in memories if memory.id in states]
    rows = [memory_json(one) | ({"stale": states[one.id]} if one.id in states else {}) for one in memories]
    lines = [row_text(one) + (f"  [{states[one.id]}]" if one.id in states else "") for one in memories]
    answer(env, args, {"memories": rows}, "\n".join(lines))
    return 0


def get_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    parser.add_argument("--scope", choices=("project", "personal"), default="project", help="which store")


def get(args: Namespace, env: Env) -> int:
    """Show one memory whole, superseded ones too."""
    project = open_project(args, env)
    if not has_store(project):
        raise NotFound(f"no memory has the id {args.id}: the project has no store yet")
    with open_store(project, env, write=False) as store:
        memory = store.get(args.id)
    value = memory_json(memory)
    hidden = ("content", "title_derived", "extra")
    lines = [f"{name}: {_plain(text)}" for name, text in value.items() if name not in hidden and text not in ("", [])]
    answer(env, args, value, "\n".join([*lines, "", memory_text(memory, env.now())]))
    return 0


def _plain(value: object) -> str:
    return printable(", ".join(value) if isinstance(value, list) else str(value))


def _filter_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--kind", default="", help="one of " + ", ".join(KINDS))
    parser.add_argument("--area", default="")
    parser.add_argument("--tag", default="")


def _answer_hits(env: Env, args: Namespace, hits: Iterable[Hit], warnings: dict[str, str]) -> None:
    found = list(hits)
    rows = [
        hit_json(hit) | ({"warning": warnings[hit.memory.id]} if hit.memory.id in warnings else {}) for hit in found
    ]
    answer(env, args, {"memories": rows}, hits_text(found, env.now(), warnings))


def _count(most: int):  # type: ignore[no-untyped-def]
    """Return a parser of whole numbers from 1 to `most`."""

    def parse(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else 0
        if not 1 <= value <= most:
            raise UsageError(f"{text!r} is not a number from 1 to {most:,}")
        return value

    return parse
