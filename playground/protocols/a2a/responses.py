"""Response to a JSON-RPC call of an A2A agent, as a document or as a stream."""

from __future__ import annotations

from typing import Any

from playground.protocols import error_documents, json_decoder, jsonrpc
from playground.protocols.a2a.reader import A2AReader, is_submitted
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Note, Outcome, Unknown
from playground.protocols.exchange import Reader
from playground.protocols.http import HttpExchange
from playground.protocols.jsonrpc import Deviation, MessageKind


class RpcResponse(HttpExchange):
    """Reader of one HTTP response to a JSON-RPC call."""

    response_name = "an A2A response"

    def __init__(self, reader: A2AReader, request_id: Any, *, max_depth: int) -> None:
        super().__init__(HttpCall("", ""), RpcReader(reader, request_id), max_depth=max_depth)


class RpcReader(Reader):
    """Reader of the results and errors in their envelopes."""

    def __init__(self, reader: A2AReader, request_id: Any) -> None:
        self._reader = reader
        self._id = request_id

    def document(self, seq: int, payload: Any) -> list[Event]:
        events: list[Event] = []
        for each in jsonrpc.read_all(payload):
            events += self._read(seq, each, len(events))
        return events

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """A2A does not name stream messages."""
        if not data or data.isspace():
            return [Note(seq, name or "message")]
        try:
            events = self.document(seq, json_decoder.decode_event(data))
        except (ValueError, RecursionError) as error:
            events = [Unknown(seq, name or "message", data, f"The data is not JSON: {error}.")]
        failure = error_documents.of_event(seq, name, data)
        is_unread = all(type(event) is Unknown for event in events)
        return self._reader.failed(failure) if failure and is_unread else events

    @property
    def outcome(self) -> Outcome:
        return self._reader.outcome

    def _read(self, seq: int, message: jsonrpc.JsonRpcMessage, number: int) -> list[Event]:
        if message.kind is MessageKind.RESULT:
            events = self._reader.result(seq, message.result, number)
        elif message.kind is MessageKind.ERROR and message.error is not None:
            events = self._reader.error(seq, message.error)
        elif is_submitted(message.raw):
            # An agent that only says that it has accepted a task.
            events = self._reader.result(seq, message.raw, number)
        else:
            return [Unknown(seq, message.kind, message.raw, "This is not a JSON-RPC response.")]
        return [*(events or [Note(seq, "unchanged")]), *self._remarks(seq, message)]

    def _remarks(self, seq: int, message: jsonrpc.JsonRpcMessage) -> list[Event]:
        problems = message.problems
        if message.id is not None and not message.is_response_to(self._id):
            problems = (*problems, Deviation.WRONG_ID)
        return [Note(seq, "json-rpc", {"remark": each.value}) for each in problems]
