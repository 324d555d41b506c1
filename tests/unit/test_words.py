"""Text to index terms and to queries, asked of the tokenizer that the store uses."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.memory.words import MAX_TERMS, index_parts, match_expression

TOKENIZER = "porter unicode61 remove_diacritics 2"


@pytest.fixture(scope="module")
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(content, parts, tokenize = '{TOKENIZER}')")
    yield connection
    connection.close()


def finds(db: sqlite3.Connection, content: str, query: str, *, prefix: bool = False) -> bool:
    """Say whether a memory of that content answers the query."""
    db.execute("DELETE FROM words")
    db.execute("INSERT INTO words VALUES (?, ?)", (content, index_parts("", content, "")))
    expression = match_expression(query, prefix=prefix)
    return bool(
        expression and db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).fetchone()[0]
    )


@pytest.mark.parametrize(
    ("content", "query"),
    [
        pytest.param("deploys are blocked", "blocking deployment", id="stemming"),
        pytest.param("the queue retries", "queue of unrelated things", id="any word suffices"),
        pytest.param("call getUserName first", "user name", id="camel case in parts"),
        pytest.param("call getUserName first", "getUserName", id="camel case whole"),
        pytest.param("parse HTTPResponseCode", "response code", id="capitals before a word"),
        pytest.param("set max_retry_count", "retry", id="snake case in parts"),
        pytest.param("set max_retry_count", "maxRetryCount", id="snake case by camel case"),
        pytest.param("set maxRetryCount", "max_retry_count", id="camel case by snake case"),
        pytest.param("the pre-commit hook", "precommit", id="hyphen left out"),
        pytest.param("the precommit hook", "pre-commit", id="hyphen put in"),
        pytest.param("see src/auth/token.py:12", "token.py", id="file name"),
        pytest.param("see src/auth/token.py:12", "src/auth", id="folder"),
        pytest.param(r"in C:\tools\bin\mem.exe", "mem.exe", id="backslashes"),
        pytest.param("since v1.2.3 only", "1.2.3", id="version without v"),
        pytest.param("since 1.2.3 only", "v1.2.3", id="version with v"),
        pytest.param("since 1.2.3 only", "1.2", id="version shortened"),
        pytest.param("fixed by PROJ-1234", "proj-1234", id="ticket"),
        pytest.param("fixed by #4711", "4711", id="number sign"),
        pytest.param("never pass --no-verify", "--no-verify", id="flag"),
        pytest.param("never pass --no-verify", "no-verify", id="flag without dashes"),
        pytest.param("meeting on 2026-03-01", "2026-03-01", id="date"),
        pytest.param("meeting on 2026-03-01", "what about 2026-03", id="month"),
        pytest.param("UTF8 in, UTF8 out", "utf-8", id="letters and digits apart"),
        pytest.param("don't use agents", "don't use agents", id="apostrophe"),
        pytest.param("the server’s certificate", "server certificate", id="typographic apostrophe"),
        pytest.param("the server certificate", "server's", id="possessive asks for its noun"),
        pytest.param("naïve Café", "naive cafe", id="accents in the text"),
        pytest.param("naive cafe", "Naïve CAFÉ", id="accents in the query"),
        pytest.param("naive cafe", "cafe\u0301", id="combining accent"),
        pytest.param("die Hauptstraße", "hauptstrasse", id="sharp s in the text"),
        pytest.param("die HAUPTSTRASSE", "Hauptstraße", id="sharp s in the query"),
        pytest.param("Łódź, Smørrebrød", "lodz", id="stroke in the text"),
        pytest.param("smorrebrod", "Smørrebrød", id="stroke in the query"),
        pytest.param("重跑gen-itgc后", "itgc", id="identifier glued to Chinese"),
        pytest.param("重跑gen-itgc后", "重跑", id="Chinese glued to an identifier"),
        pytest.param("数据库连接池", "连接", id="two characters inside a run"),
        pytest.param("数据库连接池", "库", id="one character"),
        pytest.param("数据库连接池", "池", id="last character"),
        pytest.param("数据库连接池", "数据库的连接", id="runs that overlap"),
        pytest.param("トークンを更新する", "更新", id="Japanese"),
        pytest.param("データベースの移行", "データベース", id="katakana"),
        pytest.param("데이터베이스를 옮긴다", "데이터베이스", id="Korean with a particle"),
        pytest.param("ที่ทำการเริ่มต้น", "เริ่มต้น", id="Thai"),
        pytest.param("หน่วยความจำ", "ความจำ", id="Thai with tone marks"),
        pytest.param("हिन्दी भाषा में", "हिन्दी", id="Hindi"),
        pytest.param("миграция базы данных", "базы", id="Russian"),
        pytest.param("نقل قاعدة البيانات", "قاعدة", id="Arabic"),
        pytest.param("ＡＢＣ is full width", "abc", id="full width in the text"),
        pytest.param("abc is narrow", "ＡＢＣ", id="full width in the query"),
        pytest.param("to be or not to be", "to be", id="stop words alone"),
        pytest.param("the C and R bindings", "R", id="single letter"),
    ],
)
def test_query_finds_content(db: sqlite3.Connection, content: str, query: str) -> None:
    assert finds(db, content, query)


@pytest.mark.parametrize(
    ("content", "query"),
    [
        pytest.param("what is the time of day", "what is the matter with it", id="stop words in common"),
        pytest.param("数据库连接池", "库数", id="characters in another order"),
        pytest.param("version 3 of 2 of 1", "1.2.3", id="numbers in another order"),
        pytest.param("call getUserName first", "usern", id="part of a part"),
    ],
)
def test_query_passes_over_content(db: sqlite3.Connection, content: str, query: str) -> None:
    assert not finds(db, content, query)


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        pytest.param("the deployment waits", "deplo", id="beginning"),
        pytest.param("a migration runs", "migratio", id="past the stem"),
        pytest.param("a migration runs", "migration", id="whole"),
        pytest.param("call getUserName", "getUs", id="identifier"),
        pytest.param("call getUserName", "userNa", id="second part of an identifier"),
        pytest.param("see src/auth/token.py", "src/au", id="path"),
        pytest.param("settings are cached", "the settings ca", id="last word only"),
        pytest.param("quickness matters", "quickne", id="in the middle of an ending"),
        pytest.param("theory first", "the", id="stop word that may grow"),
    ],
)
def test_prefix_finds_what_is_being_typed(db: sqlite3.Connection, content: str, typed: str) -> None:
    assert finds(db, content, typed, prefix=True)


def test_prefix_ends_with_the_word(db: sqlite3.Connection) -> None:
    assert not finds(db, "the deployment waits", "deplo ", prefix=True)


def test_match_expression_quotes_every_term() -> None:
    assert match_expression('NEAR(a, "b") AND title:x* OR ^y') == '"near" OR "b" OR "title:x" OR "title" OR "y"'


@pytest.mark.parametrize("query", ["", " \n", "()", '"', "*", "\0", "\ud800", "…", "-", "'"])
def test_match_expression_is_empty_without_words(query: str) -> None:
    assert match_expression(query) == ""


def test_match_expression_is_bounded() -> None:
    query = " ".join(f"word{number}" for number in range(100_000))
    assert match_expression(query).count(" OR ") < MAX_TERMS


@settings(deadline=None)
@given(query=st.text(st.characters(codec=None, categories=None)), prefix=st.booleans())
def test_any_query_is_safe(query: str, prefix: bool) -> None:
    db = sqlite3.connect(":memory:")
    db.execute(f"CREATE VIRTUAL TABLE words USING fts5(content, tokenize = '{TOKENIZER}')")
    expression = match_expression(query, prefix=prefix)
    if expression:
        db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).fetchone()
    db.close()


@settings(deadline=None)
@given(text=st.text())
def test_any_text_is_indexed(text: str) -> None:
    index_parts(text, text, text).encode()


def test_plain_words_have_no_parts() -> None:
    assert index_parts("Rotate tokens", "The gateway rotates them every hour.", "auth") == ""
