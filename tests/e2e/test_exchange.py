"""`mem export` and `mem import` as commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

Repo = Any
RECORD = '{"id":"01990000-0000-7000-8000-000000000001","content":"an imported fact"}'


def test_export_then_import_is_the_same_store(repo: Repo, tmp_path: Path) -> None:
    old = json.loads(repo.mem("remember", "old", "--kind", "decision", "--tag", "x", "--pin", "--json").stdout)["id"]
    repo.mem("correct", old, "new")
    told = repo.mem("export", "--include-superseded").stdout
    assert told.count("\n") == 2 and repo.mem("export").stdout.count("\n") == 1
    assert repo.mem("export", "--include-superseded", "--json").stdout == told
    file = tmp_path / "memories.ndjson"
    file.write_text(told)
    other = ("--project", str(tmp_path / "other"))
    (tmp_path / "other").mkdir()
    repo.git("init", "-q", str(tmp_path / "other"))
    result = json.loads(repo.mem(*other, "import", str(file), "--json").stdout)
    assert (result["added"], result["updated"], result["unchanged"]) == (2, 0, 0)
    assert repo.mem(*other, "export", "--include-superseded").stdout == told
    assert json.loads(repo.mem(*other, "import", str(file), "--json").stdout)["unchanged"] == 2


def test_export_without_a_store_prints_nothing(repo: Repo) -> None:
    assert repo.mem("export").stdout == ""
    assert not (repo.path / ".mem").exists()


def test_export_to_a_file_is_private(repo: Repo) -> None:
    repo.mem("remember", "a fact")
    repo.mem("export", "--output", "out.ndjson")
    assert (repo.path / "out.ndjson").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (RECORD + "\n{broken\n", "broken_line"),
        (RECORD + "\n<<<<<<< HEAD\n", "broken_line"),
        (b"\xff\xfe\x00", "broken_line"),
        (RECORD + "\n" + RECORD.replace('1"', '2"').replace("an imported", "ghp_" + "a1B2" * 9), "secret_detected"),
        (RECORD.replace("an imported fact", "x" * 600), "too_long"),
    ],
    ids=["json", "marker", "utf-8", "secret", "long"],
)  # fmt: skip
def test_import_is_all_or_nothing_and_makes_no_store_for_it(repo: Repo, data: str | bytes, reason: str) -> None:
    done = repo.mem("import", "-", "--json", stdin=data, check=False)
    error = json.loads(done.stderr)["error"]
    assert (done.returncode, done.stdout, error["reason"]) == (1, "", reason)
    assert "line " in error["message"] and "Traceback" not in done.stderr
    assert repo.mem("export").stdout == ""


def test_import_of_a_file_that_is_not_there(repo: Repo) -> None:
    assert repo.mem("import", "nowhere.ndjson", check=False).returncode == 2
    assert not (repo.path / ".mem").exists()


def test_import_of_a_folder_says_so_in_words(repo: Repo) -> None:
    done = repo.mem("import", ".", check=False)
    assert (done.returncode, done.stderr) == (2, "mem: . can't be read: Is a directory\n")


def test_import_says_what_it_passed_over(repo: Repo) -> None:
    done = repo.mem("import", "-", stdin=RECORD.replace("}", ',"status":"archived"}') + "\n")
    assert "line 1: passed over, a status that this program does not know" in done.stdout


def test_import_lets_pass_what_the_project_allows(repo: Repo) -> None:
    key = "ghp_" + "a1B2" * 9
    data = RECORD.replace("an imported fact", f"the sample key is {key}")
    assert repo.mem("import", "-", stdin=data, check=False).returncode == 1
    repo.write("MEMORY.md", f"the sample key is {key}\n")
    repo.git("add", "-A")
    said = json.loads(repo.mem("guard", "--json", check=False).stdout or "{}")
    finding = said["findings"][0]
    repo.mem("guard", "allow", finding["rule"], finding["fingerprint"], "--why", "a sample")
    repo.mem("import", "-", stdin=data)
