"""Tell a service's token by its make alone: a short prefix and a random body, whoever the service is.

Services name their tokens so that they can be found (`acme_live_…`, `xyz-…`). The rules know some of them; this knows
the make. Ids of objects are made the same way, so their prefixes are listed, and a body must be longer than theirs
where no part of the prefix speaks of access. Pure.
"""

from __future__ import annotations

import functools

from .entropy import is_hex, is_random
from .rules import literals

_SAYING = frozenset({
    "key", "keys", "sk", "ak", "pat", "pats", "api", "apikey", "token", "tok", "secret", "sec", "live", "prod",
    "production", "priv", "private", "auth", "oauth", "admin", "svc", "svcacct", "acct", "access", "refresh",
    "personal", "sandbox", "dev", "test", "rw", "at", "rt", "signkey", "sdk", "webhook",
})  # fmt: skip
# What begins the ids of objects, of builds and of public keys. Source: the API references of Stripe, OpenAI, Anthropic,
# Clerk, Vercel and Slack; the names that tools give to files and layers.
_IDS = frozenset({
    "toolu", "srvtoolu", "msg", "req", "chatcmpl", "pi", "cus", "price", "prod", "sub", "acct", "evt", "file",
    "asst", "thread", "run", "resp", "call", "user", "org", "team", "vs", "batch", "ftjob", "in", "ch", "seti", "pm",
    "card", "txn", "cs", "job", "task", "ses", "sess", "session", "event", "inst", "dep", "dpl", "prj", "build",
    "chunk", "hash", "sha", "sha1", "sha256", "sha512", "md5", "cache", "img", "image", "css", "commit", "rev",
    "node", "page", "doc", "id", "uid", "uuid", "ref", "fc", "rs", "item", "conv", "trace", "span", "tx", "block",
    "col", "row", "btoken", "ii", "il", "si", "pub", "pk", "mod", "style", "asset", "bundle", "main", "index",
    "digest",
})  # fmt: skip
_PUBLIC = frozenset(("pk", "phc", "pub"))
_FILES = frozenset({
    "js", "mjs", "cjs", "css", "map", "ts", "tsx", "jsx", "json", "png", "jpg", "svg", "woff2", "html", "md", "py",
    "rb", "go", "rs", "tar", "gz", "zip",
})  # fmt: skip
_LEAST = 28  # characters of a body behind a prefix that says nothing: beyond the ids of the services above
_LEAST_SAYING = 16


def is_prefixed(token: str) -> bool:
    """Say whether a token is a prefix and a body too random for anything but a credential."""
    segments, body = _split(token)
    if not segments or (segments[0] in _IDS and (len(segments) == 1 or segments[0] not in _SAYING)):
        return False
    if any(sign in body for sign in "./+~=") or token.startswith(_announced()):
        return False
    saying = any(segment in _SAYING for segment in segments)
    part = max(body.replace("_", "-").split("-"), key=len)
    kinds = any(map(str.islower, body)) + any(map(str.isupper, body)) + any(map(str.isdigit, body))
    if kinds == 3:
        return len(body) >= (_LEAST_SAYING if saying else _LEAST) and len(part) >= 12 and is_random(body)
    if kinds < 2 or len(part) < (24 if saying else 32) or part != part.lower():
        return False
    return (saying or token[len(segments[0])] == "_") and (is_hex(part) or is_random(part))


def is_object_id(token: str) -> bool:
    """Say whether a token is a prefix that names a kind of object, or a public key, and an id without further signs;
    or an id that is known by its own form: a ULID, a content id, the name of a pod, a file with a hash in its name."""
    head, sign, body = token.partition("_")
    if sign and (head in _PUBLIC or (head in _IDS and body.isalnum())):
        return True
    if len(token) == 26 and token.startswith("01") and token.isalnum() and token.isupper():
        return True
    if (len(token) == 46 and token.startswith("Qm")) or (len(token) == 59 and token.startswith("baf")):
        return token.isalnum()
    pod = token.split("-")
    if len(pod) > 2 and len(pod[-1]) == 5 and 8 <= len(pod[-2]) <= 10 and is_hex(pod[-2]) and pod[-1].islower():
        return True
    return token.rpartition(".")[2] in _FILES


def _split(token: str) -> tuple[list[str], str]:
    """Return the prefix of a token in its segments, lower-case, and what follows; no segments where it has none."""
    parts = token.replace("-", "_").split("_")
    first = parts[0]
    if len(parts) < 2 or not 2 <= len(first) <= 15 or not first.isalnum() or not first[0].isalpha():
        return [], token
    count = 1
    while count < len(parts) - 1 and _is_name(parts[count]):
        count += 1
    return [part.lower() for part in parts[:count]], token[sum(map(len, parts[:count])) + count :]


def _is_name(segment: str) -> bool:
    word = segment.isalpha() and segment.islower() and len(segment) <= 8
    version = segment.lstrip("v").isdigit() and len(segment) <= 3
    return word or version or segment.lower() in _SAYING


@functools.cache
def _announced() -> tuple[str, ...]:
    """Return the prefixes that a rule knows: what begins so and does not fit it is no token of that service."""
    words = (word for word, rule in literals() if rule.literals[0] not in "~&" and len(word) > 3)
    return tuple(word for word in words if word[-1] in "_-" and word[:-1] not in _SAYING)
