"""Every rule: what keeps it, what breaks it, and where it says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.conformance import RULES, Level, Verdict
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.scripts import Reply, places
from tests.conformance.table import CASES, Case

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
    report = case.good.judged(version)
    assert places(report, case.rule) == []
    assert report.verdicts[case.rule] is Verdict.PASS


@pytest.mark.parametrize(("rule", "reply", "where", "version"), BAD)
def test_broken(rule: str, reply: Reply, where: tuple[Any, ...], version: str) -> None:
    report = reply.judged(version)
    assert tuple(places(report, rule)) == where
    for finding in report.problems:
        assert finding.message.endswith(".")
        assert resolves(reply.frames, finding.seq, finding.pointer), finding


def resolves(frames: tuple[Frame, ...], seq: int | None, pointer: str) -> bool:
    """Whether a pointer leads to something in its frame, or to where something is missing."""
    if not pointer:
        return seq is None or any(frame.seq == seq for frame in frames)
    value = json_of(frames, seq)
    *above, _ = steps = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    for step in above:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return isinstance(value, dict) or int(steps[-1]) < len(value)


def json_of(frames: tuple[Frame, ...], seq: int | None) -> Any:
    frame = next(frame for frame in frames if frame.seq == seq)
    if frame.kind is FrameKind.END:
        return json.loads(b"".join(f.data for f in frames if f.kind is FrameKind.BODY))
    return json.loads(sse.parse(frame.data).data)


class TestTable:
    def test_has_every_rule_in_every_version(self) -> None:
        listed = {(case.rule, version) for case in CASES for version in case.versions}
        broken = {(case.rule, version) for case in CASES if case.bad for version in case.versions}
        assert listed == broken == {(rule.id, v) for rule in RULES for v in rule.demands}

    def test_ids_are_unique(self) -> None:
        assert len({rule.id for rule in RULES}) == len(RULES)

    @pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
    def test_facts(self, rule: Any) -> None:
        assert rule.id == rule.id.lower().replace("_", "-")
        assert rule.title.endswith(".")
        assert rule.check.__doc__
        for level, section in rule.demands.values():
            assert level in Level
            assert section

    def test_stands_in_the_order_of_sections(self) -> None:
        sections = [rule.demands["0.55"].section.split(".") for rule in RULES]
        assert sections == sorted(sections)
