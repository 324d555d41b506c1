"""Larger embedding models in numpy: sentence-transformers of the BERT family and model2vec tables; ONNX by its runtime.

An encoder is made from a folder that holds `tokenizer.json` and the model's files; it opens nothing else. numpy and
tokenizers are imported when it is made: they come with the extra `memhooks[models]`, onnxruntime with
`memhooks[onnx]`. Torch, which the same models are published for, is a hundred times their size.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from .errors import Unavailable

Array = Any  # numpy's own types would make it a dependency of the type check

_MAX_TOKENS = 256  # of one text, unless the model says fewer; a memory has at most some 200
_DTYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


class Encoder(Protocol):
    """A text to its vector, float32, not normalised."""

    def __call__(self, text: str) -> Array: ...


def encoder(kind: str, folder: str) -> Encoder:
    """Return the encoder of one kind ("bert", "model2vec" or "onnx") for the model in `folder`.

    Raises Unavailable where a library is not installed or the files are not those of such a model.
    """
    makers: dict[str, Callable[[str], Encoder]] = {"bert": Bert, "model2vec": Model2Vec, "onnx": Onnx}
    # One thread: for texts this short more only wait for each other, and a hook leaves the machine to its user.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        return makers[kind](folder)
    except ImportError as error:
        extra = "onnx" if kind == "onnx" else "models"
        raise Unavailable(f"the model in {folder} needs {error.name}: pip install 'memhooks[{extra}]'") from error
    except (OSError, ValueError, KeyError) as error:
        raise Unavailable(f"the model in {folder} can't be read ({error}); fetch it again") from error


class Bert:
    """A BERT encoder with mean or first-token pooling. Source: Devlin et al. 2019; weights named as in transformers."""

    def __init__(self, folder: str) -> None:
        config = _json(folder, "config.json")
        if config.get("model_type") != "bert":
            raise ValueError(f"a model of type {config.get('model_type')!r}, not bert")
        pooling = _json(folder, os.path.join("1_Pooling", "config.json"), {})
        self._first_only = bool(pooling.get("pooling_mode_cls_token"))
        self._heads, self._layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        limit = _json(folder, "sentence_bert_config.json", {}).get("max_seq_length", _MAX_TOKENS)
        self._tokenizer = _tokenizer(folder, min(limit, _MAX_TOKENS))
        weights = _safetensors(os.path.join(folder, "model.safetensors"))
        self._weights = {name.removeprefix("bert."): value for name, value in weights.items()}

    def __call__(self, text: str) -> Array:
        ids = self._tokenizer.encode(text).ids
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: len(ids)]
        hidden = words + places + weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normalise(hidden, "embeddings")
        for number in range(self._layers):
            hidden = self._layer(hidden, f"encoder.layer.{number}.")
        return hidden[0] if self._first_only else hidden.mean(axis=0)

    def _layer(self, hidden: Array, layer: str) -> Array:
        np: Any = import_module("numpy")
        size, width = hidden.shape
        split = (size, self._heads, width // self._heads)
        query, key, value = (
            self._linear(hidden, f"{layer}attention.self.{name}").reshape(split).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(split[2], dtype=np.float32)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        mixed = mixed.transpose(1, 0, 2).reshape(size, width)
        hidden = self._normalise(
            hidden + self._linear(mixed, f"{layer}attention.output.dense"), f"{layer}attention.output"
        )
        wide = _gelu(self._linear(hidden, f"{layer}intermediate.dense"))
        return self._normalise(hidden + self._linear(wide, f"{layer}output.dense"), f"{layer}output")

    def _linear(self, inputs: Array, name: str) -> Array:
        return inputs @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalise(self, hidden: Array, name: str) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        spread = ((centred**2).mean(axis=-1, keepdims=True) + self._epsilon) ** 0.5
        return centred / spread * self._weights[f"{name}.LayerNorm.weight"] + self._weights[f"{name}.LayerNorm.bias"]


class Model2Vec:
    """A table of token vectors; a text is the mean of its tokens. Source: the format of model2vec 0.3 and later."""

    def __init__(self, folder: str) -> None:
        self._tokenizer = _tokenizer(folder, _MAX_TOKENS)
        tensors = _safetensors(os.path.join(folder, "model.safetensors"))
        self._table: Array = tensors["embeddings"] if "embeddings" in tensors else tensors["embedding.weight"]
        self._weights, self._rows = tensors.get("weights"), tensors.get("mapping")

    def __call__(self, text: str) -> Array:
        np: Any = import_module("numpy")
        ids = np.array(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int64)
        if not len(ids):
            return np.zeros(self._table.shape[1], dtype=np.float32)
        vectors = self._table[ids if self._rows is None else self._rows[ids]].astype(np.float32)
        if self._weights is not None:
            vectors *= self._weights[ids][:, None].astype(np.float32)
        return vectors.mean(axis=0)


class Onnx:
    """An ONNX graph that gives token vectors (their mean is taken) or one sentence vector."""

    def __init__(self, folder: str) -> None:
        onnxruntime: Any = import_module("onnxruntime")
        failures = onnxruntime.capi.onnxruntime_pybind11_state
        self._tokenizer = _tokenizer(folder, _MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # standard error belongs to the program
        path = os.path.join(folder, "model.onnx")
        try:
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        except (failures.Fail, failures.InvalidGraph, failures.InvalidProtobuf, failures.NotImplemented) as error:
            raise ValueError(str(error).splitlines()[0]) from error
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def __call__(self, text: str) -> Array:
        np: Any = import_module("numpy")
        encoded = self._tokenizer.encode(text)
        values = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        feed = {name: np.array([ids], dtype=np.int64) for name, ids in values.items() if name in self._inputs}
        output = self._session.run(None, feed)[0][0]
        return output.mean(axis=0) if output.ndim == 2 else output


def _gelu(values: Array) -> Array:
    """Return x * Φ(x). Source: erf by Abramowitz and Stegun 7.1.26, off by at most 1.5e-7."""
    np: Any = import_module("numpy")
    x = np.abs(values) / np.float32(2**0.5)
    t = 1 / (1 + np.float32(0.3275911) * x)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = np.sign(values) * (1 - series * np.exp(-x * x))
    return (values * (1 + erf) / 2).astype(np.float32)


def _tokenizer(folder: str, limit: int) -> Any:
    path = os.path.join(folder, "tokenizer.json")
    if not os.path.isfile(path):
        raise ValueError("tokenizer.json is not there")
    tokenizer = import_module("tokenizers").Tokenizer.from_file(path)
    tokenizer.no_padding()
    tokenizer.enable_truncation(limit)
    return tokenizer


def _safetensors(path: str) -> dict[str, Array]:
    """Return the tensors of a file, memory-mapped. Source: the safetensors format, u64 size, JSON header, data."""
    np: Any = import_module("numpy")
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > 1 << 26:
            raise ValueError("not a safetensors file")
        header = json.loads(file.read(size))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + size)
    header.pop("__metadata__", None)
    # What does not lie at a multiple of its size is copied: numpy multiplies it a hundred times slower.
    return {
        name: np.require(data[slice(*entry["data_offsets"])].view(_DTYPES[entry["dtype"]]), requirements="A").reshape(
            entry["shape"]
        )
        for name, entry in header.items()
    }


def _json(folder: str, name: str, default: Any = None) -> Any:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        if default is None:
            raise
        return default
