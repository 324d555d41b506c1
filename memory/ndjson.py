"""One memory as one line of JSON, and which of two lines for the same memory holds. Pure.

A line is a JSON object with `id` first and the other keys sorted, so that every version of this program writes the
same bytes. Keys that it does not know, and values of known keys that it can't use, are kept in `Memory.extra` and
written again. A forgotten memory is a line with its id, status "forgotten", version and time, without text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from .errors import MemError, Rejected
from .named import TYPE_CHECKING, NamedTuple
from .record import KIND_ALIASES, KINDS, Limits, Memory, clean, derive_title, printable, seconds, timestamp
from .store import Tombstone

if TYPE_CHECKING:
    from typing import Any


Raw = dict[str, "Any"]

# What belongs to one person's store and is neither shared nor a reason to write a shared line again.
LOCAL = frozenset({"pinned", "shared", "last_recalled_at", "recall_count", "origin"})
DEFAULTS: Raw = {**Memory("", "", "")._asdict(), "tags": []}
_FORMAL = frozenset({
    "id", "kind", "status", "version", "created_at", "updated_at", "expires_at", "last_recalled_at", "supersedes",
    "superseded_by",
})  # fmt: skip
_ALWAYS = frozenset({"title", "content", "kind", "status", "version", "created_at", "updated_at", "actor"})
_ID = re.compile(r"^[0-9a-f-]{4,36}$")
_VERSIONS = 1 << 53  # the whole numbers that every JSON reader has
_EXTRA = 10_000  # characters of what is kept without being understood
_NAME = 200  # characters of area, actor, source type and reference
_MARKER = re.compile(r"^(<{7}|={7}|>{7}|\|{7})( |$)")


class BrokenLine(MemError):
    """A line that is no memory; the message names its number."""

    reason = "broken_line"


class Line(NamedTuple):
    """A line of a file: its number from 1, its text without the line end, and the object it holds."""

    number: int
    text: str
    raw: Raw


def parse(lines: Iterable[str]) -> list[Line]:
    """Return the records in `lines`, empty lines passed over. Raises BrokenLine for one that is no record."""
    found = []
    for number, line in enumerate(lines, 1):
        text = line.removeprefix("\ufeff").strip()
        if text:
            found.append(Line(number, text, _object(text, number)))
    return found


def _object(text: str, number: int) -> Raw:
    if _MARKER.match(text):
        raise BrokenLine(f"line {number} is a conflict marker; keep the lines of both sides and take the markers out")
    try:
        raw = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BrokenLine(f"line {number} is not JSON: {printable(str(error))}") from None
    if not isinstance(raw, dict):
        raise BrokenLine(f"line {number} is not a JSON object")
    if not isinstance(raw.get("id"), str) or not _ID.match(raw["id"].lower()):
        raise BrokenLine(f"line {number} has no id of hex digits and dashes")
    raw["id"] = raw["id"].lower()
    if raw.get("status") != "forgotten" and not (isinstance(raw.get("content"), str) and raw["content"].strip()):
        raise BrokenLine(f"line {number} has no content")
    return raw


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def dump(raw: Raw) -> str:
    """Return an object as a line: `id` first, the other keys sorted, no spaces."""
    ordered = {"id": raw["id"], **{key: raw[key] for key in sorted(raw)}}
    text = json.dumps(ordered, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate has no UTF-8; as an escape it survives.
    return text if text.isascii() or _encodes(text) else json.dumps(ordered, separators=(",", ":"))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def to_raw(memory: Memory, *, local: bool = True) -> Raw:
    """Return a memory as the object of its line; without `local`, as a team sees it, defaults left out."""
    raw: Raw = {**memory._asdict(), "tags": list(memory.tags)}
    del raw["extra"]
    if not local:
        raw = {key: value for key, value in raw.items() if key not in LOCAL}
        raw = {key: value for key, value in raw.items() if key in _ALWAYS or value != DEFAULTS[key]}
    raw.update(json.loads(memory.extra))
    return raw


def stone_raw(stone: Tombstone) -> Raw:
    """Return a tombstone as the object of its line."""
    return {"id": stone.id, "status": "forgotten", "version": stone.version, "updated_at": stone.forgotten_at}


def rank(raw: Raw) -> tuple[bool, int, str, str]:
    """Return the key under which the greatest of several records for one id holds, on every machine alike:
    tombstone, then higher version, then later updated_at, then greater bytes (local fields and defaults apart)."""
    shared = {
        key: value for key, value in raw.items() if key not in LOCAL and (key == "id" or value != DEFAULTS.get(key))
    }
    return raw.get("status") == "forgotten", version_of(raw), _time(raw.get("updated_at")), dump(shared)


def reduce(lines: Iterable[Line]) -> dict[str, Line]:
    """Return the line that holds for each id."""
    best: dict[str, Line] = {}
    for line in lines:
        known = best.get(line.raw["id"])
        if known is None or (rank(line.raw), line.text) > (rank(known.raw), known.text):
            best[line.raw["id"]] = line
    return best


def version_of(raw: Raw) -> int:
    """Return a record's version, 1 where it has none that can be used."""
    version = raw.get("version")
    return version if type(version) is int and 1 <= version < _VERSIONS else 1


def split(data: bytes) -> list[str]:
    """Return a file's lines, decoded. Raises BrokenLine for one that is not UTF-8.

    Only newlines end a line: U+2028 and its like may stand in a JSON text.
    """
    try:
        return data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise BrokenLine(f"line {number} is not UTF-8") from None


def to_stone(raw: Raw, now: str) -> Tombstone:
    """Return the tombstone that a record of a forgotten memory stands for."""
    return Tombstone(raw["id"], version_of(raw), _time(raw.get("updated_at")) or now, True)


def to_memory(raw: Raw, *, limits: Limits, now: str, local: bool = True) -> Memory | None:
    """Return the memory in a record, None for one of a status that this program does not know.

    Values that can't be used give way to the default and are kept in `extra`; so are unknown keys. Raises UsageError
    for control characters, Rejected for text over the limits.
    """
    known = set(Memory._fields) - {"extra"} - (set() if local else LOCAL)
    extra = {key: value for key, value in raw.items() if key not in Memory._fields}
    values: Raw = {}
    for key in known & raw.keys():
        usable = _usable(key, raw[key])
        if usable is None:
            extra[key] = raw[key]
        else:
            values[key] = usable
    if "status" in extra:
        return None
    content = clean(values["content"], "content", limits.content)
    title = " ".join(clean(values.get("title", ""), "title", limits.title).split())
    kept = json.dumps(extra, ensure_ascii=False, sort_keys=True)
    if len(kept) > _EXTRA:
        raise Rejected(f"the record has {len(kept):,} characters of unknown fields; the limit is {_EXTRA:,}",
                       reason="too_long")  # fmt: skip
    values |= {"content": content, "title": title or derive_title(content, limits.title), "extra": kept}
    values["title_derived"] = not title or values.get("title_derived", False)
    values.setdefault("created_at", values.get("updated_at", now))
    values.setdefault("updated_at", values["created_at"])
    return Memory(**values)


def _usable(key: str, value: Any) -> Any:
    """Return the value of a known key in our form, None where it has no meaning here. Raises what `clean` raises."""
    default = DEFAULTS[key]
    if key == "kind":
        name = KIND_ALIASES.get(value, value) if isinstance(value, str) else None
        return name if name in KINDS else None
    if key == "status":
        return value if value in ("active", "superseded") else None
    if key == "version":
        return value if type(value) is int and version_of({"version": value}) == value else None
    if key in ("created_at", "updated_at", "expires_at", "last_recalled_at"):
        return "" if value == "" and key not in ("created_at", "updated_at") else _time(value) or None
    if key == "confidence":
        usable = type(value) in (int, float) and 0 <= value <= 1
        return float(value) if usable else None
    if key == "recall_count":
        return value if type(value) is int and 0 <= value < _VERSIONS else None
    if key == "tags":
        usable = isinstance(value, list) and all(isinstance(one, str) for one in value)
        return tuple(dict.fromkeys(_name(one, "a tag") for one in value)) if usable else None
    if type(value) is not type(default):
        return None
    if key in ("supersedes", "superseded_by"):
        return value.lower() if value == "" or _ID.match(value.lower()) else None
    return value if key in ("title", "content") or not isinstance(value, str) else _name(value, key)


def _name(text: str, what: str) -> str:
    return " ".join(clean(text, what, _NAME).split())


def _time(value: object) -> str:
    """Return a time in our form, "" for what is none."""
    try:
        return timestamp(seconds(value)) if isinstance(value, str) and value else ""
    except (ValueError, OverflowError, OSError):
        return ""


def texts(raw: Raw) -> list[str]:
    """Return every text that people or programs chose, unknown fields and their names included, for the policy to read.

    Ids, times and the words of this program are left out where they are what they should be.
    """
    found: list[str] = []
    for key, value in raw.items():
        if key not in DEFAULTS:
            found.append(key)
        if key not in _FORMAL or _unusable(key, value):
            found.extend(_strings(value))
    return found


def _unusable(key: str, value: Any) -> bool:
    return key != "id" and value != "forgotten" and _usable(key, value) is None


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for key, one in value.items() for text in (key, *_strings(one))]
    return [text for one in value for text in _strings(one)] if isinstance(value, list) else []
