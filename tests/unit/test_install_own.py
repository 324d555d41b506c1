"""Our own entries are known by what their words mean, and hook files by their marked block."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memhooks.hooks.install import own, shell
from memhooks.memory.errors import Conflict


@pytest.mark.parametrize(
    ("command", "hook"),
    [
        ("mem hook guard", "guard"),
        ("'/a b/bin/mem' hook session-start --client claude", "session-start"),
        ('"/a b/mem.exe" hook prompt', "prompt"),
        ("A=1 exec mem hook index post-commit", "index"),
        ("mem hook index </dev/null >/dev/null 2>&1 || :", "index"),
        (["mem", "hook", "guard"], "guard"),
        (own.line("mem", "guard", remove_from="a file"), "guard"),
        (own.line("mem", 'share "$@"'), "share"),
        (f"sh -c '{own.line('mem', 'mirror')}' --", "mirror"),
        # near misses
        ("mem hook nothing", ""),
        ("mem recall hook guard", ""),
        ("mymem hook guard", ""),
        ("echo mem hook guard", ""),
        ("npx mem hook guard", ""),
        ("mem hook guard && rm -r x", ""),
        ("mem hook guard; other", ""),
        ("# mem hook guard", ""),
        ("'mem hook guard", ""),
        ("lefthook' run mem hook guard", ""),
        ("", ""),
        (None, ""),
        ([1, 2], ""),
        ({"mem": "hook"}, ""),
    ],
)
def test_hook_of_knows_our_commands(command, hook):
    assert own.hook_of(command) == hook


@pytest.mark.parametrize(
    ("command", "args", "ours"),
    [
        ("mem", ["mcp"], True),
        ("/a b/mem", ["mcp", "--allowed-dir", "x"], True),
        (["mem", "mcp"], None, True),
        ("npx", ["-y", "mem", "mcp"], False),
        ("mem", ["serve"], False),
        ("mem", None, False),
        (None, None, False),
        ("mem", [1], False),
    ],
)
def test_is_server_knows_our_server(command, args, ours):
    assert own.is_server(command, args) is ours


BLOCK = shell.block("pre-commit", ("guard",), program="/usr/bin/mem")


@pytest.mark.parametrize(
    "data",
    [b"#!/bin/sh\necho x\nexit 3\n", b"#!/usr/bin/env bash\nset -eu\n", b"echo no shebang\n", b"#!/bin/sh -e\nx", b""],
)
def test_block_goes_in_and_comes_out(data):
    assert shell.can_hold(data)
    after = shell.insert(data, BLOCK)
    assert shell.remove(after, "hook") == data
    assert after.splitlines()[0] == (data if data.startswith(b"#!") else BLOCK).splitlines()[0]


@pytest.mark.parametrize(
    "data",
    [b"#!/usr/bin/env python3\nx\n", b"#!/bin/fish\n", b"\x7fELF\0", b"#!/bin/sh\r\nx\r\n", b"#!/bin/sh", b"\xff\n"],
)
def test_block_stays_out_of_what_is_no_shell_script(data):
    assert not shell.can_hold(data)


def test_remove_of_a_whole_file_leaves_none():
    whole = shell.insert(None, shell.block("post-commit", ("index",), program="mem", whole=True))
    assert shell.remove(whole, "hook") is None
    assert shell.remove(whole + b"echo added later\n", "hook") == b"#!/bin/sh\necho added later\n"


def test_remove_refuses_half_a_block():
    with pytest.raises(Conflict, match="by hand"):
        shell.remove(BLOCK[:-5], "hook")


FIRST = st.sampled_from([b"", b"#!/bin/sh\n", b"#!/bin/sh -e\n", b"#!/usr/bin/env bash\n", b"#! /bin/dash\n"])


@given(FIRST, st.text(max_size=60))
def test_any_shell_hook_survives_the_block(first, body):
    data = first + body.encode("utf-8", "replace")
    if shell.can_hold(data):
        assert shell.remove(shell.insert(data, BLOCK), "hook") == data
