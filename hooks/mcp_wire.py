"""JSON-RPC over lines: frames in, messages out, and the order in which requests are answered.

Transport-free: it is fed lines and given a function that sends bytes. Calls of tools run one after another on a thread
of their own, in the order of arrival; everything else is answered at once, meanwhile. Nothing that a client sends ends
the server but the end of its input.
Source: JSON-RPC 2.0; Model Context Protocol 2025-11-25 and 2026-07-28, "Base protocol" and "Transports".
"""

from __future__ import annotations

import json
from _thread import allocate_lock
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..memory.named import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from threading import Thread
    from typing import Any, NoReturn

LINE_LIMIT = 16 * 1024 * 1024  # bytes of one message; the largest notebook fits, escaped
WAITING_LIMIT = 1000  # calls that may wait; more is a client gone wild
BURST_SECONDS = 0.15  # quiet time after which a burst of writes counts as over

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
TOO_BUSY = -32000
UNSUPPORTED_VERSION = -32022


class Request(NamedTuple):
    """A call that wants an answer; `id` is a string or an integer."""

    id: str | int
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    """A message that wants none."""

    method: str
    params: dict[str, Any]


class Fault(Exception):
    """What is wrong with a message, as JSON-RPC says it."""

    def __init__(self, code: int, message: str, *, data: object = None, request_id: str | int | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.request_id = code, message, data, request_id


def frames(read: Callable[[int], bytes], limit: int = LINE_LIMIT) -> Iterator[bytes | None]:
    """Yield the lines that `read` brings, without their ends and without blank ones; None for one over `limit` bytes,
    whose rest is passed over. A last line without an end counts."""
    buffer = bytearray()
    oversized = False
    while chunk := read(65536):
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            buffer += chunk[start:end]
            start = end + 1
            if oversized or len(buffer) > limit:
                yield None
            elif buffer.strip():
                yield bytes(buffer)
            buffer.clear()
            oversized = False
        buffer += chunk[start:]
        if len(buffer) > limit:
            buffer.clear()
            oversized = True
    if oversized:
        yield None
    elif buffer.strip():
        yield bytes(buffer)


def parse(line: bytes) -> Request | Notification | None:
    """Return the message in `line`; None for a response, which we never ask for. Raises Fault."""
    try:
        message = json.loads(line.removeprefix(b"\xef\xbb\xbf"), parse_constant=_no_constant)
    except (ValueError, RecursionError):  # UnicodeDecodeError and integers without end are ValueErrors
        raise Fault(PARSE_ERROR, "the message is not JSON in UTF-8") from None
    if not isinstance(message, dict):
        raise Fault(INVALID_REQUEST, "a message is one JSON object; batches are not part of this protocol")
    has_id = "id" in message
    request_id = message.get("id")
    if has_id and not _is_id(request_id):
        raise Fault(INVALID_REQUEST, "an id is a string or an integer")
    if message.get("jsonrpc") != "2.0":
        raise Fault(INVALID_REQUEST, 'a message holds "jsonrpc": "2.0"', request_id=request_id)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str):
        raise Fault(INVALID_REQUEST, "a method is a string", request_id=request_id)
    params = {} if params is None else params
    if not isinstance(params, dict):
        if not has_id:
            return None
        raise Fault(INVALID_PARAMS, "params is an object", request_id=request_id)
    if not has_id:
        return Notification(method, params)
    return Request(request_id, method, params)  # type: ignore[arg-type]  # _is_id has looked at it


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _is_id(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as one line. ASCII only: some readers end a line at U+2028, and lone surrogates pass so."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def answer(request_id: str | int, result: dict[str, Any]) -> bytes:
    """Return the line that answers a request."""
    return encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def refuse(fault: Fault) -> bytes:
    """Return the line that says what is wrong."""
    error: dict[str, Any] = {"code": fault.code, "message": fault.message}
    if fault.data is not None:
        error["data"] = fault.data
    return encode({"jsonrpc": "2.0", "id": fault.request_id, "error": error})


class _Leave(Exception):
    """Somebody told the server to go."""


@contextmanager
def leaving_on_sigterm() -> Iterator[None]:
    """Leave the block when SIGTERM comes, as if it had ended. For the main thread."""
    import signal

    def leave(*_: object) -> None:
        raise _Leave

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except _Leave:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)


class Session:
    """One client's conversation: `receive` its frames, then `finish`.

    `at_once` answers a request, or returns a function to run in turn; both may raise Fault. `settle` is called in that
    turn when no call came for a moment, and before the end; `close` at the very end, on the same thread.
    """

    def __init__(
        self,
        at_once: Callable[[Request], dict[str, Any] | Callable[[], dict[str, Any]]],
        send: Callable[[bytes], None],
        *,
        settle: Callable[[], None],
        close: Callable[[], None],
    ) -> None:
        self._at_once, self._send, self._settle, self._close = at_once, send, settle, close
        self._lock = allocate_lock()
        self._cancelled: set[str | int] = set()
        self._waiting: dict[str | int, int] = {}
        self._worker: Thread | None = None
        self._gone = False

    def receive(self, line: bytes | None) -> None:
        """Take one frame; None stands for one that was too long."""
        try:
            if line is None:
                raise Fault(INVALID_REQUEST, f"the message is over {LINE_LIMIT:,} bytes")
            message = parse(line)
            if isinstance(message, Notification):
                self._notice(message)
            elif message is not None:
                self._handle(message)
        except Fault as fault:
            self._write(refuse(fault))

    def finish(self) -> None:
        """Answer what is in flight, settle, close."""
        if self._worker:
            self._queue.put(None)
            self._worker.join()

    @property
    def gone(self) -> bool:
        """Whether the client stopped reading."""
        return self._gone

    def _handle(self, request: Request) -> None:
        try:
            result = self._at_once(request)
        except Fault as fault:
            fault.request_id = request.id
            raise
        if not callable(result):
            self._write(answer(request.id, result))
            return
        with self._lock:
            if sum(self._waiting.values()) >= WAITING_LIMIT:
                raise Fault(TOO_BUSY, f"{WAITING_LIMIT} calls are waiting; try again later", request_id=request.id)
            self._waiting[request.id] = self._waiting.get(request.id, 0) + 1
        if self._worker is None:
            self._start()
        self._queue.put((request, result))

    def _start(self) -> None:
        from queue import SimpleQueue  # with threading 5 ms that listing the tools does not pay
        from threading import Thread

        self._queue: SimpleQueue[tuple[Request, Callable[[], dict[str, Any]]] | None] = SimpleQueue()
        self._worker = Thread(target=self._work, name="calls")
        self._worker.start()

    def _notice(self, message: Notification) -> None:
        request_id = message.params.get("requestId")
        if message.method == "notifications/cancelled" and _is_id(request_id):
            with self._lock:
                if request_id in self._waiting:
                    self._cancelled.add(request_id)

    def _work(self) -> None:
        from queue import Empty

        quiet: float | None = None
        while True:
            try:
                item = self._queue.get(timeout=quiet)
            except Empty:
                self._settle()
                quiet = None
                continue
            if item is None:
                break
            self._run(*item)
            quiet = BURST_SECONDS
        self._settle()
        self._close()

    def _run(self, request: Request, call: Callable[[], dict[str, Any]]) -> None:
        """Run a call unless it was cancelled before its turn; one cancelled meanwhile is done, but not answered."""
        if not self._is_cancelled(request.id):
            try:
                line = answer(request.id, call())
            except Fault as fault:
                fault.request_id = request.id
                line = refuse(fault)
            if not self._is_cancelled(request.id):
                self._write(line)
        with self._lock:
            left = self._waiting.get(request.id, 1) - 1
            if left:
                self._waiting[request.id] = left
            else:
                self._waiting.pop(request.id, None)
                self._cancelled.discard(request.id)

    def _is_cancelled(self, request_id: str | int) -> bool:
        with self._lock:
            return request_id in self._cancelled

    def _write(self, line: bytes) -> None:
        with self._lock:
            if self._gone:
                return
            try:
                self._send(line)
            except OSError:  # the client has closed its end: finish what it asked for, and leave
                self._gone = True
