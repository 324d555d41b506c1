"""From bytes to problems, and from problems to a verdict and its words; with a scanner of one word."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memhooks.hooks import allowances
from memhooks.hooks.allowances import added, check, fingerprint, parse
from memhooks.hooks.blobtext import Place
from memhooks.hooks.judge import Candidate, Problem, judge
from memhooks.hooks.sarif import sarif
from memhooks.hooks.verdict import Verdict, nothing_seen
from memhooks.hooks.verdicttext import lines, reason, shown, verdict_json
from memhooks.memory.errors import UsageError
from memhooks.memory.record import Finding

NEEDLE = re.compile("needle-[0-9]+")


def scan(text: str) -> list[Finding]:
    return [Finding("needle", *match.span(), "secret") for match in NEEDLE.finditer(text)]


def rules(path: str, data: bytes, *, mirror: bool = False) -> list[str]:
    return [problem.rule for problem in judge(Candidate(path, data, "", mirror), scan)]


def test_judge_names_line_and_column() -> None:
    (problem,) = judge(Candidate("MEMORY.md", b"a\r\nb needle-1\r\n"), scan)
    assert (problem.where, problem.value) == (Place(2, 3), "needle-1")


def test_judge_goes_by_sure_rules_in_the_raw_pages_of_a_database() -> None:
    """Cells that run together there look like random tokens beside words of access."""

    def loose(text: str) -> list[Finding]:
        spans = [match.span() for match in NEEDLE.finditer(text)]
        return [Finding(rule, *span, "secret") for span in spans for rule in ("generic-token", "github-token")]

    pages = b"\x37\x7f\x06\x82" + b"key needle-1 token"
    assert [problem.rule for problem in judge(Candidate("memory-bank/x.db-wal", pages), loose)] == ["github-token"]
    assert len(judge(Candidate("MEMORY.md", pages[4:]), loose)) == 2


def test_judge_says_each_value_once_a_line() -> None:
    data = "\ufeffneedle-1 needle-1\nneedle-1\n".encode("utf-16")
    assert len(judge(Candidate("MEMORY.md", data), scan)) == 2


def test_judge_reads_a_staged_store_and_refuses_it_as_such(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    db.execute("CREATE TABLE notes(body)")
    db.execute("INSERT INTO notes VALUES('needle-7')")
    db.close()
    store, secret = judge(Candidate("x/mem.db", (tmp_path / "m.db").read_bytes()), scan)
    assert store.rule == "staged-store"
    assert (secret.value, secret.where) == ("needle-7", Place(0, 0, "table notes, row 1, body"))


def test_judge_finds_what_only_the_free_pages_hold(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
    db.execute("PRAGMA secure_delete = OFF")
    db.execute("CREATE TABLE notes(body)")
    db.execute("INSERT INTO notes VALUES('needle-7')")
    db.execute("DELETE FROM notes")
    db.close()
    assert rules("memory-bank/m.db", (tmp_path / "m.db").read_bytes()) == ["needle"]


def test_judge_of_a_broken_database_refuses() -> None:
    assert rules("memory-bank/m.db", b"SQLite format 3\0 needle-3 and no more") == ["unreadable", "needle"]


@pytest.mark.parametrize("name", ["mem.db-wal", ".mem/mem.db-shm"])
def test_judge_scans_a_sidecar_raw(name: str) -> None:
    assert rules(name, b"\x37\x7f\x06\x82\0\0needle-5\0") == ["staged-store", "needle"]


MARKERS = b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n"


@pytest.mark.parametrize(("path", "mirror", "expected"), [
    ("docs/mirror.md", True, ["conflict-marker"]),
    ("memories.ndjson", False, ["conflict-marker"]),
    ("AGENTS.md", False, []),
], ids=["mirror", "share-file", "prose-about-patches"])  # fmt: skip
def test_judge_refuses_conflict_markers_in_generated_files(path: str, mirror: bool, expected: list[str]) -> None:
    assert rules(path, MARKERS, mirror=mirror) == expected


def test_judge_takes_a_markers_line_not_its_mention() -> None:
    assert rules("memories.ndjson", b'{"content": "resolve the <<<<<<< HEAD lines"}\n') == []


def test_fingerprint_is_of_rule_and_value() -> None:
    import hashlib

    assert fingerprint("needle", "needle-1") == hashlib.sha256(b"needle\0needle-1").hexdigest()[:16]
    assert fingerprint("x", "\ud800")  # a lone surrogate is a value too


def test_allowances_are_sorted_and_keep_foreign_lines() -> None:
    first, second = check("b", "0" * 16, "why"), check("a", "1" * 16, "")
    text = added(added(b"# of the team\n", first), second)
    assert text == f"# of the team\na {'1' * 16}\nb {'0' * 16}  # why\n".encode()
    assert added(text, first) == text
    assert parse(text) == {("a", "1" * 16): "", ("b", "0" * 16): "why"}


def test_allowances_keep_line_ends_and_replace_a_reason() -> None:
    text = added(f"a {'1' * 16}  # old\r\n".encode(), check("a", "1" * 16, "new"))
    assert text == f"a {'1' * 16}  # new\r\n".encode()


@pytest.mark.parametrize("line", ["a 123", "a", "a ZZZZ111122223333", f"a {'1' * 16} more", "<<<<<<< HEAD", ""])
def test_allowances_in_no_form_allow_nothing(line: str) -> None:
    assert parse(line.encode()) == {}


@pytest.mark.parametrize(("rule", "print16", "why"), [
    ("", "1" * 16, ""), ("a b", "1" * 16, ""), ("a", "1" * 15, ""), ("a", "G" * 16, ""), ("a", "1" * 16, "x\x1b[2J"),
])  # fmt: skip
def test_allowances_refuse_other_words(rule: str, print16: str, why: str) -> None:
    with pytest.raises(UsageError):
        check(rule, print16, why)


def test_allowance_reason_is_one_line() -> None:
    assert check("a", "1" * 16, "two\nlines").why == "two lines"


SECRET = "ghp_abcdefghijklmnopqrstuvwxyz"
PROBLEM = Problem("a\nb\x1b[2J.md", Place(3, 4), "needle", "secret", SECRET)


def test_words_show_four_characters_at_most() -> None:
    verdict = Verdict((PROBLEM,), (allowances.Allowed(PROBLEM, "why", True),), 1, 10, 1)
    for text in ("\n".join(lines(verdict)), json.dumps(verdict_json(verdict)), json.dumps(sarif(verdict))):
        assert SECRET[:4] in text
        assert SECRET[:5] not in text


def test_words_never_drive_the_terminal() -> None:
    assert shown("a\nb\x1b[2J é") == "a\\nb\\x1b[2J é"
    assert "\x1b" not in "\n".join(lines(Verdict((PROBLEM,), (), 1, 10, 1)))


def test_words_say_each_message_once() -> None:
    many = tuple(PROBLEM._replace(path=f"{n}/MEMORY.md", value=f"{SECRET}{n}") for n in range(200))
    said = lines(Verdict(many, (), 200, 10, 200))
    assert len(said) == len(set(said)) < 60
    assert sum("mem guard allow" in line for line in said) == 1


@pytest.mark.parametrize(("categories", "expected"), [
    (("instruction", "secret"), "secret_detected"), (("conflict", "instruction"), "instruction_detected"),
    (("store",), "store_staged"), (("unreadable",), "unreadable"),
])  # fmt: skip
def test_reason_is_that_of_the_gravest(categories: tuple[str, ...], expected: str) -> None:
    assert reason(Verdict(tuple(PROBLEM._replace(category=category) for category in categories))) == expected


@pytest.mark.parametrize(("verdict", "expected"), [
    (Verdict((), (), 0, 0, 1), ["nothing was judged: no memory file among 1 file"]),
    (Verdict((), (), 2, 0, 9), ["nothing was judged: 2 memory files, all empty"]),
    (Verdict((), (), 2, 7, 9), []),
], ids=["no-file", "no-byte", "judged"])  # fmt: skip
def test_a_verdict_on_nothing_says_so(verdict: Verdict, expected: list[str]) -> None:
    assert nothing_seen(verdict) == expected


def test_sarif_has_rule_place_and_fingerprint() -> None:
    run = sarif(Verdict((PROBLEM,), (allowances.Allowed(PROBLEM, "seen", False),), 1, 1, 1))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["needle"]
    first, second = run["results"]
    location = first["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "a%0Ab%1B%5B2J.md"
    assert location["region"] == {"startLine": 3, "startColumn": 4}
    assert second["suppressions"] == [{"kind": "external", "justification": "seen"}]


@given(
    st.sampled_from(["MEMORY.md", "memories.ndjson", "memory-bank/a.json", "mem.db", ".mem/mem.db-wal"]),
    st.one_of(
        st.binary(max_size=300),
        st.text(max_size=200).map(lambda text: text.encode("utf-16", "surrogatepass")),
        st.binary(max_size=300).map(lambda data: b"SQLite format 3\0" + data),
        st.text('\\\\u0dD89"{}\\n', max_size=60).map(str.encode),
    ),
)
def test_judge_takes_any_bytes(path: str, data: bytes) -> None:
    for problem in judge(Candidate(path, data), scan):
        assert problem.where.line >= 0


@given(st.binary(max_size=120), st.binary(max_size=120), st.sampled_from(["utf-8", "utf-16", "utf-16-be", "utf-32"]))
def test_judge_finds_the_needle_in_any_surroundings(before: bytes, after: bytes, encoding: str) -> None:
    data = f" {before.decode('latin-1')}\nneedle-1\n{after.decode('latin-1')}".encode(encoding)
    assert "needle" in rules("MEMORY.md", data)
