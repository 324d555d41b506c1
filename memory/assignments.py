"""Find credentials that no vendor's shape betrays: values assigned to telling names, and random tokens in prose about
access.

The text is a view whose offsets are those of the original (`unwrap.unescape`). Work is bounded: each candidate is
judged by at most 200 characters around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .entropy import is_hex, is_placeholder, is_random, is_uuid

Span = tuple[str, int, int]

# Words of access that make a random token in the same passage a credential.
_ACCESS = (
    "key", "token", "secret", "passw", "pwd", "credential", "auth", "bearer", "login", "access", "private", "calling",
    "just use", "rotate", "never expires", "env vars", "sandbox", "account",
)  # fmt: skip
# Words right before a value that say it is no secret.
_HARMLESS = (
    "sha", "md5", "hash", "digest", "checksum", "integrity", "commit", "revision", "etag", "fingerprint", "uuid",
    "guid",
    "public", "signature", "nonce", "version", "cursor", "requestid", "request_id", "request-id", "csrf", "tokenizer",
    "resolved", "uses:", "upstream", "docker", "bucket", "primary", "foreign", "idempotency", "partition", "page_token",
    "pagetoken", "continuation", "h1:", "accessor", "client_id", "clientid", "client-id", "issue", "epic", "cache",
    "sourcemap", "credentialsid",
)  # fmt: skip
# A name that ends in a word of access, what may stand behind it, and the sign of assignment: all up to the value.
_NAMED = (
    r"(?:key|token|secret|passw(?:or)?d|pwd|passphrase|credentials?|auth(?:orization)?|bearer|login|cookie|private|pat"
    r"|access|basic|session)(?:[_\- ]?(?:value|key|token|secret|is|was|code|string|header|prod\w*|dev\w*|stag\w*|live"
    r"|v?\d{1,3})){0,2}"
    r"[\"'`\])*}]{0,3}\s{0,8}(?:is|:=|=>|->|==?|:|,|\||-|–|\()?\s{0,8}(?:string|str|\\)?[\s\"'`(\[{<*=]{0,8}$"
)


def findings(text: str, tokens: Iterable[re.Match[str]]) -> list[Span]:
    """Return rule, start and end of what is assigned to a telling name or stands beside words of access; `tokens` are
    the long tokens of `text`."""
    lower = text.lower()
    return _random_tokens(text, lower, tokens) + _assigned(text, lower)


def _random_tokens(text: str, lower: str, tokens: Iterable[re.Match[str]]) -> list[Span]:
    found = []
    parts = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-+/.~]{12,}[A-Za-z0-9](?:={1,2}(?![A-Za-z0-9]))?")
    digit = re.compile("[0-9]")
    for run in tokens:
        if not digit.search(run[0]) and not run[0].isalpha():
            continue
        for match in parts.finditer(run[0]):
            start, end = run.start() + match.start(), run.start() + match.end()
            rule = _judge(match[0], text, lower, (start, end))
            if rule:
                found.append((rule, start, end))
    return found


def _judge(token: str, text: str, lower: str, span: tuple[int, int]) -> str:
    start, end = span
    bare = token.rstrip("=")
    exact = is_uuid(bare) or (len(bare) >= 20 and is_hex(bare))
    if (not exact and not is_random(bare)) or is_placeholder(token):
        return ""
    if text.startswith(("...", "…", "***", "@"), end) or _in_url(text, start):
        return ""
    before = lower[max(0, start - 100) : start].rpartition("\n\n")[2]
    near = before[-32:].rpartition("\n")[2]
    if any(word in near for word in _HARMLESS):
        return ""
    if re.search(_NAMED, before[-60:]):
        return "generic-credential"
    after = lower[end : end + 60].partition("\n\n")[0]
    if exact or not any(word in before or word in after for word in _ACCESS):
        return ""
    return "generic-credential"


def _in_url(text: str, start: int) -> bool:
    """Say whether the token at `start` is part of an address or path, but for a query parameter with a telling name."""
    head = text[max(0, start - 200) : start]
    cut = max(head.rfind(sign) for sign in " \n\t\"'(<`")
    run = head[cut + 1 :]
    if "://" not in run and not run.endswith(("/", "#", "@")):
        return False
    name = run.rpartition("?")[2].rpartition("&")[2].lower() if "?" in run else ""
    return not (name.endswith("=") and any(word in name for word in ("key", "token", "secret", "pass", "auth", "pwd")))


_NAMES = (
    "pass", "pwd", "pw", "psw", "pss", "pasw", "secret", "token", "key", "cred", "auth", "identified", "securestring",
    "login", "account",
)  # fmt: skip
_ASSIGN = (
    r"(?P<rest>[\w\-]{0,24})(?P<sign>[\"'`\])*]{0,3}\s{0,8}(?:[:=!]==?|:=|=>|[:=]|->|\"? value=|, |\bis "
    r"|with \w+ by |by |(?<=[\w\"'])\s)\s{0,8})(?:str = |string |basic |bearer |token |-\w+ )?"
    r"(?:[uburf]{0,2}[\"'`]{1,3}(?P<quoted>[^\"'`\n]{5,80})[\"'`]|(?P<plain>[^\s\"'`<>,|]{5,120}))"
)
_REST = (
    r"(?:s|d|wd|wrd|wor?d|rd|word|phrase|swd|swrd|ssword|ential|entials|orization|auth"
    r"|[_-]?(?:value|key|token|secret|code|str|string|pass|password|proxy|prod\w*|dev\w*|live|v?\d{1,3})){0,3}"
)


def _assigned(text: str, lower: str) -> list[Span]:
    found: list[Span] = []
    compiled = None
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            compiled = compiled or re.compile(_ASSIGN)
            match = compiled.match(text, at + len(name))
            if match:
                quoted = match["quoted"] is not None
                start, end = match.span("quoted" if quoted else "plain")
                value = text[start:end] if quoted else text[start:end].rstrip(".*)]}|:;,")
                rule = _judge_value(name, value, match["sign"], quoted)
                telling = rule and re.fullmatch(_REST, match["rest"].lower())
                if telling and not any(word in lower[max(0, at - 14) : at] for word in _HARMLESS):
                    found.append((rule, start, start + len(value)))
            at = lower.find(name, at + len(name))
    return found


_CODE = (
    "${", "$(", "{{", "<%", "%(", "os.", "env.", "env[", "getenv", "process", "(", "\\", "self.", "this.", "config.",
    "->", "[]", "#{", "//",
)  # fmt: skip
_WORDY = (
    "password", "passwd", "passw0rd", "secret", "token", "test", "admin", "user", "demo", "hunter2", "12345", "abc123",
    "p4ssw0rd", "qwerty",
)  # fmt: skip


def _judge_value(name: str, value: str, sign: str, quoted: bool) -> str:
    """Return the rule that a value of a telling name breaks, or "". Passwords may be short words with digits; other
    credentials must look random."""
    if value[:1] in "$%<{*&@#/.([" or is_placeholder(value) or any(mark in value.lower() for mark in _CODE):
        return ""
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdigit, value))
    signs = any(not char.isalnum() and char not in "-_./:" for char in value)
    explicit = quoted or sign.strip(" \"'`)]*") != ""
    if name in ("secret", "token", "key", "cred", "auth"):
        return "generic-credential" if len(value) >= 12 and explicit and is_random(value) else ""
    if any(word in value.lower() for word in _WORDY) or not any(map(str.isdigit, value)):
        return ""
    if name in ("login", "account") or not explicit:
        return "generic-password" if kinds + signs >= 4 else ""
    return "generic-password" if kinds + signs >= 3 or (kinds == 2 and len(value) >= 9) else ""
