"""The readings of a file's bytes, and the way back to a line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from memhooks.hooks.blobtext import Text, decodings, is_our_store, places, texts, unescaped
from memhooks.hooks.storetext import row_texts
from memhooks.memory.schema import connect

WORD = "the-needle-itself"


@pytest.mark.parametrize("encoding", [
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "latin-1", "cp1252",
])  # fmt: skip
def test_decodings_find_a_word_in_every_encoding(encoding: str) -> None:
    data = f"Grüße\r\nhere: {WORD}\n".encode(encoding)
    assert any(WORD in text for text in decodings(data))


@pytest.mark.parametrize("data", [
    b"\xff\xfe" + WORD.encode(), b"\xfe\xff" + WORD.encode(), b"\x89PNG\0\0\xff" + WORD.encode() + b"\0\xfe",
    "\0".join(WORD).encode(), b"caf\xe9 " + WORD.encode(), WORD.encode() + b"\0", b"\xff\xfe\0\0" + WORD.encode(),
], ids=["false-mark-le", "false-mark-be", "binary", "nul-split", "latin", "nul-end", "false-mark-32"])  # fmt: skip
def test_decodings_are_not_led_astray(data: bytes) -> None:
    assert any(WORD in text for text in decodings(data))


def test_decodings_of_plain_text_are_one() -> None:
    assert list(decodings("naïve ✓\n".encode())) == ["naïve ✓\n"]


def test_latin_text_keeps_its_letters() -> None:
    assert "Paßwörter" in list(decodings("Paßwörter".encode("latin-1")))


@pytest.mark.parametrize(("text", "needle", "line", "column"), [
    ("a\nb\nX", "X", 3, 1),
    ("a\r\nb\r\n  X", "X", 3, 3),
    ("a\rb\rX", "X", 3, 1),
    ("\r\n\r\nX", "X", 3, 1),
    ("✓✓X", "X", 1, 3),
    ("X", "X", 1, 1),
], ids=["lf", "crlf", "cr", "empty-lines", "code-points", "start"])  # fmt: skip
def test_places_count_lines_and_columns(text: str, needle: str, line: int, column: int) -> None:
    (place,) = places(Text(text), [text.index(needle)])
    assert (place.line, place.column) == (line, column)


def test_places_agree_with_a_plain_count_over_many_offsets() -> None:
    text = "ab\r\ncd\n\n\rx\r\n" * 50
    offsets = [at for at in range(len(text)) if text[at] not in "\r\n"]
    ends = [len(text[:at].replace("\r\n", "\n").replace("\r", "\n").split("\n")) for at in offsets]
    assert [place.line for place in places(Text(text), offsets)] == ends


def test_unescaped_undoes_what_json_hides() -> None:
    hidden = "".join(f"\\u{ord(char):04x}" for char in WORD)
    text = unescaped('{"a": 1}\n{"b": "x\\n\\t' + hidden + '"}\n')
    offset = text.text.index(WORD)
    (place,) = places(text, [offset])
    assert place.line == 2


@pytest.mark.parametrize("line", [
    '{"a": "' + WORD.replace("-", "\\u002d") + '", "a": "x"}',
    '{"broken": "' + WORD.replace("-", "\\u002D"),
    json.dumps({"a": json.dumps({"b": json.dumps(WORD + "é")})}).replace("-", "\\u002d"),
], ids=["repeated-key", "broken-line", "json-in-json"])  # fmt: skip
def test_texts_of_json_need_no_parser(line: str) -> None:
    assert any(WORD in text.text for text in texts("memories.ndjson", line.encode()))


def test_unescaped_joins_surrogates() -> None:
    assert "😀" in unescaped('"\\ud83d\\ude00"').text
    assert unescaped('"\\ud83d alone"').text  # no error


def database(path: Path, *statements: str, wal: bool = False) -> bytes:
    db = sqlite3.connect(path, isolation_level=None)
    if wal:
        db.execute("PRAGMA journal_mode = WAL")
    for statement in statements:
        db.execute(statement)
    db.close()
    return path.read_bytes()


@pytest.mark.parametrize("wal", [False, True], ids=["delete", "wal"])
def test_row_texts_reads_all_tables(tmp_path: Path, wal: bool) -> None:
    data = database(
        tmp_path / "a.db",
        "CREATE TABLE plain(a TEXT, b BLOB)",
        f"INSERT INTO plain VALUES('{WORD}', CAST('{WORD}-blob' AS BLOB))",
        'CREATE TABLE "odd ""name"(k TEXT PRIMARY KEY, v) WITHOUT ROWID',
        f"""INSERT INTO "odd ""name" VALUES('k', '{WORD}-odd')""",
        "CREATE VIRTUAL TABLE f USING fts5(body)",
        f"INSERT INTO f VALUES('{WORD}-fts')",
        wal=wal,
    )
    whole = list(row_texts(data))
    joined = "\n".join(text.text for text in whole)
    for end in ("", "-blob", "-odd", "-fts"):
        assert WORD + end in joined
    (text,) = whole
    (place,) = places(text, [text.text.index(WORD + "-odd")])
    assert (place.line, place.place) == (0, 'table odd "name, row 1, v')


def test_row_texts_does_not_run_a_strangers_schema(tmp_path: Path) -> None:
    data = database(
        tmp_path / "a.db",
        "CREATE TABLE t(a TEXT, big AS (hex(zeroblob(400000000))) VIRTUAL)",
        f"INSERT INTO t(a) VALUES('{WORD}')",
        "CREATE VIEW v AS SELECT hex(zeroblob(400000000)) FROM t",
    )
    assert sum(len(text.text) for text in row_texts(data)) < 100


def test_row_texts_of_a_damaged_file_fails(tmp_path: Path) -> None:
    data = database(tmp_path / "a.db", "CREATE TABLE t(a)", *["INSERT INTO t VALUES(hex(randomblob(3000)))"] * 20)
    for broken in (data[:4096] + b"\xff" * 8192 + data[12288:], data[:100] + bytes(len(data) - 100)):
        with pytest.raises(sqlite3.Error):
            list(row_texts(broken))


def test_our_store_is_known_by_its_header(tmp_path: Path) -> None:
    connect(str(tmp_path / "x.db"), create=True).close()
    assert is_our_store((tmp_path / "x.db").read_bytes())
    assert not is_our_store(database(tmp_path / "y.db", "CREATE TABLE t(a)"))


def test_texts_reads_large_text_in_pieces_with_the_files_own_lines() -> None:
    """One emoji would make ten megabytes of text forty."""
    lines = ["plain words of a line" if number % 1000 else f"😀 {WORD}-{number}" for number in range(220_000)]
    data = "\n".join(lines).encode()
    found = set()
    for text in texts("MEMORY.md", data):
        assert len(text.text) < len(data) / 2
        at = text.text.find(WORD)
        while at >= 0:
            (place,) = places(text, [at])
            found.add((place.line, place.column, text.text[at:].split(maxsplit=1)[0]))
            at = text.text.find(WORD, at + 1)
    assert found == {(number + 1, 3, f"{WORD}-{number}") for number in range(0, 220_000, 1000)}


@pytest.mark.parametrize("size", [1 << 20, 5 << 20])
def test_texts_says_the_same_of_small_and_large(size: int) -> None:
    line = '{"title": "é", "content": "a \\u0062\\n"}\n'
    data = (line * (size // len(line.encode()))).encode()
    assert {"\\u0062" in text.text for text in texts("memories.ndjson", data)} == {True, False}
    assert max(text.marks[-1][1] for text in texts("memories.ndjson", data) if text.marks) == data.count(b"\n") + 1
