"""Hook files and folders as tests of installing make and compare them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from conftest import Repo

TOKEN = "the key is " + "AKIA" + "Q3EGU5JXKJZQ7WZR"


def hooks(repo: Repo) -> Path:
    return repo.path / ".git" / "hooks"


def script(path: Path, text: str, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def tree(folder: Path) -> dict[str, tuple[bytes, int, str]]:
    """Return every file and link of a folder: bytes, mode, and where a link leads."""
    return {
        str(path.relative_to(folder)): (
            b"" if path.is_symlink() else path.read_bytes(),
            stat.S_IMODE(path.lstat().st_mode),
            os.readlink(path) if path.is_symlink() else "",
        )
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


def refuses_token(repo: Repo, cwd: Path | None = None) -> bool:
    folder = cwd or repo.path
    (folder / "MEMORY.md").write_text(TOKEN)
    repo.git("add", "MEMORY.md", cwd=folder)
    done = repo.git("commit", "-q", "-m", "x", check=False, cwd=folder)
    repo.git("rm", "-q", "-f", "MEMORY.md", cwd=folder)
    return done.returncode == 1 and "MEMORY.md:1" in done.stderr
