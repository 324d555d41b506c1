"""A draft is applied whole or not at all, and knows what was there before."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from memhooks.hooks.install import precommit
from memhooks.hooks.install.draft import Draft
from memhooks.hooks.install.site import Site
from memhooks.memory.errors import Conflict


@pytest.fixture
def draft(tmp_path: Path) -> Draft:
    return Draft(str(tmp_path / "backups"))


def same(one: bytes, other: bytes) -> bool:
    return one.split() == other.split()


def test_file_that_changed_in_between_is_left_alone(draft: Draft, tmp_path: Path) -> None:
    """orca 11564: another program wrote between our read and our write."""
    path = tmp_path / "settings.json"
    path.write_text("old")
    draft.write(str(path), b"new")
    path.write_text("theirs")
    with pytest.raises(Conflict, match="changed in the meantime"):
        draft.apply()
    assert path.read_text() == "theirs"


def test_failure_takes_back_what_was_done(draft: Draft, tmp_path: Path) -> None:
    first, second = tmp_path / "a" / "b" / "first", tmp_path / "second"
    second.write_text("old")
    (tmp_path / "hook").write_text("hook")
    draft.write(str(first), b"new")
    draft.move(str(tmp_path / "hook"), str(tmp_path / "moved"))
    draft.write(str(second), b"new")
    second.write_text("theirs")
    with pytest.raises(Conflict):
        draft.apply()
    assert not (tmp_path / "a").exists() and (tmp_path / "hook").exists() and not (tmp_path / "moved").exists()


def test_write_that_fails_is_a_conflict(draft: Draft, tmp_path: Path) -> None:
    draft.write(str(tmp_path / "other"), b"x")
    draft.write("/proc/no/such", b"x")
    with pytest.raises(Conflict, match="nothing was changed"):
        draft.apply()
    assert not (tmp_path / "other").exists()


def test_give_back_restores_bytes_only_of_an_untouched_file(draft: Draft, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a  b")
    draft.write(str(path), b"a b ours")
    draft.apply()
    again = Draft(draft.receipts.folder)
    again.give_back(str(path), b"a b", same=same, empty=lambda data: not data)
    again.apply()
    assert path.read_bytes() == b"a  b"
    assert os.listdir(draft.receipts.folder) == []


def test_give_back_keeps_what_a_user_changed(draft: Draft, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a  b")
    draft.write(str(path), b"a b ours")
    draft.apply()
    path.write_bytes(b"a\tb ours")
    again = Draft(draft.receipts.folder)
    again.give_back(str(path), b"a\tb", same=same, empty=lambda data: not data)
    again.apply()
    assert path.read_bytes() == b"a\tb"


def test_receipt_survives_a_second_install(draft: Draft, tmp_path: Path) -> None:
    path = tmp_path / "f"
    for content in (b"ours 1", b"ours 2"):
        one = Draft(draft.receipts.folder)
        one.write(str(path), content)
        one.apply()
    last = Draft(draft.receipts.folder)
    last.give_back(str(path), b"", same=same, empty=lambda data: not data)
    last.apply()
    assert not path.exists()


def test_diff_shows_no_control_characters(draft: Draft, tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("\x1b[31mred\n")
    draft.write(str(path), b"\x1b[31mblue")
    assert "\x1b" not in draft.diff() and "-[31mred" in draft.diff() and "No newline" in draft.diff()


SITE = Site("", "", "", "/home/x", {"PATH": "/usr/bin"}, "/usr/local/bin/mem", True)
RELEASE = ("https://example.com/x/memhooks", "v1.2.3")


def planned(text: str, tmp_path: Path, verb: str) -> str:
    path = tmp_path / precommit.FILE
    path.write_text(text)
    draft = Draft(str(tmp_path / "backups"))
    getattr(precommit, verb)(SITE._replace(root=str(tmp_path)), draft)
    return (draft.read(str(path)) or b"").decode()


def test_release_is_named_by_address_and_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precommit, "release", lambda: RELEASE)
    text = planned("repos: []\n", tmp_path, "install")
    assert "- repo: https://example.com/x/memhooks\n    rev: v1.2.3\n    hooks:\n      - id: memory-guard\n" in text
    monkeypatch.setattr(precommit, "release", lambda: (RELEASE[0], "v2.0.0"))
    newer = planned(text, tmp_path, "install")
    assert "v2.0.0" in newer and "v1.2.3" not in newer
    monkeypatch.setattr(precommit, "release", lambda: None)
    assert planned(newer, tmp_path, "uninstall") == "repos: []\n"


COPY = "repos:\n- repo: ../copy   # mine\n  rev: abc\n  hooks:\n  - id: memory-guard   # first\n    args: [--all]\n"


def test_repository_that_the_user_names_is_completed(tmp_path: Path) -> None:
    """A clone or fork by another address is known by its hooks; its pin, arguments and comments are the user's."""
    text = planned(COPY, tmp_path, "install")
    assert text.endswith(COPY + "  - id: memory-share\n  - id: memory-index\n  - id: memory-mirror\n")
    assert planned(text, tmp_path, "install") == text
    flow = "repos: [{repo: ../copy, rev: a, hooks: [{id: memory-guard}]}]\n"
    assert planned(flow, tmp_path, "install").count("memory-guard") == 1


def test_uninstall_leaves_a_list_of_repositories(tmp_path: Path) -> None:
    """The framework refuses a configuration whose `repos` is nothing."""
    assert planned(COPY, tmp_path, "uninstall") == "repos: []\n"
    path = tmp_path / precommit.FILE
    path.write_text(COPY)
    draft = Draft(str(tmp_path / "backups"))
    draft.write(str(path), COPY.replace("abc", "def").encode())
    draft.apply()
    assert planned(COPY, tmp_path, "uninstall") == "repos: []\n"


def test_hook_of_ours_among_a_users_own_is_taken_out_alone(tmp_path: Path) -> None:
    text = (
        "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: y\n"
        "  - id: memory-guard\n    entry: mem hook guard\n  - id: z\n"
    )
    assert planned(text, tmp_path, "uninstall") == text.replace("  - id: memory-guard\n    entry: mem hook guard\n", "")


def test_backups_folder_may_be_gone(draft: Draft, tmp_path: Path) -> None:
    draft.write(str(tmp_path / "f"), b"x")
    draft.apply()
    shutil.rmtree(draft.receipts.folder)
    again = Draft(draft.receipts.folder)
    again.give_back(str(tmp_path / "f"), b"y", same=same, empty=lambda data: not data)
    again.apply()
    assert (tmp_path / "f").read_bytes() == b"y"
