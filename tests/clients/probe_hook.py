#!/usr/bin/env python3
"""A hook for experiments: logs what it was given, then answers as its options say."""

import argparse
import json
import os
import sys
import time

ap = argparse.ArgumentParser(description=__doc__)
ap.add_argument("--log", help="append {argv, stdin, env, cwd, t} to this JSONL file")
ap.add_argument("--tag", default="")
ap.add_argument("--event", default="SessionStart", help="hookEventName put in JSON output")
ap.add_argument("--context", help="answer with hookSpecificOutput.additionalContext = this text")
ap.add_argument("--top-context", help="answer with a top-level additionalContext (Copilot CLI)")
ap.add_argument("--size", type=int, default=0, help="pad the context/plain text to this many characters")
ap.add_argument("--plain", help="answer with this plain text on stdout")
ap.add_argument("--raw", help="answer with exactly this on stdout")
ap.add_argument("--system-message")
ap.add_argument("--stderr", help="write this on stderr")
ap.add_argument("--sleep", type=float, default=0)
ap.add_argument("--exit", type=int, default=0)
ap.add_argument("--env-file-line", help="append this line to the file named by CLAUDE_ENV_FILE")
a = ap.parse_args()


def pad(text: str) -> str:
    if a.size <= len(text):
        return text
    out, i = [text], 0
    total = len(text)
    while total < a.size - 20:
        line = f"\nline {i:06d} filler"
        out.append(line)
        total += len(line)
        i += 1
    out.append("#" * (a.size - total - 4) + "-END")
    return "".join(out)


stdin = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
if a.log:
    try:
        parsed = json.loads(stdin)
    except ValueError:
        parsed = stdin
    keep = {
        k: v
        for k, v in os.environ.items()
        if k.startswith(("CLAUDE", "GEMINI", "CODEX", "COPILOT", "CURSOR", "PLUGIN", "OPENCODE", "PWD", "GITHUB"))
    }
    with open(a.log, "a", encoding="utf-8") as f:
        f.write(
            json.dumps(
                {
                    "tag": a.tag,
                    "t": round(time.time(), 3),
                    "cwd": os.getcwd(),
                    "stdin": parsed,
                    "env": keep,
                    "env_keys": sorted(os.environ),
                }
            )
            + "\n"
        )
if a.env_file_line and os.environ.get("CLAUDE_ENV_FILE"):
    with open(os.environ["CLAUDE_ENV_FILE"], "a", encoding="utf-8") as f:
        f.write(a.env_file_line + "\n")
if a.sleep:
    time.sleep(a.sleep)
if a.stderr:
    print(a.stderr, file=sys.stderr)
if a.raw is not None:
    sys.stdout.write(a.raw)
elif a.top_context is not None:
    print(json.dumps({"additionalContext": pad(a.top_context)}))
elif a.context is not None:
    out = {"hookSpecificOutput": {"hookEventName": a.event, "additionalContext": pad(a.context)}}
    if a.system_message:
        out["systemMessage"] = a.system_message
    print(json.dumps(out))
elif a.plain is not None:
    print(pad(a.plain))
sys.exit(a.exit)
