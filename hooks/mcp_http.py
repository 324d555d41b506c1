"""`mem mcp --http`: the same protocol over HTTP on loopback, where every tool says that it wants standard input.

A port is open to every user and every web page of the machine, and a working directory has no meaning there; so the
server explains itself and hands out no memory. Source: MCP 2025-11-25, "Streamable HTTP".
"""

from __future__ import annotations

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from ..memory.errors import MemError
from .env import Env
from .mcp import Server
from .mcp_wire import LINE_LIMIT, UNKNOWN_METHOD, Fault, Request, answer, leaving_on_sigterm, parse, refuse

LOOPBACK = "127.0.0.1"
REFUSAL = {
    "error": "local_stdio_required",
    "message": "this tool reads and writes files of a project on this machine; it is served on standard input and "
    "output alone, not over HTTP",
    "hint": 'configure the client with {"command": "mem", "args": ["mcp"]}, or run `mem install mcp`',
    "docs": "README.md, MCP server",
}


class Refusing:
    """Tools that answer every call with `local_stdio_required`."""

    def call(self, name: str, given: Mapping[str, Any], client: str) -> dict[str, Any]:
        """Return the refusal as MCP shapes it."""
        import json

        text = json.dumps(REFUSAL, ensure_ascii=False)
        return {"content": [{"type": "text", "text": text}], "structuredContent": dict(REFUSAL), "isError": True}

    def settle(self) -> None:
        """Nothing was written."""

    def close(self) -> None:
        """Nothing is open."""


def serve_http(env: Env, *, port: int) -> int:
    """Serve on loopback until SIGTERM or an interrupt. Raises MemError where the port is taken."""
    server = Server(Refusing, env)

    class Handler(_Handler):
        protocol = server

    try:
        listener = ThreadingHTTPServer((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        raise MemError(f"can't listen on {LOOPBACK}:{port}: {error}", reason="port") from error
    env.say(f"mem: listening on http://{LOOPBACK}:{listener.server_address[1]}/mcp; tools work on stdio alone")
    env.stderr.flush()
    with listener, leaving_on_sigterm():
        listener.serve_forever()
    return 0


class _Handler(BaseHTTPRequestHandler):
    protocol: Server
    server_version = "memhooks"
    sys_version = ""
    timeout = 30

    def do_POST(self) -> None:
        """Answer one message."""
        if not self._is_local():
            self._send(403, b"")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LINE_LIMIT:
            self._send(413 if length.isdecimal() else 411, b"")
            return
        try:
            message = parse(self.rfile.read(int(length)))
            if not isinstance(message, Request):
                self._send(202, b"")
                return
            try:
                result = self.protocol.at_once(message)
                self._send(200, answer(message.id, result() if callable(result) else result))
            except Fault as fault:
                fault.request_id = message.id
                raise
        except Fault as fault:
            self._send(404 if fault.code == UNKNOWN_METHOD else 400, refuse(fault))

    def do_GET(self) -> None:
        """Say that there is no stream to listen to."""
        self._send(405, b"")

    do_DELETE = do_GET  # noqa: N815 - there is no session to end

    def _is_local(self) -> bool:
        """A page of the web may reach loopback by a name that it controls: Host and Origin tell."""
        origin = self.headers.get("Origin")
        hosts = [f"//{self.headers.get('Host', '')}"] + ([origin] if origin is not None else [])
        try:
            return all(urlsplit(host).hostname in (LOOPBACK, "localhost", "::1") for host in hosts)
        except ValueError:
            return False

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        if status == 405:
            self.send_header("Allow", "POST")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep requests out of the log: they may hold what was to be remembered."""
