#!/usr/bin/env python3
"""Run one real GitHub Copilot CLI session (BYOK, offline mode) against a loopback model stub.

Prints one JSON object:

  rc, seconds, timed_out, stdout (tail), stderr
  marker        {needle: [where it was found]} for each --expect
  context       every non-system text of the first agent request (first characters)
  tools         names of the tools offered
  tool_results  results of tool calls that the stub asked for
  requests      every request

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
from modelstub import ModelStub


def texts_of(body: dict) -> list[tuple[str, str]]:
    out = []
    for i, m in enumerate(body.get("messages", [])):
        c = m.get("content")
        for j, b in enumerate(c if isinstance(c, list) else [{"text": c or ""}]):
            out.append((f"messages[{i}].{m.get('role')}[{j}]", b.get("text", "")))
    return out


def run_session(
    project: Path,
    prompt: str = "hello",
    turns: list[dict] | None = None,
    home: Path | None = None,
    extra_args: list[str] = (),
    timeout: float = 90,
    copilot: str | None = None,
    log: Path | None = None,
    expect: list[str] = (),
    trust: bool = True,
) -> dict:
    binary = find_bin("copilot", copilot)
    tmp = None
    if home is None:
        tmp = tempfile.TemporaryDirectory(prefix="copilot-home-")
        home = Path(tmp.name)
    home.mkdir(parents=True, exist_ok=True)
    try:
        with ModelStub(turns, log=log) as stub:
            cmd = [binary, "-p", prompt, "--allow-all-tools", "--no-auto-update", "--no-color"]
            if trust:
                cmd.append("--trust-folder")
            env = scrubbed_env(
                home,
                {
                    "COPILOT_HOME": str(home / ".copilot"),
                    "COPILOT_OFFLINE": "true",
                    "COPILOT_AUTO_UPDATE": "false",
                    "COPILOT_PROVIDER_BASE_URL": stub.base + "/v1",
                    "COPILOT_PROVIDER_TYPE": "openai",
                    "COPILOT_PROVIDER_WIRE_API": "completions",
                    "COPILOT_PROVIDER_API_KEY": FAKE_KEY,
                    "COPILOT_MODEL": "gpt-4.1",
                },
            )
            t_start = time.time()
            run = run_bounded(cmd + list(extra_args), project, env, timeout)
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
        "context": [(w, t[:300]) for w, t in texts_of(agent[0]["body"]) if ".system" not in w] if agent else [],
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
    ap.add_argument("--expect", action="append", default=[])
    ap.add_argument("--no-trust", action="store_true", help="do not pass --trust-folder")
    ap.add_argument("--timeout", type=float, default=90)
    ap.add_argument("--copilot", help="path of the copilot executable")
    ap.add_argument("--log", type=Path)
    ap.add_argument("--arg", action="append", default=[])
    args = ap.parse_args(argv)
    enter_private_network()
    out = run_session(
        args.project.resolve(),
        args.prompt,
        load_turns(args.turns),
        args.home and args.home.resolve(),
        args.arg,
        args.timeout,
        args.copilot,
        args.log,
        args.expect,
        not args.no_trust,
    )
    json.dump(out, sys.stdout, indent=1)
    print()
    if out["timed_out"] or out["rc"] != 0:
        return 2
    return 1 if any(not v for v in out["marker"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
