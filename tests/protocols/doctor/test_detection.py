"""What a reply speaks: every capture, every example of the specifications, and anything at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.doctor import DetectedProtocol, detect_protocol, evidence_of
from playground.protocols.doctor.detection import AGENT_SCOPE, ASK_AGENT
from tests.protocols.doctor.wire import frames_of, response
from tests.support.json_values import values
from tests.support.playbook import CAPTURES, EXAMPLES

ASK = DetectedProtocol("nlweb", "0.54", dialect=ASK_AGENT)
SCOPE = DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE)

#: Every captured reply, by folder and name.
CAPTURED: dict[str, DetectedProtocol | None] = {
    "a2a/v03_agent_card": DetectedProtocol(binding="a2a", generation="0.3"),
    "a2a/v03_send_message": DetectedProtocol(binding="a2a", generation="0.3"),
    "a2a/v03_stream_task": DetectedProtocol(binding="a2a", generation="0.3"),
    "a2a/v1_agent_card": DetectedProtocol(binding="a2a", generation="1.0"),
    "a2a/v1_send_message": DetectedProtocol(binding="a2a", generation="1.0"),
    "a2a/v1_stream_task": DetectedProtocol(binding="a2a", generation="1.0"),
    "agentscope/bad_request_no_input": DetectedProtocol("agent-api", dialect=AGENT_SCOPE),
    "agentscope/error_midstream": SCOPE,
    "agentscope/plugin_call": SCOPE,
    "agentscope/text": SCOPE,
    "ask_agent/ask_json": ASK,
    "ask_agent/ask_stream": ASK,
    "ask_agent/ask_stream_elicitation": ASK,
    "ask_agent/rawsocket_stream_failure_midstream": ASK,
    "mcp/raw_json_tools_call": DetectedProtocol("nlweb", "0.55", "mcp"),
    "mcp/raw_modern_call": DetectedProtocol("nlweb", "0.55", "mcp", "2026-07-28"),
    "mcp/raw_modern_discover": DetectedProtocol(binding="mcp", generation="2026-07-28"),
    "mcp/raw_sse_initialize": DetectedProtocol(binding="mcp", generation="2025-06-18"),
    "mcp/raw_sse_initialized": None,
    "mcp/raw_sse_tools_call": DetectedProtocol("nlweb", "0.55", "mcp"),
    "mcp/raw_sse_tools_list": DetectedProtocol(binding="mcp"),
    "nlweb/get_stream": DetectedProtocol("nlweb", "legacy"),
}


def captured() -> list[str]:
    found = (path for path in CAPTURES.glob("*/*.txt") if not path.name.endswith(".req.txt"))
    return sorted(f"{path.parent.name}/{path.stem}" for path in found)


def test_every_capture_has_its_row() -> None:
    assert captured() == sorted(CAPTURED)


@pytest.mark.parametrize("name", sorted(CAPTURED))
def test_a_capture(name: str) -> None:
    evidence = evidence_of(frames_of((CAPTURES / f"{name}.txt").read_bytes()))
    assert evidence.detected == CAPTURED[name]


#: Examples that name no version: 0.54 shows some answers without metadata.
UNNAMED = {
    "response-4.1.1-conversational-search", "response-4.1.2-promise", "response-4.1.4-failure",
}  # fmt: skip


@pytest.mark.parametrize("version", ["0.54", "0.55"])
def test_every_example_of_a_reply_to_nlweb(version: str) -> None:
    folder = EXAMPLES / f"nlweb-{version}"
    documents = sorted(folder.glob("response-*.json"))
    assert documents
    for path in documents:
        speech = evidence_of(frames_of(response(path.read_bytes()))).detected
        unnamed = version == "0.54" and path.stem in UNNAMED
        assert speech == DetectedProtocol("nlweb", "" if unnamed else version), path.name


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("nlweb-*/*.sse")), ids=lambda p: p.stem)
def test_every_example_of_a_stream_of_nlweb(path: Path) -> None:
    raw = response(path.read_bytes(), media_type="text/event-stream")
    version = path.parent.name.removeprefix("nlweb-")
    assert evidence_of(frames_of(raw)).detected == DetectedProtocol("nlweb", version)


@pytest.mark.parametrize(
    ("payload", "speech"),
    [
        ({"results": []}, DetectedProtocol("nlweb")),
        ({"meta": {"version": "0.54"}, "results": []}, DetectedProtocol("nlweb", "0.54")),
        ({"_meta": {"version": "0.99", "response_type": "answer"}}, DetectedProtocol("nlweb")),
        ({"error": {"code": "NO_RESULTS"}}, DetectedProtocol("nlweb")),
        ([{"message_type": "result", "content": []}], DetectedProtocol("nlweb", "legacy")),
        ({"query_id": "q", "nlws": {"answer": "a"}}, DetectedProtocol("nlweb", "legacy")),
        ({"ask_user": {"message": "Where?"}}, DetectedProtocol("nlweb", "legacy")),
        ({"error": {"code": 404, "message": "m"}}, None),
        ({"error": {"code": "NOT_OURS"}}, None),
        ({"error": "Not found"}, None),
        ({"detail": [{"loc": ["body"]}]}, None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}, None),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, None),
        ({"jsonrpc": "2.0", "method": "notifications/progress"}, DetectedProtocol(binding="mcp")),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}, DetectedProtocol(binding="mcp")),
        ({"name": "a", "skills": [], "url": "http://a.example"},
         DetectedProtocol(binding="a2a", generation="0.3")),
        ({"object": "response", "status": "created"}, DetectedProtocol("agent-api", "1")),
        (
            {"object": "response", "status": "failed", "error": {
                "code": "500", "message": "Task u:s is already in RUNNING state"}},
            DetectedProtocol("agent-api", "1", dialect=AGENT_SCOPE),
        ),
        ({"object": "list", "data": []}, None),
        ({}, None),
        ([], None),
        ("hello", None),
        (None, None),
    ],
)  # fmt: skip
def test_a_document(payload: Any, speech: DetectedProtocol | None) -> None:
    assert detect_protocol([(None, payload)]) == speech


@pytest.mark.parametrize(
    ("speech", "label"),
    [
        (DetectedProtocol("nlweb", "0.55"), "NLWeb 0.55"),
        (DetectedProtocol("nlweb"), "NLWeb"),
        (DetectedProtocol("nlweb", "legacy"), "NLWeb, legacy server"),
        (ASK, "NLWeb 0.54 (public ask agent)"),
        (DetectedProtocol("nlweb", "0.55", "mcp", "2025-06-18"), "NLWeb 0.55 over MCP 2025-06-18"),
        (DetectedProtocol(binding="mcp"), "MCP"),
        (DetectedProtocol(binding="a2a", generation="1.0"), "A2A 1.0"),
        (SCOPE, "Agent API (AgentScope Runtime)"),
    ],
)
def test_labels(speech: DetectedProtocol, label: str) -> None:
    assert speech.label == label


NAMES = (
    "_meta meta response_type version results error code message object status jsonrpc result "
    "tools content kind name skills url supportedInterfaces item elicitation promise text "
    "protocolVersion supportedVersions structuredContent metadata message_type method"
).split()
WORDS = ["0.55", "answer", "Answer", "response", "message", "2.0", "in_progress", '{"results":1}']
EVENTS = st.sampled_from([None, "start", "result", "complete", "message", "odd"])


@given(st.lists(st.tuples(EVENTS, values(NAMES, WORDS)), max_size=4), st.booleans())
def test_anything_can_be_looked_at(messages: list[tuple[str | None, Any]], streamed: bool) -> None:
    speech = detect_protocol(messages, streamed=streamed)
    assert speech is None or speech.label
    raw = response(json.dumps([payload for _, payload in messages]).encode())
    assert evidence_of(frames_of(raw)).status == 200
