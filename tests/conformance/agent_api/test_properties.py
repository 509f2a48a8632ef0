"""Properties of the Agent API's rules: on any input none raises, and messages can be stored."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.conformance import ConformanceReport, ruleset, run_rules
from playground.protocols.agent_api import constants
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.agent_api.scripts import at_once, whole
from tests.conformance.agent_api.table import CASES
from tests.conformance.nlweb.test_properties import payloads, replaced
from tests.conformance.pointers import resolves
from tests.conformance.scripts import SSE, head
from tests.support.json_values import objects, values

NAMES = [
    *("object", "id", "status", "type", "role", "content", "msg_id", "index", "delta", "text"),
    *("data", "image_url", "error", "code", "message", "output", "usage", "session_id"),
    *("sequence_number", "created_at", "completed_at", "call_id", "name", "arguments", "input"),
]
WORDS = [
    *("response", "message", "content", "m", "r", "[DONE]", '{"a": 1}', "{", "0", "7"),
    *constants.STATUSES, *constants.MESSAGE_TYPES, *constants.CONTENT_TYPES,
]  # fmt: skip
VALUES = values(NAMES, WORDS)
OBJECTS = objects(NAMES, WORDS)
#: Objects that are nearly right, in any order.
LIKELY = st.builds(
    lambda kind, more: {"object": kind, **more},
    st.sampled_from(["response", "message", "content"]),
    st.fixed_dictionaries(
        {"status": st.sampled_from(constants.STATUSES) | VALUES},
        optional={
            "id": st.sampled_from(["m", "n", "r"]) | VALUES,
            "msg_id": st.sampled_from(["m", "n"]) | VALUES,
            "type": st.sampled_from(WORDS) | VALUES,
            "index": st.integers(-1, 3) | VALUES,
            "delta": st.booleans() | VALUES,
            "text": st.sampled_from(["a", "b", ""]) | VALUES,
            "data": OBJECTS | VALUES,
            "content": st.lists(OBJECTS, max_size=2) | VALUES,
            "output": st.lists(OBJECTS, max_size=2) | VALUES,
            "error": OBJECTS | VALUES,
            "sequence_number": st.integers(0, 9) | st.sampled_from(["0", "1"]) | VALUES,
            "session_id": VALUES,
            "usage": VALUES,
        },
    ),
)
MESSAGES = [
    (case, found)
    for case in CASES
    for reply in (case.good, *(reply for reply, _ in case.bad))
    if (found := payloads(reply))
]


def check(report: ConformanceReport, frames: tuple[Frame, ...]) -> None:
    assert set(report.verdicts) == {rule.id for rule in ruleset("agent-api").rules}
    assert json.dumps(report.to_json(), allow_nan=False, ensure_ascii=False).encode()
    for finding in report.problems:
        assert resolves(frames, finding.seq, finding.pointer), finding


@given(st.lists(LIKELY | OBJECTS | VALUES, max_size=8), OBJECTS)
def test_any_sequence(messages: list[Any], request: Any) -> None:
    reply = at_once(*(json.dumps(each) for each in messages))
    check(run_rules(reply.frames, request, "1", protocol="agent-api"), reply.frames)


@given(LIKELY | VALUES, VALUES)
def test_any_document(value: Any, request: Any) -> None:
    reply = whole(value)
    check(run_rules(reply.frames, request, "1", protocol="agent-api"), reply.frames)


@given(st.sampled_from(MESSAGES), st.data())
def test_any_value_at_any_place(found: Any, draw: st.DataObject) -> None:
    messages = found[1]
    at = draw.draw(st.integers(0, len(messages) - 1))
    changed = [replaced(value, draw) if i == at else value for i, (_, value) in enumerate(messages)]
    reply = at_once(*(json.dumps(each) for each in changed))
    check(reply.report_for("1"), reply.frames)


@given(
    st.sampled_from([SSE, "application/json", None]),
    st.lists(st.tuples(st.sampled_from(FrameKind), st.binary(max_size=40)), max_size=6),
)
def test_any_bytes_in_any_frame(media_type: str | None, pairs: list[Any]) -> None:
    frames = [Frame(1, 1, FrameKind.HEAD, head(200, media_type))]
    frames += [Frame(at, at, kind, data) for at, (kind, data) in enumerate(pairs, 2)]
    report = run_rules(frames, {}, "1", protocol="agent-api")
    assert json.dumps(report.to_json(), ensure_ascii=False).encode()
