"""One SEARCH/REPLACE patch on a text, applied where its search text stands exactly once and nowhere else.

    <<<<<<< SEARCH
    the lines as they are
    =======
    the lines as they shall be
    >>>>>>> REPLACE

Pure: text in, text out. A patch is never applied to a guess: an absent or repeated search text is an error that shows
the nearest lines. Lines that the patch does not change keep their bytes, their ends included. A marker has five or more
signs, the same number in all three; longer markers let the text itself hold shorter ones.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .errors import Ambiguous, NotFound, UsageError
from .record import printable

SHAPE = "<<<<<<< SEARCH / the old lines / ======= / the new lines / >>>>>>> REPLACE"

# Only these three end a line: str.splitlines also breaks at form feeds and U+2028, which are text.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_BODY_AND_END = re.compile(r"([^\r\n]*)(\r\n|\n|\r|)")
_START = re.compile(r"(<{5,}) ?SEARCH\s*")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*[\w+.-]*\s*")
_SHOWN = 3  # nearest places that an error shows
_CANDIDATES = 200  # lines that are compared in full when the search text is absent


class Patch(NamedTuple):
    """What to find and what to put there, as lines without their ends; `readings` holds every place of the divider."""

    readings: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


class Patched(NamedTuple):
    """The new text; lines `first` to `last` of it (1-based) are new, `last < first` where lines went away."""

    text: str
    first: int
    last: int


def split_lines(text: str) -> list[str]:
    """Return the lines of `text` with their ends, which are LF, CRLF or CR; joined they are `text` again."""
    return _LINE.findall(text)


def bodies(text: str) -> list[str]:
    """Return the lines of `text` without their ends."""
    return [line.rstrip("\r\n") for line in split_lines(text)]


def parse(patch: str) -> Patch:
    """Return the patch that `patch` spells. One code fence around the whole of it and CRLF are tolerated.

    Raises UsageError where a marker is missing, there is more than one block, or text stands outside the markers.
    """
    lines = _unfenced(bodies(patch.removeprefix("\ufeff")))
    start = _START.fullmatch(lines[0]) if lines else None
    if not start:
        raise UsageError(f"the patch must begin with a line <<<<<<< SEARCH; its shape is {SHAPE}", reason="bad_patch")
    size = len(start.group(1))
    end = re.compile(rf">{{{size}}} ?REPLACE\s*")
    if len(lines) < 2 or not end.fullmatch(lines[-1]):
        raise UsageError(
            f"the patch must end with a line {'>' * size} REPLACE and nothing after it", reason="bad_patch"
        )
    inner = lines[1:-1]
    if any(end.fullmatch(line) or line.rstrip() == lines[0].rstrip() for line in inner):
        raise UsageError(
            "one patch holds one block; send the others one by one, or lengthen all three markers where the text "
            "itself holds such a line",
            reason="bad_patch",
        )
    dividers = [i for i, line in enumerate(inner) if line.rstrip() == "=" * size]
    if not dividers:
        raise UsageError(f"the patch has no line {'=' * size} between the old and the new lines", reason="bad_patch")
    readings = tuple((tuple(inner[:i]), tuple(inner[i + 1 :])) for i in dividers)
    if not any("".join(search).strip() for search, _ in readings):
        raise UsageError("the search text is empty; say which lines to replace", reason="bad_patch")
    return Patch(tuple(reading for reading in readings if "".join(reading[0]).strip()))


def apply(text: str, patch: str) -> Patched:
    """Return `text` with `patch` applied at the one place where its search text stands.

    Raises UsageError for a malformed patch, NotFound (`no_match`) where the search text is absent, Ambiguous
    (`ambiguous`) where it stands more than once or where the divider can be read in two ways that both fit.
    """
    readings = parse(patch).readings
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    found = [(search, replace, _places(plain, "\n".join(search))) for search, replace in readings]
    fitting = [item for item in found if len(item[2]) == 1]
    if len(fitting) > 1:
        raise Ambiguous("the patch has several divider lines that fit; lengthen all three markers to nine signs")
    if not fitting:
        repeated = next((item for item in found if item[2]), None)
        if repeated:
            raise Ambiguous(_say_repeated(plain, repeated[2]))
        raise NotFound(_say_absent(plain.split("\n"), found[0][0]), reason="no_match")
    search, replace, (start,) = fitting[0]
    return _replace(text, plain, (start, start + len("\n".join(search))), replace)


def _unfenced(lines: list[str]) -> list[str]:
    """Return the patch's lines without blank ones around it and without one outer code fence."""
    lines = _trimmed(lines)
    opening = _FENCE.fullmatch(lines[0]) if lines else None
    if opening and len(lines) > 1 and lines[-1].strip() == opening.group(1):
        return _trimmed(lines[1:-1])
    return lines


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def _places(plain: str, search: str) -> list[int]:
    """Return where `search` begins in `plain`, overlapping places included, at most one more than are shown."""
    places: list[int] = []
    at = plain.find(search)
    while at >= 0 and len(places) <= _SHOWN:
        places.append(at)
        at = plain.find(search, at + 1)
    return places


def _replace(text: str, plain: str, span: tuple[int, int], replace: tuple[str, ...]) -> Patched:
    """Put the lines of `replace` in place of the characters `span` of `plain`, which is `text` with LF ends."""
    start, stop = span
    lines = [*split_lines(text), ""]  # the last one is where a final line end leads to
    first = plain.count("\n", 0, start)
    last = plain.count("\n", 0, stop)
    head = plain[plain.rfind("\n", 0, start) + 1 : start]
    tail = plain[stop:].partition("\n")[0]
    old = lines[first : last + 1]
    if not replace and not head and not tail:
        return Patched("".join(lines[:first] + lines[last + 1 :]), first + 1, first)
    new = (head + "\n".join(replace) + tail).split("\n")
    fresh = _with_ends(old, new, _usual_end(lines))
    return Patched("".join(lines[:first] + fresh + lines[last + 1 :]), first + 1, first + len(new))


def _with_ends(old: list[str], new: list[str], usual: str) -> list[str]:
    """Give the lines `new` the ends of the `old` ones: a line that stays keeps its own, another one takes that of
    the line it follows; the last keeps the end, or its lack, of the last old line."""
    from difflib import SequenceMatcher  # 5 ms that only a patch pays

    parts = [match.groups() for line in old if (match := _BODY_AND_END.match(line))]
    ends = [usual] * len(new)
    previous = parts[0][1] if parts and parts[0][1] else usual
    matcher = SequenceMatcher(None, [body for body, _ in parts], new, autojunk=False)
    for tag, i, _, j, j_end in matcher.get_opcodes():
        for k in range(j, j_end):
            own = parts[i + k - j][1] if tag == "equal" else previous
            ends[k] = previous = own or usual
    ends[-1] = parts[-1][1] if parts else ""
    if len(old) > 1 and not old[-1] and new[-1]:  # a search text that ends in a blank line took the last line end
        ends[-1] = usual
    return [body + end for body, end in zip(new, ends, strict=True)]


def _usual_end(lines: list[str]) -> str:
    """Return the line end that most of `lines` have, LF where none has one."""
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    return max(("\n", "\r\n", "\r"), key=ends.count)


def _say_repeated(plain: str, found: list[int]) -> str:
    numbers = [plain.count("\n", 0, at) + 1 for at in found]
    shown = ", ".join(str(number) for number in numbers[:_SHOWN]) + (" and more" if len(numbers) > _SHOWN else "")
    lines = plain.split("\n")
    places = "\n".join(f"{number}: {printable(lines[number - 1])[:200]}" for number in numbers[:_SHOWN])
    return (
        f"the search text stands more than once, at lines {shown}; add lines until it is unique. There stand:\n{places}"
    )


def _say_absent(lines: list[str], search: tuple[str, ...]) -> str:
    """Say that the text is absent and show the lines that come nearest to its first filled line."""
    message = "the search text is not in the notebook"
    wanted = next(line for line in search if line.strip())
    squeezed = ["".join(line.split()) for line in lines]
    target = ["".join(line.split()) for line in search if line.strip()]
    filled = [line for line in squeezed if line]
    if any(filled[i : i + len(target)] == target for i in range(len(filled))):
        message += " as it is written; it differs in white space or blank lines alone"
    near = _nearest(lines, wanted)
    if not near:
        return message + "; read the notebook again and copy the lines as they are"
    shown = "\n".join(f"{number}: {printable(lines[number - 1])[:200]}" for number in near)
    return f"{message}. Nearest lines:\n{shown}"


def _nearest(lines: list[str], wanted: str) -> list[int]:
    """Return the numbers of the lines most like `wanted`, best first: by words in common, then by characters."""
    from difflib import SequenceMatcher

    words = set(re.findall(r"\w+", wanted.lower()))
    shared = [(len(words & set(re.findall(r"\w+", line.lower()))), i) for i, line in enumerate(lines) if line.strip()]
    shared.sort(key=lambda pair: (-pair[0], pair[1]))
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(wanted[:500])
    scored: list[tuple[float, int]] = []
    for _, i in shared[:_CANDIDATES]:
        matcher.set_seq1(lines[i][:500])
        if matcher.real_quick_ratio() > 0.4 and (ratio := matcher.ratio()) > 0.4:
            scored.append((-ratio, i + 1))
    return [number for _, number in sorted(scored)[:_SHOWN]]
