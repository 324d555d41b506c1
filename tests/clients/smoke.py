#!/usr/bin/env python3
"""Prove, with the real clients, that a session hook's context and an MCP tool reach the model.

One check per client: its project-level hook prints a marker (in the form that client reads), the loopback
stub must receive it, and the stub's tool call must come back with the MCP server's answer.  Plus one check
that a Claude Code plugin loads its hook, skill, command and MCP server, and one that the same plugin folder
loads in Codex.

Prints one line per check and at the end 'N passed, N failed, N skipped'.  A client that isn't installed is
skipped.  Exit status 0 when nothing failed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import claude_session
import codex_session
import copilot_session
import gemini_session
import opencode_session
from clientlib import enter_private_network, find_bin, scrubbed_env

HERE = Path(__file__).resolve().parent
PY = sys.executable
HOOK = f"{PY} {HERE / 'probe_hook.py'}"
MCP = str(HERE / "tiny_mcp.py")
MARK = "SMOKE-MARK"


def put(root: Path, files: dict[str, object]) -> None:
    for name, content in files.items():
        p = root / name
        p.parent.mkdir(parents=True, exist_ok=True)
        p.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))


def nested(command: str, **kw) -> dict:
    return {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command, **kw}]}]}}


def servers() -> dict:
    return {"mcpServers": {"memory": {"command": PY, "args": [MCP]}}}


def plugin(root: Path) -> Path:
    """A plugin folder that Claude Code and Codex both load."""
    put(
        root,
        {
            ".claude-plugin/plugin.json": {
                "name": "mem",
                "version": "0.1.0",
                "description": "memory",
                "author": {"name": "x"},
            },
            ".claude-plugin/marketplace.json": {
                "name": "mem-market",
                "owner": {"name": "x"},
                "plugins": [{"name": "mem", "source": "./", "description": "memory"}],
            },
            "hooks/hooks.json": {
                "description": "recall",
                "hooks": {
                    "SessionStart": [
                        {
                            "matcher": "startup|clear|compact",
                            "hooks": [
                                {
                                    "type": "command",
                                    "timeout": 10,
                                    "statusMessage": "Recalling",
                                    "command": f'{HOOK} --context "{MARK} $CLAUDE_PLUGIN_ROOT"',
                                }
                            ],
                        }
                    ]
                },
            },
            "hooks/__init__.py": "",
            "hooks/module.py": "X = 1\n",
            ".mcp.json": servers(),
            "skills/recall/SKILL.md": "---\nname: recall\ndescription: SKILL-MARK recall\n---\nbody\n",
            "commands/remember.md": "---\ndescription: COMMAND-MARK remember\n---\nStore: $ARGUMENTS\n",
            "README.md": "# mem\n",
        },
    )
    return root


def has(report: dict, *needles: str) -> list[str]:
    return [f"{n} did not reach the model" for n in needles if not report["marker"].get(n)]


def answered(report: dict) -> list[str]:
    return [] if "RESULT search" in json.dumps(report["tool_results"]) else ["no answer from the MCP tool"]


def claude_project(d: Path, claude: str | None) -> list[str]:
    find_bin("claude", claude)
    put(d / "proj", {".claude/settings.json": nested(f"{HOOK} --context {MARK}", timeout=10), ".mcp.json": servers()})
    r = claude_session.run_session(
        d / "proj",
        home=d / "home",
        expect=[MARK],
        claude=claude,
        turns=[{"tool": "mcp__memory__search", "input": {"query": "q"}}],
    )
    return has(r, MARK) + answered(r)


def claude_plugin(d: Path, claude: str | None) -> list[str]:
    (d / "proj").mkdir()
    r = claude_session.run_session(
        d / "proj",
        [plugin(d / "plug")],
        home=d / "home",
        claude=claude,
        expect=[MARK, "SKILL-MARK", "COMMAND-MARK"],
        turns=[{"tool": "mcp__plugin_mem_memory__search", "input": {"query": "q"}}],
    )
    bad = has(r, MARK, "SKILL-MARK", "COMMAND-MARK") + answered(r)
    return bad + [f"plugin error {e}" for e in r["plugin_errors"] or []]


def codex_project(d: Path, _: str | None) -> list[str]:
    find_bin("codex")
    put(
        d / "proj",
        {
            ".codex/hooks.json": nested(f"{HOOK} --context {MARK}", timeout=10),
            ".codex/config.toml": f'[mcp_servers.memory]\ncommand = "{PY}"\nargs = ["{MCP}"]\n',
        },
    )
    r = codex_session.run_session(
        d / "proj",
        home=d / "home",
        expect=[MARK],
        turns=[{"tool": "search", "namespace": "mcp__memory", "input": {"query": "q"}}],
    )
    return has(r, MARK) + answered(r)


def codex_plugin(d: Path, _: str | None) -> list[str]:
    binary = find_bin("codex")
    plug, home, proj = plugin(d / "plug"), d / "home", d / "proj"
    proj.mkdir()
    (home / ".codex").mkdir(parents=True)
    env = scrubbed_env(home, {"CODEX_HOME": str(home / ".codex")})
    for args in (["plugin", "marketplace", "add", str(plug)], ["plugin", "add", "mem@mem-market"]):
        p = subprocess.run([binary, *args], env=env, cwd=proj, capture_output=True, text=True, timeout=60)
        if p.returncode:
            return [f"codex {' '.join(args)}: {p.stderr[-200:]}"]
    r = codex_session.run_session(
        proj,
        home=home,
        expect=[MARK, "SKILL-MARK"],
        config_extra=(home / ".codex/config.toml").read_text(),
        turns=[{"tool": "search", "namespace": "mcp__memory", "input": {"query": "q"}}],
    )
    return has(r, MARK, "SKILL-MARK") + answered(r)


def gemini_project(d: Path, _: str | None) -> list[str]:
    find_bin("gemini")
    put(
        d / "proj",
        {".gemini/settings.json": {**nested(f"{HOOK} --context {MARK}", timeout=10000, name="mem"), **servers()}},
    )
    r = gemini_session.run_session(
        d / "proj", home=d / "home", expect=[MARK], turns=[{"tool": "mcp_memory_search", "input": {"query": "q"}}]
    )
    return has(r, MARK) + answered(r)


def copilot_project(d: Path, _: str | None) -> list[str]:
    find_bin("copilot")
    put(
        d / "proj",
        {
            ".github/hooks/mem.json": {
                "version": 1,
                "hooks": {
                    "sessionStart": [{"type": "command", "bash": f"{HOOK} --top-context {MARK}", "timeoutSec": 10}]
                },
            },
            ".mcp.json": servers(),
        },
    )
    subprocess.run(["git", "init", "-q", "."], cwd=d / "proj", check=True)
    r = copilot_session.run_session(
        d / "proj", home=d / "home", expect=[MARK], turns=[{"tool": "memory-search", "input": {"query": "q"}}]
    )
    return has(r, MARK) + answered(r)


def opencode_project(d: Path, _: str | None) -> list[str]:
    find_bin("opencode")
    put(
        d / "proj",
        {
            ".opencode/plugins/mem.js": "export const Mem = async () => ({\n"
            '  "experimental.chat.system.transform": async (input, output) => {\n'
            f'    output.system.push("{MARK}")\n  }},\n}})\n',
            "opencode.json": {"mcp": {"memory": {"type": "local", "command": [PY, MCP], "enabled": True}}},
        },
    )
    subprocess.run(["git", "init", "-q", "."], cwd=d / "proj", check=True)
    r = opencode_session.run_session(
        d / "proj",
        home=d / "home",
        expect=[MARK],
        timeout=120,
        turns=[{"tool": "memory_search", "input": {"query": "q"}}],
    )
    return has(r, MARK) + answered(r)


CHECKS = {
    f.__name__.replace("_", "-"): f
    for f in (
        claude_project,
        claude_plugin,
        codex_project,
        codex_plugin,
        gemini_project,
        copilot_project,
        opencode_project,
    )
}


def main() -> int:
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--only", action="append", choices=list(CHECKS), default=[])
    ap.add_argument("--claude", help="path of the claude executable")
    args = ap.parse_args()
    enter_private_network()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for name, check in CHECKS.items():
        if args.only and name not in args.only:
            continue
        with tempfile.TemporaryDirectory(prefix="smoke-", ignore_cleanup_errors=True) as d:
            try:
                bad = check(Path(d), args.claude)
                word = "failed" if bad else "passed"
            except SystemExit as e:
                bad, word = [str(e)], "skipped"
            except Exception as e:  # noqa: BLE001
                bad, word = [f"{type(e).__name__}: {e}"], "failed"
        counts[word] += 1
        print(f"{word.upper():8}{name}" + (f": {'; '.join(bad)}" if bad else ""), flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
