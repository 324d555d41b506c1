"""Find credentials that no vendor's shape betrays: values assigned to telling names, and random tokens in prose about
access.

The text is a view whose offsets are those of the original (`unwrap.unescape`). Work is bounded: each candidate is
judged by at most 200 characters around it.
"""

from __future__ import annotations

import re

from .entropy import is_hex, is_placeholder, is_random, is_uuid
from .named import TYPE_CHECKING
from .prefixed import is_object_id, is_prefixed

if TYPE_CHECKING:
    from collections.abc import Iterable

Span = tuple[str, int, int]

_STRONG = ("key", "token", "secret", "passw", "credential", "401", "rotate")
# Words of access that make a random token in the same passage a credential.
_ACCESS = (
    "key", "token", "secret", "passw", "pwd", "credential", "auth", "bearer", "login", "access", "private", "calling",
    "rotate", "sandbox", "account", "unseal", "api",
)  # fmt: skip
# Words right before a value that say it is no secret.
_HARMLESS = (
    "sha", "md5", "hash", "digest", "checksum", "integrity", "commit", "revision", "etag", "fingerprint", "uuid",
    "guid", "public", "signature", "nonce", "page", "cursor", "requestid", "request_id", "request-id", "csrf", "cache",
    "tokenizer", "resolved", "uses:", "upstream", "docker", "bucket_key", "primary", "foreign", "idempotency",
    "partition", "continuation", "h1:", "accessor", "client_id", "clientid", "client-id", "client_key", "issuekey",
    "issue_key", "epic", "sourcemap", "credentialsid", "credentialid", "keyword", "install",
    "client id", ";base64,", "ssh-rsa", "ssh-ed25519", "site key", "site_key", "sitekey", "publishable", " ray ",
)  # fmt: skip
# Words that make a hash or an id of what a passage hands over, and those that hand over.
_IDS = (
    " id", "_id", "-id", "session", "request", "trace", "build", "image", "version", "release", "index", "branch",
    " node", "uploaded", "layer",
)  # fmt: skip
_TELLS = ("is", "are", "was", "one", "value", "use", "uses", "using", "to", "with")
_SENTENCE = ".,:;!?()[]\"'`*|"
_WORD = (
    r"(?:key|token|secret|passw(?:or)?d|pwd|passphrase|credentials?|auth(?:orization)?|bearer|login|cookie|private|pat"
    r"|access|basic|session)"
)
# A name that ends in a word of access, what may stand behind it, and the sign of assignment: all up to the value.
_NAMED = (
    _WORD
    + r"(?:[_\- ]?(?:value|key|token|secret|is|was|code|string|header|prod\w*|dev\w*|stag\w*|live|v?\d{1,3})){0,2}"
    + r"[\"'`\])*}]{0,3}\s{0,8}(?:is|:=|=>|->|[!=]==?|[=:|–-]|\()?\s{0,8}(?:bearer|basic|string|str|\\)?"
    + r"(?:>\{(?:[\w.-]{1,30} ){0,2}|[\s\"'`(\[{<*=]{0,8})$"
)
# The same name joined to its value by a hyphen: service-secret-5f4d…
_GLUED = r"(?i)[\w-]{0,40}?(?:key|token|secret|access|password)[_-](?:key-|tok-)?(?=[^_-]*\d)([\w-]{16,})"


def findings(text: str, tokens: Iterable[re.Match[str]]) -> list[Span]:
    """Return rule, start and end of what is assigned to a telling name or stands beside words of access; `tokens` are
    the long tokens of `text`."""
    lower = text.lower()
    return _random_tokens(text, lower, tokens) + _assigned(text, lower) + _curl_users(text)


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


def _is_exact(token: str) -> bool:
    """Say whether a token has the form of an id or a hash."""
    return is_uuid(token) or (len(token) >= 16 and is_hex(token.replace("-", "")))


def _judge(token: str, text: str, lower: str, span: tuple[int, int]) -> str:
    start, end = span
    bare = token.rstrip("=")
    exact = _is_exact(bare)
    glued = _is_glued(token)
    if (not exact and not glued and not is_random(bare, limit=0.55)) or is_placeholder(token) or bare.startswith("0x"):
        return ""
    if text.startswith(("...", "***", "@"), end) or _in_url(text, start) or _is_sample(text, span):
        return ""
    before = lower[max(0, start - 100) : start].rpartition("\n\n")[2]
    near = before[-32:].rpartition("\n")[2]
    if any(word in near for word in _HARMLESS) or before.rstrip().endswith("-----"):  # the body of an armoured block
        return ""
    if is_object_id(bare):
        return ""
    if glued or re.search(_NAMED, before[-60:]):
        return "generic-credential"
    after = lower[end : end + 60].partition("\n\n")[0]
    if exact:
        return "generic-credential" if len(bare) >= 32 and _is_told(before, after) else ""
    if not is_random(bare) or _in_block(before):
        return ""
    if _among_words(lower, span) and is_prefixed(bare):
        return "generic-token"
    return "generic-credential" if any(word in before or word in after for word in _ACCESS) else ""


def _is_told(before: str, after: str) -> bool:
    """Say whether a passage speaks of access and hands over what stands in its midst, and is not about ids and
    hashes."""
    passage = f"{before} {after}"
    if not any(word in passage for word in _STRONG) or any(word in passage for word in (*_HARMLESS, *_IDS)):
        return False
    lead = before.rstrip("`\"'*( ")
    return (lead.endswith((":", "=", "|")) and not lead[-2:-1].isdigit()) or lead.rpartition(" ")[2] in _TELLS


def _is_sample(text: str, span: tuple[int, int]) -> bool:
    """Say whether the run of characters that a token belongs to says that it is made up."""
    run = text[span[0] : span[0] + 160].split(maxsplit=1)[0].lower()
    return "xxxxx" in run or "example" in run[: span[1] - span[0] + 40]


def _among_words(lower: str, span: tuple[int, int]) -> bool:
    """Say whether the token at `span` stands in a text, and is not the text."""
    start, end = span
    around = lower[max(0, start - 100) : start].split() + lower[end : end + 60].split()
    return sum(1 for word in around if word.strip(_SENTENCE).isalpha() and len(word) > 2) > 1


def _is_glued(token: str) -> bool:
    """Say whether a token is a telling name and a random value joined by a hyphen."""
    glued = re.fullmatch(_GLUED, token) if "-" in token or "_" in token else None
    return glued is not None and (_is_exact(glued[1]) or is_random(glued[1]))


def _in_block(before: str) -> bool:
    """Say whether a token that begins a line follows a line without blanks: the body of an armoured block."""
    last, _, rest = before.rpartition("\n")
    return rest == "" and len(last) > 40 and " " not in last[-60:].rpartition("\n")[2]


def _in_url(text: str, start: int) -> bool:
    """Say whether the token at `start` is part of an address or path, but for a query parameter with a telling name."""
    head = text[max(0, start - 200) : start]
    cut = max(head.rfind(sign) for sign in " \n\t\"'(<`")
    run = head[cut + 1 :]
    if "://" not in run and not run.endswith(("/", "#", "@")):
        return False
    name = run.rpartition("?")[2].rpartition("&")[2].lower() if "?" in run else ""
    return not (name.endswith("=") and any(word in name for word in ("key", "token", "secret", "pass", "auth", "pwd")))


_TELLING = ("secret", "token", "key", "cred", "auth")
_NAMES = (*_TELLING, "pass", "pwd", "pw", "psw", "pss", "pasw", "identified", "securestring", "login", "account")
_ASSIGN = (
    r"(?i)(?P<rest>[\w\-]{0,24})(?P<sign>[\"'`\])*]{0,3}[ \t]{0,8}(?:[:=!]==?|:=|=>|[:=]|->|\"? value=|\bis "
    r"|with \w+ by |by |(?<=[\w\"'])[ \t])[ \t]{0,8})(?:str = |string |basic |bearer |token |-\w+ )?"
    r"(?:[uburf]{0,2}[\"'`]{1,3}(?P<quoted>[^\"'`\n]{5,80})[\"'`]|(?P<plain>[^\s\"'`<>,|]{5,120}))"
)
_MORE = r"[_-]?(?:value|key|token|secret|code|str|string|pass|password|proxy|prod\w*|dev\w*|live|v?\d{1,3})"
_REST = rf"(?:ential|entials|orization|{_MORE}){{0,3}}"
_PASSWORD_REST = rf"(?:s|d|wd|wrd|wor?d|rd|word|phrase|swd|swrd|ssword|{_MORE}){{0,3}}"


def _assigned(text: str, lower: str) -> list[Span]:
    found: list[Span] = []
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            match = re.compile(_ASSIGN).match(text, at + len(name))
            if match:
                quoted = match["quoted"] is not None
                start, end = match.span("quoted" if quoted else "plain")
                value = text[start:end] if quoted else text[start:end].rstrip(".*)]}|:;,")
                sign = match["sign"].strip(" \t\"'`)]*") or lower[max(0, at - 2) : at].strip(" \t\"'`(\n")
                rule = _judge_value(name, value, sign, quoted)
                rest = _REST if name in _TELLING else _PASSWORD_REST
                end = start + len(value)
                telling = rule and re.fullmatch(rest, match["rest"].lower()) and not text.startswith("...", end)
                around = lower[max(0, at - 14) : at + len(name)]
                harmless = text[at - 1 : at] in ("]", "%", "@") or any(word in around for word in _HARMLESS)
                if telling and not harmless:
                    found.append((rule, start, end))
            at = lower.find(name, at + len(name))
    return found


_CODE = (
    "${", "$(", "{{", "<%", "%(", "os.", "env.", "env[", "getenv", "process", "(", "\\", "self.", "this.", "config.",
    "->", "[]", "#{", "//",
)  # fmt: skip
_WORDY = (
    "password", "passwd", "passw0rd", "secret", "token", "test", "admin", "user", "demo", "hunter2", "12345", "abc123",
    "qwerty",
)  # fmt: skip


def _judge_value(name: str, value: str, sign: str, quoted: bool) -> str:
    """Return the rule that a value of a telling name breaks, or "". Passwords may be short words with digits; other
    credentials must look random."""
    if value[:1] in "$%<{*&@#/.([" or value.startswith("0x") or is_placeholder(value):
        return ""
    if any(mark in value.lower() for mark in _CODE):
        return ""
    kinds = any(map(str.islower, value)) + any(map(str.isupper, value)) + any(map(str.isdigit, value))
    signs = any(not char.isalnum() and char not in "-_./:" for char in value)
    if name in _TELLING:
        if (quoted or sign) and kinds == 3 and 10 <= len(value) < 14 and value.isalnum():
            return "generic-credential"
        random = len(value) >= 12 and is_random(value, limit=0.5) and (not _is_exact(value) or sign[-1:] in "=:>")
        random = random and not is_object_id(value)
        return "generic-credential" if random and (quoted or sign) else ""
    if any(word in value.lower() for word in _WORDY) or not any(map(str.isdigit, value)):
        return ""
    if name in ("login", "account") or not (quoted or sign):
        return "generic-password" if kinds + signs >= 4 else ""
    return "generic-password" if kinds + signs >= 3 or (kinds == 2 and len(value) >= 9) else ""


def _curl_users(text: str) -> list[Span]:
    """Return the user and password that a curl command hands over."""
    if "curl" not in text:
        return []
    found = []
    option = re.compile(r"\s(?:-u|--user)[ =]{1,3}[\"']?([^\s\"':]{1,80}):[\"']?([^\s\"']{4,80})")
    for match in option.finditer(text):
        called = "curl" in text[max(0, match.start() - 300) : match.start()]
        template = any(mark in match[0] for mark in "$<{*%") or is_placeholder(match[2]) or match[2].isupper()
        if called and not template and not (match[2].isalpha() and match[2].islower()):
            found.append(("curl-credentials", match.start(1), match.end(2)))
    return found
