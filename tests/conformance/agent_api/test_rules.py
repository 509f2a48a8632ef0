"""Facts of every rule of the Agent API, and that `test_rulesets` has a case for each."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Level
from playground.conformance.agent_api import RULES, VERSION
from tests.conformance.agent_api.scripts import message, numbered, response
from tests.conformance.agent_api.table import CASES


def test_the_table_has_every_rule() -> None:
    assert [case.rule for case in CASES if case.bad] == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_facts(rule: Any) -> None:
    assert rule.id.startswith("agent-api.")
    assert rule.id == rule.id.lower().replace("_", "-")
    assert rule.title.endswith(".")
    assert rule.check.__doc__
    assert [(level in Level, bool(section)) for level, section in rule.requirements.values()] == [
        (True, True)
    ]


@pytest.mark.parametrize(
    ("kind", "rule", "remark"),
    [
        ("novel", "message-type-known", "Clients may not support it."),
        ("reasoning", "message-type-used", "Some agents use this value."),
        ("assistant", "message-type-used", "Examples of the specification use this value."),
    ],
)
def test_an_unlisted_type_is_told_from_one_that_is_used(kind: str, rule: str, remark: str) -> None:
    report = numbered(response(), message(type=kind)).report_for(VERSION)
    (found,) = (each for each in report.findings if each.rule == f"agent-api.{rule}")
    assert found.message.endswith(remark)
