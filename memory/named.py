"""NamedTuple, Protocol and TYPE_CHECKING for the modules that a hook loads, without importing typing.

A user waits for every hook; typing costs each of them about 4 ms of CPU, a sixth of a bare interpreter with sqlite3
and json. Type checkers read the real names and check as ever. Only fields, defaults and methods are supported.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
    from typing import Protocol as Protocol
else:
    Protocol = object

    class _Maker(type):
        def __new__(cls, name, _bases, namespace):
            fields = namespace.pop("__annotations__", {})
            defaults = [namespace.pop(field) for field in fields if field in namespace]
            made = namedtuple(name, fields, defaults=defaults, module=namespace.pop("__module__"))
            for key, value in namespace.items():
                if key not in ("__qualname__", "__classcell__"):
                    setattr(made, key, value)
            return made

    NamedTuple = type.__new__(_Maker, "NamedTuple", (), {})
