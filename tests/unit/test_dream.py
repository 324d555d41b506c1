"""When a notebook is due, what the plan lists, and that the same state gives the same plan."""

from __future__ import annotations

import pytest
from memhooks.memory import dream
from memhooks.memory.record import Memory, seconds

NOW = seconds("2026-11-30T12:00:00Z")
LARGE = "# Notes\n\n" + "A line that is filled with words.\n" * 2000


def plan(text: str, **more: object) -> list[tuple[str, int, int]]:
    made = dream.plan(text, now=NOW, **more)  # type: ignore[arg-type]
    return [(item.action, item.first, item.last) for item in made.items]


@pytest.mark.parametrize(
    ("text", "due"),
    [
        (LARGE, True),
        ("---\nlast_dream: 2026-11-29T11:59:00Z\n---\n" + LARGE, True),
        ("---\nlast_dream: 2026-11-29T12:30:00Z\n---\n" + LARGE, False),
        ("---\nlast_dream: 2027-01-01T00:00:00Z\n---\n" + LARGE, False),
        ("---\nlast_dream: soon\n---\n" + LARGE, True),
        ("# small\n", False),
        ("", False),
        ("ü" * 25_600, False),
        ("ü" * 25_601, True),
    ],
    ids=["never", "old", "recent", "future", "unreadable", "small", "empty", "at-limit", "over-limit"],
)
def test_check_wants_size_and_age(text: str, due: bool) -> None:
    assert dream.check(text, NOW).due is due


def test_stamp_ends_being_due_and_changes_nothing_else() -> None:
    stamped = dream.stamp(LARGE, NOW)
    assert not dream.check(stamped, NOW + 3600).due
    assert dream.check(stamped, NOW + 86_401).due
    assert stamped.endswith(LARGE)
    assert dream.stamp(stamped, NOW + 60) == stamped.replace("12:00:00Z", "12:01:00Z")


def test_plan_finds_near_duplicates() -> None:
    text = (
        "# A\n\n- Always run the linter before you push a branch to the server.\n\n# B\n\n"
        "- Always run the linter before you push your branch to the server.\n- Something else that nobody said.\n"
    )
    assert plan(text) == [("duplicate", 7, 7)]


def test_plan_leaves_short_and_different_blocks_alone() -> None:
    text = "- done\n- done\n\n```\nmake all the things twice now\nmake all the things twice now\n```\n\n" + (
        "The server listens on port 8080 behind the proxy.\n\nThe server listens on port 8081 behind the proxy.\n\n"
        "The API key rotates every week on Monday.\n\nThe database password rotates every quarter on a Friday.\n"
    )
    assert plan(text) == []


def test_plan_joins_neighbours_that_repeat_neighbours() -> None:
    items = "- First run the linter over the whole tree.\n- Then run the tests of the part.\n- ok\n"
    part = f"## Steps\n\n{items}\nAnd push the branch to the server.\n"
    made = dream.plan(f"{part}\nA paragraph that stands between the two parts.\n\n{part}", now=NOW)
    assert [(item.action, item.first, item.last) for item in made.items] == [("duplicate", 13, 17)]
    assert "lines 3-7" in made.items[0].reason
    other = part.replace("- ok", "- not ok")
    assert plan(f"{part}\n{other}") == [("duplicate", 11, 12), ("duplicate", 15, 15)]


def test_plan_keeps_what_differs_in_a_name() -> None:
    text = "- `shea/run.py` is the agent that executes.\n- `nellie/run.py` is the agent that executes.\n"
    assert plan(text) == []


def test_plan_reads_scripts_without_spaces() -> None:
    text = (
        "部署之前先运行全部测试并检查日志。\n\n部署以前先运行全部测试并检查日志。\n\n数据库每天凌晨三点自动备份一次。\n"
    )
    assert plan(text) == [("duplicate", 3, 3)]


def test_plan_finds_what_instruction_files_hold() -> None:
    text = "# Rules\n\nUse tabs for indentation in all of the Go files.\n\nThe parser keeps comments in a side table.\n"
    others = {"CLAUDE.md": "# Style\n\n- Use tabs for indentation in all of the Go files.\n"}
    made = dream.plan(text, now=NOW, others=others)
    assert [(item.action, item.first) for item in made.items] == [("held_elsewhere", 3)]
    assert "CLAUDE.md lines 3-3" in made.items[0].reason


def test_plan_finds_dormant_topics() -> None:
    text = "# Old\n\n2026-01-05: tried the new cache, gave up.\n\n# New\n\n2026-11-20: it works.\n\n# None\n\nText.\n"
    assert plan(text) == [("dormant", 1, 4)]


def test_plan_tightens_old_entries_of_recent_sessions() -> None:
    falling = "".join(f"- 2026-11-{day:02}: worked on part {day} of the parser\n" for day in range(28, 18, -1))
    rising = "".join(f"- 2026-11-{day:02}: worked on part {day} of the parser\n" for day in range(19, 29))
    assert plan(f"# Recent Sessions\n\n{falling}") == [("tighten", 8, 12)]
    assert plan(f"# Recent Sessions\n\n{rising}") == [("tighten", 3, 7)]


def test_plan_lists_expired_and_stale_memories() -> None:
    old = (
        dream.Old(Memory("id-2", "Two", "two"), "stale", "stale: a.py changed"),
        dream.Old(Memory("id-1", "One", "one"), "expired", "expired 2026-01-01"),
    )
    made = dream.plan("", now=NOW, old=old)
    assert [(item.action, item.id) for item in made.items] == [("expired", "id-1"), ("stale", "id-2")]


def test_plan_is_the_same_for_the_same_state() -> None:
    text = "# Recent log\n\n" + "".join(
        f"- 2026-0{1 + n % 9}-11: some entry of a long list, {n % 7}\n" for n in range(60)
    )
    first = dream.plan(text, now=NOW)
    assert first == dream.plan(text, now=NOW)
    assert first.items
    lines = [number for item in first.items for number in range(item.first, item.last + 1)]
    assert len(lines) == len(set(lines)), "items do not overlap"


def test_plan_aims_at_thirty_percent_less() -> None:
    made = dream.plan(LARGE, now=NOW)
    assert made.target == int(made.size * 0.7)


def test_plan_sees_front_matter_and_headings_as_no_text() -> None:
    heading = "# The same heading of many words here\n\n"
    text = f"---\nlast_dream: 2025-01-01T00:00:00Z\n---\n{heading}{heading}"
    assert plan(text) == []


def test_plan_shows_no_secret() -> None:
    secret = "ghp_" + "016C7ZsF9cGFbZ4R1dkP2mQ8xW3vYt5LhN0b"  # made up
    text = f"The deploy token of the project is {secret} for now.\n\n" * 2
    (item,) = dream.plan(text, now=NOW).items
    assert secret not in item.text


def test_plan_keeps_the_longer_of_two_that_overlap() -> None:
    items = [f"- line {n} tells of the {n}th thing that we tried here\n" for n in range(9)]
    copy = "".join([*items[:2], "## More\n", *items[2:]])
    assert plan(f"# A\n{copy}# Old\nWritten on 2020-01-01.\n{copy}") == [("dormant", 12, 13), ("duplicate", 14, 23)]


def test_plan_takes_no_head_of_a_table_for_a_repetition() -> None:
    head = "| Item of the list | Status before that | Status now |\n|---|:---:|---|\n"
    text = f"# A\n\n{head}| one | a | b |\n\n# B\n\n{head}| two | c | d |\n"
    assert plan(text) == []
