"""Write the command line that a hook runs, and recognise it again among other people's.

Recognised is what the words mean, never a substring: the program's name is mem and its arguments are `hook NAME` or
`mcp`; a shell line is ours only if every command in it is ours or one of the guards around it. Pure.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import Any

HOOKS = (
    "guard", "mirror", "index", "share", "session-start", "subagent-start", "prompt", "pre-compact", "session-end",
    "pre-tool", "post-tool",
)  # fmt: skip
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh")
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_OPERATORS = re.compile(r"^[;&|()<>\n]+$")
_SEARCH = 'PATH="$PATH:$HOME/.local/bin";'
_REDIRECTIONS = (">", ">>", "<", ">&", "<&")
# What may stand around our own command in a line that is still wholly ours.
_AROUND = ([":"], ["true"], ["exit", "0"], ["exit", "1"], ["}"])


def quote(program: str) -> str:
    """Return a program's path as one word of a POSIX shell."""
    return shlex.quote(program)


def line(program: str, hook: str, *, remove_from: str = "") -> str:
    """Return the shell line of a file that machines share: it runs `hook` (with its arguments) if there is a mem.

    A missing one ends the line with 0, or, where `remove_from` names the file to take it out of, with 1 and words that
    say so. Programs with a window start git with a short PATH, so ~/.local/bin is looked into as well.
    """
    missing = "exit 0"
    if remove_from:
        says = f"memhooks finds no mem on PATH; install it, or remove this from {remove_from}"
        missing = f'{{ echo "{says}" >&2; exit 1; }}'
    look = f"command -v {program} >/dev/null 2>&1"
    return f"{_SEARCH} {look} || {missing}; exec {program} hook {hook}"


def hook_of(command: Any) -> str:
    """Return the name of the hook that a settings entry's `command` runs, "" where it is not wholly ours.

    `command` is a shell line, or a list of words (the exec form).
    """
    found = [words for words in _commands(command) if not _is_around(words)]
    hooks = [_hook(words) for words in found]
    return hooks[0] if len(set(hooks)) == 1 and hooks[0] else ""


def program_of(command: Any) -> str:
    """Return the program that a command of ours starts, "" where that is not ours, or where a variable that it sets
    could make it another one."""
    if not hook_of(command):
        return ""
    if isinstance(command, str) and any(_ASSIGNMENT.match(word) and word != _SEARCH for word in command.split()):
        return ""
    for words in _commands(command):
        if _hook(words):
            return words[0] if _is_mem(words[0]) else program_of(words[2])
    return ""


def is_server(command: Any, args: Any) -> bool:
    """Return whether an MCP server's `command` and `args` start ours."""
    words = [command, *args] if isinstance(command, str) and isinstance(args, list) else command
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return False
    return len(words) > 1 and _is_mem(words[0]) and words[1] == "mcp"


def _commands(command: Any) -> list[list[str]]:
    if isinstance(command, list):
        return [command] if all(isinstance(word, str) for word in command) else [[]]
    if not isinstance(command, str):
        return [[]]
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return [[]]
    found: list[list[str]] = [[]]
    words = iter(tokens)
    for token in words:
        if token in _REDIRECTIONS:
            next(words, "")  # the file; where the output goes makes a command no less ours
            if found[-1] and found[-1][-1].isdigit():
                found[-1].pop()
        elif _OPERATORS.match(token):
            found.append([])
        else:
            found[-1].append(token)
    return [bare for words in found if (bare := _bare(words))]


def _bare(words: list[str]) -> list[str]:
    """Return a simple command without assignments, `exec` and a brace before it."""
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("exec", "{")):
        words = words[1:]
    return words


def _is_around(words: list[str]) -> bool:
    if not words:
        return False
    looks = words[:2] == ["command", "-v"] and len(words) == 3 and _is_mem(words[2])
    speaks = words[0] == "echo" and len(words) == 2 and words[1].startswith("memhooks ")
    return words in list(_AROUND) or looks or speaks


def _hook(words: list[str]) -> str:
    if len(words) > 2 and os.path.basename(words[0]) in _SHELLS and words[1] == "-c":
        return hook_of(words[2])
    if len(words) > 2 and _is_mem(words[0]) and words[1] == "hook" and words[2] in HOOKS:
        return words[2]
    return ""


def _is_mem(program: str) -> bool:
    return program.replace("\\", "/").rpartition("/")[2] in ("mem", "mem.exe")
