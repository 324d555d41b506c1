"""Which project, store and workspace a folder belongs to, by git's own files and without a git process."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from memhooks.memory import project as under_test
from memhooks.memory.errors import StoreError, UsageError
from memhooks.memory.project import Project, busy, data_home, find_project, head, personal

NO_HOME = {"PATH": os.defpath}


@pytest.fixture
def git(clean_environ: dict[str, str]):  # type: ignore[no-untyped-def]
    """Return a function that runs git in a folder."""

    def run(folder: Path, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *words], cwd=folder, env=clean_environ, capture_output=True,
            text=True, check=check,
        )  # fmt: skip
        return done.stdout.strip()

    return run


def committed(git, folder: Path, *init: str) -> Path:  # type: ignore[no-untyped-def]
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", *init)
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "a.txt")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def store_of(folder: Path | str, **environ: str) -> str:
    return find_project(str(folder), environ={"HOME": "/nonexistent", **environ}).store_path


def test_project_plain_repository(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    (repo / "deep" / "er").mkdir(parents=True)
    found = find_project(str(repo / "deep" / "er"), environ=NO_HOME)
    assert found == Project(
        str(repo), str(repo / ".mem" / "mem.db"), "branch:main", str(repo / ".git"), str(repo / ".git")
    )
    assert (found.folder, found.name) == (str(repo / ".mem"), "repo")
    assert not (repo / ".mem").exists()


def test_project_starts_no_process(git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = committed(git, tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../linked")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    monkeypatch.setattr(os, "fork", refuse)
    assert store_of(tmp_path / "linked") == str(repo / ".mem" / "mem.db")


def test_project_linked_worktree_shares_the_store(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "-b", "topic", "../linked")
    found = find_project(str(tmp_path / "linked"), environ=NO_HOME)
    assert found.store_path == str(repo / ".mem" / "mem.db")
    assert found.root == str(tmp_path / "linked")
    assert found.workspace == "branch:topic"
    assert found.git_dir == str(repo / ".git" / "worktrees" / "linked")
    assert found.common_dir == str(repo / ".git")


def test_project_moved_worktree_keeps_the_store(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    git(repo, "worktree", "add", "-q", "../linked")
    git(repo, "worktree", "move", "../linked", "../else where")
    assert store_of(tmp_path / "else where") == str(repo / ".mem" / "mem.db")


def test_project_submodule_is_its_own(git, tmp_path: Path) -> None:
    part = committed(git, tmp_path / "part")
    repo = committed(git, tmp_path / "repo")
    git(repo, "submodule", "-q", "add", str(part), "lib/part")
    inner = repo / "lib" / "part"
    assert store_of(inner) == str(inner / ".mem" / "mem.db")
    assert store_of(repo / "lib") == str(repo / ".mem" / "mem.db")
    git(inner, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "inner-linked"))
    assert store_of(tmp_path / "inner-linked") == str(inner / ".mem" / "mem.db")
    # What a hook of the submodule may stand in.
    assert store_of(repo / ".git" / "modules" / "lib" / "part") == str(inner / ".mem" / "mem.db")


def test_project_submodule_of_a_worktree_is_its_own(git, tmp_path: Path) -> None:
    part = committed(git, tmp_path / "part")
    repo = committed(git, tmp_path / "repo")
    git(repo, "submodule", "-q", "add", str(part), "part")
    git(repo, "commit", "-q", "-m", "part")
    git(repo, "worktree", "add", "-q", "../linked")
    git(tmp_path / "linked", "submodule", "-q", "update", "--init")
    inner = tmp_path / "linked" / "part"
    assert store_of(inner) == str(inner / ".mem" / "mem.db")


@pytest.mark.parametrize("bare", ["true", "yes", "1", "True ; a comment"])
def test_project_bare_repository_with_worktrees(git, tmp_path: Path, bare: str) -> None:
    seed = committed(git, tmp_path / "seed")
    git(tmp_path, "clone", "-q", "--bare", str(seed), "shop/.bare")
    shop = tmp_path / "shop"
    (shop / ".git").write_text("gitdir: ./.bare\n")
    git(shop, "worktree", "add", "-q", "main")
    git(shop, "worktree", "add", "-q", "-b", "topic", "topic")
    config = shop / ".bare" / "config"
    config.write_text(config.read_text().replace("bare = true", f"bare = {bare}"))
    wanted = str(shop / ".bare" / "mem" / "mem.db")
    assert [store_of(place) for place in (shop / "main", shop / "topic", shop, shop / ".bare")] == [wanted] * 4
    assert find_project(str(shop / "topic"), environ=NO_HOME).root == str(shop / "topic")


def test_project_bare_in_config_worktree(git, tmp_path: Path) -> None:
    """`extensions.worktreeConfig` moves core.bare out of the file that all worktrees read."""
    seed = committed(git, tmp_path / "seed")
    git(tmp_path, "clone", "-q", "--bare", str(seed), "shop.git")
    bare = tmp_path / "shop.git"
    git(bare, "config", "extensions.worktreeConfig", "true")
    git(bare, "config", "--unset", "core.bare")
    git(bare, "config", "--worktree", "core.bare", "true")
    git(bare, "worktree", "add", "-q", "../main")
    assert "bare =" not in (bare / "config").read_text()
    assert store_of(tmp_path / "main") == store_of(bare) == str(bare / "mem" / "mem.db")


def test_project_separate_git_dir(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo", "--separate-git-dir", str(tmp_path / "apart"))
    assert store_of(repo) == str(repo / ".mem" / "mem.db")


def test_project_separate_git_dir_named_git(git, tmp_path: Path) -> None:
    (tmp_path / "apart").mkdir()
    repo = committed(git, tmp_path / "repo", "--separate-git-dir", str(tmp_path / "apart" / ".git"))
    assert store_of(repo) == str(repo / ".mem" / "mem.db")


def test_project_separate_git_dir_shares_with_its_worktree(git, tmp_path: Path, home: Path) -> None:
    """Git does not record where the main worktree lies; the registry does."""
    from memhooks.memory.api import Store
    from memhooks.memory.registry import register

    repo = committed(git, tmp_path / "repo", "--separate-git-dir", str(tmp_path / "apart"))
    git(repo, "worktree", "add", "-q", "../linked")
    environ = {"MEM_HOME": str(home / "mem")}
    assert store_of(tmp_path / "linked", **environ) == str(tmp_path / "apart" / "mem" / "mem.db")
    found = find_project(str(repo), environ=environ)
    Store.open(found.store_path).close()
    register(found, environ, 0.0)
    assert store_of(tmp_path / "linked", **environ) == found.store_path


def test_project_separate_git_dir_follows_its_worktree(git, tmp_path: Path) -> None:
    """Where the linked worktree made the store first, the main one uses that."""
    from memhooks.memory.api import Store

    repo = committed(git, tmp_path / "repo", "--separate-git-dir", str(tmp_path / "apart"))
    git(repo, "worktree", "add", "-q", "../linked")
    Store.open(store_of(tmp_path / "linked")).close()
    assert store_of(repo) == store_of(tmp_path / "linked")


def test_project_nested_repository_keeps_to_itself(git, tmp_path: Path) -> None:
    outer = committed(git, tmp_path / "outer")
    inner = committed(git, outer / "vendor" / "inner")
    (inner / "src").mkdir()
    assert store_of(inner / "src") == str(inner / ".mem" / "mem.db")


@pytest.mark.parametrize("place", ["hooks", "."])
def test_project_from_within_the_git_dir(git, tmp_path: Path, place: str) -> None:
    repo = committed(git, tmp_path / "repo")
    found = find_project(str(repo / ".git" / place), environ=NO_HOME)
    assert (found.root, found.store_path) == (str(repo), str(repo / ".mem" / "mem.db"))


@pytest.mark.parametrize("marker", ["package.json", "pyproject.toml", "go.mod", "Cargo.toml"])
def test_project_without_git_goes_by_marker(tmp_path: Path, marker: str) -> None:
    (tmp_path / "outer" / "app" / "src").mkdir(parents=True)
    (tmp_path / "outer" / "pyproject.toml").touch()
    (tmp_path / "outer" / "app" / marker).touch()
    found = find_project(str(tmp_path / "outer" / "app" / "src"), environ=NO_HOME)
    assert found == Project(
        str(tmp_path / "outer" / "app"), str(tmp_path / "outer" / "app" / ".mem" / "mem.db"), "default"
    )


def test_project_git_goes_before_a_nearer_marker(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    (repo / "app").mkdir()
    (repo / "app" / "package.json").touch()
    assert store_of(repo / "app") == str(repo / ".mem" / "mem.db")


def test_project_marker_that_is_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "go.mod").mkdir()
    assert find_project(str(tmp_path), environ={"MEM_HOME": "/m"}) == personal({"MEM_HOME": "/m"})


def test_project_nothing_around_is_personal(tmp_path: Path) -> None:
    found = find_project(str(tmp_path), environ={"MEM_HOME": "/m"})
    assert found == Project("", "/m/personal/memories.db", "default")
    assert found.name == "personal"


def test_project_stops_at_ceilings(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    (repo / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(repo)
    inside = {"MEM_HOME": "/m"}
    for ceiling in (repo, tmp_path / "link"):
        assert store_of(repo / "a" / "b", GIT_CEILING_DIRECTORIES=str(ceiling), **inside).startswith("/m/")
    # As in git, the folder at hand is looked at even where it is a ceiling, and a relative entry is none.
    assert store_of(repo, GIT_CEILING_DIRECTORIES=str(repo)) == str(repo / ".mem" / "mem.db")
    assert store_of(repo / "a", GIT_CEILING_DIRECTORIES="repo:.::") == str(repo / ".mem" / "mem.db")


def test_project_ignores_git_variables(git, tmp_path: Path) -> None:
    repo, other = committed(git, tmp_path / "repo"), committed(git, tmp_path / "other")
    wrong = {
        "GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_INDEX_FILE": str(other / ".git" / "index"),
    }  # fmt: skip
    assert find_project(str(repo), environ=wrong).store_path == str(repo / ".mem" / "mem.db")


def test_project_one_root_for_every_spelling(git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = committed(git, tmp_path / "repo")
    (tmp_path / "link").symlink_to(repo)
    (repo / "sub").mkdir()
    monkeypatch.chdir(repo / "sub")
    spellings = [".", "..", str(tmp_path / "link"), str(tmp_path / "link" / "sub"), f"{repo}//sub/../"]
    assert {store_of(one) for one in spellings} == {str(repo / ".mem" / "mem.db")}


def test_project_git_folder_that_is_a_link(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    (repo / ".git").rename(tmp_path / "store.git")
    (repo / ".git").symlink_to(tmp_path / "store.git")
    assert store_of(repo) == str(repo / ".mem" / "mem.db")


def test_project_flag_names_the_folder(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    environ = {"HOME": str(tmp_path)}
    for name in (str(repo), "repo", "~/repo"):
        assert find_project(str(tmp_path), environ=environ, project=name).root == str(repo)


@pytest.mark.parametrize("name", ["absent", "a.txt", "nul\0nul", "half \ud800", ""])
def test_project_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(UsageError):
        find_project(str(tmp_path / name) if name else "", environ={"HOME": "/"})
    if name:
        with pytest.raises(UsageError):
            find_project(str(tmp_path), environ={"HOME": "/"}, project=name)


def test_project_deleted_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="working directory is gone"):
        find_project(".", environ={"HOME": "/"})


@pytest.mark.parametrize(
    "given", ["C:\\work\\mem.db", "c:/work/mem.db", "\\\\server\\share\\mem.db", "nul\0nul"], ids=ascii
)
def test_project_refuses_a_path_of_another_system(tmp_path: Path, given: str) -> None:
    environ = {"HOME": "/nonexistent"}
    with pytest.raises(UsageError):
        find_project(str(tmp_path), environ=environ, db=given)
    with pytest.raises(UsageError):
        find_project(str(tmp_path), environ=environ, project=given)
    if "\0" not in given:
        with pytest.raises(UsageError):
            find_project(str(tmp_path), environ={"MEM_DB": given})
        with pytest.raises(UsageError):
            data_home({"MEM_HOME": given})


def test_project_db_pins_the_file(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    environ = {"HOME": str(tmp_path), "MEM_DB": "~/mine.db"}
    found = find_project(str(repo), environ=environ)
    assert (found.store_path, found.pinned, found.root) == (str(tmp_path / "mine.db"), True, str(repo))
    assert found.workspace == "branch:main"
    assert find_project(str(repo), environ=environ, db="x.db").store_path == str(repo / "x.db")


@pytest.mark.parametrize("what", ["folder", "file", "dangling", "to the root"])
def test_project_refuses_a_link_that_leads_out(git, tmp_path: Path, what: str) -> None:
    repo = committed(git, tmp_path / "repo")
    outside = tmp_path / "outside"
    outside.mkdir()
    if what == "file":
        (repo / ".mem").mkdir()
        (repo / ".mem" / "mem.db").symlink_to(outside / "mem.db")
    else:
        (repo / ".mem").symlink_to({"folder": outside, "dangling": tmp_path / "none", "to the root": repo}[what])
    with pytest.raises(StoreError, match="link out of the project") as caught:
        find_project(str(repo), environ=NO_HOME)
    assert caught.value.reason == "link_out"
    assert find_project(str(repo), environ=NO_HOME, db="x.db").pinned, "MEM_DB is the way out"


def test_project_link_within_is_fine(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    (repo / "cache").mkdir()
    (repo / ".mem").symlink_to("cache")
    assert store_of(repo) == str(repo / ".mem" / "mem.db")


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"MEM_HOME": "/m"}, "/m"),
        ({"MEM_HOME": "~/m", "HOME": "/h"}, "/h/m"),
        ({"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/memhooks"),
        ({"XDG_DATA_HOME": "relative", "HOME": "/h"}, "/h/.local/share/memhooks"),
        ({"HOME": "/h"}, "/h/.local/share/memhooks"),
        ({"HOME": "/"}, "/.local/share/memhooks"),
    ],
    ids=["given", "tilde", "xdg", "xdg relative", "home", "root"],
)
def test_data_home_is_found(environ: dict[str, str], wanted: str) -> None:
    assert data_home(environ) == wanted


def test_data_home_without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    import pwd

    monkeypatch.delenv("HOME")
    assert data_home({}) == os.path.join(pwd.getpwuid(os.getuid()).pw_dir, ".local", "share", "memhooks")
    monkeypatch.setattr(os, "getuid", lambda: 987_654)  # a container's user
    assert data_home({}) == "/.local/share/memhooks"


def test_head_loose_packed_detached_unborn(git, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    gitdir = str(repo / ".git")
    assert head(gitdir, gitdir) == ""
    committed(git, repo)
    commit = git(repo, "rev-parse", "HEAD")
    assert head(gitdir, gitdir) == commit
    git(repo, "pack-refs", "--all")
    assert not (repo / ".git" / "refs" / "heads" / "main").exists()
    assert head(gitdir, gitdir) == commit
    git(repo, "checkout", "-q", "--detach")
    assert head(gitdir, gitdir) == commit
    git(repo, "worktree", "add", "-q", "-b", "topic", "../linked")
    linked = find_project(str(tmp_path / "linked"), environ=NO_HOME)
    assert head(linked.git_dir, linked.common_dir) == commit


def test_workspace_branch_detached_rebase(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")

    def workspace() -> str:
        return find_project(str(repo), environ=NO_HOME).workspace

    git(repo, "checkout", "-q", "-b", "feat/é-1")
    assert workspace() == "branch:feat/é-1"
    (repo / "a.txt").write_text("topic\n")
    git(repo, "commit", "-qam", "topic")
    git(repo, "checkout", "-q", "main")
    (repo / "a.txt").write_text("main\n")
    git(repo, "commit", "-qam", "main")
    git(repo, "checkout", "-q", "feat/é-1")
    git(repo, "rebase", "main", check=False)
    assert (workspace(), busy(str(repo / ".git"))) == ("branch:feat/é-1", "rebase")
    git(repo, "rebase", "--abort")
    git(repo, "rebase", "--apply", "main", check=False)
    assert (workspace(), busy(str(repo / ".git"))) == ("branch:feat/é-1", "rebase")
    git(repo, "rebase", "--abort")
    git(repo, "merge", "main", check=False)
    assert busy(str(repo / ".git")) == "merge"
    git(repo, "merge", "--abort")
    git(repo, "checkout", "-q", "--detach")
    assert workspace() == "commit:" + git(repo, "rev-parse", "HEAD")
    assert busy(str(repo / ".git")) == ""


def test_workspace_branch_of_other_bytes_is_text(git, tmp_path: Path) -> None:
    repo = committed(git, tmp_path / "repo")
    (repo / ".git" / "HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")
    workspace = find_project(str(repo), environ=NO_HOME).workspace
    assert workspace == "branch:caf\\xe9"
    assert workspace.encode()


def test_workspace_of_reftable_is_default(tmp_path: Path) -> None:
    """A repository that keeps its refs in another way writes a HEAD that names no branch."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    found = find_project(str(tmp_path), environ=NO_HOME)
    assert (found.workspace, head(found.git_dir, found.common_dir)) == ("default", "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[core]\n\tbare = true\n", {"bare": "true"}),
        ("[CORE]\n BARE=Yes # why\n", {"bare": "Yes"}),
        ("[core] bare\n", {"bare": "true"}),
        ('[core]\n\tworktree = "../a # b" ; why\n', {"worktree": "../a # b"}),
        ('[core "x"]\n\tbare = true\n[other]\nbare = true\n; bare = true\n', {}),
        ("\x00\x01 no config", {}),
    ],
    ids=["plain", "case and comment", "one line", "quoted", "other sections", "rubbish"],
)
def test_core_settings_are_read(tmp_path: Path, text: str, wanted: dict[str, str]) -> None:
    (tmp_path / "config").write_text(text)
    assert under_test._core_settings(str(tmp_path)) == wanted
