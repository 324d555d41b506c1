"""What every text passes on its way into the store: its form, its limits and the policy."""

from __future__ import annotations

from .errors import Rejected, UsageError
from .named import TYPE_CHECKING
from .policy import explain, mask, scan
from .record import Limits, Memory, check_kind, check_tags, clean, derive_title, expiry, new_id, printable, timestamp

if TYPE_CHECKING:
    from typing import Any


_FIELDS = ("content", "title", "kind", "area", "tags", "actor", "source_type", "source_ref", "confidence", "expires",
           "pinned", "shared")  # fmt: skip
_SHORT = 200  # characters of a name or reference: area, actor, source type and reference


def admit(text: str, what: str) -> None:
    """Raise Rejected (secret_detected, instruction_detected) if `text` may not be remembered.

    The message names the rule and what to write instead; of a secret it shows four characters at most.
    """
    findings = scan(text, strict=True)
    if not findings:
        return
    first = min(findings, key=lambda finding: (finding.category != "secret", finding.start))
    shown = mask(text[first.start : first.end]) if first.category == "secret" else text[first.start : first.end][:60]
    raise Rejected(f"{what}: {first.rule} ({shown!r}). {explain(first.rule)}", reason=f"{first.category}_detected")


def compose(fields: dict[str, Any], *, limits: Limits, now: float, check: bool = True) -> Memory:
    """Return a new memory from the words of a caller, cleaned, checked and dated `now`.

    `fields` are those of `Store.remember`. Raises UsageError for what can't be meant, Rejected for what may not be
    kept. With `check=False` the policy is not asked.
    """
    unknown = sorted(set(fields) - set(_FIELDS))
    if unknown:
        raise UsageError(f"a memory has no field {printable(unknown[0])!r}; it has {', '.join(_FIELDS)}")
    content = clean(str(fields["content"]), "the text", limits.content)
    if not content:
        raise UsageError("the text is empty; say what to remember")
    title = " ".join(clean(fields.get("title", ""), "the title", limits.title).split())
    confidence = fields.get("confidence", 1.0)
    if not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
        raise UsageError("confidence is a number from 0 to 1")
    names: dict[str, Any] = {
        name: _name(fields.get(name, ""), name) for name in ("area", "actor", "source_type", "source_ref")
    }
    stamp = timestamp(now)
    memory = Memory(
        id=new_id(now),
        title=title or derive_title(content, limits.title),
        content=content,
        kind=check_kind(fields.get("kind") or "fact"),
        title_derived=not title,
        tags=check_tags(fields.get("tags", ()), limits.tags),
        confidence=float(confidence),
        expires_at=expiry(fields.get("expires", ""), now),
        pinned=bool(fields.get("pinned")),
        shared=bool(fields.get("shared")),
        created_at=stamp,
        updated_at=stamp,
        **(names | {"source_type": names["source_type"] or "manual"}),
    )
    if check:
        admit_memory(memory)
    return memory


def admit_memory(memory: Memory) -> None:
    """Raise Rejected if any text of the memory may not be remembered."""
    if not memory.title_derived:
        admit(memory.title, "the title is refused")
    admit(memory.content, "the text is refused")
    for name in ("area", "actor", "source_type", "source_ref"):
        if getattr(memory, name):
            admit(getattr(memory, name), f"{name} is refused")
    for tag in memory.tags:
        admit(tag, "a tag is refused")


def _name(text: str, what: str) -> str:
    return " ".join(clean(text, what, _SHORT).split())
