"""Scripted conversations with an A2A agent: its card, its answers, and the events."""

from __future__ import annotations

import json
from typing import Any

from playground.protocols.a2a.exchange import A2AExchange
from playground.protocols.a2a.messages import OutgoingMessage
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from tests.support.playbook import CAPTURES, SSE, Playbook

AGENT = "http://agent.example.com/a2a"
CARD_03 = {
    "name": "Cook", "description": "Cooks", "url": AGENT, "protocolVersion": "0.3.0",
    "capabilities": {"streaming": True}, "skills": [{"id": "ask", "name": "Ask"}],
}  # fmt: skip
CARD_10 = {
    "name": "Cook", "description": "Cooks", "capabilities": {},
    "supportedInterfaces": [{"url": AGENT, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "skills": [{"id": "ask", "name": "Ask"}],
}  # fmt: skip


class Talk(Playbook):
    """One exchange, whose calls are answered as frames."""

    def __init__(self, **changes: Any) -> None:
        options = {"agent_url": AGENT, "url": AGENT, "message": "eggs", "message_id": "m-1"}
        max_depth = changes.pop("max_depth", 100)
        self.a2a = A2AExchange(OutgoingMessage(**{**options, **changes}), max_depth=max_depth)
        super().__init__(exchange=self.a2a)
        self.calls: list[HttpCall] = []

    def call(self) -> Talk:
        """Make the next call, which must exist."""
        call = self.exchange.next_call()
        assert call is not None
        self.calls.append(call)
        lines = [f"{call.method} / HTTP/1.1", *(f"{name}: {value}" for name, value in call.headers)]
        self.frame(FrameKind.CALL, "\r\n".join(lines).encode() + b"\r\n\r\n" + call.body)
        return self

    def answer(self, value: Any, status: int = 200, **options: Any) -> Talk:
        """Answer with a complete response: a JSON value, or bytes unchanged."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.head(status, **options).body(body).end()

    def result(self, value: Any) -> Talk:
        """Answer the previous call with a result, as a document."""
        return self.answer({"jsonrpc": "2.0", "id": self.sent["id"], "result": value})

    def results(self, *values: Any) -> Talk:
        """Answer the previous call with results, as a stream."""
        self.head(200, SSE)
        envelopes = [{"jsonrpc": "2.0", "id": self.sent["id"], "result": value} for value in values]
        return self.stream(
            [f"data: {json.dumps(each)}\r\n\r\n".encode() for each in envelopes]
        ).end()

    @property
    def sent(self) -> Any:
        """The JSON-RPC document of the last call."""
        return json.loads(self.calls[-1].body)

    @property
    def is_over(self) -> bool:
        """Whether no call is left."""
        return self.exchange.next_call() is None


def begun(card: Any = None, **changes: Any) -> Talk:
    """Return a conversation after the card, with the message sent."""
    return Talk(**changes).call().answer(CARD_10 if card is None else card).call()


def capture(name: str) -> tuple[bytes, bytes]:
    """Return head and body of a recorded response."""
    head, _, body = (
        (CAPTURES / "a2a" / f"{name}.txt").read_bytes().replace(b"\r\n", b"\n").partition(b"\n\n")
    )
    return head, body
