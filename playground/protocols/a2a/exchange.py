"""The exchange with an A2A agent: its card, one message, and the task that comes of it.

Driven by the frames alone: what a reply belongs to is read from the call before it, so that a
run that is over is read in the same way as one that is under way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols import json_decoder
from playground.protocols.a2a import messages
from playground.protocols.a2a.calls import OutgoingMessage, card_call, post_rpc, send_call
from playground.protocols.a2a.card import AgentCard, is_same
from playground.protocols.a2a.card_discovery import CardDiscovery
from playground.protocols.a2a.reader import A2AReader
from playground.protocols.a2a.responses import CardResponse, RpcResponse
from playground.protocols.a2a.versions import GET_TASK_METHODS
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Log, Note, Outcome
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage

#: How often a task is looked after before the run ends without its end.
MAX_LOOKS = 60
#: Seconds before the first look, what each is longer than the one before, and the longest.
FIRST_PAUSE, GROWTH, LONGEST_PAUSE = 0.5, 1.5, 5.0
#: Skills that a sentence names.
_NAMED = 10


class A2AExchange:
    """See `playground.protocols.exchange.Exchange`."""

    def __init__(self, errand: OutgoingMessage, *, max_depth: int = 100) -> None:
        self._errand = errand
        self._max_depth = max_depth
        self._finder = CardDiscovery(errand.agent_url)
        self._reader = A2AReader()
        self._card_reply: CardResponse | None = None
        self._rpc_reply: RpcResponse | None = None
        self._is_sent = False
        self._looks = 0
        self._problem: Problem | None = None

    @property
    def card(self) -> AgentCard | None:
        """The agent's card, once it has been found."""
        return self._finder.card

    def next_call(self) -> HttpCall | None:
        """The card, the message, and the task until it has ended."""
        if self.problem is not None:
            return None
        if not self._is_sent:
            return self._card_call() or self._send_call()
        return self._look_call()

    @property
    def has_enough(self) -> bool:
        """Whether the rest of a reply is of no use: that of a card without end."""
        return self._card_reply is not None and self._card_reply.is_over

    def receive(self, frame: Frame) -> Sequence[Event]:
        """What `frame` means. Never raises on an agent's data."""
        if frame.kind is FrameKind.CALL:
            self._begin(frame.data)
            return ()
        if self._card_reply is not None:
            return self._receive_card(self._card_reply, frame)
        return self._rpc_reply.receive(frame) if self._rpc_reply is not None else ()

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        return self._reader.outcome

    @property
    def problem(self) -> Problem | None:
        """Why it does not go on."""
        own = self._problem or self._finder.problem
        return own or (self._rpc_reply.problem if self._rpc_reply is not None else None)

    @property
    def session_context(self) -> None:
        """A2A has none of NLWeb's."""
        return

    @property
    def handshake(self) -> None:
        """Nothing: a card is read anew each time, because an agent may move."""
        return

    # Calls

    def _card_call(self) -> HttpCall | None:
        place = self._finder.next_url()
        if place is None:
            return None
        return card_call(place, self._errand.url, self._errand.headers)

    def _send_call(self) -> HttpCall | None:
        card = self._finder.card
        if card is None or card.version is None:
            return None
        return send_call(self._errand, card.version, streaming=card.streaming)

    def _look_call(self) -> HttpCall | None:
        """The next look at the task, after a pause; None where there is no need for one."""
        card, reply = self._finder.card, self._rpc_reply
        if card is None or card.version is None or reply is None or not reply.ended:
            return None
        if not self._reader.is_open:
            return None
        if self._looks >= MAX_LOOKS:
            self._problem = _still_open()
            return None
        number = messages.FIRST_ID + self._looks + 1
        call = post_rpc(
            self._errand, card.version, messages.get_task(card.version, self._reader.task, number)
        )
        pause = min(FIRST_PAUSE * GROWTH**self._looks, LONGEST_PAUSE)
        return HttpCall(call.method, call.url, call.headers, call.body, delay=pause)

    # Frames

    def _begin(self, data: bytes) -> None:
        """What the reply to a call is read as."""
        self._card_reply = self._rpc_reply = None
        if data.startswith(b"GET "):
            self._card_reply = CardResponse(self._max_depth)
            return
        method, number = _envelope(data)
        if method in GET_TASK_METHODS:
            self._looks += 1
        self._is_sent = True
        self._rpc_reply = RpcResponse(self._reader, number, max_depth=self._max_depth)

    def _receive_card(self, reply: CardResponse, frame: Frame) -> Sequence[Event]:
        if not reply.receive(frame):
            return ()
        self._finder.add(reply)
        card = self._finder.card
        if card is None:
            return (
                [Note(frame.seq, "card", {"remark": f"It {reply.received}."})]
                if reply.received
                else ()
            )
        self._problem = _disagreement(card, self._errand.url)
        facts = {"name": card.name, "url": card.url, "streaming": card.streaming}
        events: list[Event] = [Note(frame.seq, "card", facts)]
        if warning := unknown_skill(card, self._errand.skill):
            events.append(Log(frame.seq, "warning", warning, "card"))
        return events


def unknown_skill(card: AgentCard, skill: str) -> str:
    """What there is to say about a skill that a card does not have, "" where it has it."""
    if not skill or card.has_skill(skill):
        return ""
    known = ", ".join(f"“{each.id}”" for each in card.skills[:_NAMED])
    more = len(card.skills) - _NAMED
    listed = f"; it has {known}{f' and {more} more' if more > 0 else ''}" if known else ""
    return f"The agent's card has no skill “{skill[:80]}”{listed}."


def _disagreement(card: AgentCard, agreed: str) -> Problem | None:
    """Why nothing is sent to the address that a card names."""
    if not card.url:
        cause = card.problems[0] if card.problems else "The card names no address."
        fix = "Ask whoever runs the agent for an interface over JSON-RPC, in A2A 0.3 or 1.0."
        return Problem("failed", Stage.DECODE, cause, fix)
    if is_same(card.url, agreed):
        return None
    return Problem(
        "refused",
        Stage.POLICY,
        f"The agent's card says to send messages to {card.url}, and {agreed} was agreed to."
        " Nothing was sent.",
        "Open the action again, read the card, and look at the address before you run it.",
    )


def _still_open() -> Problem:
    return Problem(
        "truncated",
        Stage.LIMIT,
        f"The task had not ended when it was looked after for the {MAX_LOOKS}th time.",
        "Ask the agent again later; what it had sent by then is kept.",
    )


def _envelope(call: bytes) -> tuple[str, Any]:
    """Method and id of the JSON-RPC request in a call as it was sent."""
    body = call.partition(b"\r\n\r\n")[2].decode("utf-8", "replace")
    try:
        document = json_decoder.decode(body)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(document, Mapping):
        return "", None
    return str(document.get("method", "")), document.get("id")
