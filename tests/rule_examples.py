"""The examples of the guard's rules, made out of templates so that no live-looking key lies in a file."""

from __future__ import annotations

import re

_NAMES = {"K": "KEY", "P": "password"}  # words that would make a template a finding
_ALPHABETS = {
    "A": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "a": "abcdefghijklmnopqrstuvwxyz0123456789",
    "L": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "Q": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "q": "abcdefghijklmnopqrstuvwxyz234567",
    "n": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "h": "0123456789abcdef",
    "d": "0123456789",
}


def example(template: str) -> str:
    """Return a template with its fields filled: {A36} by 36 letters and digits, {h} hexadecimal, {d} digits, {U} and
    {q} base32, {L} letters, {Q} and {n} bech32, {K} and {P} the words KEY and password. The same template always
    gives the same text."""
    state = [len(template) * 7919 + 1]

    def fill(field: re.Match[str]) -> str:
        if field[1] in _NAMES:
            return _NAMES[field[1]]
        alphabet, text = _ALPHABETS[field[1]], ""
        for _ in range(int(field[2])):
            state[0] = (state[0] * 1103515245 + 12345) % 2**31
            text += alphabet[(state[0] >> 12) % len(alphabet)]
        return text

    return re.sub(r"\{([AaLUQqnhdKP])(\d*)\}", fill, template)
