"""The records that memhooks passes around, their limits, and the checks that every text goes through.

Records are NamedTuples: values, compared by content, changed with `_replace`. Times are UTC in ISO 8601 to the
microsecond (`2026-01-31T12:00:00.000000Z`), so that they sort as text.
"""

from __future__ import annotations

import os
import re
import time

from .errors import Rejected, UsageError
from .named import NamedTuple

KINDS = ("fact", "decision", "gotcha", "convention", "procedure", "constraint", "preference", "finding", "goal")
KIND_ALIASES = {"area_fact": "fact"}


class Limits(NamedTuple):
    """Figures that config may change: characters of title and content, tags a memory, active memories a store."""

    title: int = 80
    content: int = 500
    tags: int = 10
    memories: int = 200


DEFAULT_LIMITS = Limits()


class Memory(NamedTuple):
    """One durable fact. `version` grows with each change that a teammate should see; `extra` is a JSON object of
    fields that a newer program wrote and this one keeps; `origin` is "" or the share file that brought the memory."""

    id: str
    title: str
    content: str
    kind: str = "fact"
    title_derived: bool = False
    area: str = ""
    tags: tuple[str, ...] = ()
    actor: str = ""
    source_type: str = "manual"
    source_ref: str = ""
    confidence: float = 1.0
    expires_at: str = ""
    pinned: bool = False
    shared: bool = False
    status: str = "active"
    supersedes: str = ""
    superseded_by: str = ""
    version: int = 1
    created_at: str = ""
    updated_at: str = ""
    last_recalled_at: str = ""
    recall_count: int = 0
    origin: str = ""
    extra: str = "{}"


class Hit(NamedTuple):
    """A memory that answers a query. `score` is higher for better, comparable within one answer only;
    `matched` is "lexical", "semantic" or "both"."""

    memory: Memory
    score: float
    matched: str = "lexical"


class Finding(NamedTuple):
    """What the guard objects to: `text[start:end]` in code points; `category` is "secret" or "instruction"."""

    rule: str
    start: int
    end: int
    category: str


class Forgotten(NamedTuple):
    """What `forget` erased: the ids of the memory and its history, whether a teammate's copy exists, and whether the
    last trace waits for another program to let go of the database."""

    ids: tuple[str, ...]
    shared: bool
    scrub_pending: bool


class Cursor(NamedTuple):
    """Where work on one workspace stands. `workspace` is branch:<name>, commit:<sha> or default."""

    workspace: str
    goal: str = ""
    checkpoint: str = ""
    next: str = ""
    blockers: str = ""
    session: str = ""
    updated_at: str = ""


CURSOR_FIELDS = ("goal", "checkpoint", "next", "blockers", "session")
CURSOR_LIMIT = 500  # characters of one field, as a memory's content

# Patterns stay texts until they are used: most hooks use none, and compiling these three costs 1.5 ms of CPU.
# C0 and C1 controls but for tab and newline, lone surrogates, and the bidirectional controls that reorder what a
# terminal shows (CVE-2021-42574).
_UNPRINTABLE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
_FIRST_SENTENCE = r"^(.+?[.!?。！？])(?=\s|$)"
_SPAN = r"^(\d{1,5})([hdwmy])$"
_SPAN_DAYS = {"h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}


def timestamp(now: float) -> str:
    """Return seconds since the epoch as UTC, ISO 8601 with microseconds and a final Z."""
    whole, micro = divmod(round(now * 1_000_000), 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{micro:06d}Z"


def seconds(stamp: str) -> float:
    """Return an ISO 8601 time as seconds since the epoch; a time without a zone is UTC. Raises ValueError."""
    from datetime import UTC, datetime  # json and datetime: a clean commit needs neither

    moment = datetime.fromisoformat(stamp)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def new_id(now: float) -> str:
    """Return a UUIDv7: 48 bits of milliseconds, then 74 random bits. Source: RFC 9562, section 5.7."""
    value = int(now * 1000) << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def short(memory_id: str) -> str:
    """Return the 8 hex digits that lists show: the last ones, since UUIDv7 neighbours share the first."""
    return memory_id[-8:]


def check_id(text: str) -> str:
    """Return an id, or 4 or more of its first or last hex digits, in lower case. Raises UsageError for others."""
    key = text.strip().lower()
    if not 4 <= len(key) <= 36 or key.strip("0123456789abcdef-"):
        raise UsageError(f"{printable(key)!r} is no id: give 4 or more of its hex digits, first or last")
    return key


def printable(text: str) -> str:
    """Return `text` without what could drive a terminal: control, bidirectional and lone surrogate code points."""
    return re.sub(_UNPRINTABLE, "", text) if not text.isprintable() else text


def clean(text: str, what: str, limit: int) -> str:
    """Return `text` in NFC, ends stripped and lines ended by newline.

    Raises UsageError (`invalid_text`) for control characters and lone surrogates, Rejected (`too_long`) over
    `limit` characters.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    bad = None if text.isprintable() else re.search(_UNPRINTABLE, text)
    if bad:
        raise UsageError(
            f"{what} holds the control character U+{ord(bad.group()):04X} at position {bad.start() + 1}; remove it",
            reason="invalid_text",
        )
    text = _composed(text)
    if len(text) > limit:
        raise Rejected(f"{what} has {len(text):,} characters; the limit is {limit:,}", reason="too_long")
    return text


def derive_title(content: str, limit: int) -> str:
    """Return the first line or sentence of `content`, cut at `limit` characters with an ellipsis."""
    line = content.split("\n", 1)[0].strip()
    sentence = re.match(_FIRST_SENTENCE, line)
    title = sentence.group(1).rstrip(".。") if sentence else line
    return title if len(title) <= limit else title[: limit - 1].rstrip() + "…"


def fingerprint(title: str, content: str) -> str:
    """Return the key under which two texts count as the same: NFC with white space collapsed, title and content; a
    title that only repeats how the content begins, as a derived one does, says nothing."""
    title, content = " ".join(_composed(title).split()), " ".join(_composed(content).split())
    return ("" if content.startswith(title.rstrip("… ")) else title) + "\0" + content


def _composed(text: str) -> str:
    """Return `text` in NFC."""
    if text.isascii():
        return text
    import unicodedata  # a shared library that most runs do not need

    return unicodedata.normalize("NFC", text)


def check_kind(kind: str) -> str:
    """Return the kind that `kind` names. Raises UsageError for one that is not in `KINDS`."""
    kind = KIND_ALIASES.get(kind, kind)
    if kind not in KINDS:
        raise UsageError(f"{printable(kind)!r} is no kind of memory; the kinds are {', '.join(KINDS)}")
    return kind


def check_tags(tags: object, limit: int) -> tuple[str, ...]:
    """Return tags as a tuple without repeats. A list, a tuple, a JSON list in a string and a comma-separated string
    are taken alike, since agents send all four. Raises UsageError for anything else, Rejected over `limit`."""
    if isinstance(tags, str):
        try:
            import json

            tags = json.loads(tags) if tags.lstrip().startswith("[") else tags.split(",")
        except (ValueError, RecursionError):
            raise UsageError("tags look like a JSON list but are not one") from None
    if not isinstance(tags, list | tuple) or not all(isinstance(tag, str) for tag in tags):
        raise UsageError("tags must be a list of words")
    names = tuple(dict.fromkeys(name for tag in tags if (name := " ".join(clean(tag, "a tag", 50).split()))))
    if len(names) > limit:
        raise Rejected(f"{len(names)} tags; the limit is {limit}", reason="too_long")
    return names


def expiry(text: str, now: float) -> str:
    """Return when a memory expires as a timestamp, from an ISO date or time or a span such as 12h, 30d, 6w, 3m, 1y.

    A bare date means its end in UTC. Raises UsageError for anything else and for a time that has passed.
    """
    if not text:
        return ""
    stamp = _moment(text, now, forward=True)
    if stamp <= timestamp(now):
        raise UsageError(f"{printable(text)!r} has passed already; write a date to come, or 30d")
    return stamp


def past(text: str, now: float) -> str:
    """Return a moment as a timestamp, from an ISO date (its start) or time or a span that has passed such as 30d.

    Raises UsageError for anything else.
    """
    return _moment(text, now, forward=False) if text else ""


def _moment(text: str, now: float, *, forward: bool) -> str:
    span = re.match(_SPAN, text.strip().lower())
    try:
        if span:
            length = int(span.group(1)) * _SPAN_DAYS[span.group(2)] * 86400
            when = now + length if forward else now - length
        else:
            when = seconds(text.strip())
            if len(text.strip()) == 10 and forward:
                when += 86400 - 1
        stamp = timestamp(when)
        seconds(stamp)  # a year of five digits would not sort as text
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"{printable(text)!r} is no time; write a date such as 2027-01-31, or 30d") from None
    return stamp
