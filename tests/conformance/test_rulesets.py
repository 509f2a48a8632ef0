"""Cases of every rule in every rule set: complying and violating responses, and locations."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Verdict
from tests.conformance.agent_api import table as agent_api
from tests.conformance.mcp import table as mcp
from tests.conformance.nlweb import table
from tests.conformance.nlweb.table import Case
from tests.conformance.pointers import resolves
from tests.conformance.scripts import ScriptedResponse, locations

CASES = (*table.CASES, *mcp.CASES, *agent_api.CASES)
GOOD = [
    pytest.param(case, version, id=f"{case.rule}-{version}")
    for case in CASES
    for version in case.versions
]
BAD = [
    pytest.param(case.rule, reply, where, version, id=f"{case.rule}-{version}-{at}")
    for case in CASES
    for version in case.versions
    for at, (reply, where) in enumerate(case.bad)
]


@pytest.mark.parametrize(("case", "version"), GOOD)
def test_kept(case: Case, version: str) -> None:
    report = case.good.report_for(version)
    assert locations(report, case.rule) == []
    assert report.verdicts[case.rule] is Verdict.PASS


@pytest.mark.parametrize(("rule", "reply", "where", "version"), BAD)
def test_broken(rule: str, reply: ScriptedResponse, where: tuple[Any, ...], version: str) -> None:
    report = reply.report_for(version)
    assert tuple(locations(report, rule)) == where
    for finding in report.problems:
        assert finding.message.endswith(".")
        assert resolves(reply.frames, finding.seq, finding.pointer), finding
