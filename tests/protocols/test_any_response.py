"""Whatever a server sends, over every protocol and binding: nothing raises, everything ends.

Events can be stored, and a stored run reads like the live one.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import mcp, registry
from playground.protocols.actions.bindings import plan
from playground.protocols.actions.extract import actions_of
from playground.protocols.actions.plans import ServerInfo
from playground.protocols.events import Event, Outcome
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame, FrameKind
from tests.protocols.a2a.conversation import AGENT, CARD_03
from tests.protocols.mcp.talk import MODERN, OLDER, block
from tests.support.json_values import objects, values
from tests.support.nlweb_values import EVENT_NAMES, OBJECTS, VALUES
from tests.support.playbook import JSON, SSE

URL = "http://agent.example.com/mcp"
QUERY = {"query": {"text": "eggs"}}
STATUSES = st.sampled_from([200, 200, 200, 202, 302, 400, 401, 404, 429, 500])


def rpc(names: Sequence[str], texts: Sequence[str]) -> st.SearchStrategy[Any]:
    """JSON-RPC messages; those that get far have the id of one of the first calls."""
    own_id = st.sampled_from([1, 2, 3, 4, "1", None])
    members = objects(names, texts)
    proper = st.builds(
        lambda number, more: {"jsonrpc": "2.0", "id": number, **more}, own_id, members
    )
    result = st.builds(lambda number, value: {"jsonrpc": "2.0", "id": number, "result": value},
                       own_id, members)  # fmt: skip
    return proper | result | values(names, texts)


MCP_MESSAGES = rpc(
    (
        "jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data", "tools",
        "nextCursor", "content", "text", "structuredContent", "isError", "resultType",
        "inputRequests", "requestState", "requestedSchema", "properties", "enum", "oneOf", "const",
        "items", "supportedVersions", "protocolVersion", "_meta", "results", "elicitations", "url",
    ),
    (
        "2.0", "ping", "elicitation/create", "notifications/progress", "notifications/message",
        "input_required", "2026-07-28", "2025-06-18", '{"results": [1]}', "ask", "array", "integer",
    ),
)  # fmt: skip
A2A_MESSAGES = rpc(
    (
        "jsonrpc", "id", "result", "error", "code", "message", "task", "statusUpdate", "kind",
        "artifactUpdate", "taskId", "contextId", "status", "state", "artifact", "artifacts",
        "artifactId", "parts", "append", "text", "data", "file", "url", "history", "role",
        "elicitation", "questions", "_meta",
    ),
    (
        "task", "status-update", "artifact-update", "message", "working", "completed", "failed",
        "input-required", "TASK_STATE_WORKING", "agent", "t",
    ),
)  # fmt: skip
AGENT_API_OBJECTS = objects(
    (
        "object", "id", "type", "role", "status", "content", "code", "message", "error", "output",
        "usage", "session_id", "sequence_number", "index", "delta", "msg_id", "text", "image_url",
        "data", "call_id", "name", "arguments", "refusal", "detail", "loc", "msg", "response",
    ),
    (
        "response", "message", "content", "msg_1", "msg_2", "text", "image", "data", "created",
        "in_progress", "completed", "failed", "function_call", "function_call_output", "error",
        "reasoning", "heartbeat", "mcp_approval_request", "assistant", "user",
    ),
)  # fmt: skip


CHAT_OBJECTS = objects(
    (
        "object", "id", "choices", "index", "delta", "message", "role", "content", "refusal",
        "reasoning", "tool_calls", "function", "name", "arguments", "finish_reason", "usage",
        "error", "type", "code", "text", "messages",
    ),
    ("chat.completion", "chat.completion.chunk", "assistant", "stop", "length", "[DONE]", "text"),
)  # fmt: skip


class Spoken(NamedTuple):
    """A target and a request, and what is sent in reply."""

    target: Target
    request: Any
    payloads: st.SearchStrategy[Any]
    #: Responses before those that are generated.
    first: tuple[Any, ...] = ()

    def exchange(self) -> Exchange:
        """Return a new exchange; that of the tools alone without a request."""
        if self.request is None:
            return mcp.list_tools(self.target)
        return registry.exchange(self.target, self.request)


def action(**members: Any) -> Spoken:
    """An action of this kind."""
    (found,) = actions_of({"actions": [{"name": "n", "description": "d", **members}]})
    is_a2a = members["protocol"] == "A2A"
    info = ServerInfo(URL, description=CARD_03 if is_a2a else None, message_id="m")
    made = plan(found, "http://agent.example.com", server_info=info)
    messages = {"HTTP": OBJECTS | VALUES, "MCP": MCP_MESSAGES, "A2A": A2A_MESSAGES}
    target = Target(made.url, registry.ACTION)
    first = (CARD_03,) if is_a2a else ()
    return Spoken(target, made.request, messages[members["protocol"]], first)


SPOKEN = {
    **{f"NLWeb {name}": Spoken(Target(URL, version=name), QUERY, VALUES | OBJECTS)
       for name in ("legacy", "0.54", "0.55")},
    **{f"NLWeb over MCP, {name}": Spoken(Target(URL, binding="mcp", handshake=known), QUERY,
                                         MCP_MESSAGES)
       for name, known in (("new", None), ("modern", MODERN), ("older", OLDER))},
    "tools of MCP": Spoken(Target(URL, binding="mcp"), None, MCP_MESSAGES),
    "Agent API": Spoken(Target(URL, protocol="agent-api", version="1"), {"input": []},
                        AGENT_API_OBJECTS),
    "Chat Completions": Spoken(Target(URL, protocol="chat-completions", version="1"),
                               {"messages": []}, CHAT_OBJECTS),
    "action over HTTP": action(protocol="HTTP", method="GET", endpoint=URL),
    "action over MCP": action(protocol="MCP", server="s", tool="t"),
    "action over A2A": action(protocol="A2A", agent_url=AGENT, skill="ask"),
}  # fmt: skip


class Recorded:
    """An exchange that is fed, and its frames."""

    def __init__(self, spoken: Spoken) -> None:
        self.exchange = spoken.exchange()
        self.frames: list[Frame] = []
        self.events: list[Event] = []

    def add(self, kind: FrameKind, data: bytes = b"") -> None:
        """Feed a frame."""
        self.frames.append(Frame(len(self.frames) + 1, 0, kind, data))
        self.events += self.exchange.receive(self.frames[-1])

    def call(self) -> bool:
        """Make the next call; return whether there is one."""
        if (call := self.exchange.next_call()) is None:
            return False
        lines = [f"{call.method} /mcp HTTP/1.1", *(f"{n}: {v}" for n, v in call.headers)]
        self.add(FrameKind.CALL, "\r\n".join(lines).encode() + b"\r\n\r\n" + call.body)
        return True

    def answer(self, status: int, blocks: list[bytes], *, streamed: bool) -> None:
        """Answer the call with events, or with a document."""
        kind = SSE if streamed else JSON
        self.add(FrameKind.HEAD, f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n\r\n".encode())
        for data in blocks:
            self.add(FrameKind.EVENT if streamed else FrameKind.BODY, data)
        self.add(FrameKind.END)


def check(spoken: Spoken, played: Recorded) -> None:
    """Assert that the events can be stored, and that the stored run reads like this one."""
    json.dumps([dataclasses.asdict(event) for event in played.events], allow_nan=False)
    json.dumps([repr(event) for event in played.events], ensure_ascii=False).encode()
    assert isinstance(played.exchange.outcome, Outcome)
    again = spoken.exchange()
    assert [each for frame in played.frames for each in again.receive(frame)] == played.events
    assert (again.outcome, again.problem) == (played.exchange.outcome, played.exchange.problem)
    json.dumps([played.exchange.handshake, played.exchange.session_context])


@pytest.mark.parametrize("name", SPOKEN)
@given(data=st.data())
def test_any_responses(name: str, data: st.DataObject) -> None:
    """Within the pages of tool lists, openings, calls and polls, whatever is repeated."""
    spoken = SPOKEN[name]
    response = st.tuples(
        STATUSES, st.lists(st.tuples(EVENT_NAMES, spoken.payloads), max_size=4), st.booleans()
    )
    responses = data.draw(st.lists(response, min_size=1, max_size=4))
    played = Recorded(spoken)
    for first in spoken.first:
        assert played.call()
        played.answer(200, [json.dumps(first).encode()], streamed=False)
    turn = 0
    while turn < 150 and played.call():
        status, messages, streamed = responses[turn % len(responses)]
        if streamed:
            blocks = [
                block(payload).replace(b"event: message", f"event: {event or 'message'}".encode())
                for event, payload in messages
            ]
        else:
            documents = [payload for _, payload in messages]
            whole = documents[0] if len(documents) == 1 else documents
            blocks = [json.dumps(whole).encode()] if documents else []
        played.answer(status, blocks, streamed=streamed)
        if isinstance(played.exchange, mcp.McpExchange):
            played.exchange.automatic_responses()
        turn += 1
    assert turn < 150
    check(spoken, played)


@pytest.mark.parametrize("name", SPOKEN)
@given(
    frames=st.lists(
        st.tuples(
            st.sampled_from(list(FrameKind)),
            st.binary(max_size=60) | st.sampled_from([b'{"a": 1}', b"data: 1\n\n", b"[[[["]),
        ),
        max_size=12,
    )
)
def test_any_frames_in_any_order(name: str, frames: list[tuple[FrameKind, bytes]]) -> None:
    played = Recorded(SPOKEN[name])
    for kind, content in frames:
        played.add(kind, content)
    check(SPOKEN[name], played)


@pytest.mark.parametrize("name", ["NLWeb 0.54", "Agent API", "Chat Completions"])
@given(event=EVENT_NAMES, text=st.text(st.characters(), min_size=1, max_size=40))
def test_no_text_of_an_event_vanishes(name: str, event: str | None, text: str) -> None:
    played = Recorded(SPOKEN[name])
    played.call()
    line = text.replace("\r", "\n").encode("utf-8", "replace").split(b"\n")[0] or b"x"
    block_ = (f"event: {event}\n" if event else "").encode() + b"data: " + line + b"\n\n"
    played.answer(200, [block_], streamed=True)
    assert played.events


@pytest.mark.parametrize(
    "name", ["NLWeb legacy", "NLWeb 0.54", "NLWeb 0.55", "Agent API", "Chat Completions"]
)
@given(document=VALUES | OBJECTS | AGENT_API_OBJECTS | CHAT_OBJECTS)
def test_any_request_is_checked_and_followed(name: str, document: Any) -> None:
    target = SPOKEN[name].target
    for problem in registry.validate_request(target, document):
        assert problem.level in ("error", "warning")
        assert problem.message.endswith(".")
    assert isinstance(registry.query_text(target.protocol, document), str)
    context = registry.of(target.protocol).session_context(document, None)
    following = registry.of(target.protocol).follow_up_document(
        document, prev=[], session_context=context, text="and?"
    )
    assert registry.query_text(target.protocol, following) == "and?"
