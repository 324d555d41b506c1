"""Settings: precedence, types, what a broken file says, and the parsed copy."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from memhooks.memory import config
from memhooks.memory.errors import MemError, UsageError
from memhooks.memory.project import Project, personal


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"MEM_HOME": str(home / "mem")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "repo" / ".mem").mkdir(parents=True)
    return Project(str(tmp_path / "repo"), str(tmp_path / "repo" / ".mem" / "mem.db"), "default")


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_text(text)


def test_config_defaults_touch_nothing(project: Project, environ: dict[str, str]) -> None:
    loaded = config.load(project, environ)
    assert loaded == {name: setting.default for name, setting in config.SETTINGS.items()}
    assert config.limits(loaded) == (80, 500, 10, 200)
    assert not os.path.exists(environ["MEM_HOME"])


def test_config_later_wins(project: Project, environ: dict[str, str]) -> None:
    def tokens() -> int:
        return int(config.load(project, environ)["digest.tokens"])

    write(config.project_file(project), "[digest]\ntokens = 100\n")
    assert tokens() == 100
    write(config.user_file(environ), "[digest]\ntokens = 200\n")
    assert tokens() == 200
    environ["MEM_DIGEST_TOKENS"] = "300"
    assert tokens() == 300
    environ["MEM_DIGEST_TOKENS"] = ""
    assert tokens() == 200


def test_config_of_a_pinned_store_is_the_users(project: Project, environ: dict[str, str]) -> None:
    write(config.project_file(project), "[digest]\ntokens = 100\n")
    for other in (project._replace(pinned=True), personal(environ)):
        assert config.load(other, environ)["digest.tokens"] == 400


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("digest.tokens", "250", 250),
        ("digest.personal", "true", True),
        ("digest.personal", "No", False),
        ("guard.files", "a.md, b/*.md", ["a.md", "b/*.md"]),
        ("guard.files", '["a,b.md"]', ["a,b.md"]),
        ("mirror.path", "docs/memory.md", "docs/memory.md"),
    ],
)
def test_config_values_typed_as_text(
    project: Project, environ: dict[str, str], name: str, text: str, wanted: object
) -> None:
    environ["MEM_" + name.replace(".", "_").upper()] = text
    assert config.load(project, environ)[name] == wanted
    assert type(config.load(project, environ)[name]) is type(wanted)


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("MEM_DIGEST_TOKENS", "many"),
        ("MEM_DIGEST_TOKENS", "0"),
        ("MEM_DIGEST_TOKENS", "-5"),
        ("MEM_DIGEST_TOKENS", "9" * 5000),
        ("MEM_DIGEST_TOKENS", "²"),
        ("MEM_DIGEST_PERSONAL", "maybe"),
        ("MEM_GUARD_FILES", "[1]"),
        ("MEM_GUARD_FILES", "[" * 100_000),
        ("MEM_GUARD_ALLOW_FROM", "elsewhere"),
        ("MEM_MIRROR_PATH", "caf\udce9"),
        ("MEM_MIRROR_PATH", "a\x1b[2J"),
    ],
    ids=lambda value: ascii(value[:20]),
)
def test_config_bad_variable_is_named(project: Project, environ: dict[str, str], variable: str, text: str) -> None:
    environ[variable] = text
    with pytest.raises(MemError, match=variable) as caught:
        config.load(project, environ)
    assert (caught.value.reason, caught.value.exit_code) == ("config", 1)


@pytest.mark.parametrize(
    "text",
    [
        "[digest]\ntokens = ",
        "[digest]\ntokens = '400'\n",
        "[digest]\ntokens = true\n",
        "[digest]\ntokens = 4.0\n",
        "[digest]\ntokens = -1\n",
        "[mirror]\npath = 2026-01-01\n",
        "[guard]\nfiles = 'a.md'\n",
        "\x00",
    ],
)
def test_config_broken_file_is_named_each_time(project: Project, environ: dict[str, str], text: str) -> None:
    path = config.project_file(project)
    write(path, text)
    for _ in range(2):  # the second time from the parsed copy, where there is one
        with pytest.raises(MemError, match=r"config\.toml") as caught:
            config.load(project, environ)
        assert (caught.value.reason, caught.value.exit_code) == ("config", 1)
        assert path in caught.value.message


def test_config_file_that_is_no_file_is_named(project: Project, environ: dict[str, str]) -> None:
    os.mkdir(config.project_file(project))
    with pytest.raises(MemError, match=r"config\.toml: Is a directory"):
        config.load(project, environ)


def test_config_of_a_newer_program_is_passed_over(project: Project, environ: dict[str, str]) -> None:
    write(config.project_file(project), "top = 1\n[later]\nthing = 2\n[digest]\ntokens = 9\nshape = 'x'\n")
    loaded = config.load(project, environ)
    assert loaded["digest.tokens"] == 9
    assert set(loaded) == set(config.SETTINGS)


def test_config_parsed_copy_serves_and_is_refreshed(
    project: Project, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = config.project_file(project)
    write(path, "[digest]\ntokens = 111\n")
    assert config.load(project, environ)["digest.tokens"] == 111
    reads = []
    real = config.read_file
    monkeypatch.setattr(config, "read_file", lambda path: reads.append(path) or real(path))
    assert config.load(project, environ)["digest.tokens"] == 111
    assert reads == [], "no TOML parser for a file that is as it was"
    write(path, "[digest]\ntokens = 1111\n")
    assert config.load(project, environ)["digest.tokens"] == 1111
    os.utime(path, ns=(1, 1))
    assert config.load(project, environ)["digest.tokens"] == 1111
    assert reads == [path, path]


def test_config_parsed_copy_is_private_and_can_be_rubbish(project: Project, environ: dict[str, str]) -> None:
    write(config.project_file(project), "[digest]\ntokens = 111\n")
    config.load(project, environ)
    (copy,) = Path(environ["MEM_HOME"], "cache").iterdir()
    assert (copy.stat().st_mode & 0o777, copy.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    for rubbish in (b"", b"{", b"[1]", b'{"stamp": 1, "values": 2}', b"\xff"):
        copy.write_bytes(rubbish)
        assert config.load(project, environ)["digest.tokens"] == 111


def test_config_works_where_no_copy_can_be_kept(project: Project, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    write(config.project_file(project), "[digest]\ntokens = 111\n")
    assert config.load(project, {"MEM_HOME": str(tmp_path / "file")})["digest.tokens"] == 111


def test_config_check_raises_as_it_is_told() -> None:
    with pytest.raises(UsageError, match=r"the value: digest.tokens must be a whole number above 0"):
        config.check("digest.tokens", "x", "the value", error=UsageError)
