"""Models in the local cache: found by name, opened without a connection, missing in one clear line."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from memhooks.hooks import model as command
from memhooks.hooks.env import Env
from memhooks.memory import models
from memhooks.memory.embed import cached
from memhooks.memory.errors import MemError, Unavailable, UsageError
from memhooks.memory.rank import cosines

WORDS = ["[UNK]", "[CLS]", "[SEP]", "token", "queue", "retry", "button"]


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"MEM_HOME": str(home / "mem")}


def env(environ: dict[str, str]) -> Env:
    return Env(StringIO(), StringIO(), StringIO(), environ, "/")


def make_files(folder: Path, kind: str, **tensors: Any) -> Path:
    """Write a model's files into a folder: a tokenizer of seven words, a config and tensors."""
    tokenizers = pytest.importorskip("tokenizers")
    folder.mkdir()
    vocabulary = tokenizers.models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(vocabulary)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"model_type": kind, "num_attention_heads": 2, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps(config))
    if tensors:
        write_tensors(folder / "model.safetensors", tensors)
    return folder


def write_tensors(path: Path, tensors: dict[str, Any]) -> None:
    header, data = {}, b""
    for name, value in tensors.items():
        block = value.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": value.shape, "data_offsets": [len(data), len(data) + len(block)]}
        data += block
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def table() -> Any:
    """Return a vector for each word: queue and retry are close, the rest are apart."""
    numpy = pytest.importorskip("numpy")
    rows = numpy.eye(7, 8, dtype="f4")
    rows[WORDS.index("retry")] = rows[WORDS.index("queue")] + 0.3 * rows[0]
    return rows


def likeness(model: Any, first: str, second: str) -> float:
    return cosines(model.embed_query(first).vector, model.embed_memory("", second).vector)[0]


def test_missing_model_is_one_clear_line(environ: dict[str, str], home: Path) -> None:
    with pytest.raises(Unavailable, match="`mem model fetch minilm` brings it"):
        cached("minilm", environ)
    assert not (home / "mem").exists()


@pytest.mark.parametrize("name", ["../../etc", "a/../b", "/etc", "x", "a/b/c", "a b/c", "a/b\n", ""])
def test_name_that_is_none_is_refused(environ: dict[str, str], name: str) -> None:
    with pytest.raises(UsageError, match="names no model"):
        models.load(name, environ)


def test_half_a_model_is_not_in_the_cache(environ: dict[str, str]) -> None:
    place = Path(models.folder("minilm", environ))
    place.mkdir(parents=True)
    (place / models.MANIFEST).write_text('{"name": "minilm"')
    assert models.installed(environ) == []
    with pytest.raises(Unavailable):
        models.load("minilm", environ)


def test_missing_extra_is_named(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(models.folder("minilm", environ))
    place.mkdir(parents=True)
    found = models.Installed("minilm", "x/y", "bert", "0" * 16, 384, 0.35)
    (place / models.MANIFEST).write_text(json.dumps(found._asdict()))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"pip install 'memhooks\[models\]'"):
        models.load("minilm", environ)


def test_fetch_from_a_folder_makes_a_model_usable(environ: dict[str, str], tmp_path: Path) -> None:
    origin = make_files(tmp_path / "origin", "model2vec", embeddings=table())
    found = command.fetch("some/model", env(environ), folder=str(origin))
    assert (found.kind, found.dimensions) == ("model2vec", 8)
    assert models.installed(environ) == [found]
    model = cached("some/model", environ)
    assert (model.name, model.hash) == ("some/model", found.hash)
    assert likeness(model, "queue", "retry") > 0.9 > likeness(model, "queue", "button")


def test_model2vec_weighs_its_tokens(environ: dict[str, str], tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    weights = numpy.ones(7, dtype="f4")
    weights[WORDS.index("button")] = 0
    origin = make_files(tmp_path / "origin", "model2vec", embeddings=table(), weights=weights)
    command.fetch("some/model", env(environ), folder=str(origin))
    assert likeness(cached("some/model", environ), "token button", "token") == pytest.approx(1)


def test_bert_runs_its_layers(environ: dict[str, str], tmp_path: Path) -> None:
    """With attention and wide layer at zero a layer leaves the normalised embeddings as they are."""
    numpy = pytest.importorskip("numpy")
    tensors = {"embeddings.word_embeddings.weight": table()}
    for name, size in (("position", 16), ("token_type", 2)):
        tensors[f"embeddings.{name}_embeddings.weight"] = numpy.zeros((size, 8))
    layer = "encoder.layer.0."
    for name, rows, columns in (
        ("attention.self.query", 8, 8), ("attention.self.key", 8, 8), ("attention.self.value", 8, 8),
        ("attention.output.dense", 8, 8), ("intermediate.dense", 12, 8), ("output.dense", 8, 12),
    ):  # fmt: skip
        tensors[f"{layer}{name}.weight"], tensors[f"{layer}{name}.bias"] = (
            numpy.zeros((rows, columns)),
            numpy.zeros(rows),
        )
    for name in ("embeddings", layer + "attention.output", layer + "output"):
        tensors[f"{name}.LayerNorm.weight"], tensors[f"{name}.LayerNorm.bias"] = numpy.ones(8), numpy.zeros(8)
    origin = make_files(tmp_path / "origin", "bert", **tensors)
    found = command.fetch("some/bert", env(environ), folder=str(origin))
    assert (found.kind, found.dimensions) == ("bert", 8)
    model = cached("some/bert", environ)
    assert likeness(model, "queue", "queue") == pytest.approx(1, abs=1e-3)
    assert likeness(model, "queue", "retry") > 0.8 > likeness(model, "queue", "button")


def test_onnx_graph_gives_the_mean_of_its_tokens(environ: dict[str, str], tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    helper, kinds = onnx.helper, onnx.TensorProto
    node = helper.make_node("Gather", ["table", "input_ids"], ["tokens"])
    ids = helper.make_tensor_value_info("input_ids", kinds.INT64, ["batch", "size"])
    tokens = helper.make_tensor_value_info("tokens", kinds.FLOAT, ["batch", "size", 8])
    graph = helper.make_graph([node], "toy", [ids], [tokens], [onnx.numpy_helper.from_array(table(), "table")])
    origin = make_files(tmp_path / "origin", "other")
    (origin / "onnx").mkdir()
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), origin / "onnx" / "model.onnx")
    found = command.fetch("some/graph", env(environ), folder=str(origin))
    assert (found.kind, found.dimensions) == ("onnx", 8)
    model = cached("some/graph", environ)
    assert likeness(model, "queue", "retry") > 0.9 > likeness(model, "queue", "button")


@pytest.mark.parametrize("damage", ["tokenizer.json", "config.json", "model.safetensors", "empty weights"])
def test_files_of_no_model_leave_no_trace(environ: dict[str, str], tmp_path: Path, damage: str) -> None:
    origin = make_files(tmp_path / "origin", "model2vec", embeddings=table())
    if damage == "empty weights":
        (origin / "model.safetensors").write_bytes(b"")
    else:
        (origin / damage).unlink()
    with pytest.raises(MemError):
        command.fetch("some/model", env(environ), folder=str(origin))
    assert list(Path(environ["MEM_HOME"], "models").iterdir()) == []


def test_damaged_model_in_the_cache_is_named(environ: dict[str, str], tmp_path: Path) -> None:
    origin = make_files(tmp_path / "origin", "model2vec", embeddings=table())
    command.fetch("some/model", env(environ), folder=str(origin))
    (Path(models.folder("some/model", environ)) / "tokenizer.json").unlink()
    with pytest.raises(Unavailable, match="fetch it again"):
        cached("some/model", environ).embed_query("queue")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[str]:
    """A web server that has one model."""
    root = tmp_path / "hub"
    (root / "some" / "model" / "resolve").mkdir(parents=True)
    make_files(root / "some" / "model" / "resolve" / "main", "model2vec", embeddings=table())

    class Quiet(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(root))

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_fetch_from_the_hub(environ: dict[str, str], hub: str) -> None:
    found = command.fetch("some/model", env(environ | {"HF_ENDPOINT": hub}))
    assert models.installed(environ) == [found]


def test_fetch_of_what_the_hub_has_not(environ: dict[str, str], hub: str) -> None:
    with pytest.raises(MemError, match=r"no config\.json"):
        command.fetch("other/model", env(environ | {"HF_ENDPOINT": hub}))


def test_fetch_without_a_hub(environ: dict[str, str]) -> None:
    with pytest.raises(MemError, match="can't be reached") as caught:
        command.fetch("some/model", env(environ | {"HF_ENDPOINT": "http://127.0.0.1:9"}))
    assert caught.value.reason == "fetch_failed"


@pytest.mark.parametrize(
    "setting", [{"HF_HUB_OFFLINE": "1"}, {"HF_ENDPOINT": "file:///etc"}], ids=["offline", "no web address"]
)
def test_fetch_is_refused(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, setting: dict[str, str]) -> None:
    monkeypatch.setattr(socket, "socket", None)  # any use of it would raise
    with pytest.raises(MemError):
        command.fetch("some/model", env(environ | setting))


def test_loading_opens_no_connection(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = make_files(tmp_path / "origin", "model2vec", embeddings=table())
    command.fetch("some/model", env(environ), folder=str(origin))
    before = sorted(path for path in Path(environ["MEM_HOME"]).rglob("*"))
    monkeypatch.setattr(socket, "socket", None)
    cached("some/model", environ).embed_query("queue")
    assert sorted(path for path in Path(environ["MEM_HOME"]).rglob("*")) == before
