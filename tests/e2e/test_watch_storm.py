"""After any storm of file and git operations, what the watcher left on disk is what a fresh run would make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from watch_storm import Storm, derived, differences, settled

Repo = Any


@pytest.mark.parametrize("seed", [5, 6])
def test_watcher_leaves_what_a_fresh_run_would(repo: Repo, seed: int) -> None:
    storm = Storm(Path(repo.path), repo.environ, seed)
    repo.mem("init")
    storm.commit()
    repo.git("branch", "side")
    repo.mem("watch", "start")
    try:
        for _ in range(3):
            told = [storm.step() for _ in range(25)]
            kept = settled(Path(repo.path), quiet=3.0)
            repo.mem("watch", "--once")
            fresh = derived(Path(repo.path))
            assert differences(kept, fresh) == [], (told, kept, fresh)
    finally:
        repo.mem("watch", "stop")
