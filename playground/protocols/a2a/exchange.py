"""Exchange with an A2A agent: its card, one message, and the task that follows from it.

Driven by the frames alone: what a response belongs to is read from the call before it, so that a
stored run is read in the same way as a live one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playground.protocols import error_documents, json_decoder, jsonrpc, lenient
from playground.protocols.a2a import messages
from playground.protocols.a2a.card import (
    AgentCard,
    CardDiscovery,
    CardResponse,
    card_call,
    is_same,
    url_at,
)
from playground.protocols.a2a.messages import GET_TASK_METHODS, OutgoingMessage
from playground.protocols.a2a.reader import A2AReader, is_submitted
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Handshake, Log, Note, Outcome, Unknown
from playground.protocols.exchange import Exchange, Reader
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import HttpExchange
from playground.protocols.jsonrpc import Deviation, MessageKind
from playground.protocols.problems import Problem, Stage

# --- the response to a call -------------------------------------------------------------------


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


# --- the exchange -----------------------------------------------------------------------------

#: How often a task is polled before the run ends without its end.
MAX_POLLS = 60
#: Seconds before the first poll, the growth of each delay, and the longest.
FIRST_DELAY, GROWTH, MAX_DELAY = 0.5, 1.5, 5.0
#: Skills that a sentence lists.
_MAX_LISTED = 10
_PUSH_IN_CARD = "The agent card offers push notifications and no streaming"
_PUSH_IN_REPLY = "The agent says that it sends push notifications"
_PUSH_FIX = (
    "The playground receives no push notifications. The agent must answer tasks/get, or stream."
)


class A2AExchange(Exchange):
    """It has no handshake: a card is read again each time, because an agent may move."""

    def __init__(self, outgoing: OutgoingMessage, *, max_depth: int = 100) -> None:
        self._outgoing = outgoing
        self._max_depth = max_depth
        self._discovery = CardDiscovery(outgoing.agent_url)
        self._reader = A2AReader()
        self._card_response: CardResponse | None = None
        self._rpc_response: RpcResponse | None = None
        self._is_sent = False
        self._poll_count = 0
        #: Whether the last call reads the task, and whether only for its artifacts.
        self._is_polling = self._reads_artifacts = False
        #: Whether the hint at push notifications was given.
        self._has_push_hint = False
        self._problem: Problem | None = None

    @property
    def card(self) -> AgentCard | None:
        return self._discovery.card

    def next_call(self) -> HttpCall | None:
        """Return the call for the card, the message, or the task until it has ended."""
        if self.problem is not None:
            return None
        if not self._is_sent:
            return self._card_call() or self._send_call()
        return self._poll_call()

    @property
    def has_enough(self) -> bool:
        """Return whether the rest of a response is of no use: that of a card without end."""
        return self._card_response is not None and self._card_response.is_over

    def receive(self, frame: Frame) -> Sequence[Event]:
        """Never raises on an agent's data."""
        if frame.kind is FrameKind.CALL:
            self._begin(frame.data)
            return ()
        if self._card_response is not None:
            return self._receive_card(self._card_response, frame)
        if self._rpc_response is None:
            return ()
        events = self._rpc_response.receive(frame)
        if frame.kind is FrameKind.ERROR and self._reads_artifacts:
            return [*events, _without_artifacts(frame.seq, Problem.from_bytes(frame.data))]
        if frame.kind is not FrameKind.END:
            return events
        return [*events, *self._after_response(frame.seq, self._rpc_response)]

    @property
    def outcome(self) -> Outcome:
        if self._rpc_response and self._rpc_response.refusal and not self._reads_artifacts:
            return Outcome.FAILURE
        return self._reader.outcome

    @property
    def tolerates_error(self) -> bool:
        """Return whether the last call only reads the artifacts of a task that has completed."""
        return self._reads_artifacts

    @property
    def problem(self) -> Problem | None:
        own = self._problem or self._discovery.problem
        if own is not None or self._rpc_response is None or self._reads_artifacts:
            return own
        return self._rpc_response.problem

    # Calls

    def _card_call(self) -> HttpCall | None:
        url = self._discovery.next_url()
        if url is None:
            return None
        return card_call(url, self._outgoing.url, self._outgoing.headers)

    def _send_call(self) -> HttpCall | None:
        card = self._discovery.card
        if card is None or card.version is None:
            return None
        return messages.send_call(self._outgoing, card.version, streaming=card.streaming)

    def _poll_call(self) -> HttpCall | None:
        """Return the next poll of the task, with its delay; None if there is no need for one."""
        card, response = self._discovery.card, self._rpc_response
        if card is None or card.version is None or response is None or not response.ended:
            return None
        # A task without artifacts is read once: some agents leave them out of their streams.
        lacks_artifacts = self._reader.lacks_artifacts and not self._is_polling
        if not self._reader.is_open and not (lacks_artifacts and self._reader.task):
            return None
        if self._is_polling and self.outcome is Outcome.FAILURE:
            return None  # The agent refuses to read its task.
        if self._poll_count >= MAX_POLLS:
            self._problem = _still_open(self._push_reason)
            return None
        number = messages.FIRST_ID + self._poll_count + 1
        document = messages.get_task(card.version, self._reader.task, number)
        call = messages.post_rpc(self._outgoing, card.version, document)
        delay = 0.0 if lacks_artifacts else min(FIRST_DELAY * GROWTH**self._poll_count, MAX_DELAY)
        return HttpCall(call.method, call.url, call.headers, call.body, delay=delay)

    # Frames

    def _begin(self, data: bytes) -> None:
        """Choose how the response to a call is read."""
        self._card_response = self._rpc_response = None
        if data.startswith(b"GET "):
            self._card_response = CardResponse(self._max_depth)
            return
        method, number = _method_and_id(data)
        self._is_polling = method in GET_TASK_METHODS
        self._reads_artifacts = self._is_polling and self._reader.lacks_artifacts
        self._poll_count += self._is_polling
        self._is_sent = True
        self._rpc_response = RpcResponse(self._reader, number, max_depth=self._max_depth)

    def _after_response(self, seq: int, response: RpcResponse) -> list[Event]:
        """Return the warnings and the error of a response that has ended."""
        if self._reads_artifacts and response.problem is not None:
            return [_without_artifacts(seq, response.problem)]
        reason = self._push_reason
        if not reason or not self._reader.is_open:
            return []
        if self._is_polling and self.outcome is Outcome.FAILURE:
            cause = f"{reason}, and refuses tasks/get: its result may only be sent to a webhook."
            self._problem = Problem("truncated", Stage.DECODE, cause, _PUSH_FIX)
        if self._has_push_hint:
            return []
        self._has_push_hint = True
        hint = f"{reason}. The playground receives none, so it polls the task with tasks/get."
        return [Log(seq, "warning", hint, "task")]

    @property
    def _push_reason(self) -> str:
        """Return why results may be sent by push notification, "" if nothing says so."""
        if self._reader.mentions_push:
            return _PUSH_IN_REPLY
        card = self._discovery.card
        return _PUSH_IN_CARD if card is not None and card.is_push_only else ""

    def _receive_card(self, response: CardResponse, frame: Frame) -> Sequence[Event]:
        if not response.receive(frame):
            return ()
        self._discovery.add(response)
        card = self._discovery.card
        if card is None:
            if not response.received:
                return ()
            return [Note(frame.seq, "card", {"remark": f"It {response.received}."})]
        agreed = self._outgoing.url
        is_moved = agreed == url_at(self._outgoing.agent_url, card.url)
        self._problem = None if is_moved else _disagreement(card, agreed)
        facts = {"name": card.name, "url": card.url, "streaming": card.streaming}
        events: list[Event] = [Handshake(frame.seq, "card", facts)]
        if warning := unknown_skill(card, self._outgoing.skill):
            events.append(Log(frame.seq, "warning", warning, "card"))
        if is_moved and not is_same(card.url, agreed):
            moved = f"The URL in the agent card is {card.url}. As confirmed, {agreed} is called."
            events.insert(0, Log(frame.seq, "warning", moved, "card"))
        return events


def _without_artifacts(seq: int, problem: Problem) -> Log:
    return Log(seq, "warning", f"Reading the artifacts failed: {problem.cause}", "task")


def unknown_skill(card: AgentCard, skill: str) -> str:
    """Return a warning about a skill that a card does not have, "" if it has it."""
    if not skill or card.has_skill(skill):
        return ""
    known = ", ".join(f"“{each.id}”" for each in card.skills[:_MAX_LISTED])
    more = len(card.skills) - _MAX_LISTED
    listed = f"; it has {known}{f' and {more} more' if more > 0 else ''}" if known else ""
    return f"The agent card has no skill “{skill[:80]}”{listed}."


def _disagreement(card: AgentCard, agreed: str) -> Problem | None:
    """Return why nothing is sent: the card names no URL, or another than the agreed one."""
    if not card.url:
        cause = card.problems[0] if card.problems else "The agent card has no URL."
        fix = "The agent must offer a JSON-RPC interface for A2A 0.3 or 1.0."
        return Problem("failed", Stage.DECODE, cause, fix)
    if is_same(card.url, agreed):
        return None
    return Problem(
        "refused",
        Stage.POLICY,
        f"The message URL in the agent card is now {card.url}, but you confirmed {agreed}. "
        "Nothing was sent.",
        "Open the action again, fetch the card and check the URL before you run it.",
    )


def _still_open(push_reason: str) -> Problem:
    cause = f"The task had not ended after {MAX_POLLS} polls."
    fix = "Try again later; the run keeps the data received so far."
    if push_reason:
        cause = f"{cause} {push_reason}, so its result may only be sent to a webhook."
        fix = _PUSH_FIX
    return Problem("truncated", Stage.LIMIT, cause, fix)


def _method_and_id(call: bytes) -> tuple[str, Any]:
    body = call.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
    document = lenient.members(lenient.decode(body))
    return str(document.get("method", "")), document.get("id")
