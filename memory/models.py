"""Larger models by name: what is known, what lies in the cache, and how one there is opened.

The cache is MEM_HOME/models/NAME: the model's files and `memhooks.json`, which is written last, so that a folder with
it is whole. Nothing here opens a connection or makes a file but `install`, which takes files that are there already.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from .embed import Embedder, Vector, quantize
from .errors import Unavailable, UsageError
from .project import data_home

if TYPE_CHECKING:
    from .encoders import Encoder

MANIFEST = "memhooks.json"
WEIGHTS = {"bert": "model.safetensors", "model2vec": "model.safetensors", "onnx": "model.onnx"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}(/[A-Za-z0-9][A-Za-z0-9._-]{0,95})?")


class Known(NamedTuple):
    """A model that has a short name here. `source` is its name at the hub, `floor` a cosine (see embed.Embedder)."""

    source: str
    floor: float
    about: str


class Installed(NamedTuple):
    """A model in the cache. `hash`: the first 16 hex digits of the SHA-256 of its weights."""

    name: str
    source: str
    kind: str
    hash: str
    dimensions: int
    floor: float


KNOWN = {
    "minilm": Known("sentence-transformers/all-MiniLM-L6-v2", 0.45, "English, 91 MB, Apache-2.0"),
    "minilm-multilingual": Known(
        "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2", 0.40, "50 languages, 480 MB, Apache-2.0"
    ),
    "potion": Known("minishlab/potion-base-32M", 0.40, "English, static, 130 MB, MIT"),
    "potion-multilingual": Known("minishlab/potion-multilingual-128M", 0.40, "101 languages, static, 512 MB, MIT"),
}
_FLOOR = 0.40  # of a model that nobody measured


def known(name: str) -> Known:
    """Return what is known of a model called `name`: a short name, or OWNER/NAME at the hub. Raises UsageError."""
    if name in KNOWN:
        return KNOWN[name]
    if not _NAME.fullmatch(name) or "/" not in name or ".." in name:
        raise UsageError(f"{name!r} names no model; there are {', '.join(KNOWN)}, and OWNER/NAME of the hub")
    return Known(name, _FLOOR, "")


def folder(name: str, environ: Mapping[str, str]) -> str:
    """Return where the model called `name` lies once it is in the cache. Raises UsageError for a name that is none."""
    known(name)
    return os.path.join(data_home(environ), "models", name.replace("/", "--"))


def load(name: str, environ: Mapping[str, str]) -> Embedder:
    """Return the cached model called `name`; its files are opened when the first text is embedded.

    Raises Unavailable where it is not in the cache or its extra is not installed, UsageError for a name that is none.
    """
    found = read(folder(name, environ))
    if found is None:
        raise Unavailable(f"the model {name} is not in the cache; `mem model fetch {name}` brings it")
    from importlib.util import find_spec

    for library in ("onnxruntime", "numpy", "tokenizers")[found.kind != "onnx" :]:
        if find_spec(library) is None:
            extra = "onnx" if found.kind == "onnx" else "models"
            raise Unavailable(f"the model {name} needs {library}: pip install 'memhooks[{extra}]'")
    return CachedModel(found, folder(name, environ))


def read(place: str) -> Installed | None:
    """Return what the manifest in a folder says; None where there is none that can be read."""
    try:
        with open(os.path.join(place, MANIFEST), encoding="utf-8") as file:
            value = json.load(file)
        return Installed(**{field: value[field] for field in Installed._fields})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def installed(environ: Mapping[str, str]) -> list[Installed]:
    """Return the models in the cache by name."""
    home = os.path.join(data_home(environ), "models")
    places = sorted(os.listdir(home)) if os.path.isdir(home) else []
    return [found for place in places if (found := read(os.path.join(home, place)))]


def install(name: str, place: str) -> Installed:
    """Make the folder `place`, which holds a model's files, one of the cache's: try the model and write the manifest.

    Raises Unavailable where the files are not those of a model that this program runs, or its extra is not installed.
    """
    from hashlib import sha256

    from .encoders import encoder

    model = known(name)
    kind = kind_of(place)
    dimensions = len(encoder(kind, place)("a first sentence"))
    if dimensions % 8:
        raise Unavailable(f"the vectors of {name} have {dimensions} dimensions, which is no multiple of 8")
    digest = sha256()
    with open(os.path.join(place, WEIGHTS[kind]), "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    found = Installed(name, model.source, kind, digest.hexdigest()[:16], dimensions, model.floor)
    with open(os.path.join(place, MANIFEST), "w", encoding="utf-8") as out:
        json.dump(found._asdict(), out, indent=2)
    return found


def kind_of(place: str) -> str:
    """Return which encoder runs the model whose files are in a folder. Raises Unavailable where none does."""
    try:
        with open(os.path.join(place, "config.json"), encoding="utf-8") as file:
            kind = str(json.load(file).get("model_type"))
    except (OSError, ValueError, AttributeError):
        kind = ""
    there = set(os.listdir(place))
    if kind in ("bert", "model2vec") and "model.safetensors" in there:
        return kind
    if "model.onnx" in there:
        return "onnx"
    raise Unavailable(f"{place} holds no model that this program runs: BERT or model2vec as safetensors, or ONNX")


class CachedModel:
    """An embedder over a folder of the cache; see embed.Embedder."""

    weight = 0.6  # measured with MiniLM: .708 macro nDCG@10 against .704 at .5

    def __init__(self, found: Installed, place: str) -> None:
        self.name, self.hash = found.name, found.hash
        self.dimensions, self.floor = found.dimensions, found.floor
        self._kind, self._place = found.kind, place
        self._encoder: Encoder | None = None

    def embed_memory(self, title: str, content: str) -> Vector:
        """Return the vector of a memory: title and content as one text."""
        repeated = content.lower().startswith(title.lower().rstrip("…"))
        return self.embed_query(content if repeated else f"{title}. {content}")

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a text. Raises Unavailable where the model's library is not installed."""
        if self._encoder is None:
            from .encoders import encoder  # numpy and its like are there only with an extra

            self._encoder = encoder(self._kind, self._place)
        return quantize([float(x) for x in self._encoder(text.encode("utf-8", "ignore").decode())])
