#!/usr/bin/env python3
"""Run one real Gemini CLI session against a loopback model stub and report what reached the model.

Prints one JSON object:

  version, rc, seconds, timed_out, result, stderr
  marker        {needle: [where it was found]} for each --expect
  context       every text of the first agent request's contents (role, first characters)
  tools         names of the tools offered
  tool_results  functionResponse parts of tool calls that the stub asked for
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

USER_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "disableAutoUpdate": True,
        "disableUpdateNag": True,
    },
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "ide": {"enabled": False},
}


def texts_of(body: dict) -> list[tuple[str, str]]:
    out = []
    si = body.get("systemInstruction") or {}
    for p in si.get("parts", []) if isinstance(si, dict) else []:
        out.append(("systemInstruction", p.get("text", "")))
    for i, c in enumerate(body.get("contents", [])):
        for j, p in enumerate(c.get("parts", [])):
            if "text" in p:
                out.append((f"contents[{i}].{c.get('role')}[{j}]", p["text"]))
            elif "functionResponse" in p:
                out.append((f"contents[{i}].{c.get('role')}[{j}].functionResponse", json.dumps(p["functionResponse"])))
    return out


def merge(a: dict, b: dict) -> dict:
    out = dict(a)
    for k, v in b.items():
        out[k] = merge(out[k], v) if isinstance(v, dict) and isinstance(out.get(k), dict) else v
    return out


def run_session(
    project: Path,
    prompt: str = "hello",
    turns: list[dict] | None = None,
    home: Path | None = None,
    settings: dict | None = None,
    extra_args: list[str] = (),
    timeout: float = 90,
    gemini: str | None = None,
    log: Path | None = None,
    expect: list[str] = (),
    trust: bool = True,
    model: str = "gemini-2.5-pro",
) -> dict:
    binary = find_bin("gemini", gemini)
    tmp = None
    if home is None:
        tmp = tempfile.TemporaryDirectory(prefix="gemini-home-")
        home = Path(tmp.name)
    (home / ".gemini").mkdir(parents=True, exist_ok=True)
    try:
        with ModelStub(turns, log=log) as stub:
            (home / ".gemini/settings.json").write_text(json.dumps(merge(USER_SETTINGS, settings or {})))
            cmd = [binary, "-p", prompt, "-m", model, "--approval-mode", "yolo", "-o", "json"]
            env = scrubbed_env(
                home,
                {"GEMINI_API_KEY": FAKE_KEY, "GOOGLE_GEMINI_BASE_URL": stub.base, "GEMINI_CLI_NO_RELAUNCH": "true"},
            )
            if trust:
                # --skip-trust comes too late for .gemini/settings.json: it is read before
                env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"
            t_start = time.time()
            run = run_bounded(cmd + list(extra_args), project, env, timeout)
            reqs, agent = stub.requests, stub.agent_requests()
    finally:
        if tmp:
            tmp.cleanup()
    try:
        result = json.loads(run["stdout"][run["stdout"].index("{") :])
    except ValueError:
        result = {}
    found = {n: [f"request {r['n']}: {w}" for r in agent for w, t in texts_of(r["body"]) if n in t] for n in expect}
    tools: list[str] = []
    for r in agent:
        for t in r["body"].get("tools", []):
            tools += [f["name"] for f in t.get("functionDeclarations", [])]
    results = []
    for w, t in texts_of(agent[-1]["body"]) if agent else []:
        if w.endswith("functionResponse"):
            results.append(json.loads(t))
    return {
        "version": next((r["headers"].get("user-agent") for r in agent), None),
        "rc": run["rc"],
        "seconds": run["seconds"],
        "timed_out": run["timed_out"],
        "result": result.get("response"),
        "error": result.get("error"),
        "stderr": run["stderr"][-3000:],
        "stdout_tail": "" if result else run["stdout"][-1500:],
        "marker": found,
        "context": [(w, t[:200]) for w, t in texts_of(agent[0]["body"]) if not w.startswith("system")] if agent else [],
        "tools": list(dict.fromkeys(tools)),
        "tool_results": results,
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
    ap.add_argument("--settings", type=Path, help="JSON merged into the user's settings.json")
    ap.add_argument("--no-trust", action="store_true", help="do not set GEMINI_CLI_TRUST_WORKSPACE")
    ap.add_argument("--timeout", type=float, default=90)
    ap.add_argument("--gemini", help="path of the gemini executable")
    ap.add_argument("--log", type=Path)
    ap.add_argument("--arg", action="append", default=[])
    args = ap.parse_args(argv)
    enter_private_network()
    out = run_session(
        args.project.resolve(),
        args.prompt,
        load_turns(args.turns),
        args.home and args.home.resolve(),
        json.loads(args.settings.read_text()) if args.settings else None,
        args.arg,
        args.timeout,
        args.gemini,
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
