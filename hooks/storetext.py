"""The text in a SQLite file's rows, read from bytes that are not trusted.

The file is deserialised into memory and never opened on disk. Its schema is data of a stranger: only plain columns of
plain tables are read, with trusted_schema off and a bound on the length of a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .blobtext import Mark, Text

if TYPE_CHECKING:
    import sqlite3

_BATCH = 1 << 20  # characters that one Text gathers
_VALUE_LIMIT = 64 << 20


def row_texts(data: bytes) -> Iterator[Text]:
    """Yield the text of every row in the SQLite file `data`, places named by table, row and column.

    Raises sqlite3.Error for a damaged or an encrypted file: what can't be read can't be judged.
    """
    import sqlite3  # 5 ms, and few commits stage a database

    # A file in WAL mode says so in bytes 18 and 19, and can't be deserialised: an image in memory has no -wal.
    image = data[:18] + b"\x01\x01" + data[20:]
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.deserialize(image)
        del image
        yield from rows(db)
    except (ValueError, OverflowError, MemoryError) as error:  # a damaged file's message may itself be no UTF-8
        raise sqlite3.DatabaseError("its pages make no sense") from error
    finally:
        db.close()


def rows(db: sqlite3.Connection) -> Iterator[Text]:
    """Yield the text of every row that the connection `db` reaches, as `row_texts` does."""
    import sqlite3

    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_LIMIT)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA query_only = ON")
    db.text_factory = bytes
    tables = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    gathered = _Gathered()
    for raw_name, raw_sql in tables:
        if not isinstance(raw_name, bytes):
            continue  # SQLite itself can't reach such a table
        name, sql = _decode(raw_name), _decode(raw_sql) if isinstance(raw_sql, bytes) else ""
        if sql.upper().lstrip().startswith("CREATE VIRTUAL"):
            continue  # its rows lie in shadow tables, which are plain
        for number, columns, row in _table(db, name):
            for column, value in zip(columns, row, strict=True):
                if isinstance(value, bytes) and len(value) > 3:
                    gathered.add(_decode(value), f"table {name}, row {number}, {column}")
            if gathered.size > _BATCH:
                yield gathered.take()
    yield gathered.take()


def _table(db: sqlite3.Connection, name: str) -> Iterator[tuple[int, list[str], tuple[object, ...]]]:
    # hidden = 0: no generated column, whose expression a stranger wrote.
    info = db.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", (name,)).fetchall()
    columns = [_decode(row[0]) for row in info]
    if not columns:
        return
    listed = ", ".join(_quote(column) for column in columns)
    for number, row in enumerate(db.execute(f"SELECT {listed} FROM {_quote(name)}"), 1):  # noqa: S608 (quoted names)
        yield number, columns, row


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _decode(value: bytes) -> str:
    return value.replace(b"\0", b"").decode("utf-8", "replace")


class _Gathered:
    """Values joined into one text by blank lines: one scan of many is far cheaper than many scans."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._marks: list[Mark] = []
        self.size = 0

    def add(self, value: str, place: str) -> None:
        self._marks.append((self.size, 0, place))
        self._parts.append(value)
        self.size += len(value) + 2

    def take(self) -> Text:
        text = Text("\n\n".join(self._parts), tuple(self._marks) or ((0, 0, ""),))
        self._parts, self._marks, self.size = [], [], 0
        return text
