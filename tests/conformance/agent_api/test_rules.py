"""Every rule of the Agent API: what is said of it, and that `test_cases` tries it."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Level
from playground.conformance.agent_api import RULES
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
