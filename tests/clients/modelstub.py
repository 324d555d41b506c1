#!/usr/bin/env python3
"""Loopback stub of the model APIs that coding agents talk to.

One server answers four wire protocols, told apart by the path:

  POST /v1/messages, /v1/messages/count_tokens      Anthropic Messages (SSE and plain)
  POST /v1/responses                                OpenAI Responses   (SSE and plain)
  POST /v1/chat/completions                         OpenAI Chat        (SSE and plain)
  POST /v1beta/models/M:generateContent, :streamGenerateContent, :countTokens   Gemini

Any other GET, HEAD or POST gets 200 and `{}`.

Every request is kept (``ModelStub.requests``) and, with ``log``, appended to a JSONL file.
Replies come from a script, a list of turns used up in order by *agent* requests, i.e. by
requests that offer at least one tool.  A turn is one of

  {"text": "..."}                                    say something and end the turn
  {"tool": "NAME", "input": {...}}                   call one tool
  {"tools": [{"tool": "NAME", "input": {...}}, ...]} call several at once
  {"text": "...", "tool": ...}                       both
  {"tool": "NAME", "namespace": "mcp__SERVER", ...}  Responses only: a tool of a namespace (Codex's MCP tools)
  {"tool": "NAME", "custom": "TEXT"}                 Responses only: a custom (free-form) tool call
  {"status": 529, "error": "..."}                    answer with an HTTP error
  plus, in any of them, {"delay": SECONDS}

When the script is used up the reply is ``default_text``.  Requests that offer no tool (titles,
summaries, topic checks) never use up a turn: they get ``aux_text``.

Only the standard library is used, and it binds 127.0.0.1 only.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DEFAULT_TEXT = "STUB-REPLY"
AUX_TEXT = "STUB-AUX"


def tool_calls(turn: dict) -> list[dict]:
    if "tools" in turn:
        return list(turn["tools"])
    if "tool" in turn:
        return [{k: v for k, v in turn.items() if k in ("tool", "input", "namespace", "custom")}]
    return []


class ModelStub:
    """The server; a context manager.  ``base`` is http://127.0.0.1:PORT."""

    def __init__(
        self,
        turns: list[dict] | None = None,
        port: int = 0,
        log: str | Path | None = None,
        default_text: str = DEFAULT_TEXT,
        aux_text: str = AUX_TEXT,
        input_tokens: int = 100,
    ):
        self.turns = list(turns or [])
        self.default_text = default_text
        self.aux_text = aux_text
        self.input_tokens = input_tokens  # what `usage` reports: large values set off compaction
        self.requests: list[dict] = []
        self._log = open(log, "a", encoding="utf-8") if log else None  # noqa: SIM115 - closed at the end of the run
        self._lock = threading.Lock()
        self._n = 0
        stub = self

        class Handler(_Handler):
            owner = stub

        self._srv = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._srv.daemon_threads = True
        self.port = self._srv.server_address[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._srv.serve_forever, daemon=True)

    def start(self) -> ModelStub:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._srv.shutdown()
        self._srv.server_close()
        if self._log:
            self._log.close()
            self._log = None

    __enter__ = start

    def __exit__(self, *exc: object) -> None:
        self.stop()

    # -- bookkeeping -------------------------------------------------------------------------
    def record(self, kind: str, method: str, path: str, headers: dict, body: Any) -> None:
        with self._lock:
            rec = {
                "n": len(self.requests),
                "t": round(time.time(), 3),
                "kind": kind,
                "method": method,
                "path": path,
                "headers": headers,
                "body": body,
            }
            self.requests.append(rec)
            if self._log:
                self._log.write(json.dumps(rec) + "\n")
                self._log.flush()

    def next_turn(self, is_agent: bool) -> dict:
        with self._lock:
            if not is_agent:
                return {"text": self.aux_text}
            if self.turns:
                return self.turns.pop(0)
            return {"text": self.default_text}

    def next_id(self) -> int:
        with self._lock:
            self._n += 1
            return self._n

    def agent_requests(self) -> list[dict]:
        """The recorded model requests that offer tools, in order."""
        return [r for r in self.requests if r["kind"].endswith(":agent")]


class _Handler(BaseHTTPRequestHandler):
    owner: ModelStub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        pass

    # -- plumbing ----------------------------------------------------------------------------
    def _headers(self) -> dict:
        secret = {"authorization", "x-api-key", "x-goog-api-key", "cookie"}
        return {k.lower(): ("<redacted>" if k.lower() in secret else v) for k, v in self.headers.items()}

    def _json(self, obj: Any, status: int = 200) -> None:
        data = json.dumps(obj).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", f"req_stub_{self.owner.next_id()}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _sse(self, events: list[tuple[str | None, Any]]) -> None:
        out = []
        for name, data in events:
            if name:
                out.append(f"event: {name}\n")
            out.append("data: " + (data if isinstance(data, str) else json.dumps(data)) + "\n\n")
        raw = "".join(out).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("cache-control", "no-cache")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def do_GET(self) -> None:
        self.owner.record("probe", self.command, self.path, self._headers(), None)
        path = self.path.split("?")[0]
        if path.endswith("/models"):
            self._json({"object": "list", "data": [], "models": [], "has_more": False})
        else:
            self._json({})

    do_HEAD = do_GET  # noqa: N815 - the name that http.server calls

    def do_POST(self) -> None:
        te = self.headers.get("transfer-encoding", "").lower()
        if "chunked" in te:
            chunks = []
            while True:
                size = int(self.rfile.readline().split(b";")[0].strip() or b"0", 16)
                if size == 0:
                    self.rfile.readline()
                    break
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            raw = b"".join(chunks)
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        enc = self.headers.get("content-encoding", "")
        if enc == "gzip":
            import gzip

            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {"_raw": raw[:2000].decode("utf-8", "replace"), "_encoding": enc}
        path = self.path.split("?")[0]
        if path.endswith("/v1/messages/count_tokens"):
            self.owner.record("count", "POST", self.path, self._headers(), body)
            self._json({"input_tokens": max(1, len(raw) // 4)})
        elif path.endswith("/messages"):
            self._model("anthropic", body, bool(body.get("tools")), self._anthropic)
        elif path.endswith("/responses"):
            self._model("responses", body, bool(body.get("tools")), self._responses)
        elif path.endswith("/chat/completions"):
            self._model("chat", body, bool(body.get("tools")), self._chat)
        elif ":countTokens" in path:
            self.owner.record("count", "POST", self.path, self._headers(), body)
            self._json({"totalTokens": max(1, len(raw) // 4)})
        elif "enerateContent" in path:
            self._model("gemini", body, bool(body.get("tools")), self._gemini)
        else:
            self.owner.record("probe", "POST", self.path, self._headers(), body)
            self._json({})

    def _model(self, proto: str, body: dict, is_agent: bool, reply) -> None:
        self.owner.record(f"{proto}:{'agent' if is_agent else 'aux'}", "POST", self.path, self._headers(), body)
        turn = self.owner.next_turn(is_agent)
        if turn.get("delay"):
            time.sleep(float(turn["delay"]))
        if turn.get("status"):
            self._json(
                {
                    "type": "error",
                    "error": {"type": turn.get("error_type", "api_error"), "message": turn.get("error", "stub error")},
                },
                int(turn["status"]),
            )
            return
        reply(body, turn)

    # -- Anthropic Messages ------------------------------------------------------------------
    def _anthropic(self, body: dict, turn: dict) -> None:
        n = self.owner.next_id()
        blocks: list[dict] = []
        if turn.get("text") is not None:
            blocks.append({"type": "text", "text": turn["text"]})
        for i, call in enumerate(tool_calls(turn)):
            blocks.append(
                {"type": "tool_use", "id": f"toolu_stub_{n}_{i}", "name": call["tool"], "input": call.get("input", {})}
            )
        stop = "tool_use" if any(b["type"] == "tool_use" for b in blocks) else "end_turn"
        usage = {
            "input_tokens": self.owner.input_tokens,
            "output_tokens": 5,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        msg = {
            "id": f"msg_stub_{n}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "stub"),
            "content": blocks,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            self._json(msg)
            return
        ev: list[tuple[str | None, Any]] = [
            (
                "message_start",
                {
                    "type": "message_start",
                    "message": {**msg, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}},
                },
            )
        ]
        for i, b in enumerate(blocks):
            if b["type"] == "text":
                start: dict = {"type": "text", "text": ""}
                delta: dict = {"type": "text_delta", "text": b["text"]}
            else:
                start = {**b, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(b["input"])}
            ev.append(("content_block_start", {"type": "content_block_start", "index": i, "content_block": start}))
            ev.append(("content_block_delta", {"type": "content_block_delta", "index": i, "delta": delta}))
            ev.append(("content_block_stop", {"type": "content_block_stop", "index": i}))
        ev.append(
            (
                "message_delta",
                {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            )
        )
        ev.append(("message_stop", {"type": "message_stop"}))
        self._sse(ev)

    # -- OpenAI Responses --------------------------------------------------------------------
    def _responses(self, body: dict, turn: dict) -> None:
        n = self.owner.next_id()
        items: list[dict] = []
        if turn.get("text") is not None:
            items.append(
                {
                    "type": "message",
                    "id": f"msg_stub_{n}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": turn["text"], "annotations": []}],
                }
            )
        for i, call in enumerate(tool_calls(turn)):
            if "custom" in call:
                items.append(
                    {
                        "type": "custom_tool_call",
                        "id": f"ctc_stub_{n}_{i}",
                        "call_id": f"call_stub_{n}_{i}",
                        "name": call["tool"],
                        "input": call["custom"],
                        "status": "completed",
                    }
                )
                continue
            item = {
                "type": "function_call",
                "id": f"fc_stub_{n}_{i}",
                "call_id": f"call_stub_{n}_{i}",
                "name": call["tool"],
                "arguments": json.dumps(call.get("input", {})),
                "status": "completed",
            }
            if call.get("namespace"):
                item["namespace"] = call["namespace"]
            items.append(item)
        usage = {
            "input_tokens": self.owner.input_tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.owner.input_tokens + 5,
        }
        resp = {
            "id": f"resp_stub_{n}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "model": body.get("model", "stub"),
            "output": items,
            "usage": usage,
        }
        if not body.get("stream"):
            self._json(resp)
            return
        ev: list[tuple[str | None, Any]] = [
            (
                "response.created",
                {
                    "type": "response.created",
                    "response": {**resp, "status": "in_progress", "output": [], "usage": None},
                },
            )
        ]
        for i, item in enumerate(items):
            ev.append(
                (
                    "response.output_item.added",
                    {
                        "type": "response.output_item.added",
                        "output_index": i,
                        "item": {**item, "status": "in_progress"},
                    },
                )
            )
            if item["type"] == "message":
                ev.append(
                    (
                        "response.output_text.delta",
                        {
                            "type": "response.output_text.delta",
                            "item_id": item["id"],
                            "output_index": i,
                            "content_index": 0,
                            "delta": item["content"][0]["text"],
                        },
                    )
                )
            ev.append(
                ("response.output_item.done", {"type": "response.output_item.done", "output_index": i, "item": item})
            )
        ev.append(("response.completed", {"type": "response.completed", "response": resp}))
        self._sse([(name, {**d, "sequence_number": i}) for i, (name, d) in enumerate(ev)])

    # -- OpenAI Chat Completions -------------------------------------------------------------
    def _chat(self, body: dict, turn: dict) -> None:
        n = self.owner.next_id()
        calls = [
            {
                "id": f"call_stub_{n}_{i}",
                "type": "function",
                "function": {"name": c["tool"], "arguments": json.dumps(c.get("input", {}))},
            }
            for i, c in enumerate(tool_calls(turn))
        ]
        usage = {
            "prompt_tokens": self.owner.input_tokens,
            "completion_tokens": 5,
            "total_tokens": self.owner.input_tokens + 5,
        }
        head = {"id": f"chatcmpl-stub-{n}", "created": int(time.time()), "model": body.get("model", "stub")}
        finish = "tool_calls" if calls else "stop"
        message: dict = {"role": "assistant", "content": turn.get("text")}
        if calls:
            message["tool_calls"] = calls
        if not body.get("stream"):
            self._json(
                {
                    **head,
                    "object": "chat.completion",
                    "usage": usage,
                    "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                }
            )
            return
        delta: dict = {"role": "assistant", "content": turn.get("text") or ""}
        if calls:
            delta["tool_calls"] = [{"index": i, **c} for i, c in enumerate(calls)]
        chunk = {**head, "object": "chat.completion.chunk"}
        self._sse(
            [
                (None, {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}),
                (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}),
                (None, "[DONE]"),
            ]
        )

    # -- Gemini generateContent --------------------------------------------------------------
    def _gemini(self, body: dict, turn: dict) -> None:
        parts: list[dict] = []
        if turn.get("text") is not None:
            parts.append({"text": turn["text"]})
        for call in tool_calls(turn):
            parts.append(
                {"functionCall": {"name": call["tool"], "args": call.get("input", {})}, "thoughtSignature": "c3R1Yg=="}
            )
        resp = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": self.owner.input_tokens,
                "candidatesTokenCount": 5,
                "totalTokenCount": self.owner.input_tokens + 5,
            },
            "modelVersion": "stub",
        }
        if "stream" in self.path.split("?")[0].rsplit(":", 1)[-1].lower():
            self._sse([(None, resp)])
        else:
            self._json(resp)


def main(argv: list[str] | None = None) -> int:
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("--port", type=int, default=0, help="0 (default) picks a free port and prints it")
    ap.add_argument("--script", help="JSON file (or '-' for stdin, or inline JSON) with the list of turns")
    ap.add_argument("--log", help="append every request to this JSONL file")
    ap.add_argument("--seconds", type=float, default=300, help="stop by itself after so long (default 300)")
    args = ap.parse_args(argv)
    turns = []
    if args.script:
        text = (
            sys.stdin.read()
            if args.script == "-"
            else (args.script if args.script.lstrip().startswith("[") else Path(args.script).read_text())
        )
        turns = json.loads(text)
    with ModelStub(turns, port=args.port, log=args.log) as stub:
        print(json.dumps({"base": stub.base, "port": stub.port}), flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(args.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
