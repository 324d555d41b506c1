"""The NamedTuple of the hot path behaves as typing's."""

from __future__ import annotations

import typing

from memhooks.memory.named import NamedTuple


class Light(NamedTuple):
    """A record."""

    name: str
    size: int = 3

    @property
    def double(self) -> int:
        return self.size * 2


class Heavy(typing.NamedTuple):
    """A record."""

    name: str
    size: int = 3

    @property
    def double(self) -> int:
        return self.size * 2


def test_named_tuple_is_like_typings() -> None:
    """Fields, defaults, methods, repr, doc, replacement and pickling path are the same."""
    light, heavy = Light("a"), Heavy("a")
    assert light == tuple(heavy) == ("a", 3)
    assert repr(light) == repr(heavy).replace("Heavy", "Light")
    assert light.double == heavy.double == 6
    assert light._replace(size=1) == ("a", 1)
    assert (Light._fields, Light._field_defaults) == (Heavy._fields, Heavy._field_defaults)
    assert (Light.__doc__, Light.__module__) == (Heavy.__doc__, Heavy.__module__)
