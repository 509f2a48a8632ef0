"""An exchange with an MCP server: it is opened, and a tool is called.

What an earlier exchange found out (`Target.handshake`) leaves the tool call alone; a session that
the server has lost is opened again, once. Driven by frames: which call a reply belongs to is
read from the CALL frame, so a stored run is read the same way as a live one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Note, Outcome, Unknown
from playground.protocols.exchange import Reader, Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.jsonrpc import JsonRpcMessage
from playground.protocols.mcp import elicitation, errors, messages, results, sessions
from playground.protocols.mcp.handshake import Handshake, HandshakeStep
from playground.protocols.mcp.responses import McpResponse
from playground.protocols.mcp.sent_messages import SentMessage, read_call
from playground.protocols.mcp.server_requests import ServerRequests
from playground.protocols.mcp.sessions import Session
from playground.protocols.mcp.tool_calls import ToolResponse
from playground.protocols.problems import Problem
from playground.protocols.rpc_codes import INVALID_REQUEST, UNSUPPORTED_PROTOCOL_VERSION

_STEPS = frozenset({messages.DISCOVER, messages.INITIALIZE, messages.INITIALIZED, messages.LIST})


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """What a server is opened for."""

    #: The name of the tool, by what the server offers; None where the tools are all that is wanted.
    tool: Callable[[Session], str] | None = None
    arguments: Any = None
    #: A reader of what the tool returns.
    reader: Callable[[], Reader] | None = None
    #: (result, nesting of JSON that is still read) to what the reader is given of it.
    document: Callable[[Any, int], Any] = results.document_of


class McpExchange:
    """See `playground.protocols.exchange.Interactive`."""

    def __init__(self, target: Target, errand: ToolRequest, *, max_depth: int = 100) -> None:
        self._target = target
        self._errand = errand
        self._max_depth = max_depth
        self._resume = target.resume or {}
        known = sessions.from_json(target.handshake, target.url) if errand.tool else None
        self._opening = Handshake(known)
        self._back = ServerRequests()
        self._tool = self._new_tool_reply()
        self._sent: SentMessage | None = None
        self._reply: McpResponse | None = None
        self._problem: Problem | None = None
        self._calls = 0
        #: Whether the next call was handed out, and whether nothing more is to be sent.
        self._asked = self._done = False
        #: Whether the server no longer knows what was known of it, and was opened again for that.
        self._lost = self._reopened = False

    def next_call(self) -> HttpCall | None:
        """The next call of the opening, or that of the tool."""
        if self._asked or self._done or self.problem:
            return None
        self._asked = True
        if self._answers or self._opening.step is HandshakeStep.OPEN:
            return self.tool_call()
        version, session = self._opening.version_and_session
        return self._post(self._opening.message(self._id), version, session)

    def tool_call(self) -> HttpCall:
        """The call of the tool, or the answer, as far as it is known before the opening."""
        if self._answers:
            version, own_id = (str(self._resume.get(name) or "") for name in ("version", "session"))
            return self._post(elicitation.response(self._resume), version, own_id)
        session = self._opening.session or Session(sessions.DISCOVERED, messages.STATELESS_VERSION)
        return self._post(self._call_message(session), session.version, session.id)

    def receive(self, frame: Frame) -> Sequence[Event]:
        """What `frame` means. Never raises on an agent's data."""
        if frame.kind is FrameKind.CALL:
            self._begin(read_call(frame.data))
            return ()
        if self._reply is None or self._sent is None:
            return ()
        events = self._reply.receive(frame)
        if frame.kind is not FrameKind.END:
            return events
        self._asked = False
        if self._sent.method in _STEPS:
            return self._after_step(self._reply, self._sent, events)
        return self._after_call(frame.seq, self._reply, self._sent, events)

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far; a question of its own until it has."""
        found = self._tool.outcome
        if found is Outcome.NONE and self._errand.tool is None and self._opened:
            return Outcome.ANSWER
        return Outcome.ELICITATION if found is Outcome.NONE and self._back.has_elicited else found

    @property
    def problem(self) -> Problem | None:
        """Why the exchange cannot go on."""
        reply = self._reply.problem if self._reply else None
        return reply if reply and reply.state == "refused" else self._problem

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """The latest session context that the agent returned."""
        return self._tool.session_context

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """What was found out of the server, where this exchange has opened it."""
        session = self._opening.session
        return session.to_json(self._target.url) if session and self._opened else None

    @property
    def is_waiting_for_user(self) -> bool:
        """Whether the server waits for an answer of the user."""
        answered = self._reply is not None and self._reply.answer is not None
        return self._back.has_elicited and not answered and not self._done

    def automatic_responses(self) -> Sequence[Mapping[str, Any]]:
        """Answers to the server's requests that need no user."""
        return self._back.take_responses()

    # Calls

    @property
    def _answers(self) -> bool:
        """Whether all there is to do is to answer a question of the server's."""
        return self._resume.get("kind") == elicitation.RESPONSE

    @property
    def _opened(self) -> bool:
        """Whether this exchange has opened the server by itself."""
        return self._opening.is_new and self._opening.step is HandshakeStep.OPEN

    @property
    def _id(self) -> jsonrpc.Id:
        """The id of the next request: unlike those of other runs in the same session."""
        number = self._calls + 1
        return (
            f"{self._target.request_id_prefix}-{number}"
            if self._target.request_id_prefix
            else number
        )

    def _post(self, message: Mapping[str, Any], version: str, session: str) -> HttpCall:
        return messages.post_message(self._target, message, version=version, session=session)

    def _call_message(self, session: Session) -> dict[str, Any]:
        modern = messages.is_stateless(session.version)
        meta = messages.stateless_meta(session.version, logs=True) if modern else {}
        more = {}
        if self._resume.get("kind") == elicitation.INPUT:
            names = ("inputResponses", "requestState")
            more = {name: self._resume[name] for name in names if name in self._resume}
        return messages.call_tool(
            self._id,
            self._errand.tool(session) if self._errand.tool else "",
            self._errand.arguments,
            meta={**meta, "progressToken": self._id},
            more=more,
        )

    # Frames

    def _new_tool_reply(self) -> ToolResponse:
        errand = self._errand
        reader = errand.reader() if errand.reader else None
        return ToolResponse(reader, lambda result: errand.document(result, self._max_depth))

    def _begin(self, sent: SentMessage) -> None:
        self._sent = sent
        self._calls += 1
        self._lost = False
        loose = None
        if sent.method not in _STEPS:
            self._tool = self._new_tool_reply()
            loose = self._tool.raw_message
        self._reply = McpResponse(
            sent, self._answered, self._requested, max_depth=self._max_depth, loose=loose
        )

    def _requested(self, seq: int, message: JsonRpcMessage) -> Sequence[Event]:
        sent = self._sent
        return self._back.read(seq, message, sent.session, sent.version) if sent else ()

    def _answered(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        """What an answer means, by what was asked."""
        if self._sent is None or self._reply is None:
            return ()
        method = self._sent.method
        if method in _STEPS:
            events = self._opening.answered(seq, method, message)
            # Where nothing comes after it, a refusal is the answer.
            last = method == messages.INITIALIZE or self._errand.tool is None
            if last and self._opening.is_refusal(method, message):
                return [*events, *self._tool.read(seq, message, in_stream)]
            return events
        if self._reply.answer is None and self._is_lost(self._reply, self._sent, message):
            self._lost = True
            return [_lost(seq)]
        return self._tool.read(seq, message, in_stream)

    def _after_step(
        self, reply: McpResponse, sent: SentMessage, events: Sequence[Event]
    ) -> Sequence[Event]:
        self._opening.conclude(sent.method, reply)
        self._problem = self._opening.problem
        self._done = self._opening.step is HandshakeStep.GIVE_UP or (
            self._errand.tool is None and self._opened
        )
        if self._done:
            return events
        # What a server says to a probe that it does not know is no part of its answer.
        return [event for event in events if type(event) is not Unknown]

    def _after_call(
        self, seq: int, reply: McpResponse, sent: SentMessage, events: Sequence[Event]
    ) -> Sequence[Event]:
        if not self._lost and reply.answer is None and self._is_lost(reply, sent, None):
            self._lost, events = True, [_lost(seq)]
        if self._lost:
            self._reopened = True
            self._opening.reopen(session=bool(sent.session))
            return events
        self._done = True
        failed = reply.answer is None if sent.wants_answer else reply.status // 100 != 2
        if failed:
            self._problem = errors.no_response(reply)
        elif sent.wants_answer and not self._tool.understood:
            self._problem = errors.not_nlweb(reply)
        else:
            self._tool.end()
        return events

    def _is_lost(
        self, reply: McpResponse, sent: SentMessage, answer: JsonRpcMessage | None
    ) -> bool:
        """Whether the server no longer knows what was known of it, for the first time."""
        if self._reopened or not sent.wants_answer:
            return False
        code = answer.error.code if answer and answer.error else None
        if sent.session:
            said = answer.error.message if answer and answer.error else reply.text
            return reply.status == 404 or (reply.status == 400 and "session" in said.lower())
        if self._opening.is_new:
            return False
        # A server of the other generation by now, or one that has begun to want a session.
        refused = reply.status in (400, 404, 405) and code in (None, INVALID_REQUEST)
        return refused or code == UNSUPPORTED_PROTOCOL_VERSION


def _lost(seq: int) -> Note:
    return Note(seq, "mcp session lost", {"remark": "The server no longer knows the session."})
