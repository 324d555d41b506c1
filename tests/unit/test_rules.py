"""Every rule of the guard is tried on its own hit and near miss."""

from __future__ import annotations

import re

import pytest
from memhooks.memory import rules, rules_instructions
from memhooks.memory.policy import explain, scan
from rule_examples import example

SECRETS = rules.secret_rules()
INSTRUCTIONS = rules_instructions.ROWS


@pytest.mark.parametrize("rule", SECRETS, ids=lambda rule: rule.id)
def test_secret_rule_finds_its_hit_in_prose(rule: rules.Rule) -> None:
    hit = example(rule.hit)
    text = f"The deploy script uses {hit}, see the runbook."
    found = scan(text)
    assert found, "the hit is not found"
    assert any(f.start < 23 + len(hit) and f.end > 23 for f in found)
    assert re.compile(rules.expression(rule.pattern)).search(text)


@pytest.mark.parametrize("rule", SECRETS, ids=lambda rule: rule.id)
def test_secret_rule_passes_its_near_miss(rule: rules.Rule) -> None:
    text = f"Written as {example(rule.near)} in the docs."
    assert [f for f in scan(text) if f.rule == rule.id] == []


@pytest.mark.parametrize("rule", SECRETS, ids=lambda rule: rule.id)
def test_secret_rule_is_announced_by_its_literals(rule: rules.Rule) -> None:
    literals = rule.words()
    assert not literals or any(literal in example(rule.hit) for literal in literals)


def test_secret_rules_have_unique_ids_sources_and_examples() -> None:
    assert len({rule.id for rule in SECRETS}) == len(SECRETS)
    assert all(rule.source and rule.hit and rule.near and rule.pattern for rule in SECRETS)


@pytest.mark.parametrize("row", INSTRUCTIONS, ids=lambda row: row[0])
def test_instruction_rule_finds_its_hit_and_passes_its_miss(row: tuple[str, ...]) -> None:
    rule, hit, miss = row[0], row[5], row[6]
    assert rule in [f.rule for f in scan(hit, strict=rule in rules_instructions.STRICT)]
    assert rule not in [f.rule for f in scan(miss, strict=True)]
    assert [f for f in scan(miss) if f.category == "instruction"] == []


@pytest.mark.parametrize("rule", [*[r.id for r in SECRETS], *[r[0] for r in INSTRUCTIONS], "generic-password"])
def test_explain_says_what_to_do_in_one_line(rule: str) -> None:
    text = explain(rule)
    assert "\n" not in text
    assert ";" in text


def test_examples_hold_no_live_looking_key_in_the_source() -> None:
    assert all(not scan(field) for rule in SECRETS for field in (rule.hit, rule.near) if "{" in field)
