"""`mem mcp`: memory over the Model Context Protocol, on standard input and output, from the standard library.

Two eras of the protocol are spoken: 2025-11-25 and before begin with `initialize`; from 2026-07-28 on every request
says its version in `_meta`, and `server/discover` is where a client begins. The server keeps no state between requests
but the client's name, so either may come at any time.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from ..memory.errors import MemError, UsageError
from ..memory.named import TYPE_CHECKING, Protocol
from . import mcp_tools as said
from .env import Env
from .mcp_wire import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    UNKNOWN_METHOD,
    UNSUPPORTED_VERSION,
    Fault,
    Request,
    Session,
    frames,
    leaving_on_sigterm,
)
from .version import version

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Tools(Protocol):
    """Who does the work: the real tools, or the ones that refuse over HTTP."""

    def call(self, name: str, given: Mapping[str, Any], client: str) -> dict[str, Any]: ...
    def settle(self) -> None: ...
    def close(self) -> None: ...


_META = "io.modelcontextprotocol/"
_TTL_MS = 3_600_000  # the list of tools is the same for as long as the server lives


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--allowed-dir", action="append", default=[], metavar="DIR",
        help="folder that tools may touch; may be repeated (default: the project)",
    )  # fmt: skip
    parser.add_argument("--http", action="store_true", help="listen on loopback; every tool says to use stdio")
    parser.add_argument("--port", type=int, default=8017, help="port for --http; 0 takes a free one")


def run(args: Namespace, env: Env) -> int:
    """Serve until the client closes its end."""
    if args.http:
        from .mcp_http import serve_http

        return serve_http(env, port=args.port)
    for name in args.allowed_dir:  # the rest of the judging waits for the first call; a client would not see it there
        if not os.path.isdir(os.path.join(env.cwd, os.path.expanduser(name))):
            raise UsageError(f"--allowed-dir: there is no folder {name!r}")
    server = Server(lambda: _tools(args, env), env)
    if env.stdin.isatty():
        env.say("mem: this is for programs: one JSON-RPC message a line on standard input; ^D ends it")
    read, send = _take_wire(env)
    serve(server, read, send)
    return 0


def _tools(args: Namespace, env: Env) -> Tools:
    from . import mcp_calls, notebook_file  # the store comes with them: some 25 ms that listing the tools does not pay

    limits = notebook_file.bounds(args.allowed_dir, env, project=args.project)
    return mcp_calls.Tools(env, limits, project=args.project, db=args.db)


class Server:
    """What the protocol says, and who calls the tools. `make_tools` is called at the first call of a tool: listing
    them must not wait for the store."""

    def __init__(self, make_tools: Callable[[], Tools], env: Env) -> None:
        self._make_tools, self._env = make_tools, env
        self._tools: Tools | None = None
        self._client = ""

    def at_once(self, request: Request) -> dict[str, Any] | Callable[[], dict[str, Any]]:
        """Return the result of a request, or the call to make in turn. Raises Fault."""
        era = _era(request)
        if request.method == "initialize":
            return self._initialize(request.params)
        if request.method == "ping":
            return {} if era == said.VERSION_OLD else stamped({})
        if request.method == "server/discover":
            return stamped(discovered())
        if request.method == "tools/list":
            tools = {"tools": list(said.TOOLS)}
            return tools if era == said.VERSION_OLD else stamped(tools | _cacheable())
        if request.method == "tools/call":
            return self._call(request, era)
        raise Fault(UNKNOWN_METHOD, "Method not found", data=request.method[:200])

    def settle(self) -> None:
        """Do what writes left to be done."""
        try:
            if self._tools:
                self._tools.settle()
        except Exception as error:  # noqa: BLE001 - the answers are out, and the next call wants its own
            self._bug(error)

    def close(self) -> None:
        """Let the stores go."""
        if self._tools:
            self._tools.close()

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        wanted = params.get("protocolVersion")
        self._client = _name(params.get("clientInfo")) or self._client
        return {
            "protocolVersion": wanted if wanted in said.HANDSHAKE_VERSIONS else said.VERSION_OLD,
            "capabilities": {"tools": {}},
            "serverInfo": server_info(),
            "instructions": said.INSTRUCTIONS,
        }

    def _call(self, request: Request, era: str) -> Callable[[], dict[str, Any]]:
        name, given = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str) or name not in said.ARGUMENTS:
            raise Fault(INVALID_PARAMS, f"Unknown tool: {str(name)[:100]}")
        given = {} if given is None else given
        if not isinstance(given, dict):
            raise Fault(INVALID_PARAMS, "arguments is an object")
        meta = request.params.get("_meta")
        client = _name(meta.get(_META + "clientInfo") if isinstance(meta, dict) else None) or self._client

        def call() -> dict[str, Any]:
            try:
                answer = self._ready().call(name, given, client or "mcp")
            except MemError as error:  # the project at hand can't be served: every call says why
                from .mcp_calls import rejected

                answer = rejected(error)
            except Exception as error:  # a bug in one call must not end the conversation
                raise Fault(INTERNAL_ERROR, self._bug(error)) from error
            return answer if era == said.VERSION_OLD else stamped(answer)

        return call

    def _ready(self) -> Tools:
        if self._tools is None:
            self._tools = self._make_tools()
        return self._tools

    def _bug(self, error: Exception) -> str:
        """Say where an error that nobody foresaw arose; the client's log keeps what stands on standard error."""
        frame = error.__traceback__
        while frame and frame.tb_next:
            frame = frame.tb_next
        where = f"{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}" if frame else "?"
        self._env.say(f"mem: internal error ({type(error).__name__} at {where})")
        return f"internal error ({type(error).__name__} at {where}); please report it"


def discovered() -> dict[str, Any]:
    """Return what `server/discover` answers."""
    return {
        "supportedVersions": [said.VERSION_NEW],
        "capabilities": {"tools": {}},
        "instructions": said.INSTRUCTIONS,
        **_cacheable(),
    }


def server_info() -> dict[str, str]:
    """Return who we are."""
    return {"name": "memhooks", "title": "Project memory", "version": version()}


def stamped(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with what 2026-07-28 wants on each."""
    return {"resultType": "complete", **result, "_meta": {_META + "serverInfo": server_info()}}


def _cacheable() -> dict[str, Any]:
    return {"ttlMs": _TTL_MS, "cacheScope": "public"}


def _era(request: Request) -> str:
    """Return which era a request belongs to. Raises Fault for a version that is not spoken and half an envelope."""
    meta = request.params.get("_meta")
    if request.method == "initialize" or not isinstance(meta, dict) or _META + "protocolVersion" not in meta:
        return said.VERSION_OLD
    wanted = meta[_META + "protocolVersion"]
    if not isinstance(wanted, str):
        raise Fault(INVALID_PARAMS, f"_meta {_META}protocolVersion is a string")
    if wanted != said.VERSION_NEW:
        data = {"supported": [said.VERSION_NEW], "requested": wanted[:100]}
        raise Fault(UNSUPPORTED_VERSION, "Unsupported protocol version", data=data)
    if _META + "clientCapabilities" not in meta:
        raise Fault(INVALID_PARAMS, f"params._meta lacks {_META}clientCapabilities")
    return said.VERSION_NEW


def _name(info: object) -> str:
    """Return a client's name as an actor, "" for what is none."""
    name = info.get("name") if isinstance(info, dict) else None
    return "".join(char for char in name[:80] if char.isprintable()).strip() if isinstance(name, str) else ""


def serve(server: Server, read: Callable[[int], bytes], send: Callable[[bytes], None]) -> None:
    """Answer what `read` brings until it ends or SIGTERM comes; what is in flight is answered in both cases."""
    session = Session(server.at_once, send, settle=server.settle, close=server.close)
    try:
        with leaving_on_sigterm():
            for line in frames(read):
                session.receive(line)
                if session.gone:
                    break
    finally:
        session.finish()


def _take_wire(env: Env) -> tuple[Callable[[int], bytes], Callable[[bytes], None]]:
    """Move the wire off the standard descriptors, so that no print and no child can read or write it: what goes to
    descriptor 1 shows up on standard error."""
    env.stdout.flush()
    source, target = os.dup(env.stdin.fileno()), os.dup(env.stdout.fileno())
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(null, 1)
    os.close(null)

    def send(line: bytes) -> None:
        view = memoryview(line)
        while view:
            view = view[os.write(target, view) :]

    return lambda size: os.read(source, size), send
