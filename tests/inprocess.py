"""Run `mem` within the test's own process: what a table of many command lines can afford. Streams, environment and
working directory are those of the command alone; what needs a process (signals, closed streams) starts one."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any, NamedTuple
from unittest import mock

from conftest import Repo
from memhooks.hooks.cli import main


class Done(NamedTuple):
    """What a command left: its exit code and what it wrote."""

    code: int
    stdout: str
    stderr: str

    @property
    def value(self) -> Any:
        """The one JSON value on standard output. Fails for more than one line."""
        assert self.stdout.count("\n") == 1, self.stdout
        return json.loads(self.stdout)

    @property
    def error(self) -> dict[str, Any]:
        """The error on the last line of standard error; standard output must be empty, and the exit code its own."""
        assert self.stdout == "" and self.code in (1, 2), self
        error = json.loads(self.stderr.splitlines()[-1])["error"]
        assert set(error) == {"message", "reason", "exit_code"} and error["exit_code"] == self.code
        assert error["message"] and "Traceback" not in self.stderr and error["reason"] not in ("internal", ""), self
        return dict(error)


def mem(repo: Repo, *words: str | bytes, stdin: bytes = b"", **environ: str) -> Done:
    """Run a command in the repository's folder and environment."""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (stdin, b"", b"")]
    before = os.getcwd()
    os.chdir(repo.path)
    try:
        with (
            mock.patch.dict(os.environ, repo.environ | environ, clear=True),
            mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]),
        ):
            code = main([os.fsdecode(word) for word in words])
    finally:
        os.chdir(before)
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Done(code, *texts)
