"""What a command or hook is given from outside: streams, environment, working directory and clock, as one value.

Tests pass a fake one; nothing below `cli.main` reads the real ones.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping

from ..memory.named import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, TextIO


EVENT_LIMIT = 1 << 20  # bytes of an event; clients send some kilobytes


class Env(NamedTuple):
    """The outside world. `clock` gives seconds since the epoch."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    environ: Mapping[str, str]
    cwd: str
    clock: Callable[[], float] = time.time

    @classmethod
    def real(cls) -> Env:
        """Return the process's own streams, in UTF-8 whatever the locale, and its environment.

        A stream that the caller closed is replaced by the null device.
        """
        null = os.devnull
        stdin, stdout, stderr = (sys.stdin or open(null), sys.stdout or open(null, "w"), sys.stderr or open(null, "w"))  # noqa: SIM115
        for stream in (stdin, stdout, stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(
                    encoding="utf-8", errors="surrogateescape" if stream is stdin else "backslashreplace"
                )
        try:
            cwd = os.getcwd()
        except OSError:  # the folder was deleted under us; $PWD may name another one than that
            cwd = ""
        return cls(stdin, stdout, stderr, os.environ, cwd)

    def now(self) -> float:
        """Return the time in seconds since the epoch."""
        return self.clock()

    def print(self, text: str) -> None:
        """Write an answer, one line or more, to standard output."""
        self.stdout.write(text + "\n")

    def say(self, text: str) -> None:
        """Write talk, one line or more, to standard error."""
        self.stderr.write(text + "\n")


def read_event(env: Env, deadline: float = 0.5) -> dict[str, Any]:
    """Return the JSON object that a client wrote to standard input, {} where none came within `deadline` seconds.

    End-of-file is not waited for: some clients keep the pipe open for as long as the hook runs.
    """
    try:
        descriptor = env.stdin.fileno()
        if os.isatty(descriptor):
            return {}
    except (OSError, ValueError, AttributeError):
        return _parse(env.stdin.read(EVENT_LIMIT).encode("utf-8", "replace")) or {}
    if os.name == "nt":  # select() knows sockets only there
        return _parse(env.stdin.buffer.read(EVENT_LIMIT)) or {}
    from select import select

    data, until = b"", time.monotonic() + deadline
    while len(data) < EVENT_LIMIT and select([descriptor], [], [], max(0.0, until - time.monotonic()))[0]:
        piece = os.read(descriptor, 65536)
        data += piece
        event = _parse(data) if piece.rstrip().endswith(b"}") else None
        if event is not None:
            return event
        if not piece:
            break
    return _parse(data) or {}


def _parse(data: bytes) -> dict[str, Any] | None:
    import json  # the guard reads no event

    try:
        event = json.loads(data.decode("utf-8", "replace"))
    except ValueError:
        return None
    return event if isinstance(event, dict) else None
