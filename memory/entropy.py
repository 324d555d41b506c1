"""Tell a random token from a word, a hash, an id or a placeholder, by shape alone.

Pure functions over one token. Nothing is compiled, so that a text without candidates costs nothing.
"""

from __future__ import annotations

from operator import ne

# The 190 letter pairs that make up nine tenths of English prose and identifiers (counted over 8.6 MB of Markdown).
_COMMON = (
    "inthreoneresatorteentinthestancoseitdeiolengtoaledromeisndarnsomlivetariasecractpeetoumageeatricllsipruslonechacce"
    "urelhailemlafoficasstttsopexnautpaadnoponcrspsgimpunplodhtdisohitybehoamtpagsuapulmoidubotrtolwiieruaiimcluerydapt"
    "keabpiviifowcrepmiefhuckblocofevdoshlyosigscbunituoobayplsvafeupquausaipirrcwhspoveeldlufappcifrltrnpuummmweuiuccu"
)
COMMON_PAIRS = frozenset(_COMMON[i : i + 2] for i in range(0, len(_COMMON), 2))

PLACEHOLDERS = (
    "example", "placeholder", "changeme", "change_me", "change-me", "your", "dummy", "redacted", "xxxx", "sample",
    "insert", "replace", "todo", "foobar", "fake", "****", "....", "1234567890", "0123456789", "abcdefgh", "a1b2c3d4",
    "lorem", "deadbeef", "aaecawqf", "aqidbaug", "not-a-", "notareal", "<", ">", "${", "{{", "$(", "%(", "%s",
)  # fmt: skip

_UNREAL = frozenset(("short", "bad", "invalid", "wrong", "malformed", "truncated"))  # parts of a made-up token
_SEPARATORS = {ord(char): " " for char in "-_./~+=:@"}
_KINDS = {code: "a" if chr(code).islower() else "A" if chr(code).isupper() else "0" for code in range(128)}
_HEX = frozenset("0123456789abcdefABCDEF")


def wordiness(token: str) -> float:
    """Return the share of neighbouring characters that form a common letter pair: about .8 in words, .1 to .25 in
    random base62, near 0 in hexadecimal."""
    lower = token.lower()
    if len(lower) < 2:
        return 1.0
    common = COMMON_PAIRS
    return sum(lower[i : i + 2] in common for i in range(len(lower) - 1)) / (len(lower) - 1)


def is_placeholder(token: str) -> bool:
    """Say whether a token stands for a value: a word such as "example" in it, one character repeated, a sequence."""
    lower = token.lower()
    if any(word in lower for word in PLACEHOLDERS):
        return True
    distinct = set(lower)
    if len(token) < 12:
        return False
    if not _UNREAL.isdisjoint(lower.translate(_SEPARATORS).split()):
        return True
    return len(distinct) <= 5 or any(lower.count(char) * 2 > len(token) or char * 8 in lower for char in distinct)


def is_uuid(token: str) -> bool:
    """Say whether a token has a UUID's form: hexadecimal in groups of 8, 4, 4, 4 and 12."""
    return (
        len(token) == 36
        and token[8] == token[13] == token[18] == token[23] == "-"
        and _HEX.issuperset(token.replace("-", ""))
    )


def is_hex(token: str) -> bool:
    """Say whether a token is hexadecimal with at least one letter and one digit."""
    return _HEX.issuperset(token) and not token.isalpha() and not token.isdigit()


def changes(token: str) -> int:
    """Return how often the kind of character changes along a token, among lower case, upper case and digits."""
    kinds = token.translate(_KINDS)
    return sum(map(ne, kinds, kinds[1:]))


def is_random(token: str, *, limit: float = 0.42) -> bool:
    """Say whether a token of 12 characters and more looks drawn by chance.

    The longest part between separators decides: few common letter pairs, kinds of character that change often (twice
    in five characters for base36, six in ten for base62, seldom in names and dates), many different characters.
    """
    parts = token.translate(_SEPARATORS).split()
    part = max(parts, key=len, default="")
    if len(set(token)) < 8 or part.isdigit():
        return False
    if len(parts) > 2 and len(part) < 10:  # groups of a licence key, maybe behind a name
        groups = [len(group) for group in parts if 5 <= len(group) < 8 and not group.isalpha() and not group.isdigit()]
        if len(groups) > 2 and len(set(groups)) == 1:
            return wordiness(token) < limit
    if len(part) < 8 or (part.isalpha() and (len(part) < 16 or changes(part) * 4 < len(part))):
        return False
    return changes(part) * 6 >= len(part) and wordiness(part) < limit
