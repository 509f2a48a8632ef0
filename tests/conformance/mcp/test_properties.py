"""Properties of MCP's rules: on any input none raises, and messages can be stored."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.conformance import ConformanceReport, ruleset, run_rules
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.mcp.scripts import (
    ASK,
    MODERN,
    ask,
    call,
    error,
    notification,
    question,
    response,
    result,
    run,
    said,
    told,
)
from tests.conformance.nlweb.test_properties import replaced
from tests.conformance.pointers import resolves
from tests.conformance.scripts import ScriptedResponse
from tests.support.json_values import objects, values

VERSIONS = st.sampled_from(["0.54", "0.55"])
NAMES = [
    *("jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data"),
    *("content", "type", "text", "_meta", "structuredContent", "isError", "results", "tools"),
    *("name", "inputSchema", "properties", "required", "query", "$ref", "anyOf", "nextCursor"),
    *("resultType", "inputRequests", "requestState", "protocolVersion", "capabilities", "level"),
    *("response_type", "version", "elicitation", "promise", "progress", "progressToken"),
]
WORDS = [
    *("2.0", "answer", "ask", "await", "object", "text", "input_required", MODERN, "{}", "#/"),
    *("elicitation/create", "notifications/progress", "notifications/message", "info"),
    '{"_meta": {"response_type": "answer"}, "results": [1]}',
]
VALUES = values(NAMES, WORDS)
OBJECTS = objects(NAMES, WORDS)
RESULTS = st.builds(lambda value, more: result(value, **more), VALUES, OBJECTS)
#: Messages that are nearly right.
LIKELY = (
    st.builds(response, RESULTS | VALUES, st.sampled_from([1, "1", None, 2]))
    | st.builds(error, VALUES, VALUES, st.sampled_from([1, None]))
    | st.builds(
        lambda message, params: {**message, "params": params},
        st.sampled_from(
            [
                notification("notifications/progress"),
                notification("notifications/message"),
                question(),
            ]
        ),
        OBJECTS | VALUES,
    )
    | OBJECTS
)
METHODS = st.sampled_from(
    ["tools/call", "tools/list", "initialize", "server/discover", "notifications/initialized"]
)


def check(report: ConformanceReport, reply: ScriptedResponse) -> None:
    assert set(report.verdicts) == {rule.id for rule in ruleset("nlweb", "mcp").rules}
    assert json.dumps(report.to_json(), allow_nan=False, ensure_ascii=False).encode()
    for finding in report.problems:
        assert resolves(reply.frames, finding.seq, finding.pointer), finding


@given(METHODS, st.lists(LIKELY | VALUES, max_size=4), VERSIONS)
def test_any_stream(method: str, messages: list[Any], version: str) -> None:
    number = None if method.startswith("notifications") else 1
    reply = run(call(method, number), told(*(json.dumps(each) for each in messages)))
    check(reply.report_for(version), reply)


@given(METHODS, LIKELY | st.lists(LIKELY, max_size=3) | VALUES, VERSIONS)
def test_any_document(method: str, value: Any, version: str) -> None:
    reply = run(call(method, version=MODERN), said(value))
    check(reply.report_for(version), reply)


WHOLE = {
    "call": response(result(structuredContent=json.loads(result()["content"][0]["text"]))),
    "list": response({"tools": [ASK], "nextCursor": "a"}),
    "question": question(message="?", requestedSchema={"type": "object", "properties": {}}),
}


@given(st.sampled_from(sorted(WHOLE)), st.data(), VERSIONS)
def test_any_value_at_any_place(name: str, data: st.DataObject, version: str) -> None:
    changed = replaced(WHOLE[name], data)
    sent = call("tools/list") if name == "list" else ask()
    reply = run(sent, said(changed))
    check(reply.report_for(version), reply)


@given(
    st.lists(st.tuples(st.sampled_from(FrameKind), st.binary(max_size=60)), max_size=8),
    st.sampled_from(["ask", "await", ""]),
    VERSIONS,
)
def test_any_bytes_in_any_frame(pairs: list[Any], operation: str, version: str) -> None:
    frames = [Frame(at, at, kind, data) for at, (kind, data) in enumerate(pairs, 1)]
    report = run_rules(frames, {}, version, binding="mcp", operation=operation)
    assert json.dumps(report.to_json(), ensure_ascii=False).encode()
