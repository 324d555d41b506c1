#!/usr/bin/env python3
"""A stdio MCP server with the standard library only: starts in some 30 ms.  --sleep delays its start."""

import argparse
import json
import os
import sys
import time

TOOLS = [
    {
        "name": "search",
        "description": "Search project memory. TOOLMARK",
        "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "remember",
        "description": "Store a fact.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
]


def handle(method: str, params: dict) -> dict | None:
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "tiny", "version": "0"},
            "instructions": "MCPINSTR: search before answering.",
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = (
            f"RESULT {params.get('name')} {json.dumps(params.get('arguments'))} project="
            f"{os.environ.get('MEM_PROJECT')} cwd={os.getcwd()}"
        )
        return {"content": [{"type": "text", "text": text}]}
    if method == "ping":
        return {}
    return None


def main() -> None:
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--sleep", type=float, default=0, help="seconds to wait before answering anything")
    ap.add_argument("--log", help="append every message received to this file")
    args = ap.parse_args()
    time.sleep(args.sleep)
    for line in sys.stdin:
        if args.log:
            with open(args.log, "a", encoding="utf-8") as f:
                f.write(line)
        msg = json.loads(line)
        if "id" not in msg or "method" not in msg:
            continue
        result = handle(msg["method"], msg.get("params") or {})
        out = {"jsonrpc": "2.0", "id": msg["id"]}
        out |= {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
