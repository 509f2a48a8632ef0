"""Every rule of the Agent API: what keeps it, what breaks it, and where it says so."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Level, Verdict
from playground.conformance.agent_api import RULES
from tests.conformance.agent_api.table import CASES
from tests.conformance.scripts import Reply, places
from tests.conformance.table import Case
from tests.conformance.test_rules import resolves

BAD = [
    pytest.param(case.rule, reply, where, id=f"{case.rule}-{at}")
    for case in CASES
    for at, (reply, where) in enumerate(case.bad)
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_kept(case: Case) -> None:
    report = case.good.judged("1")
    assert places(report, case.rule) == []
    assert report.verdicts[case.rule] is Verdict.PASS


@pytest.mark.parametrize(("rule", "reply", "where"), BAD)
def test_broken(rule: str, reply: Reply, where: tuple[Any, ...]) -> None:
    report = reply.judged("1")
    assert tuple(places(report, rule)) == where
    for finding in report.problems:
        assert finding.message.endswith(".")
        assert resolves(reply.frames, finding.seq, finding.pointer), finding


def test_the_table_has_every_rule() -> None:
    assert [case.rule for case in CASES if case.bad] == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_facts(rule: Any) -> None:
    assert rule.id.startswith("agent-api.")
    assert rule.id == rule.id.lower().replace("_", "-")
    assert rule.title.endswith(".")
    assert rule.check.__doc__
    assert [(level in Level, bool(section)) for level, section in rule.demands.values()] == [
        (True, True)
    ]
