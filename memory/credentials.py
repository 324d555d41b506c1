"""Apply the provider rules and the generic ones to one window of text.

Long tokens are collected once; their first characters say which rules can match at all, and only those are searched
and compiled. A token that is split by emphasis or a line wrap is put together at its literal, and base64 that decodes
to text is looked into once.
"""

from __future__ import annotations

import binascii
import re

from . import assignments, unwrap
from .entropy import is_placeholder, is_random
from .rules import AHEAD, BACK, FRAME, Rule, expression, literals, secret_rules

Span = tuple[str, int, int]

_LONG = r"[A-Za-z0-9_\-+/.~=$:]{15,}"
_HEAD = r"(?<![A-Za-z0-9])(?=([A-Za-z0-9$/_][A-Za-z0-9_.\-:/~+]{3}))"
_URL = (
    r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}://([^\s:/@\"'<>`]{0,80}):([^\s/\"'<>`]{4,100})"
    r"@[A-Za-z0-9\[.-]"
)
_SIGNS = {ord(sign): None for sign in "-_./+=~:$'\""}
_WEAK = ("password", "passwd", "pass", "pwd", "secret", "user", "postgres", "root", "admin", "guest", "token", "test")


def findings(view: str) -> list[Span]:
    """Return rule, start and end of every credential in `view`, ASCII without escapes; overlaps included."""
    tokens = list(re.finditer(_LONG, view))
    words = [token[0] for token in tokens]
    found = provider_findings(view, [*words, *_tails(view)])
    found += _url_credentials(view)
    found += assignments.findings(view, tokens)
    for token, word in zip(tokens, words, strict=True):
        if len(word) >= 32 and _is_encoded(word):
            found.append(("base64-credential", token.start(), token.end()))
    return found


def joined_findings(plain: str, joints: list[int]) -> list[Span]:
    """Return what provider rules find in the words of `plain` that were broken by emphasis at `joints`."""
    words = []
    for joint in joints:
        start = max(plain.rfind(" ", max(0, joint - 300), joint), plain.rfind("\n", max(0, joint - 300), joint)) + 1
        word = plain[start : joint + 300].split(maxsplit=1)[0]
        if len(word) >= 15 and not word.isalpha():
            words.append(word)
    return provider_findings(plain, words) if words else []


def provider_findings(text: str, tokens: list[str]) -> list[Span]:
    """Return what the provider rules find in `text`, whose long tokens are `tokens`."""
    hay = "\n".join(tokens)
    heads = set(re.findall(_HEAD, hay))
    found: list[Span] = []
    for literal, rule in literals():
        inner, whole = rule.literals[0] == "~", "&" in rule.literals[:2]
        if (inner or whole or len(literal) < 4 or literal[:4] in heads) and literal in (text if whole else hay):
            found += _apply(rule, literal, text)
    return found + _dotted(text, tokens)


def _tails(text: str) -> list[str]:
    """Return the short last words of lines that may be the beginning of a wrapped token."""
    tails = [line[line.rfind(" ") + 1 :] for line in text.split("\n")] if "\n" in text else []
    return [tail for tail in tails if 3 < len(tail) < 15 and ("_" in tail or "-" in tail)]


def _apply(rule: Rule, literal: str, text: str) -> list[Span]:
    compiled = None
    inner = rule.literals[0] == "~"
    found: list[Span] = []
    at = text.find(literal)
    while at >= 0:
        match, end = None, at + len(literal)
        if inner or rule.literals[0] == "&" or _goes_on(text[end : end + 10]):
            compiled = compiled or re.compile(expression(rule.pattern))
            if rule.id == "private-key":
                match = compiled.match(text, max(0, text.rfind("-----", max(0, at - 60), at)), at + FRAME)
            elif inner:
                match = compiled.search(text, max(0, at - BACK), at + AHEAD)
            else:
                match = compiled.match(text, at)
            if match and not _excused(rule.id, match[0]):
                found.append((rule.id, match.start(), match.end()))
            elif not match and not inner and end - at > 3:
                found += _wrapped(rule.id, compiled, text, at)
        at = text.find(literal, max(end, match.end() if match else 0))
    return found


def _goes_on(ahead: str) -> bool:
    """Say whether what follows a literal may be the rest of a token, broken or not."""
    return "\n" in ahead or "*" in ahead or "`" in ahead or ahead.translate(_SIGNS).isalnum()


def _wrapped(rule: str, compiled: re.Pattern[str], text: str, at: int) -> list[Span]:
    """Look at a literal whose pattern failed once more, when its token runs into emphasis or the end of a line."""
    run = re.compile(r"[\w\-+/.~=]{0,400}").match(text, at)
    if not run or text[run.end() : run.end() + 1] not in ("\n", "\r", "*", "`") or (at and text[at - 1].isalnum()):
        return []
    joined, positions = unwrap.collapse(text, at, 300)
    match = compiled.match(joined)
    if not match or match.end() < 20 or _excused(rule, match[0]) or not is_random(match[0], limit=0.5):
        return []
    end = positions[match.end() - 1] + 1
    return [(rule, at, end)] if end != at + match.end() else []


def _dotted(text: str, tokens: list[str]) -> list[Span]:
    """Return matches of the rule that has no literal: three parts joined by dots, the first of them random."""
    found: list[Span] = []
    for token in tokens:
        if 50 < len(token) < 120 and token.count(".") == 2:
            rule = next(rule for rule in secret_rules() if not rule.literals)
            match = re.search(expression(rule.pattern), token)
            if match and is_random(match[0].partition(".")[0], limit=0.5):
                at = text.find(match[0])
                found.append((rule.id, at, at + len(match[0])))
    return found


def _excused(rule: str, token: str) -> bool:
    """Say whether a match is a placeholder; the rules of keys in a frame judge their body themselves."""
    if rule in ("private-key", "putty-key", "jwt"):
        return "..." in token[:200] and len(token) < 120
    return is_placeholder(token) or token.endswith("EXAMPLE")


def _url_credentials(text: str) -> list[Span]:
    found = []
    compiled = None
    at = text.find("://")
    while at >= 0:
        sign = text.find("@", at + 3, at + 200)
        if sign > 0 and ":" in text[at + 3 : sign]:
            compiled = compiled or re.compile(_URL)
            match = compiled.search(text, max(0, at - 22), at + 240)
            if match and not _is_weak(match[1], match[2]):
                found.append(("url-credentials", match.start(1), match.end(2)))
        at = text.find("://", at + 3)
    return found


def _is_weak(user: str, password: str) -> bool:
    """Say whether the password of an address is a word that stands for one."""
    lower = password.lower()
    if lower == user.lower() or lower.strip("_-") in _WEAK or is_placeholder(password):
        return True
    if any(mark in password for mark in "${}()[]<>*|\\") or password.isupper() or "password" in lower:
        return True
    words = lower.replace("-", "").replace("_", "")
    return words.isalpha() and (len(password) < 7 or words != lower)


def _is_encoded(token: str) -> bool:
    """Say whether a token is base64 of printable text in which a provider rule finds a credential."""
    body = token.rstrip("=").rpartition("=")[2]
    if len(body) < 24 or not body.replace("+", "").replace("/", "").isalnum():
        return False
    try:
        plain = binascii.a2b_base64(body[: len(body) - (len(body) % 4 == 1)] + "=" * (-len(body) % 4)).decode("ascii")
    except (ValueError, UnicodeDecodeError):
        return False
    return bool(provider_findings(plain, plain.split()))
