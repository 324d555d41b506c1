"""`mem recall`, `context`, `search`, `list` and `get`: what reads memories."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from ..memory import anchors, registry, sections
from ..memory.api import Store
from ..memory.errors import MemError, NotFound
from ..memory.named import NamedTuple
from ..memory.project import Project, personal
from ..memory.record import KINDS, Hit, Memory, check_kind, past, printable, short
from ..memory.tokens import fit
from ..memory.words import match_expression
from .command import answer, chosen_model, has_store, open_project, open_store, utf8, whole_number
from .env import Env
from .show import hit_json, hits_text, memory_json, memory_text, row_text, section_json, section_text

RECALL_TOKENS = 500
CONTEXT_BYTES = 32768
_SECTIONS = 3  # of the notebook, beside the hits


class _Found(NamedTuple):
    """Hits; by their ids, whose they are where that is not this project's, and what became of their files; the
    notebook's sections that answer; and the ids of hits that no room was left for."""

    hits: list[Hit]
    warnings: dict[str, str]
    stale: dict[str, str]
    parts: list[sections.SectionHit]
    left_out: tuple[str, ...] = ()


def recall_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+")
    parser.add_argument("--limit", "-n", type=whole_number(10), default=5, metavar="N", help="at most N hits, 1 to 10")
    parser.add_argument("--scope", choices=("project", "personal", "all"), default="project", help="which stores")


def recall(args: Namespace, env: Env) -> int:
    """Find by words; at most --limit hits whose titles and contents cost 500 tokens together."""
    project = open_project(args, env)
    query = utf8(" ".join(args.query), "the query")
    found = _find(project, env, query, args.limit)
    if args.scope == "all":
        found = _with_others(found, project, env, query=query, limit=args.limit)
        hits, left_out = _fitting(found.hits[: args.limit])
        found = found._replace(hits=hits, left_out=(*found.left_out, *left_out))
    _answer_hits(env, args, found)
    return 0


def _fitting(hits: list[Hit]) -> tuple[list[Hit], tuple[str, ...]]:
    """Return the hits that fit into the bound, and the ids of the others."""
    places = fit([f"{hit.memory.title}\n{hit.memory.content}" for hit in hits], RECALL_TOKENS)
    others = (hit.memory.id for place, hit in enumerate(hits) if place not in places)
    return [hits[place] for place in places], tuple(others)


def _find(project: Project, env: Env, query: str, limit: int) -> _Found:
    if not has_store(project):
        return _Found([], {}, {}, [])
    with open_store(project, env, write=False) as store:
        hits, left_out = _fitting(store.search(query, limit=limit, mode="lexical"))
        store.stamp(hits)
        return _with_notes(store, query, hits)._replace(left_out=left_out)


def _with_notes(store: Store, query: str, hits: list[Hit]) -> _Found:
    """Return the hits with what a reader must know about their files, and the notebook's sections that answer too."""
    parts = sections.search(store.db, match_expression(query), _SECTIONS)
    return _Found(hits, {}, anchors.notes(store.db, [hit.memory.id for hit in hits]), parts)


def _with_others(mine: _Found, here: Project, env: Env, *, query: str, limit: int) -> _Found:
    """Return `mine` and behind it the hits of every other registered store, with the warning that each carries."""
    others = [
        (Project(entry.root, entry.store, "default"), f"from another project: {entry.name}")
        for entry in registry.registered(env.environ)
    ]
    hits, warnings, stale, left_out = list(mine.hits), dict[str, str](), dict(mine.stale), mine.left_out
    for other, warning in [*others, (personal(env.environ), "from your personal store")]:
        if other.store_path == here.store_path:
            continue
        try:
            found = _find(other, env, query, limit)
        except MemError as error:  # what is wrong elsewhere is no reason to find nothing here
            env.say(f"mem: {printable(error.message)}")
            continue
        hits += found.hits
        warnings |= {hit.memory.id: warning for hit in found.hits}
        stale |= found.stale
        left_out += found.left_out
    return mine._replace(hits=hits, warnings=warnings, stale=stale, left_out=left_out)


def context_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+")
    parser.add_argument("-n", type=whole_number(100), default=10, metavar="N", help="at most N hits")
    parser.add_argument("--max-bytes", type=whole_number(1 << 20), default=CONTEXT_BYTES, metavar="BYTES")


def context(args: Namespace, env: Env) -> int:
    """Find by words and meaning together; nothing where nothing is relevant."""
    project = open_project(args, env)
    query = utf8(" ".join(args.query), "the query")
    found = _Found([], {}, {}, [])
    if has_store(project):
        with open_store(project, env, write=False) as store:
            found = _with_notes(store, query, store.context(query, limit=args.n, embedder=chosen_model(project, env)))
            found = _within_bytes(found, args.max_bytes, env.now())
            store.stamp(found.hits)
    _answer_hits(env, args, found)
    return 0


def _within_bytes(found: _Found, limit: int, now: float) -> _Found:
    """Return what fits into `limit` bytes of text, the notebook's sections first, since they take a line each."""
    kept, spent = [], sum(len(section_text(part).encode()) + 1 for part in found.parts)
    if spent > limit:
        found, spent = found._replace(parts=[]), 0
    for hit in found.hits:
        cost = len(memory_text(hit.memory, now).encode()) + 1
        if spent + cost <= limit:
            kept.append(hit)
            spent += cost
    return found._replace(hits=kept)


def search_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="+")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--semantic", action="store_true", help="by meaning; needs every memory's vector")
    way.add_argument("--prefix", action="store_true", help="by words, the last of which is still being typed")
    parser.add_argument("-n", type=whole_number(1000), default=10, metavar="N", help="at most N hits")
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
    found = _Found([], {}, {}, [])
    if has_store(project):
        with open_store(project, env, write=False) as store:
            model = chosen_model(project, env) if args.semantic else None
            mode = "semantic" if args.semantic else "lexical"
            hits = store.search(query, limit=args.n, mode=mode, embedder=model, prefix=args.prefix, **filters)
            found = _Found(hits, {}, anchors.notes(store.db, [hit.memory.id for hit in hits]), [])
    _answer_hits(env, args, found)
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


def _answer_hits(env: Env, args: Namespace, found: _Found) -> None:
    rows, notes = [], {}
    for hit in found.hits:
        said = {"warning": found.warnings.get(hit.memory.id, ""), "stale": found.stale.get(hit.memory.id, "")}
        rows.append(hit_json(hit) | {name: text for name, text in said.items() if text})
        notes[hit.memory.id] = "; ".join(filter(None, said.values()))
    value: dict[str, object] = {"memories": rows}
    if found.parts:
        value["notebook"] = [section_json(part) for part in found.parts]
    text = hits_text(found.hits, env.now(), notes, parts=found.parts)
    if found.left_out:
        value["left_out"] = list(found.left_out)
        commands = ", ".join(f"`mem get {short(one)}`" for one in found.left_out)
        text = f"{text}\n{len(found.left_out)} more found, too long to be shown here: {commands}".lstrip("\n")
    answer(env, args, value, text)
