"""Used while building only: puts the commit's id into the wheel and the source distribution, as `commit.txt`."""

from __future__ import annotations

import os
import subprocess

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist


def _commit() -> str:
    """Return HEAD of the tree at hand; an unpacked source distribution brings its stamp with it."""
    if os.path.exists("hooks/commit.txt"):
        with open("hooks/commit.txt", encoding="ascii") as file:
            return file.read().strip()
    if not os.path.exists(".git"):  # a tree inside someone else's repository is not that repository
        return ""
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return asked.stdout.strip()


def _write(folder: str) -> None:
    commit = _commit()
    if commit:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "commit.txt"), "w", encoding="ascii") as file:
            file.write(commit + "\n")


class StampedBuild(build_py):  # type: ignore[misc]  # setuptools is there at a build alone
    """build_py that leaves the commit beside the modules; an editable install asks the checkout instead."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            _write(os.path.join(self.build_lib, "memhooks", "hooks"))


class StampedSource(sdist):  # type: ignore[misc]  # as above
    """sdist that carries the commit to the wheels built from it."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        _write(os.path.join(base_dir, "hooks"))
