#!/usr/bin/env python3
"""Run one real `codex exec` session against a loopback model stub and report what reached the model.

Prints one JSON object:

  version, rc, seconds, timed_out, result, stderr
  marker        {needle: [where it was found]} for each --expect
  context       every developer/system text of the first agent request (role, first characters)
  tools         names of the tools offered (namespaces as ns.tool)
  tool_results  results of tool calls that the stub asked for
  events        the client's own --json events (types)
  requests      every request

Hook trust: by default the run passes --dangerously-bypass-hook-trust; --no-bypass leaves it out, which shows
what an untrusted hook does.  --untrusted leaves the project untrusted (its .codex/ is then ignored).

Exit status: 0 ran and every --expect was found, 1 an --expect was missing, 2 the client failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
import time
from pathlib import Path

from clientlib import FAKE_KEY, enter_private_network, find_bin, load_turns, run_bounded, scrubbed_env
from modelstub import ModelStub

CONFIG = """\
model = "{model}"
model_provider = "stub"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
enable_request_compression = false
[model_providers.stub]
name = "stub"
base_url = "{base}/v1"
env_key = "STUB_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
{trust}
{extra}
"""


def texts_of(body: dict) -> list[tuple[str, str]]:
    out = [("instructions", body.get("instructions") or "")]
    for i, item in enumerate(body.get("input", []) if isinstance(body.get("input"), list) else []):
        where = f"input[{i}].{item.get('role') or item.get('type')}"
        content = item.get("content")
        if isinstance(content, str):
            out.append((where, content))
        for b in content if isinstance(content, list) else []:
            out.append((where, b.get("text", "")))
        if item.get("type", "").endswith("_output"):
            o = item.get("output")
            out.append((where, o if isinstance(o, str) else json.dumps(o)))
    return out


def tool_names(body: dict) -> list[str]:
    names = []
    for t in body.get("tools", []):
        if t.get("type") == "namespace":
            names += [f"{t.get('name')}.{s.get('name')}" for s in t.get("tools", [])]
        else:
            names.append(t.get("name") or t.get("type"))
    return names


def run_session(
    project: Path,
    prompt: str = "hello",
    turns: list[dict] | None = None,
    home: Path | None = None,
    config_extra: str = "",
    user_hooks: dict | None = None,
    bypass_hook_trust: bool = True,
    trusted: bool = True,
    extra_args: list[str] = (),
    timeout: float = 90,
    codex: str | None = None,
    log: Path | None = None,
    expect: list[str] = (),
    model: str = "gpt-5.2-codex",
    subcommand: list[str] = ("exec",),
) -> dict:
    binary = find_bin("codex", codex)
    tmp = None
    if home is None:
        tmp = tempfile.TemporaryDirectory(prefix="codex-home-")
        home = Path(tmp.name)
    cdir = home / ".codex"
    cdir.mkdir(parents=True, exist_ok=True)
    try:
        with ModelStub(turns, log=log) as stub:
            trust = f'[projects."{project}"]\ntrust_level = "trusted"' if trusted else ""
            (cdir / "config.toml").write_text(
                CONFIG.format(base=stub.base, trust=trust, extra=config_extra, model=model)
            )
            if user_hooks is not None:
                (cdir / "hooks.json").write_text(json.dumps(user_hooks))
            cmd = [binary, *subcommand, "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
            if bypass_hook_trust:
                cmd.append("--dangerously-bypass-hook-trust")
            cmd += [*extra_args, prompt]
            env = scrubbed_env(home, {"STUB_API_KEY": FAKE_KEY, "CODEX_HOME": str(cdir)})
            t_start = time.time()
            run = run_bounded(cmd, project, env, timeout)
            reqs, agent = stub.requests, stub.agent_requests()
    finally:
        if tmp:
            tmp.cleanup()
    events = []
    for line in run["stdout"].splitlines():
        with contextlib.suppress(ValueError):
            events.append(json.loads(line))
    found = {n: [f"request {r['n']}: {w}" for r in agent for w, t in texts_of(r["body"]) if n in t] for n in expect}
    results = {}
    for r in agent:
        for item in r["body"].get("input", []):
            if isinstance(item, dict) and str(item.get("type", "")).endswith("_output"):
                results[item.get("call_id")] = item.get("output")
    msgs = [
        e["item"].get("text")
        for e in events
        if e.get("type") == "item.completed" and e.get("item", {}).get("type") == "agent_message"
    ]
    return {
        "version": next((r["headers"].get("user-agent") for r in agent), None),
        "rc": run["rc"],
        "seconds": run["seconds"],
        "timed_out": run["timed_out"],
        "result": msgs[-1] if msgs else None,
        "thread_id": next((e.get("thread_id") for e in events if e.get("type") == "thread.started"), None),
        "stderr": run["stderr"][-3000:],
        "marker": found,
        "context": [(w, t[:160]) for w, t in texts_of(agent[0]["body"])[1:]] if agent else [],
        "tools": list(dict.fromkeys(n for r in agent for n in tool_names(r["body"]))),
        "tool_results": results,
        "events": [
            e.get("type")
            + (":" + e["item"].get("type", "") if e.get("item") else "")
            + (
                f" {e.get('message') or e['item'].get('message')}"
                if e.get("message") or (e.get("item") or {}).get("message")
                else ""
            )
            for e in events
        ],
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
    ap.add_argument("--config", default="", help="TOML appended to the user's config.toml (e.g. mcp_servers)")
    ap.add_argument("--user-hooks", type=Path, help="a hooks.json to put in $CODEX_HOME")
    ap.add_argument("--no-bypass", action="store_true", help="do not pass --dangerously-bypass-hook-trust")
    ap.add_argument("--untrusted", action="store_true", help="do not mark the project as trusted")
    ap.add_argument("--timeout", type=float, default=90)
    ap.add_argument("--codex", help="path of the codex executable")
    ap.add_argument("--log", type=Path)
    ap.add_argument("--arg", action="append", default=[])
    args = ap.parse_args(argv)
    enter_private_network()
    out = run_session(
        args.project.resolve(),
        args.prompt,
        load_turns(args.turns),
        args.home and args.home.resolve(),
        args.config,
        json.loads(args.user_hooks.read_text()) if args.user_hooks else None,
        not args.no_bypass,
        not args.untrusted,
        args.arg,
        args.timeout,
        args.codex,
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
