"""Facts of every rule of NLWeb, and that `test_rulesets` has a case for each."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import RULES, Level
from tests.conformance.nlweb.table import CASES
from tests.conformance.scripts import document


class TestTable:
    def test_has_every_rule_in_every_version(self) -> None:
        listed = {(case.rule, version) for case in CASES for version in case.versions}
        broken = {(case.rule, version) for case in CASES if case.bad for version in case.versions}
        assert listed == broken == {(rule.id, v) for rule in RULES for v in rule.requirements}

    def test_ids_are_unique(self) -> None:
        assert len({rule.id for rule in RULES}) == len(RULES)

    @pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
    def test_facts(self, rule: Any) -> None:
        assert rule.id == rule.id.lower().replace("_", "-")
        assert rule.title.endswith(".")
        assert rule.check.__doc__
        for level, section in rule.requirements.values():
            assert level in Level
            assert section

    def test_stands_in_the_order_of_sections(self) -> None:
        sections = [rule.requirement("0.55").section.split(".") for rule in RULES]
        assert sections == sorted(sections)


def test_an_array_of_messages_is_judged_as_an_array() -> None:
    """Older servers send it; nothing in it is a response."""
    report = document([{"message_type": "nlws"}, {"message_type": "complete"}]).report_for("0.55")
    assert [finding.rule for finding in report.problems] == ["reply-object"]
