"""Builders of scripted runs over MCP."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from playground.protocols.frames import FrameKind
from tests.conformance.scripts import VERSION, ScriptedResponse, document, event, numbered, stream

Pair = tuple[FrameKind, bytes]
OLD, MODERN = "2025-06-18", "2026-07-28"
TOKEN = 1


def call(
    method: str, number: Any = 1, *, version: str = OLD, session: str = "", **params: Any
) -> Pair:
    """The call of a method: the frame of what was sent. A notification has no number."""
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    if number is None:
        del message["id"]
    head = _head("POST", {"Mcp-Session-Id": session, "MCP-Protocol-Version": version})
    return FrameKind.CALL, head + json.dumps(message).encode()


def _head(method: str, names: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in names.items() if value)
    return f"{method} /mcp HTTP/1.1\r\nHost: agent.example.com\r\n{lines}\r\n".encode()


def ask(number: Any = 1, **more: Any) -> Pair:
    return call(
        "tools/call", number, name="ask", arguments={}, _meta={"progressToken": TOKEN}, **more
    )


def pairs(reply: ScriptedResponse) -> list[Pair]:
    return [(frame.kind, frame.data) for frame in reply.frames]


def said(value: Any, **options: Any) -> list[Pair]:
    """A reply that is one document: head, body, end."""
    return pairs(document(value, **options))


def told(*values: Any, name: str | None = "message", **options: Any) -> list[Pair]:
    """A reply that is a stream: head, a frame for each message, end."""
    return pairs(stream(*(event(name, each) for each in values), **options))


def nothing(status: int = 202, **options: Any) -> list[Pair]:
    return [pair for pair in said(b"", status=status, **options) if pair[0] is not FrameKind.BODY]


def run(*parts: Pair | list[Pair], operation: str = "ask", **request: Any) -> ScriptedResponse:
    """Everything in a row. One call makes frame 1, its head 2, a body 3 and the end 4."""
    flat = [pair for part in parts for pair in ([part] if isinstance(part, tuple) else part)]
    return ScriptedResponse(numbered(flat), request=request, operation=operation, binding="mcp")


def response(result: Any, number: Any = 1, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result, **more}


def error(code: Any = -32602, message: Any = "Invalid params", number: Any = 1, **more: Any) -> Any:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, **more}}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def question(number: Any = "q1", **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": "elicitation/create", "params": params}


# Results


def reply(kind: str = "answer", **more: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": VERSION}, **more}


ANSWER = reply(results=[{"@type": "Recipe", "name": "Eggs"}])


def content(value: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]


def result(value: Any = ANSWER, **more: Any) -> dict[str, Any]:
    """A reply as the specification recommends it."""
    return {"content": content(value), "isError": False, **more}


def asked(result: Any, **options: Any) -> ScriptedResponse:
    """A call of ask that was answered with this result: findings about it stand at 4."""
    return run(ask(), said(response(result), **options))


def modern(result: Mapping[str, Any], **options: Any) -> ScriptedResponse:
    """The same in the generation without sessions."""
    server = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}
    full = {"resultType": "complete", "_meta": server, **result}
    return run(ask(version=MODERN), said(response(full), **options))


SCHEMA = {
    "type": "object",
    "properties": {
        "query": {
            "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
        },
        "context": {"type": "object"}, "prefer": {"type": "object"}, "meta": {"type": "object"},
    },
    "required": ["query"],
}  # fmt: skip
AWAIT_SCHEMA = {
    "type": "object",
    "properties": {
        "promise_token": {"type": "string"},
        "action": {"type": "string", "enum": ["checkin", "cancel"]},
    },
    "required": ["promise_token", "action"],
}
ASK = {"name": "ask", "description": "Ask.", "inputSchema": SCHEMA}
AWAIT = {"name": "await", "description": "Wait.", "inputSchema": AWAIT_SCHEMA}


def resumed(event_id: str, *, session: str = "", version: str = OLD) -> Pair:
    """The GET request that resumes a stream after an event."""
    names = {"Mcp-Session-Id": session, "MCP-Protocol-Version": version}
    return FrameKind.CALL, _head("GET", {"Last-Event-ID": event_id, **names})


def block(text: str) -> bytes:
    """One block of an event stream, written out."""
    return text.encode() + b"\n\n"


def streamed(*blocks: bytes, **options: Any) -> list[Pair]:
    """A reply that is a stream of blocks: head, a frame for each block, end."""
    return pairs(stream(*blocks, **options))


def identified(event_id: str, value: Any) -> bytes:
    """An event with an ID and a message."""
    return block(f"id: {event_id}\nevent: message\ndata: {json.dumps(value)}")


def ask_schema(schema: Any) -> ScriptedResponse:
    """A list with ask and this schema; findings about it stand at 4."""
    return listed({**ASK, "inputSchema": schema})


def await_schema(schema: Any) -> ScriptedResponse:
    return listed({**AWAIT, "inputSchema": schema})


def listed(*tools: Any, **more: Any) -> ScriptedResponse:
    """A list of tools and nothing else: findings about it stand at 4."""
    return run(call("tools/list"), said(response({"tools": list(tools), **more})))


def paged(pages: int) -> ScriptedResponse:
    """The first pages of a list that always names another one."""
    parts: list[Pair] = []
    for at in range(pages):
        parts += [call("tools/list"), *said(response({"tools": [ASK], "nextCursor": str(at)}))]
    return run(parts)


def opened(result: Any, method: str = "initialize", **options: Any) -> ScriptedResponse:
    version = MODERN if method == "server/discover" else ""
    return run(call(method, version=version), said(response(result), **options))


INITIALIZED = {
    "protocolVersion": OLD, "capabilities": {}, "serverInfo": {"name": "s", "version": "1"},
}  # fmt: skip
DISCOVERED = {
    "supportedVersions": [MODERN], "capabilities": {}, "resultType": "complete",
    "ttlMs": 0, "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}},
}  # fmt: skip
FORM = {
    "message": "Which?",
    "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
}
