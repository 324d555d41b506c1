"""Sections as derived rows: what is split, what a refresh writes, what a search finds and what it never sees."""

from __future__ import annotations

from memhooks.memory import sections
from memhooks.memory.api import Store
from memhooks.memory.words import match_expression

TEXT = """Words above the first heading.

# Project

## Build

Run `makeThings` with care.

## Deploy

### Staging

Push to the staging branch.
"""
SECRET = "ghp_" + "016C7ZsF9cGFbZ4R1dkP2mQ8xW3vYt5LhN0b"  # made up


def found(store: Store, query: str) -> list[tuple[str, int, int]]:
    hits = sections.search(store.db, match_expression(query), 5)
    return [(hit.heading, hit.first_line, hit.last_line) for hit in hits]


def test_split_names_parents_and_lines() -> None:
    assert [(one.heading, one.first_line, one.last_line) for one in sections.split(TEXT)] == [
        ("", 1, 2), ("Project › Build", 5, 8), ("Project › Deploy › Staging", 11, 13),
    ]  # fmt: skip


def test_split_of_nothing_is_nothing() -> None:
    assert sections.split("") == []
    assert sections.split("---\na: 1\n---\n# Only a heading\n") == []


def test_refresh_makes_sections_searchable(store: Store) -> None:
    done = sections.refresh(store.db, "MEMORY.md", TEXT)
    assert (done.sections, done.written, done.skipped) == (3, 3, ())
    assert found(store, "where do we push for staging?")[0] == ("Project › Deploy › Staging", 11, 13)
    assert found(store, "make things")[0] == ("Project › Build", 5, 8)
    assert found(store, "zebra") == []
    assert sections.search(store.db, "", 5) == []


def test_refresh_writes_only_what_changed(store: Store) -> None:
    sections.refresh(store.db, "MEMORY.md", TEXT)
    assert sections.refresh(store.db, "MEMORY.md", TEXT).written == 0
    moved = "One line more.\n\n" + TEXT
    assert sections.refresh(store.db, "MEMORY.md", moved).written == 1
    assert found(store, "staging")[0] == ("Project › Deploy › Staging", 13, 15)


def test_refresh_forgets_what_is_gone(store: Store) -> None:
    sections.refresh(store.db, "MEMORY.md", TEXT)
    sections.refresh(store.db, "MEMORY.md", "")
    assert found(store, "staging") == []
    assert store.db.execute("SELECT count(*) FROM section_words").fetchone()[0] == 0
    store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with open(store.path, "rb") as file:
        assert b"staging" not in file.read().lower()


def test_refresh_keeps_other_files_rows(store: Store) -> None:
    sections.refresh(store.db, "MEMORY.md", TEXT)
    sections.refresh(store.db, "docs/MEMORY.md", "# Other\n\nstaging elsewhere\n")
    sections.refresh(store.db, "docs/MEMORY.md", "")
    assert len(found(store, "staging")) == 1


def test_refresh_leaves_out_a_section_with_a_secret(store: Store) -> None:
    done = sections.refresh(store.db, "MEMORY.md", f"{TEXT}\n## Keys\n\nUse it.\n\ntoken {SECRET}\n")
    assert [(one.heading, one.line) for one in done.skipped] == [("Project › Keys", 19)]
    assert done.skipped[0].rule
    assert found(store, "keys token") == []
    assert found(store, "staging")


def test_refresh_keeps_a_section_whose_finding_people_allow(store: Store) -> None:
    text = f"# Keys\n\nThe walrus token is {SECRET}.\n"
    done = sections.refresh(store.db, "MEMORY.md", text, allowed=lambda rule, value: value in text)
    assert (done.sections, done.skipped) == (1, ())


def test_equal_sections_have_a_row_each(store: Store) -> None:
    text = "# A\n\nsame words\n\n# A\n\nsame words\n"
    sections.refresh(store.db, "MEMORY.md", text)
    assert sorted(found(store, "same words")) == [("A", 1, 4), ("A", 5, 7)]
    assert sections.refresh(store.db, "MEMORY.md", text).written == 0
