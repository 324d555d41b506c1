"""Forgetting leaves no byte: neither of a word that stood only there, nor of its stem, in any file beside the store."""

from __future__ import annotations

import os
import random
import sqlite3
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memhooks.memory import store as rows
from memhooks.memory.api import Store
from memhooks.memory.errors import NotFound


def word(chance: random.Random) -> str:
    """Return a word that no other memory has; its ending is one that the stemmer takes off."""
    length = chance.randint(7, 12)
    ending = chance.choice(["", "ing", "ation", "ness", "ed", "s"])
    return "".join(chance.choice(string.ascii_lowercase) for _ in range(length)) + ending


def terms_of(text: str) -> set[bytes]:
    """Return the words of a text and the terms that the index makes of them; of each also the end alone, since a
    full-text segment leaves out the beginning that a term shares with the one before it."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61 remove_diacritics 2')")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, row)")
    db.execute("INSERT INTO t VALUES (?)", (text,))
    terms = {row[0] for row in db.execute("SELECT term FROM v")} | set(text.lower().split())
    db.close()
    # A shorter one stands in any file by chance.
    return {part.encode() for term in terms if len(term) > 5 for part in (term, term[2:] if len(term) > 8 else term)}


def left_below(folder: str | Path, texts: list[str]) -> list[tuple[str, bytes]]:
    """Return which file still holds what of the texts."""
    terms = set().union(*map(terms_of, texts)) if texts else set()
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            data = Path(place, name).read_bytes().lower()
            found += [(name, term) for term in terms if term in data]
    return found


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / ".mem" / "mem.db")


STEPS = st.lists(st.tuples(st.sampled_from("RRRCCFS"), st.integers(0, 99)), min_size=4, max_size=40)


@given(STEPS, st.integers(0, 1 << 30))
@settings(deadline=None, max_examples=15)
def test_forget_leaves_no_term_after_any_history(steps: list[tuple[str, int]], seed: int) -> None:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, ".mem")
        lines: dict[str, list[str]] = {}  # all that a lineage ever said, by its head
        forgotten: list[str] = []
        with Store.open(os.path.join(folder, "mem.db")) as store:
            for action, place in steps:
                text = " ".join(word(chance) for _ in range(chance.randint(1, 30)))[:480]
                text = text[: text.rindex(" ")] if " " in text else text
                head = sorted(lines)[place % len(lines)] if lines else ""
                if action == "R":
                    title, tag = word(chance), word(chance)
                    made = store.remember(content=text, title=title, tags=[tag], area=tag)
                    lines[made.id] = [text, title, tag]
                elif action == "C" and head:
                    lines[store.correct(head, text).id] = [*lines.pop(head), text]
                elif action == "S" and head:
                    store.stamp(store.search(lines[head][0], mode="fused"))
                elif action == "F" and head:
                    assert not store.forget(head).scrub_pending
                    forgotten += lines.pop(head)
                    assert left_below(folder, forgotten[-3:]) == []
            assert left_below(folder, forgotten) == []
        assert left_below(folder, forgotten) == []
        if lines:
            assert left_below(folder, next(iter(lines.values()))), "the search itself finds what is there"


def test_forget_leaves_no_term_in_the_gaps_of_a_tree(path: str) -> None:
    """The history that left words in the gap of a balanced page for as long as nothing wrote the database anew."""
    chance = random.Random(17)
    drawn = [chance.choice(some) for some in ((1, 3, 10, 40), (0.4, 0.6, 0.8), (10, 40, 100))]
    assert drawn == [40, 0.6, 40], "how that history was drawn: the bytes must be the same"
    lines: dict[str, list[str]] = {}
    with Store.open(path) as store:
        for _ in range(40):
            action = chance.random()
            text = " ".join(word(chance) for _ in range(chance.randint(1, 40)))[:480]
            if action < 0.6 or not lines:
                pinned = chance.random() < 0.3
                made = store.remember(
                    content=text, pinned=pinned, anchors={word(chance): ""} if chance.random() < 0.3 else {}
                )
                lines[made.id] = [text]
                continue
            head = chance.choice(sorted(lines))
            if action < 0.8:
                lines[store.correct(head, text).id] = [*lines.pop(head), text]
            else:
                store.forget(head)
                assert left_below(os.path.dirname(path), lines.pop(head)) == []


def test_forget_many_of_many_leaves_no_term(path: str) -> None:
    """Enough rows that SQLite splits and merges the pages of its trees, which is where old bytes stay."""
    chance = random.Random(4)
    texts = [" ".join(word(chance) for _ in range(25)) for _ in range(300)]
    with Store.open(path) as store:
        made = store.remember_many([{"content": text} for text in texts], check=False)
        gone = chance.sample(range(300), 6)
        for place in gone:
            store.forget(made[place].id)
        assert left_below(os.path.dirname(path), [texts[place] for place in gone]) == []
        assert len(store.list()) == 294
        store.db.execute("INSERT INTO words(words) VALUES ('integrity-check')")


def test_forget_erases_the_whole_lineage(path: str) -> None:
    with Store.open(path) as store:
        first = store.remember(content="elephants everywhere", anchors={"zoo.py": ""})
        second = store.correct(first.id, "rhinoceroses everywhere")
        third = store.correct(second.id, "hippopotamuses everywhere")
        kept = store.remember(content="crocodiles elsewhere")
        forgotten = store.forget(third.id[-8:])
        assert forgotten == ((third.id, second.id, first.id), False, False)
        for one in (first, second, third):
            with pytest.raises(NotFound):
                store.get(one.id)
        assert store.list(include_superseded=True) == [kept]
        stones = rows.tombstones(store.db)
        assert [stone.id for stone in stones] == sorted(forgotten.ids)
        assert {stone.id: stone.version for stone in stones} == {first.id: 3, second.id: 3, third.id: 2}
    assert left_below(os.path.dirname(path), ["elephants rhinoceroses hippopotamuses"]) == []
    assert left_below(os.path.dirname(path), ["crocodiles"])


def test_forget_takes_the_mirror_along(path: str) -> None:
    with Store.open(path) as store:
        made = store.remember(content="elephants everywhere")
        mirror = Path(path).parent / "memory.md"
        mirror.write_text("- elephants everywhere")
        store.forget(made.id)
    assert not mirror.exists()


def test_forget_leaves_files_beside_a_pinned_store(tmp_path: Path) -> None:
    (tmp_path / "memory.md").write_text("mine")
    with Store.open(str(tmp_path / "x.db")) as store:
        store.forget(store.remember(content="elephants").id)
    assert (tmp_path / "memory.md").read_text() == "mine"


def test_forget_says_that_a_teammate_has_it(store: Store) -> None:
    made = store.remember(content="elephants everywhere", shared=True)
    assert store.forget(made.id) == ((made.id,), True, False)
    assert rows.tombstones(store.db)[0].shared


def test_forget_behind_a_reader_is_pending_until_the_next_open(path: str) -> None:
    """A snapshot of another program keeps the old pages in the log: that is said, and made good later."""
    with Store.open(path, timeout=0.02) as store:
        made = store.remember(content="elephants everywhere")
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM memories").fetchone()[0] == 1
        assert store.forget(made.id).scrub_pending
        assert rows.meta(store.db, rows.SCRUB_PENDING)
        assert store.search("elephants") == []
    with Store.open(path, timeout=0.02) as store:  # the reader is still there
        assert rows.meta(store.db, rows.SCRUB_PENDING)
    assert left_below(os.path.dirname(path), ["elephants"])
    reader.close()
    with Store.open(path) as store:
        assert not rows.meta(store.db, rows.SCRUB_PENDING)
        assert left_below(os.path.dirname(path), ["elephants"]) == []


def test_forget_that_died_before_its_scrub_is_finished(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:
        store.remember(content="crocodiles elsewhere")
        made = store.remember(content="elephants everywhere")

        def die(*_: object) -> bool:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(rows, "scrub", die)
            store.forget(made.id)
    with Store.open(path, create=False) as store:
        assert not rows.meta(store.db, rows.SCRUB_PENDING)
        assert len(store.list()) == 1
    assert left_below(os.path.dirname(path), ["elephants"]) == []


def test_forget_waits_for_no_long_time_at_open(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(path) as store:
        rows.set_meta(store.db, rows.SCRUB_PENDING, "2026")
    waits = []

    def spy(db: sqlite3.Connection) -> bool:
        waits.append(db.execute("PRAGMA busy_timeout").fetchone()[0])
        return False

    monkeypatch.setattr(rows, "scrub", spy)
    Store.open(path).close()
    Store.open(path, timeout=0.1).close()
    Store.open(path, create=False, readonly=True).close()
    assert waits == [250, 100], "and a reader does not write"


def test_forget_during_many_readers(path: str) -> None:
    """Short reads between do not keep the scrub from its end."""
    with Store.open(path) as store:
        others = [Store.open(path) for _ in range(4)]
        made = [store.remember(content=f"elephants number {n}") for n in range(8)]
        for one in made:
            for other in others:
                other.search("elephants")
            assert not store.forget(one.id).scrub_pending
        assert left_below(os.path.dirname(path), ["elephants"]) == []
        for other in others:
            assert other.search("elephants") == []
            other.close()
