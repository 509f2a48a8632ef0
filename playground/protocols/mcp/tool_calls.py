"""What the call of a tool brings: results, questions, errors, by a reader of the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.protocols.events import Event, Failure, Outcome, Unknown
from playground.protocols.exchange import Reader
from playground.protocols.jsonrpc import JsonRpcMessage
from playground.protocols.mcp import elicitation, results
from playground.protocols.rpc_codes import URL_ELICITATION_REQUIRED

#: The code of a failure where the server wants something that only a program could give.
UNANSWERABLE = "INPUT_REQUIRED"


class ToolResponse:
    """The reply to one call of a tool, as events."""

    def __init__(self, reader: Reader | None, document_of: Callable[[Any], Any]) -> None:
        """`document_of` makes of a result what the reader reads."""
        self._reader = reader
        self._document_of = document_of
        self._answered = False
        self._own = Outcome.NONE
        #: Whether anything of the answer could be read.
        self.understood = False

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        if self._own is not Outcome.NONE or self._reader is None:
            return self._own
        return self._reader.outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """The latest session context that the agent returned."""
        return self._reader.session_context if self._reader else None

    def read(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        """The answer to the call, or what follows it without an id of its own."""
        events = self._read(seq, message, in_stream)
        self.understood = self.understood or any(type(event) is not Unknown for event in events)
        return events

    def _read(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        follows, self._answered = self._answered, True
        if message.error is not None and message.result is None:
            return self._refused(seq, message)
        result = message.result
        if isinstance(result, Mapping) and result.get("resultType") == "input_required":
            return self._input_required(seq, result)
        return self._document(seq, self._document_of(result), in_stream, follows)

    def raw_message(self, seq: int, data: str) -> Sequence[Event]:
        """A stream message that is no JSON-RPC: perhaps one of the protocol itself."""
        return self._reader.message(seq, None, data) if self._reader else ()

    def end(self) -> None:
        """The reply is whole."""
        if self._reader:
            self._reader.end()

    def _refused(self, seq: int, message: JsonRpcMessage) -> Sequence[Event]:
        error = message.error
        if error is None:
            return ()
        if error.code == URL_ELICITATION_REQUIRED and (
            asked := elicitation.url_elicitation(seq, error.data)
        ):
            self._own = Outcome.ELICITATION
            return [asked]
        if self._reader is None:
            self._own = Outcome.FAILURE
            return [Failure(seq, str(error.code or ""), error.message, error.data, error.raw)]
        return self._reader.document(seq, results.failure_of(error))

    def _input_required(self, seq: int, result: Mapping[str, Any]) -> Sequence[Event]:
        if asked := elicitation.input_requests(seq, result):
            self._own = Outcome.ELICITATION
            return [asked]
        self._own = Outcome.FAILURE
        wanted = "The server wants something of its client that the playground does not have."
        return [Failure(seq, UNANSWERABLE, wanted, result.get("inputRequests"), result)]

    def _document(self, seq: int, document: Any, in_stream: bool, follows: bool) -> Sequence[Event]:
        if self._reader is None:
            return ()
        # Metadata alone may be the beginning of a stream whose other messages have no id.
        if follows or (in_stream and results.is_meta_only(document)):
            return self._reader.message(seq, None, json.dumps(document))
        return self._reader.document(seq, document)
