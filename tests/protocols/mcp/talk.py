"""Scripted conversations with an MCP exchange: answers to its calls, and the events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from playground.protocols import mcp
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import McpExchange
from playground.protocols.mcp.versions import STATELESS_VERSION
from playground.protocols.nlweb.reader import NLWebReader
from tests.support.playbook import Playbook

URL = "http://agent.example.com/mcp"
DOCUMENT = {"query": {"text": "eggs"}, "meta": {"version": "0.55"}}
TOOLS = [
    {"name": "ask", "inputSchema": {"properties": {"query": {}}}},
    {"name": "await", "inputSchema": {"properties": {"promise_token": {}}}},
]
#: Stored handshakes of a stateless server and of a stateful one.
MODERN = {
    "url": URL, "generation": "discover", "version": STATELESS_VERSION, "session": False,
    "tools": TOOLS,
}  # fmt: skip
OLDER = {**MODERN, "generation": "initialize", "version": "2025-06-18", "session": True}
#: The session of the conversation with the stateful one.
SESSION = ("2025-06-18", "s1")


def new_exchange(
    document: dict[str, Any] | None = None, operation: str = "ask", **fields: Any
) -> McpExchange:
    """Return an exchange for a request of NLWeb 0.55; `fields` are those of its target."""
    depth = fields.pop("max_depth", 100)
    target = Target(URL, binding="mcp", **fields)
    reader: Callable[[], Any] = lambda: NLWebReader(target.version)  # noqa: E731
    return mcp.exchange(target, operation, document or DOCUMENT, reader, max_depth=depth)


def head(status: int = 200, media_type: str = "application/json", **headers: str) -> bytes:
    """Return a response head; `mcp_session_id="x"` becomes `Mcp-Session-Id: x`."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {media_type}"]
    lines += [f"{name.replace('_', '-').title()}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Talk(Playbook):
    """One exchange, driven as the engine does it."""

    exchange: McpExchange

    def __init__(self, exchange: McpExchange | None = None, **fields: Any) -> None:
        super().__init__(exchange=exchange or new_exchange(**fields))
        self.calls: list[HttpCall] = []

    def call(self) -> Talk:
        """Make the next call, which must exist."""
        call = self.exchange.next_call()
        assert call is not None, self.exchange.problem
        return self.send(call)

    def send(self, call: HttpCall) -> Talk:
        """Send a call."""
        self.calls.append(call)
        lines = [f"{call.method} /mcp HTTP/1.1", *(f"{n}: {v}" for n, v in call.headers)]
        self.frame(FrameKind.CALL, "\r\n".join(lines).encode() + b"\r\n\r\n" + call.body)
        return self

    def json(self, payload: Any, status: int = 200, **headers: str) -> Talk:
        """Make the next call, and answer it with a document; bytes are sent unchanged."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.call().frame(FrameKind.HEAD, head(status, **headers)).body(body).end()

    def stream(self, *payloads: Any, status: int = 200, **headers: str) -> Talk:
        """Make the next call, and answer it with a stream."""
        return self.chunks([b"".join(map(block, payloads))], status, **headers)

    def chunks(self, chunks: Iterable[bytes], status: int = 200, **headers: str) -> Talk:
        """Make the next call, and answer it with a stream in these pieces."""
        self.call().frame(FrameKind.HEAD, head(status, "text/event-stream", **headers))
        return super().stream(chunks).end()

    def result(self, result: Any, **options: Any) -> Talk:
        """Make the next call, and answer it with a result."""
        call = self.exchange.tool_call()  # The id is that of whatever call comes next.
        own_id = json.loads(call.body).get("id")
        return self.json({"jsonrpc": "2.0", "id": own_id, "result": result}, **options)

    @property
    def sent(self) -> list[Any]:
        """The messages of all calls."""
        return [json.loads(call.body) for call in self.calls]

    @property
    def methods(self) -> list[str]:
        """The methods of all calls, "" for responses."""
        return [message.get("method", "") for message in self.sent]


def block(payload: Any) -> bytes:
    """Return a message of an event stream, with the line ends of the official servers."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return b"event: message\r\ndata: " + data + b"\r\n\r\n"


def rpc(own_id: Any = 1, **members: Any) -> dict[str, Any]:
    """Return a message with an id."""
    return {"jsonrpc": "2.0", "id": own_id, **members}


def note(method: str, **params: Any) -> dict[str, Any]:
    """Return a notification."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def known(**fields: Any) -> Talk:
    """Return a conversation after a stored handshake: the first call is the tool's."""
    handshake = fields.pop("handshake", MODERN)
    if handshake.get("session"):
        fields = {"session": SESSION, **fields}
    return Talk(handshake=handshake, **fields)
