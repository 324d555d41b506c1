"""Find secrets and hostile instructions in text that is to be remembered; say what they are and how to mend them.

Pure: text in, findings out. Work and memory are linear in the text, which is read in windows.
"""

from __future__ import annotations

from .named import TYPE_CHECKING
from .record import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

WINDOW = 65_536  # characters judged at once
OVERLAP = 4_500  # and again at the start of the next window: the longest match


def scan(text: str, *, strict: bool = False) -> list[Finding]:
    """Return what the guard objects to in `text`, by position, not overlapping within a category.

    `strict` is for text that is about to be written, where rephrasing costs little; without it text is judged as a
    commit is.
    """
    return scan_pieces([text], strict=strict)


def scan_pieces(pieces: Iterable[str], *, strict: bool = False) -> list[Finding]:
    """Return what `scan` finds in a text that arrives in pieces, such as a file that is decoded as it is read; no more
    than one piece and one window of it are held at a time."""
    spans: list[Finding] = []
    text, base = "", 0
    for piece in pieces:
        text = text + piece if text else piece
        start = 0
        while len(text) - start > WINDOW:
            found = _window(text[start : start + WINDOW], strict)
            # What touches the end may be cut short; the next window begins before it.
            spans += _moved([finding for finding in found if finding.end < WINDOW], base + start)
            start = _boundary(text, start + WINDOW - OVERLAP)
        if start:
            text, base = text[start:], base + start
    return _merged(spans + _moved(_window(text, strict), base))


def _moved(found: list[Finding], by: int) -> list[Finding]:
    return [finding._replace(start=finding.start + by, end=finding.end + by) for finding in found]


def _boundary(text: str, at: int) -> int:
    """Return where a window may begin at or shortly before `at`: behind a line break, else a blank."""
    for sign in ("\n", " "):
        found = text.rfind(sign, at - OVERLAP, at)
        if found >= 0:
            return found + 1
    return at


def _window(text: str, strict: bool) -> list[Finding]:
    from . import credentials, instructions, unwrap  # not before there is text: who only masks needs no rules

    strange = unwrap.strangers(text)
    folded, origin = unwrap.fold(text, strange)
    view = unwrap.unescape(folded)
    plain, emphasis = unwrap.unemphasised(view)
    secrets = credentials.findings(view)
    joined = credentials.joined_findings(plain, emphasis.removed) if emphasis else []
    orders = instructions.findings(plain, strict=strict)
    if emphasis:
        joined, orders = emphasis.map(joined), emphasis.map(orders)
    secrets += joined
    if origin:
        secrets, orders = origin.map(secrets), origin.map(orders)
    orders += instructions.foreign_findings(text, strange) if strange else []
    return [Finding(*span, "secret") for span in secrets] + [Finding(*span, "instruction") for span in orders]


def _merged(spans: list[Finding]) -> list[Finding]:
    """Return findings by position; of those that overlap within a category the first and longest."""
    kept: list[Finding] = []
    ends = {"secret": -1, "instruction": -1}
    for span in sorted(spans, key=lambda f: (f.start, f.rule.startswith("generic"), -f.end)):
        if span.start >= ends[span.category]:
            kept.append(span)
            ends[span.category] = span.end
    return kept


def mask(value: str) -> str:
    """Return at most the first four characters of a secret and an ellipsis."""
    return value[:4] + "…"


def redact(text: str, findings: list[Finding]) -> str:
    """Return `text` with the span of each finding replaced by its rule in brackets."""
    out, at = [], 0
    for finding in sorted(findings, key=lambda f: (f.start, -f.end)):
        if finding.start >= at:
            out += [text[at : finding.start], f"[{finding.rule}]"]
        at = max(at, finding.end)
    return "".join([*out, text[at:]])


_GENERIC = {
    "generic-password": "a password beside its name; say where it is kept, not what it is",
    "generic-token": "a token of some service, a prefix and a random body; revoke it if it is live, and say where it is"
    " kept, not what it is",
    "generic-credential": "a random value beside a word of access; say where it is kept, not what it is",
    "url-credentials": "a password inside an address; write the address without it",
    "curl-credentials": "a password in a curl command; write the command without it",
    "base64-credential": "base64 that holds a credential; say where it is kept, not what it is",
    "spaced-letters": "words written letter by letter; write them out",
    "hidden-text": "text in characters that no one sees; write it out or remove it",
}


def explain(rule: str) -> str:
    """Return one line: what a rule finds and how to mend or rephrase it."""
    from . import rules, rules_instructions

    if rule in _GENERIC:
        return _GENERIC[rule]
    for name, _, _, _, text, *_ in rules_instructions.ROWS:
        if name == rule:
            return text
    for row in rules.secret_rules():
        if row.id == rule:
            named = ("an " if rule[0] in "aeiou" else "a ") + rule.replace("-", " ")
            return f"{named}; revoke it if it is live, and say where it is kept, not what it is"
    return "an unknown rule"
