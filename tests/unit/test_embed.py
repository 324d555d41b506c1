"""The shipped table, the stored form of a vector, and where other models come from."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path

import memhooks.memory
import pytest
from conftest import TREE
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.memory import embed
from memhooks.memory.errors import Unavailable
from memhooks.memory.rank import cosines

MODEL = embed.shipped()
DATA = TREE / "memhooks" / "memory" / "data"


def likeness(first: str, second: str) -> float:
    return cosines(MODEL.embed_query(first).vector, MODEL.embed_query(second).vector)[0]


def test_shipped_file_is_the_one_that_the_hash_names() -> None:
    content = (DATA / f"{embed.SHIPPED}.semb").read_bytes()
    assert hashlib.sha256(content).hexdigest() == embed.SHIPPED_SHA256
    assert embed.SHIPPED_SHA256.startswith(MODEL.hash)


def test_shipped_model_comes_with_its_card() -> None:
    card = (DATA / "NOTICE.md").read_text()
    assert embed.SHIPPED in card
    assert embed.SHIPPED_SHA256 in card
    assert "Apache-2.0" in card


def test_vector_has_the_size_that_the_model_says() -> None:
    vector, signs = MODEL.embed_query("rotate the token")
    assert (len(vector), len(signs)) == (MODEL.dimensions, MODEL.dimensions // 8)


def test_signs_are_those_of_the_components() -> None:
    vector, signs = MODEL.embed_query("rotate the token")
    positive = [component > 0 for component in memoryview(vector).cast("b")]
    bits = [bool(signs[place // 8] >> (7 - place % 8) & 1) for place in range(MODEL.dimensions)]
    # A component that rounds to zero keeps the sign it had.
    assert all(bit == sign for bit, sign, x in zip(bits, positive, memoryview(vector).cast("b"), strict=True) if x)


@pytest.mark.parametrize(
    ("query", "closer", "farther"),
    [
        pytest.param("how do users log in", "authentication by password", "the colour of the footer", id="synonym"),
        pytest.param("slow database queries", "SQL performance", "css animation", id="field"),
        pytest.param("getUserName", "the name of the user", "the size of the queue", id="identifier"),
        pytest.param("naïve café", "naive cafe", "queue size", id="accents"),
    ],
)
def test_likeness_follows_meaning(query: str, closer: str, farther: str) -> None:
    assert likeness(query, closer) > likeness(query, farther) + 0.1


@pytest.mark.parametrize("text", ["", " ", "…", "\0", "\ud800", "数据库"], ids=ascii)
def test_unknown_text_has_no_direction(text: str) -> None:
    assert cosines(MODEL.embed_query(text).vector, MODEL.embed_query("token").vector) == [0.0]


@settings(max_examples=50, deadline=None)
@given(text=st.text(st.characters(codec=None, categories=None), max_size=600))
def test_any_text_is_embedded(text: str) -> None:
    assert len(MODEL.embed_memory(text, text).vector) == MODEL.dimensions


def test_long_text_is_embedded_by_its_beginning() -> None:
    assert MODEL.embed_query("token " * 256 + "queue " * 10_000) == MODEL.embed_query("token " * 256)


def test_embedding_is_the_same_in_every_process() -> None:
    assert embed.shipped().embed_query("rotate the token") == MODEL.embed_query("rotate the token")


def test_memory_with_derived_title_counts_its_text_once() -> None:
    assert MODEL.embed_memory("", "Tokens rotate hourly.") == MODEL.embed_query("Tokens rotate hourly.")


def test_title_adds_to_the_vector() -> None:
    """The title raises likeness to a query for it, and is not needed twice where the content begins with it."""
    query = MODEL.embed_query("token rotation").vector
    plain = cosines(query, MODEL.embed_memory("", "They change hourly.").vector)[0]
    titled = cosines(query, MODEL.embed_memory("Token rotation", "They change hourly.").vector)[0]
    assert titled > plain + 0.2


def test_quantized_vector_keeps_its_direction() -> None:
    components = [math.sin(place) for place in range(64)]
    stored = memoryview(embed.quantize(components).vector).cast("b")
    dot = sum(x * y for x, y in zip(components, stored, strict=True))
    lengths = math.hypot(*components) * math.hypot(*stored)
    assert dot / lengths > 0.9999
    assert max(map(abs, stored)) == 127


@pytest.mark.parametrize("damage", ["magic", "short", "stub", "empty", "absent"])
def test_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    content = (DATA / f"{embed.SHIPPED}.semb").read_bytes()
    path = tmp_path / "model.semb"
    damaged = {"magic": b"SEMB1" + content[5:], "short": content[:-1], "stub": content[:9], "empty": b""}
    if damage in damaged:
        path.write_bytes(damaged[damage])
    with pytest.raises(Unavailable, match=r"model\.semb"):
        embed.StaticTable(str(path), "x", "y").embed_query("token")


def test_cached_gives_the_shipped_model_by_name() -> None:
    assert embed.cached("", {}).name == embed.cached(embed.SHIPPED, {}).name == embed.SHIPPED


def test_cached_says_how_to_get_a_model(home: Path) -> None:
    with pytest.raises(Unavailable, match="mem model fetch minilm"):
        embed.cached("minilm", {"MEM_HOME": str(home)})


def test_package_names_no_other_data() -> None:
    assert memhooks.memory.__file__
    assert {path.name for path in DATA.iterdir()} == {"NOTICE.md", f"{embed.SHIPPED}.semb", "token_costs.txt"}
