#!/usr/bin/env python3
"""Run one real Claude Code session against a loopback model stub and report what reached the model.

Prints one JSON object:

  version, rc, seconds, timed_out, result, stderr
  hook_context     [{event, text}] hook output found in the requests, by event label
  marker           {needle: [where it was found]} for each --expect
  tools            names of the tools offered in any agent request; first_request_tools: in the first one
  deferred_tools   names announced but not sent with a schema (tool search)
  skills           names in the skills listing the model sees
  mcp_servers, plugins, slash_commands, plugin_errors    from the client's own init event
  mcp_instructions the MCP servers' `instructions` as the model saw them
  tool_results     results of tool calls that the stub asked for
  hook_outputs     per hook run: exit code, outcome, context length, whether it reached a request verbatim
  requests         every request: number, seconds after the client started, path, kind, MCP tools with a schema

Exit status: 0 the session ran (and every --expect was found), 1 an --expect was missing,
2 the client failed or timed out.

Examples:
  claude_session.py --project DIR --expect MARKER-123
  claude_session.py --project DIR --plugin-dir PLUGIN --turns '[{"tool":"mcp__plugin_x_y__search","input":{"q":"a"}}]'
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import tempfile
import time
from pathlib import Path

from clientlib import FAKE_KEY, enter_private_network, find_bin, load_turns, run_bounded, scrubbed_env
from modelstub import ModelStub, tool_calls


def claude_env(home: Path, base: str, extra: dict[str, str] | None = None) -> dict[str, str]:
    env = scrubbed_env(
        home,
        {
            "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_KEY": FAKE_KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_BUG_COMMAND": "1",
            "DISABLE_INSTALLATION_CHECKS": "1",
        },
    )
    env.update(extra or {})
    return env


def blocks_of(message: dict) -> list[dict]:
    c = message.get("content")
    if isinstance(c, str):
        return [{"type": "text", "text": c}]
    return [b for b in c or [] if isinstance(b, dict)]


def texts_of(body: dict) -> list[tuple[str, str]]:
    """(where, text) for every text in a Messages request."""
    out = []
    system = body.get("system")
    if isinstance(system, str):
        out.append(("system", system))
    for i, b in enumerate(system if isinstance(system, list) else []):
        out.append((f"system[{i}]", b.get("text", "")))
    for i, m in enumerate(body.get("messages", [])):
        for j, b in enumerate(blocks_of(m)):
            where = f"messages[{i}].{m.get('role')}[{j}].{b.get('type')}"
            if b.get("type") == "text":
                out.append((where, b.get("text", "")))
            elif b.get("type") == "tool_result":
                out.append((where, flatten(b.get("content"))))
    return out


def flatten(content: object) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(b.get("text", b.get("tool_name", b.get("type")))) for b in content if isinstance(b, dict))
    return "" if content is None else json.dumps(content)


EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolBatch",
    "PostToolUseFailure",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Setup",
)
# Claude Code puts hook output after "<Event>[:<matcher>] hook <how>: ", in a system message or a
# <system-reminder>, where other sections may follow after a blank line.
HOOK_RE = re.compile(
    r"(?:^|\n\n|<system-reminder>\s*)((?:{})(?::[^\s]+)?) hook "
    r"(additional context|success|blocking error[^:]*|stopped continuation[^:]*|feedback|error)?: ?"
    r"(.*?)(?=</system-reminder>|\n\n# [A-Z]|\n\nThe following |\n\nAvailable agent types|\n\nToday's date|"
    r"\n\n(?:{})(?::\S+)? hook |\Z)".format("|".join(EVENTS), "|".join(EVENTS)),
    re.S,
)


def hook_context(requests: list[dict]) -> list[dict]:
    """Hook output as it stands in the requests; the end of each text is a guess (see HOOK_RE)."""
    seen, out = set(), []
    for r in requests:
        for where, text in texts_of(r["body"]):
            if where.startswith("system["):
                continue
            for m in HOOK_RE.finditer(text):
                key = m.group(0)
                if key not in seen:
                    seen.add(key)
                    body = m.group(3).strip()
                    out.append(
                        {
                            "event": m.group(1),
                            "how": m.group(2),
                            "request": r["n"],
                            "where": where,
                            "chars": len(body),
                            "text": body,
                        }
                    )
    return out


def hook_outputs(events: list[dict], requests: list[dict]) -> list[dict]:
    """What each hook printed, by the client's own events, and whether it reached a request verbatim."""
    texts = [t for r in requests for _, t in texts_of(r["body"])]
    out = []
    for e in events:
        if e.get("subtype") != "hook_response":
            continue
        stdout = e.get("stdout") or ""
        try:
            parsed = json.loads(stdout)
            ctx = (parsed.get("hookSpecificOutput") or {}).get("additionalContext")
        except (ValueError, AttributeError):
            ctx = stdout.strip() or None
        out.append(
            {
                "hook": e.get("hook_name"),
                "exit_code": e.get("exit_code"),
                "outcome": e.get("outcome"),
                "stderr": (e.get("stderr") or "")[:500],
                "context_chars": len(ctx) if ctx else 0,
                "reached_verbatim": bool(ctx) and any(ctx.strip() in t for t in texts),
            }
        )
    return out


def tool_results(requests: list[dict]) -> list[dict]:
    seen, out = set(), []
    for r in requests:
        for m in r["body"].get("messages", []):
            for b in blocks_of(m):
                if b.get("type") == "tool_result" and b.get("tool_use_id") not in seen:
                    seen.add(b.get("tool_use_id"))
                    out.append(
                        {
                            "id": b.get("tool_use_id"),
                            "is_error": bool(b.get("is_error")),
                            "text": flatten(b.get("content")),
                        }
                    )
    return out


def section(requests: list[dict], pattern: str) -> list[str]:
    """Lines of the first text that matches a pattern (skills listing, deferred tools)."""
    for r in requests:
        for _, text in texts_of(r["body"]):
            m = re.search(pattern, text, re.S)
            if m:
                return [ln for ln in m.group(1).strip().splitlines() if ln.strip()]
    return []


def skill_names(requests: list[dict]) -> list[str]:
    lines = section(requests, r"skills are available[^\n]*\n(.*?)(?:</system-reminder>|\Z)")
    return [m.group(1) for m in (re.match(r"- ([\w:.-]+)(?:: | *$)", ln) for ln in lines) if m]


def run_session(
    project: Path,
    plugin_dirs: list[Path] = (),
    prompt: str = "hello",
    turns: list[dict] | None = None,
    home: Path | None = None,
    extra_args: list[str] = (),
    extra_env: dict[str, str] | None = None,
    timeout: float = 90,
    claude: str | None = None,
    log: Path | None = None,
    expect: list[str] = (),
    input_tokens: int = 100,
) -> dict:
    binary = find_bin("claude", claude)
    tmp = None
    if home is None:
        tmp = tempfile.TemporaryDirectory(prefix="claude-home-")
        home = Path(tmp.name)
    home.mkdir(parents=True, exist_ok=True)
    try:
        with ModelStub(turns, log=log, input_tokens=input_tokens) as stub:
            allowed = ["Bash", "Read", "Write", "Edit", "Skill", "ToolSearch"]
            allowed += sorted({c["tool"] for t in turns or [] for c in tool_calls(t)} - set(allowed))
            cmd = [
                binary,
                "-p",
                prompt,
                "--output-format",
                "stream-json",
                "--verbose",
                "--include-hook-events",
                "--permission-mode",
                "default",
                "--allowedTools",
                ",".join(allowed),
            ]
            for d in plugin_dirs:
                cmd += ["--plugin-dir", str(d)]
            cmd += list(extra_args)
            t_start = time.time()
            run = run_bounded(cmd, project, claude_env(home, stub.base, extra_env), timeout)
            reqs = stub.requests
            agent = stub.agent_requests()
    finally:
        if tmp:
            tmp.cleanup()
    events = []
    for line in run["stdout"].splitlines():
        with contextlib.suppress(ValueError):
            events.append(json.loads(line))
    init = next((e for e in events if e.get("subtype") == "init"), {})
    result = next((e for e in reversed(events) if e.get("type") == "result"), {})
    found: dict[str, list[str]] = {}
    for needle in expect:
        found[needle] = [
            f"request {r['n']}: {w}"
            for r in reqs
            if isinstance(r["body"], dict)
            for w, t in texts_of(r["body"])
            if needle in t
        ]
    first = agent[0]["body"] if agent else {}
    return {
        "version": init.get("claude_code_version"),
        "rc": run["rc"],
        "seconds": run["seconds"],
        "timed_out": run["timed_out"],
        "result": result.get("result"),
        "is_error": result.get("is_error"),
        "session_id": init.get("session_id"),
        "stderr": run["stderr"][-2000:],
        "stdout_tail": "" if events else run["stdout"][-2000:],
        "hook_context": hook_context(agent),
        "marker": found,
        "tools": list(dict.fromkeys(t.get("name") for r in agent for t in r["body"].get("tools", []))),
        "first_request_tools": [t.get("name") for t in first.get("tools", [])],
        "deferred_tools": section(agent, r"deferred tools[^\n]*\n(.*?)(?:\n\n|</system-reminder>|\Z)"),
        "skills": skill_names(agent),
        "mcp_instructions": section(
            agent,
            r"# MCP Server Instructions\s*(.*?)"
            r"(?:</system-reminder>|\n# [A-Z]|\n\nThe following skills|\n\nToday's date|\Z)",
        ),
        "mcp_servers": init.get("mcp_servers"),
        "plugins": init.get("plugins"),
        "plugin_errors": init.get("plugin_errors"),
        "slash_commands": init.get("slash_commands"),
        "init_skills": init.get("skills"),
        "tool_results": tool_results(agent),
        "hook_outputs": hook_outputs(events, agent),
        "requests": [
            {
                "n": r["n"],
                "at": round(r["t"] - t_start, 2),
                "path": r["path"].split("?")[0],
                "kind": r["kind"],
                "mcp_tools": [
                    t["name"] for t in (r["body"] or {}).get("tools", []) if t.get("name", "").startswith("mcp__")
                ],
            }
            for r in reqs
        ],
    }


def main(argv: list[str] | None = None) -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--project", type=Path, required=True, help="working directory of the session")
    ap.add_argument("--plugin-dir", type=Path, action="append", default=[], help="load this plugin (repeatable)")
    ap.add_argument("--home", type=Path, help="HOME of the client (default: a throw-away one)")
    ap.add_argument("--prompt", default="hello")
    ap.add_argument("--turns", help="the stub's script: inline JSON list or a file (see modelstub.py)")
    ap.add_argument("--expect", action="append", default=[], help="text that must reach a model request (repeatable)")
    ap.add_argument("--timeout", type=float, default=90)
    ap.add_argument("--claude", help="path of the claude executable")
    ap.add_argument("--log", type=Path, help="also append every request to this JSONL file")
    ap.add_argument("--env", action="append", default=[], metavar="K=V", help="extra environment variable")
    ap.add_argument("--input-tokens", type=int, default=100, help="usage that the stub reports")
    ap.add_argument("--arg", action="append", default=[], help="extra argument for the client, e.g. --arg=--resume")
    args = ap.parse_args(argv)
    enter_private_network()
    out = run_session(
        args.project.resolve(),
        [p.resolve() for p in args.plugin_dir],
        args.prompt,
        load_turns(args.turns),
        args.home and args.home.resolve(),
        args.arg,
        dict(e.split("=", 1) for e in args.env),
        args.timeout,
        args.claude,
        args.log,
        args.expect,
        args.input_tokens,
    )
    json.dump(out, sys.stdout, indent=1)
    print()
    if out["timed_out"] or out["rc"] != 0:
        return 2
    return 1 if any(not v for v in out["marker"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
