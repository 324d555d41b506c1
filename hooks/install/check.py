"""What doctor finds: one record a finding, with its mend."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

OK, NOTE, BROKEN = "ok", "note", "broken"


class Check(NamedTuple):
    """One thing that was looked at. `area` is git, client, store or program; `level` ok, note or broken; `mend` is what
    to type or do; `shown` is more to look at, such as the envelope that a client gets; `fix` does the mend where that
    is safe, and returns what it did."""

    area: str
    level: str
    message: str
    mend: str = ""
    shown: str = ""
    fix: Callable[[], str] | None = None
