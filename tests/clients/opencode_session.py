#!/usr/bin/env python3
"""Run one real `opencode run` session against a loopback model stub and report what reached the model.

Prints one JSON object: rc, seconds, timed_out, stdout/stderr tails, marker {needle: [where]}, context,
tools, tool_results, requests.

Exit status: 0 ran and every --expect was found, 1 an --expect was missing, 2 the client failed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from clientlib import FAKE_KEY, enter_private_network, find_bin, load_turns, run_bounded, scrubbed_env
from copilot_session import texts_of
from modelstub import ModelStub


def run_session(
    project: Path,
    prompt: str = "hello",
    turns: list[dict] | None = None,
    home: Path | None = None,
    config: dict | None = None,
    extra_args: list[str] = (),
    timeout: float = 90,
    opencode: str | None = None,
    log: Path | None = None,
    expect: list[str] = (),
) -> dict:
    binary = find_bin("opencode", opencode)
    tmp = None
    if home is None:
        tmp = tempfile.TemporaryDirectory(prefix="opencode-home-")
        home = Path(tmp.name)
    home.mkdir(parents=True, exist_ok=True)
    try:
        with ModelStub(turns, log=log) as stub:
            cfg = {
                "model": "stub/m",
                "small_model": "stub/m",
                "autoupdate": False,
                "share": "disabled",
                "provider": {
                    "stub": {
                        "npm": "@ai-sdk/openai-compatible",
                        "name": "stub",
                        "options": {"baseURL": stub.base + "/v1", "apiKey": FAKE_KEY},
                        "models": {"m": {"name": "m", "tool_call": True}},
                    }
                },
                **(config or {}),
            }
            env = scrubbed_env(
                home,
                {
                    "OPENCODE_CONFIG_CONTENT": json.dumps(cfg),
                    "OPENCODE_DISABLE_AUTOUPDATE": "true",
                    "OPENCODE_DISABLE_MODELS_FETCH": "true",
                    "OPENCODE_DISABLE_LSP_DOWNLOAD": "true",
                    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "true",
                    # it installs @opencode-ai/plugin into .opencode/ at start: make that fail at once
                    "npm_config_offline": "true",
                    "npm_config_fetch_retries": "0",
                    "npm_config_registry": "http://127.0.0.1:9/",
                    "BUN_CONFIG_REGISTRY": "http://127.0.0.1:9/",
                },
            )
            for v in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
                env.pop(v)  # with a dead proxy it waits instead of failing
            t_start = time.time()
            run = run_bounded([binary, "run", *extra_args, prompt], project, env, timeout)
            reqs, agent = stub.requests, stub.agent_requests()
    finally:
        if tmp:
            tmp.cleanup()
    found = {n: [f"request {r['n']}: {w}" for r in agent for w, t in texts_of(r["body"]) if n in t] for n in expect}
    return {
        "rc": run["rc"],
        "seconds": run["seconds"],
        "timed_out": run["timed_out"],
        "stdout": run["stdout"][-1500:],
        "stderr": run["stderr"][-2000:],
        "marker": found,
        "context": [(w, t[:200]) for w, t in texts_of(agent[0]["body"])] if agent else [],
        "tools": list(dict.fromkeys((t.get("function") or t).get("name") for r in agent for t in r["body"]["tools"])),
        "tool_results": [t for w, t in texts_of(agent[-1]["body"]) if ".tool[" in w] if agent else [],
        "requests": [
            {"n": r["n"], "at": round(r["t"] - t_start, 2), "path": r["path"].split("?")[0], "kind": r["kind"]}
            for r in reqs
        ],
    }


def main(argv: list[str] | None = None) -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--project", type=Path, required=True)
    ap.add_argument("--home", type=Path, help="HOME of the client (default: a throw-away one)")
    ap.add_argument("--prompt", default="hello")
    ap.add_argument("--turns", help="the stub's script: inline JSON list or a file (see modelstub.py)")
    ap.add_argument("--config", type=Path, help="JSON merged into the configuration")
    ap.add_argument("--expect", action="append", default=[])
    ap.add_argument("--timeout", type=float, default=90)
    ap.add_argument("--opencode", help="path of the opencode executable")
    ap.add_argument("--log", type=Path)
    ap.add_argument("--arg", action="append", default=[])
    args = ap.parse_args(argv)
    enter_private_network()
    out = run_session(
        args.project.resolve(),
        args.prompt,
        load_turns(args.turns),
        args.home and args.home.resolve(),
        json.loads(args.config.read_text()) if args.config else None,
        args.arg,
        args.timeout,
        args.opencode,
        args.log,
        args.expect,
    )
    json.dump(out, sys.stdout, indent=1)
    print()
    if out["timed_out"] or out["rc"] != 0:
        return 2
    return 1 if any(not v for v in out["marker"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
