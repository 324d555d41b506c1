"""Frames, messages and the order of answers, without a process."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memhooks.hooks import mcp_wire as wire
from memhooks.hooks.mcp_wire import Fault, Notification, Request, Session, frames, parse


def reader(data: bytes, size: int = 65536) -> Callable[[int], bytes]:
    stream = io.BytesIO(data)
    return lambda most: stream.read(min(most, size))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 65536])
def test_frames_do_not_depend_on_how_bytes_arrive(size: int) -> None:
    data = "é\n\n  \r\n漢字\r\nlast".encode()
    assert list(frames(reader(data, size))) == ["é".encode(), "漢字\r".encode(), b"last"]


def test_frames_pass_over_an_oversized_line() -> None:
    data = b"a\n" + b"x" * 50 + b"\nb\n" + b"y" * 50
    assert list(frames(reader(data, 7), limit=10)) == [b"a", None, b"b", None]
    assert list(frames(reader(data), limit=10)) == [b"a", None, b"b", None]


@given(st.lists(st.binary(max_size=30).filter(lambda b: b"\n" not in b)), st.integers(1, 9))
def test_frames_give_back_every_line(lines: list[bytes], size: int) -> None:
    joined = b"".join(line + b"\n" for line in lines)
    assert list(frames(reader(joined, size), limit=100)) == [line for line in lines if line.strip()]


def test_parse_tells_messages_apart() -> None:
    assert parse(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}') == Request(1, "m", {"a": 1})
    assert parse(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":"x","method":"m"}') == Request("x", "m", {})
    assert parse(b'{"jsonrpc":"2.0","method":"n","params":null}') == Notification("n", {})
    assert parse(b'{"jsonrpc":"2.0","id":1,"result":{}}') is None
    assert parse(b'{"jsonrpc":"2.0","method":"n","params":[1]}') is None


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"garbage", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"n":NaN}}', -32700, None),
        (b'{"id":' + b"9" * 5000 + b"}", -32700, None),
        (b"[]", -32600, None),
        (b'"text"', -32600, None),
        (b"{}", -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"m"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":3}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":[]}', -32602, 7),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_parse_names_what_is_wrong(line: bytes, code: int, request_id: object) -> None:
    with pytest.raises(Fault) as caught:
        parse(line)
    assert (caught.value.code, caught.value.request_id) == (code, request_id)


@given(st.binary())
def test_parse_fails_by_fault_alone(line: bytes) -> None:
    try:
        parse(line)
    except Fault:
        return


def test_encode_is_one_ascii_line_for_any_text() -> None:
    line = wire.encode({"text": "a\u2028b\ud800\nc"})
    assert line.isascii()
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"text": "a\u2028b\ud800\nc"}


class Conversation:
    """A session with a tool that waits until it is let go, and a log of what happened."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.log: list[str] = []
        self.gate = threading.Event()
        self.started = threading.Event()
        self.arrived = threading.Condition()
        self.session = Session(
            self.at_once, self.send, settle=lambda: self.log.append("settle"), close=lambda: self.log.append("close")
        )

    def at_once(self, request: Request) -> Any:
        if request.method == "tools/call":
            return lambda: self.call(request)
        if request.method == "ping":
            return {}
        raise Fault(-32601, "Method not found")

    def call(self, request: Request) -> dict[str, Any]:
        self.log.append(f"call {request.id}")
        self.started.set()
        if request.params.get("waits"):
            assert self.gate.wait(30)
        return {"n": request.id}

    def send(self, line: bytes) -> None:
        with self.arrived:
            self.sent.append(json.loads(line))
            self.arrived.notify_all()

    def say(self, method: str, request_id: object = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.session.receive(json.dumps(message | ({} if request_id is None else {"id": request_id})).encode())

    def wait_for(self, count: int) -> list[Any]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.sent) >= count, 30)
            return [message.get("id") for message in self.sent]


def test_session_answers_ping_and_unknown_while_a_call_runs() -> None:
    talk = Conversation()
    talk.say("tools/call", 1, waits=True)
    assert talk.started.wait(30)
    talk.say("tools/call", 2)
    talk.say("ping", 3)
    talk.say("no/such", 4)
    assert talk.wait_for(2) == [3, 4]
    talk.gate.set()
    talk.session.finish()
    assert [message["id"] for message in talk.sent] == [3, 4, 1, 2]
    assert talk.log[:2] == ["call 1", "call 2"]


def test_session_answers_calls_in_order_of_arrival() -> None:
    talk = Conversation()
    for number in range(200):
        talk.say("tools/call", number)
    talk.session.finish()
    assert [message["id"] for message in talk.sent] == list(range(200))


def test_session_drops_a_call_cancelled_before_its_turn() -> None:
    talk = Conversation()
    talk.say("tools/call", 1, waits=True)
    assert talk.started.wait(30)
    talk.say("tools/call", 2)
    talk.say("notifications/cancelled", requestId=2)
    talk.say("notifications/cancelled", requestId=99)
    talk.say("notifications/cancelled", requestId=[1])
    talk.gate.set()
    talk.session.finish()
    assert [message["id"] for message in talk.sent] == [1]
    assert "call 2" not in talk.log


def test_session_does_not_answer_a_call_cancelled_meanwhile() -> None:
    talk = Conversation()
    talk.say("tools/call", 1, waits=True)
    assert talk.started.wait(30)
    talk.say("notifications/cancelled", requestId=1)
    talk.gate.set()
    talk.say("tools/call", 2)
    talk.session.finish()
    assert [message["id"] for message in talk.sent] == [2]


def test_session_settles_once_after_a_burst_and_before_the_end() -> None:
    talk = Conversation()
    for number in range(5):
        talk.say("tools/call", number)
    talk.session.finish()
    assert talk.log[-2:] == ["settle", "close"]
    assert talk.log.count("settle") == 1


def test_session_without_a_call_starts_no_thread() -> None:
    talk = Conversation()
    talk.say("ping", 1)
    talk.session.finish()
    assert talk.log == []


def test_session_never_answers_a_notification() -> None:
    talk = Conversation()
    talk.say("notifications/no-such-thing")
    talk.say("tools/call")
    talk.session.finish()
    assert talk.sent == []


def test_session_says_when_a_message_is_too_long() -> None:
    talk = Conversation()
    talk.session.receive(None)
    assert talk.sent[0]["error"]["code"] == -32600
    assert talk.sent[0]["id"] is None


def test_session_outlives_a_client_that_stopped_reading() -> None:
    def broken(_: bytes) -> None:
        raise BrokenPipeError

    done: list[object] = []
    session = Session(lambda request: lambda: done.append(request.id) or {}, broken, settle=list, close=list)
    for number in (1, 2):
        session.receive(json.dumps({"jsonrpc": "2.0", "id": number, "method": "x"}).encode())
    session.finish()
    assert done == [1, 2]
    assert session.gone


def test_session_refuses_more_calls_than_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "WAITING_LIMIT", 2)
    talk = Conversation()
    for number in (1, 2, 3):
        talk.say("tools/call", number, waits=True)
    assert talk.wait_for(1) == [3]
    talk.gate.set()
    talk.session.finish()
    assert [message["id"] for message in talk.sent] == [3, 1, 2]
