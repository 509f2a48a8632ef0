"""Properties of all rules: on any input none raises, and what is found can be stored and shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.conformance import RULESETS, run_rules
from playground.protocols.agent_api import constants
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.agent_api.scripts import at_once, whole
from tests.conformance.mcp import scripts as mcp
from tests.conformance.pointers import resolves
from tests.conformance.scripts import JSON, SSE, ScriptedResponse, event, head, stream
from tests.conformance.tables import TABLES
from tests.support import nlweb_values
from tests.support.json_values import objects, values

KEYS = list(RULESETS)
VERSIONS = {
    "nlweb": st.sampled_from(["0.54", "0.55"]),
    "agent-api": st.just("1"),
    "chat-completions": st.just("1"),
}

# Of MCP

MCP_NAMES = [
    *("jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data"),
    *("content", "type", "text", "_meta", "structuredContent", "isError", "results", "tools"),
    *("name", "inputSchema", "properties", "required", "query", "$ref", "anyOf", "nextCursor"),
    *("resultType", "inputRequests", "requestState", "protocolVersion", "capabilities", "level"),
    *("response_type", "version", "elicitation", "promise", "progress", "progressToken"),
]
MCP_WORDS = [
    *("2.0", "answer", "ask", "await", "object", "text", "input_required", mcp.MODERN, "{}", "#/"),
    *("elicitation/create", "notifications/progress", "notifications/message", "info"),
    '{"_meta": {"response_type": "answer"}, "results": [1]}',
]
MCP_VALUES, MCP_OBJECTS = values(MCP_NAMES, MCP_WORDS), objects(MCP_NAMES, MCP_WORDS)
RESULTS = st.builds(lambda value, more: mcp.result(value, **more), MCP_VALUES, MCP_OBJECTS)
NOTIFIED = [
    mcp.notification("notifications/progress"),
    mcp.notification("notifications/message"),
    mcp.question(),
]
#: Messages that are nearly right.
MESSAGES = (
    st.builds(mcp.response, RESULTS | MCP_VALUES, st.sampled_from([1, "1", None, 2]))
    | st.builds(mcp.error, MCP_VALUES, MCP_VALUES, st.sampled_from([1, None]))
    | st.builds(
        lambda message, params: {**message, "params": params},
        st.sampled_from(NOTIFIED),
        MCP_OBJECTS | MCP_VALUES,
    )
    | MCP_OBJECTS
)
METHODS = st.sampled_from(
    ["tools/call", "tools/list", "initialize", "server/discover", "notifications/initialized"]
)

# Of the Agent API

AGENT_NAMES = [
    *("object", "id", "status", "type", "role", "content", "msg_id", "index", "delta", "text"),
    *("data", "image_url", "error", "code", "message", "output", "usage", "session_id"),
    *("sequence_number", "created_at", "completed_at", "call_id", "name", "arguments", "input"),
]
STATUSES = constants.words("message", "status")[0]
AGENT_WORDS = [
    *("response", "message", "content", "m", "r", "[DONE]", '{"a": 1}', "{", "0", "7"),
    *STATUSES, *constants.words("message", "type")[0], *constants.words("content", "type")[0],
]  # fmt: skip
AGENT_VALUES, AGENT_OBJECTS = values(AGENT_NAMES, AGENT_WORDS), objects(AGENT_NAMES, AGENT_WORDS)
MEMBERS = {
    "id": st.sampled_from(["m", "n", "r"]),
    "msg_id": st.sampled_from(["m", "n"]),
    "type": st.sampled_from(AGENT_WORDS),
    "index": st.integers(-1, 3),
    "delta": st.booleans(),
    "text": st.sampled_from(["a", "b", ""]),
    "data": AGENT_OBJECTS,
    "content": st.lists(AGENT_OBJECTS, max_size=2),
    "output": st.lists(AGENT_OBJECTS, max_size=2),
    "error": AGENT_OBJECTS,
    "sequence_number": st.integers(0, 9) | st.sampled_from(["0", "1"]),
    "session_id": st.nothing(),
    "usage": st.nothing(),
}
#: Objects that are nearly right, in any order.
OBJECTS = st.builds(
    lambda kind, more: {"object": kind, **more},
    st.sampled_from(["response", "message", "content"]),
    st.fixed_dictionaries(
        {"status": st.sampled_from(STATUSES) | AGENT_VALUES},
        optional={name: likely | AGENT_VALUES for name, likely in MEMBERS.items()},
    ),
)

ANY_VALUE = {
    "nlweb": nlweb_values.VALUES,
    "mcp": MCP_VALUES,
    "agent-api": AGENT_VALUES,
    "chat-completions": AGENT_VALUES,
}
#: Responses of any content.
RESPONSES = {
    "NLWeb, a stream": st.lists(
        st.tuples(nlweb_values.EVENT_NAMES, nlweb_values.VALUES), max_size=5
    ).map(lambda events: stream(*(event(name, payload) for name, payload in events))),
    "MCP, a stream": st.builds(
        lambda method, messages: mcp.run(
            mcp.call(method, None if method.startswith("notifications") else 1),
            mcp.told(*(json.dumps(each) for each in messages)),
        ),
        METHODS,
        st.lists(MESSAGES | MCP_VALUES, max_size=4),
    ),
    "MCP, a document": st.builds(
        lambda method, value: mcp.run(mcp.call(method, version=mcp.MODERN), mcp.said(value)),
        METHODS,
        MESSAGES | st.lists(MESSAGES, max_size=3) | MCP_VALUES,
    ),
    "Agent API, a stream": st.lists(OBJECTS | AGENT_OBJECTS | AGENT_VALUES, max_size=8).map(
        lambda objects: at_once(*(json.dumps(each) for each in objects))
    ),
    "Agent API, a document": (OBJECTS | AGENT_VALUES).map(whole),
}


def check(reply: ScriptedResponse, version: str) -> None:
    report = reply.report_for(version)
    rules = RULESETS[reply.protocol, reply.binding].rules
    assert set(report.verdicts) == {rule.id for rule in rules}
    assert json.dumps(report.to_json(), allow_nan=False, ensure_ascii=False).encode()
    for finding in report.problems:
        assert resolves(reply.frames, finding.seq, finding.pointer), finding


@pytest.mark.parametrize("name", RESPONSES)
@given(data=st.data())
def test_any_response(name: str, data: st.DataObject) -> None:
    reply = data.draw(RESPONSES[name])
    request = data.draw(nlweb_values.OBJECTS | st.just({}))
    check(replace(reply, request=request), data.draw(VERSIONS[reply.protocol]))


def documents(reply: ScriptedResponse) -> Iterator[tuple[int, bytes, Any, bytes]]:
    """The JSON of a response: the number of the frame, what is before it, a value, what follows."""
    for at, frame in enumerate(reply.frames):
        before, text, after = b"", frame.data, b""
        if frame.kind is FrameKind.EVENT:
            parts = re.fullmatch(rb"((?:.*\n)*?data: )(.*)(\n+)", frame.data)
            before, text, after = parts.groups() if parts else (b"", b"", b"")
        elif frame.kind is not FrameKind.BODY:
            continue
        try:
            yield at, before, json.loads(text), after
        except ValueError:
            continue


def replaced(value: Any, data: st.DataObject, any_value: st.SearchStrategy[Any]) -> Any:
    """`value` with an arbitrary JSON value somewhere in it."""
    inner = value if isinstance(value, dict | list) and value else None
    if inner is None or data.draw(st.integers(0, 3)) == 0:
        return data.draw(any_value)
    keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
    key = data.draw(st.sampled_from(keys))
    changed = dict(inner) if isinstance(inner, dict) else dict(enumerate(inner))
    changed[key] = replaced(inner[key], data, any_value)
    return changed if isinstance(inner, dict) else list(changed.values())


REPLIES = {
    name: [reply for c in cases for reply in (c.good, *(bad for bad, _ in c.bad))]
    for name, cases in zip(ANY_VALUE, TABLES, strict=True)
}
WITH_JSON = {name: [r for r in some if any(documents(r))] for name, some in REPLIES.items()}


@pytest.mark.parametrize("name", WITH_JSON)
@given(data=st.data())
def test_any_value_at_any_place(name: str, data: st.DataObject) -> None:
    reply = data.draw(st.sampled_from(WITH_JSON[name]))
    at, before, value, after = data.draw(st.sampled_from(list(documents(reply))))
    changed = before + json.dumps(replaced(value, data, ANY_VALUE[name])).encode() + after
    frames = [f.with_data(changed) if n == at else f for n, f in enumerate(reply.frames)]
    check(replace(reply, frames=tuple(frames)), data.draw(VERSIONS[reply.protocol]))


@pytest.mark.parametrize("key", KEYS, ids=" over ".join)
@given(
    st.sampled_from([JSON, SSE, "text/plain", None]),
    st.lists(st.tuples(st.sampled_from(FrameKind), st.binary(max_size=60)), max_size=8),
    nlweb_values.VALUES,
    st.sampled_from(["ask", "await", ""]),
    st.sampled_from(["0.54", "0.55", "1"]),
)
def test_any_bytes_in_any_frame(
    key: tuple[str, str],
    media_type: str | None,
    pairs: list[tuple[FrameKind, bytes]],
    request: Any,
    operation: str,
    version: str,
) -> None:
    frames = [Frame(1, 1, FrameKind.HEAD, head(200, media_type))]
    frames += [Frame(at, at, kind, data) for at, (kind, data) in enumerate(pairs, 2)]
    protocol, binding = key
    report = run_rules(
        frames, request, version, protocol=protocol, binding=binding, operation=operation
    )
    assert json.dumps(report.to_json(), ensure_ascii=False).encode()


@given(st.sampled_from(REPLIES["nlweb"]), nlweb_values.VALUES, nlweb_values.VALUES)
def test_any_request(reply: ScriptedResponse, prefer: Any, meta: Any) -> None:
    for version in ("0.54", "0.55"):
        check(reply.asked(prefer=prefer, meta=meta), version)
