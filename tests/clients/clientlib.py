"""What the session scripts share: isolation, a scrubbed environment, bounded child processes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

# Where npm put the clients (see install.sh), and a folder put first on their PATH (the `mem` under test).
ROOT = Path(os.environ.get("MEM_CLIENTS") or Path.home() / ".cache/mem-clients")
MEM_PATH = os.environ.get("MEM_PATH", "")
FAKE_KEY = "sk-fake-000000000000000000000000000000000000"
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_IN_NETNS = "CLIENT_HARNESS_NETNS"


def enter_private_network() -> bool:
    """Re-run this script in a network namespace that has only a loopback interface.

    Returns True once inside.  Where namespaces can't be made (not root) it returns False and the
    run goes on with dead proxies set instead (see scrubbed_env).
    """
    if os.environ.get(_IN_NETNS) == "1":
        return True
    if os.environ.get(_IN_NETNS) == "0" or not shutil.which("unshare") or not shutil.which("ip"):
        return False
    probe = subprocess.run(["unshare", "-n", "ip", "link", "set", "lo", "up"], capture_output=True)
    if probe.returncode != 0:
        return False
    os.environ[_IN_NETNS] = "1"
    os.execvp(
        "unshare", ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$0" "$@"', sys.executable, *sys.argv]
    )
    return False  # not reached


def find_bin(name: str, explicit: str | None = None, extra: list[Path] | None = None) -> str:
    cands = [explicit] if explicit else []
    cands += [str(p) for p in (extra or [])]
    cands += [str(ROOT / "node_modules/.bin" / name), shutil.which(name) or ""]
    for c in cands:
        if c and os.path.exists(c):
            return c
    raise SystemExit(f"{name} not found; tried {[c for c in cands if c]}")


def scrubbed_env(home: Path, base_url_vars: dict[str, str], path_prefix: str = "") -> dict[str, str]:
    """An environment made from nothing, never from os.environ."""
    env = {
        "HOME": str(home),
        "TERM": "xterm",
        "LANG": "C.UTF-8",
        "USER": "tester",
        "SHELL": "/bin/bash",
        "PATH": ":".join(p for p in (path_prefix, MEM_PATH, SYSTEM_PATH) if p),
        # anything that is not loopback hits a closed port
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
        "https_proxy": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local/state"),
    }
    tmp = home / "tmp"  # sockets, scratch files and spilled hook output stay with the run
    tmp.mkdir(parents=True, exist_ok=True)
    env |= {"TMPDIR": str(tmp), "CLAUDE_CODE_TMPDIR": str(tmp)}
    env.update(base_url_vars)
    return env


def run_bounded(cmd: list[str], cwd: Path, env: dict[str, str], timeout: float, stdin: str | None = None) -> dict:
    """Run in its own session; on timeout end that whole process group."""
    t0 = time.monotonic()
    p = subprocess.Popen(
        cmd,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = p.communicate(stdin, timeout=timeout)
        timed_out = False
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        timed_out = True
    return {
        "rc": p.returncode,
        "seconds": round(time.monotonic() - t0, 2),
        "timed_out": timed_out,
        "stdout": out,
        "stderr": err,
    }


def load_turns(arg: str | None) -> list[dict]:
    if not arg:
        return []
    text = arg if arg.lstrip().startswith("[") else Path(arg).read_text()
    return json.loads(text)
