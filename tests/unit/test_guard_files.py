"""Which paths the guard looks at."""

from __future__ import annotations

import pytest
from memhooks.hooks.memory_files import chooser, is_memory_file, is_store_file


@pytest.mark.parametrize("folder", ["", "packages/app/"], ids=["root", "nested"])
@pytest.mark.parametrize("path", [
    "MEMORY.md", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "memories.ndjson", ".mem/notes/a.md",
    ".claude/agents/deep/x.md", ".cursor/rules/style.mdc", ".cursorrules", ".windsurf/rules/a", ".clinerules",
    ".github/copilot-instructions.md", ".serena/memories/x.md", "memory-bank/progress.md", ".zephex/memory.md",
    ".beads/issues.jsonl", "claude.MD",
])  # fmt: skip
def test_memory_files_count_in_any_folder(folder: str, path: str) -> None:
    assert is_memory_file(folder + path)


@pytest.mark.parametrize("path", [
    "README.md", "docs/notes.md", ".claude/settings.json", ".cursor/mcp.json", "rules/.cursor", "cursor/rules/a",
    ".github/workflows/ci.yml", ".beads/deep/issues.jsonl", ".beads/a.db", "mem/notes.md", "MEMORY.md.txt",
    ".windsurf/a/rules/b", "copilot-instructions.md",
])  # fmt: skip
def test_memory_files_leave_others_alone(path: str) -> None:
    assert not is_memory_file(path)


@pytest.mark.parametrize(("path", "expected"), [
    ("mem.db", True), ("x/memories.db-wal", True), ("mem.db-shm", True), (".mem/other.db", True),
    (".mem/mem.db-journal", True), ("app.db", False), ("mem.dbx", False), ("mem.db.txt", False),
])  # fmt: skip
def test_store_files_are_known_by_name(path: str, expected: bool) -> None:
    assert is_store_file(path) is expected


@pytest.mark.parametrize(("glob", "path", "expected"), [
    ("NOTES.md", "deep/er/NOTES.md", True),
    ("NOTES.md", "NOTES.md.bak", False),
    ("docs/*.md", "docs/a.md", True),
    ("docs/*.md", "docs/deep/a.md", False),
    ("docs/*.md", "sub/docs/a.md", False),
    ("docs/**/*.md", "docs/a.md", True),
    ("docs/**/*.md", "docs/x/y/a.md", True),
    ("/TODO", "TODO", True),
    ("/TODO", "x/TODO", False),
    ("notes/", "notes/x/y", True),
    ("notes/", "sub/notes/y", True),
    ("a?.[md", "a1.[md", True),
])  # fmt: skip
def test_chooser_reads_globs_as_gitignore_does(glob: str, path: str, expected: bool) -> None:
    assert chooser([glob])(path) is expected


def test_chooser_keeps_the_built_in_list() -> None:
    assert chooser(["x"])("MEMORY.md")
    assert chooser([]) is is_memory_file
