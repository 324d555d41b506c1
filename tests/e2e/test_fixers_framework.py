"""Mirror and share as hooks of the real pre-commit framework, whose stages are told by variables alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

Repo = Any
pytestmark = needs("pre-commit")
HEAD = """\
default_install_hook_types: [pre-commit, post-merge, post-checkout, post-rewrite]
repos:
  - repo: local
    hooks:
"""
ENTRY = """\
      - id: {name}
        name: {name}
        entry: mem hook {name}
        language: system
        always_run: true
        pass_filenames: false
        require_serial: true
        stages: [pre-commit, post-merge, post-checkout, post-rewrite]
"""


@pytest.fixture
def framed(repo: Repo) -> Repo:
    made = repo._replace(environ=repo.environ | {"MEM_MIRROR_PATH": "docs/memory.md"})
    made.write(".pre-commit-config.yaml", HEAD + ENTRY.format(name="share") + ENTRY.format(name="mirror"))
    made.write("docs/note.txt", "x\n")
    made.commit()
    made.run("pre-commit", "install")
    return made


def test_fixers_stop_the_commit_once_and_let_the_next_pass(framed: Repo) -> None:
    framed.mem("remember", "a shared fact", "--shared")
    framed.git("add", "docs")
    framed.commit(check=False)
    framed.write("docs/memory.md", "out of date\n")
    stopped = framed.commit(check=False)
    assert stopped.returncode == 1
    assert "the commit was not made" in stopped.stderr + stopped.stdout
    framed.git("add", "-A")
    framed.git("commit", "-q", "-m", "second try")
    assert "a shared fact" in framed.git("show", "HEAD:memories.ndjson").stdout
    assert "a shared fact" in framed.git("show", "HEAD:docs/memory.md").stdout


def test_fixers_read_after_a_checkout_and_never_fail_it(framed: Repo) -> None:
    framed.git("checkout", "-q", "-b", "side")
    line = {"id": "01990000-0000-7000-8000-000000000001", "content": "on the side branch", "actor": "ann"}
    framed.write("memories.ndjson", json.dumps(line) + "\n")
    framed.write(".gitattributes", "memories.ndjson merge=union\n")
    framed.git("add", "-A")
    framed.git("commit", "-q", "--no-verify", "-m", "from a teammate")
    framed.git("checkout", "-q", "main")
    framed.git("checkout", "-q", "side")
    told = json.loads(framed.mem("list", "--json").stdout)["memories"]
    assert [one["content"] for one in told] == ["on the side branch"]
    assert "on the side branch" in (Path(framed.path) / "docs" / "memory.md").read_text()
