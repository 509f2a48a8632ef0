"""Every rule of MCP: what keeps it, what breaks it, and where it says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.conformance import RULES as HTTP_RULES
from playground.conformance import Level, Verdict, book
from playground.conformance.mcp import RULES
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.mcp.table import CASES
from tests.conformance.scripts import Reply, places
from tests.conformance.table import Case

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
        assert leads(reply.frames, finding.seq, finding.pointer), finding


def leads(frames: tuple[Frame, ...], seq: int | None, pointer: str) -> bool:
    """Whether a pointer leads to something in its frame, or to where something is missing.

    What stands behind a `#` leads on in the JSON of the text before it.
    """
    outer, mark, inner = pointer.partition("#")
    if not outer:
        return seq is None or any(frame.seq == seq for frame in frames)
    found = stepped(json_of(frames, seq), outer)
    return stepped(json.loads(found), inner) is not None if mark and inner else True


MISSING = object()


def stepped(value: Any, pointer: str) -> Any:
    """The value at a pointer; only its last step may lead to nothing. Raises otherwise."""
    *above, last = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    for step in above:
        value = value[int(step)] if isinstance(value, list) else value[step]
    if isinstance(value, list):
        return value[int(last)]
    assert isinstance(value, dict)
    return value.get(last, MISSING) if value.get(last) is not None else MISSING


def json_of(frames: tuple[Frame, ...], seq: int | None) -> Any:
    at = next(at for at, frame in enumerate(frames) if frame.seq == seq)
    if frames[at].kind is not FrameKind.END:
        return json.loads(sse.parse(frames[at].data).data)
    head = max(n for n in range(at) if frames[n].kind is FrameKind.HEAD)
    return json.loads(b"".join(f.data for f in frames[head:at] if f.kind is FrameKind.BODY))


def test_the_table_has_every_rule() -> None:
    assert [case.rule for case in CASES if case.bad] == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_facts(rule: Any) -> None:
    assert rule.id.startswith("mcp.")
    assert rule.id == rule.id.lower().replace("_", "-")
    assert rule.title.endswith(".")
    assert rule.check.__doc__
    assert set(rule.demands) == {"0.54", "0.55"}
    for level, section in rule.demands.values():
        assert level in Level
        assert section


def test_no_rule_about_http_and_streams_is_asked_of_nlweb_over_mcp() -> None:
    content, own = book("nlweb", "mcp").chapters
    left = {rule.id for rule in HTTP_RULES} - {rule.id for rule in content.rules}
    assert left == {
        "reply-object", "http-error-failure", "one-reply", "http-retry-after",
        "http-content-type", "http-status", "http-status-fits-code", "http-no-redirect",
        "streaming-honoured", "stream-closed", "stream-bom", "stream-compression",
        "stream-data-json", "stream-events-named", "stream-events-known", "stream-start-first",
        "stream-start-once", "stream-start-meta", "stream-complete-present",
        "stream-complete-once", "stream-complete-last", "stream-complete-meta", "error-event",
        "error-event-meta", "error-event-last", "result-event", "result-index",
        "result-index-unique", "result-index-gapless", "result-order", "schema-event",
    }  # fmt: skip
    assert own.rules == RULES
