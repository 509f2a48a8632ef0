"""One reply of an A2A agent at a time: to the request for a card, and to a JSON-RPC call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols import json_decoder, jsonrpc, unreadable
from playground.protocols.a2a import card
from playground.protocols.a2a.card import AgentCard
from playground.protocols.a2a.reader import A2AReader
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Note, Outcome, Unknown
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import HttpExchange, is_utf8, read_head
from playground.protocols.jsonrpc import Deviation, MessageKind


class CardResponse:
    """What came where a card may be."""

    def __init__(self, max_depth: int) -> None:
        self._max_depth = max_depth
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0
        #: The card, once it has come.
        self.card: AgentCard | None = None
        #: What came instead, for the end of a sentence.
        self.received = ""
        #: Whether all is read of it that is of use.
        self.is_over = False

    def receive(self, frame: Frame) -> bool:
        """Take a frame; whether it is the one that ends the reply, after which none matters.

        A reply that is too long ends where it became so.
        """
        if self.is_over:
            return False
        if frame.kind is FrameKind.HEAD:
            self._status, self._headers = read_head(frame.data)
        elif frame.kind in (FrameKind.BODY, FrameKind.EVENT, FrameKind.TAIL):
            self._add(frame.data)
        elif frame.kind is FrameKind.END:
            self.is_over = True
            self._read()
        return self.is_over

    @property
    def status(self) -> int:
        """The status of HTTP, 0 before it has come."""
        return self._status

    def _add(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > card.MAX_BYTES:
            self._body = []
            self.received = f"has more than {card.MAX_BYTES:,} bytes, which no agent card has"
            self.is_over = True
        else:
            self._body.append(data)

    def _read(self) -> None:
        if self._status // 100 == 3:
            where = self._headers.get("location", "").strip()[:200] or "an address it does not name"
            self.received = f"redirects to {where} (HTTP {self._status}), which is not followed"
        elif self._status != 200:
            self.received = f"answers with HTTP {self._status}"
        else:
            self._read_body(b"".join(self._body).removeprefix(b"\xef\xbb\xbf"))
        self._body = []

    def _read_body(self, body: bytes) -> None:
        text = body.decode("utf-8", "replace")
        if json_decoder.exceeds_depth(text, self._max_depth):
            self.received = "is JSON that is nested too deep to be read"
            return
        try:
            value = json_decoder.decode(text)
        except (ValueError, RecursionError) as error:
            self.received, _ = unreadable.describe_body(text, error, utf8=is_utf8(body))
            return
        if card.is_card(value):
            self.card = card.read_card(value)
        else:
            self.received = "is JSON, but not an agent card"


class RpcResponse(HttpExchange):
    """The reply to a JSON-RPC call, as a document or as a stream."""

    response_name = "a response of JSON-RPC"

    def __init__(self, reader: A2AReader, request_id: Any, *, max_depth: int) -> None:
        super().__init__(HttpCall("", ""), RpcReader(reader, request_id), max_depth=max_depth)
        #: Whether the reply has come to its proper end.
        self.ended = False

    def receive(self, frame: Frame) -> Sequence[Event]:
        """What `frame` means. Never raises on an agent's data."""
        self.ended = self.ended or frame.kind is FrameKind.END
        return super().receive(frame)


class RpcReader:
    """Takes results and errors out of their envelopes. See `protocols.exchange.Reader`."""

    def __init__(self, reader: A2AReader, request_id: Any) -> None:
        self._reader = reader
        self._id = request_id

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Events of one whole JSON reply."""
        events: list[Event] = []
        for each in jsonrpc.read_all(payload):
            events += self._read(seq, each, len(events))
        return events

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Events of one stream message. Streams of A2A have no names."""
        if not data or data.isspace():
            return [Note(seq, name or "message")]
        try:
            return self.document(seq, json_decoder.decode(data))
        except (ValueError, RecursionError) as error:
            return [Unknown(seq, name or "message", data, f"The data is not JSON: {error}.")]

    def end(self) -> None:
        """Nothing: what a task has come to, its state says."""

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        return self._reader.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """A2A has none of NLWeb's."""
        return None

    def _read(self, seq: int, message: jsonrpc.JsonRpcMessage, at: int) -> list[Event]:
        if message.kind is MessageKind.RESULT:
            events = self._reader.result(seq, message.result, at)
        elif message.kind is MessageKind.ERROR and message.error is not None:
            events = self._reader.error(seq, message.error)
        else:
            return [Unknown(seq, message.kind, message.raw, "This is no response of JSON-RPC.")]
        return [*(events or [Note(seq, "unchanged")]), *self._remarks(seq, message)]

    def _remarks(self, seq: int, message: jsonrpc.JsonRpcMessage) -> list[Event]:
        problems = message.problems
        if message.id is not None and not message.is_response_to(self._id):
            problems = (*problems, Deviation.WRONG_ID)
        return [Note(seq, "json-rpc", {"remark": jsonrpc.SENTENCES[each]}) for each in problems]
