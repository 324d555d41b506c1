"""Larger models from the local cache."""

from __future__ import annotations

from collections.abc import Mapping

from .embed import Embedder
from .errors import Unavailable


def load(name: str, environ: Mapping[str, str]) -> Embedder:
    """Return the cached model called `name`. Raises Unavailable where it is not in the cache."""
    raise Unavailable(f"the model {name!r} is not in the cache; `mem model fetch {name}` brings it")
