"""The reply to one call: JSON or a stream of JSON-RPC messages, with the one answer among them.

Servers answer as they like: with a document or a stream, with an id or without, with several
messages in an array. The response whose id is that of the call is the answer; one with another
id counts only where no better one came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.protocols import json_decoder, jsonrpc
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Log, Note, Outcome, Progress, Unknown
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import HttpExchange
from playground.protocols.jsonrpc import Deviation, JsonRpcMessage, MessageKind
from playground.protocols.mcp.sent_messages import SentMessage

#: Responses with another id that are kept in case no better one comes.
_MAX_STRAYS = 10

#: (number of the frame, answer, whether it came in a stream) to what it means.
Answered = Callable[[int, JsonRpcMessage, bool], Sequence[Event]]
#: (number of the frame, request of the server) to what it means.
Requested = Callable[[int, JsonRpcMessage], Sequence[Event]]


class McpResponse(HttpExchange):
    """One reply, read as the answer to what was sent."""

    response_name = "a message of JSON-RPC"

    def __init__(
        self,
        sent: SentMessage,
        answered: Answered,
        requested: Requested,
        *,
        max_depth: int,
        loose: Callable[[int, str], Sequence[Event]] | None = None,
    ) -> None:
        """`loose` reads the data of stream messages that are no JSON-RPC and follow an answer."""
        self._messages = _Messages(sent, answered, requested, loose)
        # The exchange makes the calls; here is only what comes back.
        super().__init__(HttpCall("", ""), self._messages, max_depth=max_depth)
        self._sent = sent
        #: Whether the reply has come to the end that its framing says.
        self.ended = False
        #: How a body that was no stream begins.
        self.text = ""

    @property
    def answer(self) -> JsonRpcMessage | None:
        """The response that answers the call, None until it has come."""
        return self._messages.answer

    @property
    def status(self) -> int:
        """The HTTP status, 0 until it is known."""
        return self._status

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the reply, names in lower case."""
        return self._headers

    @property
    def streamed(self) -> bool:
        """Whether the reply came as a stream."""
        return self._streamed

    def _end(self, frame: Frame) -> Sequence[Event]:
        self.ended = True
        self._messages.in_stream = False
        self.text = b"".join(self._body)[:4096].decode("utf-8", "replace")
        if not self._sent.wants_answer and not self.text.strip() and self._status // 100 == 2:
            return ()
        return [*super()._end(frame), *self._messages.settle(frame.seq)]

    def _error(self, frame: Frame) -> Sequence[Event]:
        self._messages.in_stream = False
        return [*super()._error(frame), *self._messages.settle(frame.seq)]

    def receive(self, frame: Frame) -> Sequence[Event]:
        """What `frame` means. Never raises on an agent's data."""
        if frame.kind in (FrameKind.EVENT, FrameKind.TAIL):
            self._messages.in_stream = True
        events = super().receive(frame)
        if frame.kind is FrameKind.HEAD:
            self._messages.refused = self._status >= 400
        return events


class _Messages:
    """The messages of one reply. See `playground.protocols.exchange.Reader`."""

    def __init__(
        self,
        sent: SentMessage,
        answered: Answered,
        requested: Requested,
        loose: Callable[[int, str], Sequence[Event]] | None,
    ) -> None:
        self._sent = sent
        self._answered = answered
        self._requested = requested
        self._loose = loose
        self._strays: list[JsonRpcMessage] = []
        self.answer: JsonRpcMessage | None = None
        self.in_stream = False
        #: Whether the reply has the status of an error.
        self.refused = False

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Events of a whole reply: one message, or an array of them."""
        messages = jsonrpc.read_all(payload)
        # The answer with the right id wins, wherever in the array it stands.
        own = [each for each in messages if each.is_response_to(self._sent.message.id)]
        alone = (
            sum(each.kind in (MessageKind.RESULT, MessageKind.ERROR) for each in messages) == 1
            and not own
        )
        return [event for each in messages for event in self._read(seq, each, alone)]

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Events of one stream message; MCP names them all `message`."""
        if not data or data.isspace():
            return [Note(seq, name or "message")]
        try:
            payload = json_decoder.decode(data)
        except (ValueError, RecursionError) as error:
            return [Unknown(seq, name or "message", data, f"The data is not JSON: {error}.")]
        messages = jsonrpc.read_all(payload)
        if self._loose and len(messages) == 1 and messages[0].kind is MessageKind.OTHER:
            return list(self._loose(seq, data))
        return [event for each in messages for event in self._read(seq, each, False)]

    def end(self) -> None:
        """Nothing: the answer says whether it is one."""

    @property
    def outcome(self) -> Outcome:
        """None: what the answer means is for the exchange to say."""
        return Outcome.NONE

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """None, as with the outcome."""
        return None

    def settle(self, seq: int) -> list[Event]:
        """The reply is at its end: a response with another id is better than none."""
        strays, self._strays = self._strays, []
        events: list[Event] = []
        if self.answer is None and strays:
            events = self._take(seq, jsonrpc.with_problems(strays.pop(0), Deviation.WRONG_ID))
        return [*events, *(_stray(seq, each) for each in strays)]

    def _read(self, seq: int, message: JsonRpcMessage, alone: bool) -> list[Event]:
        if message.kind in (MessageKind.RESULT, MessageKind.ERROR) and not self._is_http(message):
            return self._response(seq, message, alone)
        found: list[Event]
        if message.kind is MessageKind.REQUEST:
            found = list(self._requested(seq, message))
        elif message.kind is MessageKind.NOTIFICATION:
            found = [_notification(seq, message)]
        else:
            reason = " ".join(jsonrpc.SENTENCES[each] for each in message.problems)
            return [Unknown(seq, "message", message.raw, reason)]
        return [*found, *_remarks(seq, message)]

    def _is_http(self, message: JsonRpcMessage) -> bool:
        """Whether it is an error of whoever stands before the server: OAuth's, for one."""
        return self.refused and message.error is not None and message.error.code is None

    def _response(self, seq: int, message: JsonRpcMessage, alone: bool) -> list[Event]:
        if message.is_response_to(self._sent.message.id):
            if self.answer is None:
                return self._take(seq, message)
            return [Unknown(seq, "response", message.raw, "The call was answered already.")]
        if not self._sent.wants_answer:
            return self._take(seq, message)
        if message.id is None or _is_same(message.id, self._sent.message.id):
            wrong = () if message.id is None else (Deviation.WRONG_ID,)
            return self._take(seq, jsonrpc.with_problems(message, *wrong))
        if alone and not self.in_stream and self.answer is None:
            return self._take(seq, jsonrpc.with_problems(message, Deviation.WRONG_ID))
        if len(self._strays) == _MAX_STRAYS:
            return [_stray(seq, message)]
        self._strays.append(message)
        return [Note(seq, "response")]

    def _take(self, seq: int, message: JsonRpcMessage) -> list[Event]:
        """An answer, or what follows it without an id."""
        events = list(self._answered(seq, message, self.in_stream))
        self.answer = self.answer or message
        if message.kind is MessageKind.RESULT and message.error is not None:
            reason = jsonrpc.SENTENCES[Deviation.RESULT_AND_ERROR]
            events.append(Unknown(seq, "error", message.error.raw, reason))
        return [*events, *_remarks(seq, message)]


def _stray(seq: int, message: JsonRpcMessage) -> Event:
    return Unknown(seq, "response", message.raw, jsonrpc.SENTENCES[Deviation.WRONG_ID])


def _is_same(given: Any, wanted: Any) -> bool:
    """Whether two ids are the same but for their type."""
    return isinstance(given, str | int | float) and str(given) == str(wanted)


def _remarks(seq: int, message: JsonRpcMessage) -> list[Event]:
    return [Note(seq, "json-rpc", {"remark": jsonrpc.SENTENCES[each]}) for each in message.problems]


def _notification(seq: int, message: JsonRpcMessage) -> Event:
    params = message.params if isinstance(message.params, Mapping) else {}
    if message.method == "notifications/progress":
        said = params.get("message")
        return Progress(
            seq,
            _number(params.get("progress")),
            _number(params.get("total")),
            said if isinstance(said, str) else "",
            params,
        )
    if message.method == "notifications/message":
        level, logger = params.get("level"), params.get("logger")
        return Log(
            seq,
            level if isinstance(level, str) else "",
            params.get("data"),
            logger if isinstance(logger, str) else "",
        )
    return Note(seq, message.method, message.params)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
