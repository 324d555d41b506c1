"""Random storms of file and git operations, and the question whether what is derived equals a fresh run.

Used by the property test and by tests/bench/watch.py. Operations are chosen by a seeded generator, so that a failure
can be played again.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from memhooks.memory.api import Store
from memhooks.memory.errors import MemError, StoreError

_WORDS = ["auth", "cache", "deploy", "index", "login", "mirror", "notebook", "queue", "schema", "token", "worker"]


class Storm:
    """Applies random operations to the repository at `root`; `done` counts them by name."""

    def __init__(self, root: Path, environ: Mapping[str, str], seed: int) -> None:
        self.root = root
        self.environ = dict(environ)
        self.chance = random.Random(seed)
        self.number = 0
        self.done: dict[str, int] = {}

    def step(self) -> str:
        """Apply one operation and return its name. Git's refusals (nothing to commit, a conflict) are part of life."""
        kinds: list[tuple[Callable[[], object], int]] = [
            (self.remember, 12), (self.forget, 4), (self.pin, 3), (self.notebook_in_place, 6),
            (self.notebook_by_rename, 6), (self.notebook_gone, 1), (self.share_line, 8), (self.share_by_rename, 4),
            (self.edit_mirror, 3), (self.drop_mirror, 2), (self.litter, 8), (self.commit, 6), (self.checkout, 5),
            (self.stash, 3), (self.reset, 3), (self.cursor, 3), (self.bulk, 1), (self.rebase, 2), (self.merge, 2),
            (self.link, 1), (self.replace_store, 1),
        ]  # fmt: skip
        self.number += 1
        act = self.chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        act()
        name = getattr(act, "__name__", "?")
        self.done[name] = self.done.get(name, 0) + 1
        return name

    def text(self) -> str:
        return f"{' '.join(self.chance.choices(_WORDS, k=4))} {self.number}"

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.root, env=self.environ, capture_output=True, stdin=subprocess.DEVNULL)

    def _store(self, act: Callable[[Store], object]) -> None:
        try:
            with Store.open(str(self.root / ".mem" / "mem.db"), timeout=20) as store:
                act(store)
        except MemError:
            return

    def remember(self) -> None:
        self._store(lambda store: store.remember(content=self.text(), shared=self.chance.random() < 0.3))

    def forget(self) -> None:
        def act(store: Store) -> None:
            known = store.list()
            if known:
                store.forget(self.chance.choice(known).id)

        self._store(act)

    def pin(self) -> None:
        self._store(lambda store: store.db.execute("UPDATE memories SET pinned = NOT pinned WHERE rowid % 3 = 0"))

    def cursor(self) -> None:
        self._store(lambda store: store.set_cursor("branch:main", goal=self.text()))

    def replace_store(self) -> None:
        for path in (self.root / ".mem").glob("mem.db*"):
            path.unlink(missing_ok=True)
        self.remember()

    def _sections(self) -> str:
        return "".join(f"# {word} {self.number}\n\n{self.text()}\n\n" for word in self.chance.sample(_WORDS, 3))

    def notebook_in_place(self) -> None:
        self._plain(self.root / "MEMORY.md", self._sections())

    def notebook_by_rename(self) -> None:
        self._renamed(self.root / "MEMORY.md", self._sections())

    def notebook_gone(self) -> None:
        (self.root / "MEMORY.md").unlink(missing_ok=True)

    def share_line(self) -> None:
        path = self.root / "memories.ndjson"
        old = path.read_text() if path.exists() and not path.is_symlink() else ""
        self._plain(path, old + self._record())

    def share_by_rename(self) -> None:
        self._renamed(self.root / "memories.ndjson", self._record() + self._record())

    def _record(self) -> str:
        ident = f"01990000-0000-7000-8000-{self.chance.randrange(40):012x}"
        stamp = f"2026-01-{self.chance.randrange(1, 28):02}T00:00:00.000000Z"
        record: dict[str, object] = {"id": ident, "version": self.chance.randrange(1, 9), "updated_at": stamp}
        if self.chance.random() < 0.2:
            return json.dumps(record | {"status": "forgotten"}) + "\n"
        return json.dumps(record | {"created_at": stamp, "content": f"{ident[-2:]} {self.text()}"}) + "\n"

    def _plain(self, path: Path, text: str) -> None:
        if path.is_symlink():
            path.unlink()
        path.write_text(text)

    def _renamed(self, path: Path, text: str) -> None:
        beside = path.with_name(f".{path.name}.swp{self.number}")
        beside.write_text(text)
        os.replace(beside, path)

    def link(self) -> None:
        """A file is replaced by a symbolic link to another in the project."""
        target = self.root / "real-notes.md"
        target.write_text(self._sections())
        path = self.root / "MEMORY.md"
        path.unlink(missing_ok=True)
        path.symlink_to(target.name)

    def edit_mirror(self) -> None:
        (self.root / ".mem" / "memory.md").write_text(self.text())

    def drop_mirror(self) -> None:
        (self.root / ".mem" / "memory.md").unlink(missing_ok=True)

    def litter(self) -> None:
        """What editors and builds leave beside the files that matter."""
        for name in (".MEMORY.md.swp", "4913", "MEMORY.md~", f"build{self.number % 5}.log", "src/deep/new/file.txt"):
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.text())

    def bulk(self) -> None:
        folder = self.root / "bulk"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for number in range(300):
            (folder / f"{number}.txt").write_text(str(number))

    def commit(self) -> None:
        (self.root / "a.txt").write_text(self.text())
        self.git("add", "-A")
        self.git("commit", "-q", "-m", self.text())

    def checkout(self) -> None:
        name = self.chance.choice(["main", "side", "feature/x"])
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "before the checkout")
        self.git("checkout", "-q", name) if self.chance.random() < 0.7 else self.git("checkout", "-q", "-B", name)

    def stash(self) -> None:
        self.git("stash", "-u")
        self.git("stash", "pop")

    def reset(self) -> None:
        self.git("reset", "-q", self.chance.choice(["--hard", "--soft", "--mixed"]), "HEAD~1")

    def rebase(self) -> None:
        self.git("rebase", "-q", self.chance.choice(["main", "side"]))
        self.git("rebase", "--abort")

    def merge(self) -> None:
        self.git("merge", "-q", "--no-edit", "-X", "ours", self.chance.choice(["main", "side"]))
        self.git("merge", "--abort")


def derived(root: Path) -> dict[str, object]:
    """Return everything that a watcher keeps current, as it is on disk now."""
    mirror = root / ".mem" / "memory.md"
    state: dict[str, object] = {"mirror": mirror.read_text() if mirror.is_file() else None}
    try:
        db = sqlite3.connect(f"file:{root}/.mem/mem.db?mode=ro", uri=True)
        queries = {
            "sections": "SELECT path, heading, first_line, last_line, hash FROM sections ORDER BY path, first_line",
            "memories": "SELECT id, version, status, content FROM memories ORDER BY id",
            "tombstones": "SELECT id, version FROM tombstones ORDER BY id",
            "touched": "SELECT path, commit_id FROM touched ORDER BY seq, path",
            "heads": "SELECT key, value FROM meta WHERE key LIKE 'head:%' OR key LIKE 'share:%' ORDER BY key",
            "unembedded": "SELECT count(*) FROM memories m LEFT JOIN vectors v ON v.memory = m.id AND"
                          " v.version = m.version WHERE m.status = 'active' AND v.memory IS NULL",
        }  # fmt: skip
        state |= {name: db.execute(query).fetchall() for name, query in queries.items()}
        db.close()
    except (sqlite3.Error, StoreError) as error:
        state["error"] = str(error)
    return state


def settled(root: Path, patience: float = 60.0, quiet: float = 1.5) -> dict[str, object]:
    """Wait until what is derived has not changed for `quiet` seconds, and return it."""
    deadline = time.monotonic() + patience
    last, since = derived(root), time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < quiet:
        time.sleep(0.1)
        now = derived(root)
        if now != last:
            last, since = now, time.monotonic()
    return last


def differences(kept: Mapping[str, object], fresh: Mapping[str, object]) -> list[str]:
    """Return the names of what differs."""
    return sorted(name for name in kept.keys() | fresh.keys() if kept.get(name) != fresh.get(name))
