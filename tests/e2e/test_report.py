"""The report: one page that loads nothing, runs nothing, and says what the store holds."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

Repo = Any
VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """Checks that tags nest, and collects them with the text that a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.words += data


@pytest.fixture
def filled(repo: Repo) -> Repo:
    repo.write("src/auth.py", "a = 1\n")
    repo.commit()
    repo.mem("remember", "tokens rotate daily, see src/auth.py", "--file", "src/auth.py", "--tag", "auth")
    hostile = '<script>alert("x")</script> & <b>bold</b>'
    repo.mem("remember", hostile, "--title", "</title><img src=x>", "--kind", "gotcha")
    old = json.loads(repo.mem("remember", "the old wording", "--json").stdout)["id"]
    repo.mem("correct", old, "the new wording")
    repo.mem("state", "set", "--goal", "ship it")
    repo.mem("recall", "tokens")
    repo.write("src/auth.py", "a = 2\n")
    repo.commit()
    repo.mem("index")
    return repo


def test_report_is_one_page_that_loads_and_runs_nothing(filled: Repo) -> None:
    path = Path(json.loads(filled.mem("report", "--json").stdout)["path"])
    html = path.read_text()
    page = Page(html)
    assert not {"script", "img", "link", "iframe", "object"} & set(page.tags)
    assert not [value for name, value in page.attributes if name in ("src", "srcset", "action", "style")]
    assert all(value.startswith("#") for name, value in page.attributes if name == "href")
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "default-src 'none'" in html
    assert not re.search(r"https?://", html)
    assert path == filled.path / ".mem" / "report.html" and path.stat().st_mode & 0o777 == 0o600
    assert filled.git("status", "--porcelain").stdout == ""


def test_report_tells_memories_use_staleness_and_work(filled: Repo) -> None:
    words = Page(filled.mem("report", "--stdout").stdout).words
    assert '<script>alert("x")</script> & <b>bold</b>' in words and "</title><img src=x>" in words
    assert "the new wording" in words and "the old wording" in words
    assert "src/auth.py changed since" in words
    assert "ship it" in words
    told = " ".join(words.split())
    assert "3 memories" in told and "1 replaced by better ones" in told and "3 / 3 found by meaning" in told
    assert "2 never recalled" in told


def test_report_of_the_same_state_is_the_same(filled: Repo) -> None:
    filled.mem("report")
    assert not json.loads(filled.mem("report", "--json").stdout)["changed"]


def test_report_follows_by_the_watcher_only_where_one_was_made(filled: Repo) -> None:
    filled.mem("watch", "--once")
    assert not (filled.path / ".mem" / "report.html").exists()
    filled.mem("report")
    filled.mem("remember", "a fact of later")
    filled.mem("watch", "--once")
    assert "a fact of later" in (filled.path / ".mem" / "report.html").read_text()


def test_report_elsewhere_and_of_a_pinned_database(filled: Repo, tmp_path: Path) -> None:
    filled.mem("report", "--output", str(tmp_path / "out.html"))
    assert (tmp_path / "out.html").exists() and not (filled.path / ".mem" / "report.html").exists()
    pinned = ("--db", str(tmp_path / "x.db"))
    filled.mem(*pinned, "remember", "a fact")
    assert filled.mem(*pinned, "report", check=False).returncode == 2
    assert "a fact" in filled.mem(*pinned, "report", "--stdout").stdout


def test_report_without_a_store_says_so(repo: Repo) -> None:
    done = repo.mem("report", "--json", check=False)
    assert done.returncode == 1 and done.stdout == ""
    assert json.loads(done.stderr)["error"]["reason"] == "no_store"
    assert not (repo.path / ".mem").exists()
