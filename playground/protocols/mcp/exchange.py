"""Exchange with an MCP server: the handshake, then the call of a tool.

After an earlier handshake (`Target.handshake`), and in the session of the conversation
(`Target.session`), only the tool is called; a session that the server has lost is opened again,
once. Driven by frames: which call a response belongs to is read from the CALL frame, so a stored
run is read in the same way as a live one. A stream that ends before its response is resumed, if the
server gave an event id (see `responses.StreamPosition`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Failure, Note, Outcome, Unknown
from playground.protocols.exchange import Reader, Target, UsesSession
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.jsonrpc import (
    INVALID_REQUEST,
    UNSUPPORTED_PROTOCOL_VERSION,
    JsonRpcMessage,
)
from playground.protocols.mcp import elicitation, messages, results, versions
from playground.protocols.mcp.handshake import (
    DISCOVERED,
    METHODS,
    Handshake,
    Session,
    State,
    session_from_json,
)
from playground.protocols.mcp.messages import SentMessage
from playground.protocols.mcp.responses import McpResponse
from playground.protocols.problems import Problem


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """The purpose of an exchange: a tool, its arguments, and how its result is read."""

    #: From the session to the name of the tool; None to do the handshake only.
    tool: Callable[[Session], str] | None = None
    arguments: Any = None
    #: Makes a reader of the tool's result.
    reader: Callable[[], Reader] | None = None
    #: Whether the tool is chosen from the list of tools.
    needs_tools: bool = True
    #: (result, nesting of JSON that is still read) to the document for the reader.
    document: Callable[[Any, int], Any] = results.document_of


class McpExchange(UsesSession):
    """Handshake and call of a tool; see the module."""

    def __init__(self, target: Target, request: ToolRequest, *, max_depth: int = 100) -> None:
        self._target = target
        self._request = request
        self._max_depth = max_depth
        self._resume = target.resume or {}
        stored = session_from_json(target.handshake, target.url) if request.tool else None
        self._handshake = Handshake(
            stored,
            target.session if request.tool else ("", ""),
            target.mcp_version,
            needs_tools=request.needs_tools,
        )
        self._server_requests = elicitation.ServerRequests()
        self._tool_response = self._new_tool_response()
        self._response: McpResponse | None = None
        self._problem: Problem | None = None
        #: The error of the response to the last message if that is no JSON-RPC, and whether
        #: the exchange ends with it.
        self._refusal: Failure | None = None
        self._is_refused = False
        self._call_count = 0
        #: Whether the next call was returned and has not ended; whether nothing more is sent.
        self._is_calling = self._is_done = False
        #: Whether the server has lost the session in this call, and whether it was reopened.
        self._session_lost = self._reopened = False
        #: Whether the stream of the last response is to be resumed.
        self._is_resuming = False
        #: Whether the last transfer failed and need not have succeeded.
        self._tolerates_error = False

    def next_call(self) -> HttpCall | None:
        """Return the next call of the handshake, or that of the tool."""
        if self._is_calling or self._is_done or self.problem:
            return None
        self._is_calling = True
        if self._is_resuming and self._response:
            return self._resume_call(self._response)
        if self._is_client_response or self._handshake.state is State.OPEN:
            return self.tool_call()
        if self._handshake.state is State.FIND_OLD_TRANSPORT:
            return messages.open_stream(self._target)
        version, session = self._handshake.version_and_session
        call = self._post(self._handshake.message(self._id), version, session)
        return replace(call, time_limit=self._handshake.time_limit)

    def tool_call(self) -> HttpCall:
        """Return the call of the tool, or the client response, as far as known in advance."""
        if self._is_client_response:
            version, session = (
                str(self._resume.get(name) or "") for name in ("version", "session")
            )
            return self._post(elicitation.response(self._resume), version, session)
        known = self._handshake.session or Session(DISCOVERED, versions.STATELESS_VERSION)
        return self._post(self._call_message(known), known.version, known.id)

    def receive(self, frame: Frame) -> Sequence[Event]:
        """Never raises on an agent's data."""
        if frame.kind is FrameKind.CALL:
            self._begin(messages.read_call(frame.data))
            return ()
        response = self._response
        if response is None:
            return ()
        events = response.receive(frame)
        if response.sent.is_get:
            events = ()  # The problem says what was found.
        own, other = response.sent.session, response.session
        if frame.kind is FrameKind.HEAD and own and other and own != other:
            remark = "The server sent another session id. The one from initialize stays in use."
            return [*events, Note(frame.seq, "mcp session changed", {"remark": remark})]
        if frame.kind is FrameKind.ERROR:
            self._tolerates_error = self._tolerates(frame.data, response)
        if not self._is_calling or not self._is_over(frame):
            return events
        self._is_calling = False
        if response.is_resumable and not response.position.refusal:
            self._is_resuming = True
            return events
        if response.sent.method in METHODS:
            return self._after_step(frame.seq, response, events)
        return self._after_call(frame.seq, response, events)

    @property
    def has_enough(self) -> bool:
        """Return whether a stream has brought what it was requested for: it may stay open."""
        response = self._response
        if response is None:
            return False
        if response.sent.is_get:
            is_stream = response.is_stream and response.is_old_transport is None
            return bool(response.status) and not is_stream
        return response.is_resumption and response.answer is not None

    @property
    def tolerates_error(self) -> bool:
        """Return whether the stream is resumed, or the call only looked for another transport."""
        return self._tolerates_error

    @property
    def outcome(self) -> Outcome:
        """The outcome so far; an elicitation of the server until the tool has answered."""
        found = Outcome.FAILURE if self._is_refused else self._tool_response.outcome
        if found is not Outcome.NONE:
            return found
        if self._request.tool is None and self._has_opened:
            return Outcome.ANSWER
        return Outcome.ELICITATION if self._server_requests.has_elicited else Outcome.NONE

    @property
    def problem(self) -> Problem | None:
        found = self._response.problem if self._response else None
        return found if found and found.state == "refused" else self._problem

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        return self._tool_response.session_context

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """The session as it is stored, if this exchange did the handshake."""
        session = self._handshake.session
        return session.to_json(self._target.url) if session and self._has_opened else None

    @property
    def session(self) -> tuple[str, str]:
        """Version and id of the session, both "" without one."""
        session = self._handshake.session
        return (session.version, session.id) if session and session.id else ("", "")

    def end_call(self) -> HttpCall | None:
        version, session = self.session
        return messages.end_session(self._target, version, session) if session else None

    @property
    def is_waiting_for_user(self) -> bool:
        answered = self._response is not None and self._response.answer is not None
        return self._server_requests.has_elicited and not answered and not self._is_done

    def automatic_responses(self) -> Sequence[Mapping[str, Any]]:
        """Return the responses to the server's requests that need no user, each once."""
        return self._server_requests.take_responses()

    # Calls

    @property
    def _is_client_response(self) -> bool:
        """Return whether this exchange only sends the response to a request of the server."""
        return self._resume.get("kind") == elicitation.RESPONSE

    @property
    def _has_opened(self) -> bool:
        return self._handshake.is_new and self._handshake.state is State.OPEN

    @property
    def _id(self) -> jsonrpc.Id:
        """The id of the next request, different from those of other runs in the session."""
        number = self._call_count + 1
        prefix = self._target.request_id_prefix
        return f"{prefix}-{number}" if prefix else number

    def _post(self, message: Mapping[str, Any], version: str, session: str) -> HttpCall:
        return messages.post_message(self._target, message, version=version, session=session)

    def _call_message(self, session: Session) -> dict[str, Any]:
        is_stateless = versions.is_stateless(session.version)
        meta = messages.stateless_meta(session.version, logs=True) if is_stateless else {}
        more = {}
        if self._resume.get("kind") == elicitation.INPUT:
            names = ("inputResponses", "requestState")
            more = {name: self._resume[name] for name in names if name in self._resume}
        return messages.call_tool(
            self._id,
            self._request.tool(session) if self._request.tool else "",
            self._request.arguments,
            meta={**meta, "progressToken": self._id},
            more=more,
        )

    def _resume_call(self, response: McpResponse) -> HttpCall:
        position, sent = response.position, response.sent
        return messages.open_stream(
            self._target,
            position.last_event_id,
            version=sent.version,
            session=sent.session or response.session,
            delay=position.retry / 1_000,
        )

    # Frames

    def _is_over(self, frame: Frame) -> bool:
        """Return whether a response is complete, or failed and is resumed or not needed."""
        if frame.kind is FrameKind.ERROR:
            return self.tolerates_error
        return frame.kind is FrameKind.END or self.has_enough

    def _tolerates(self, error: bytes, response: McpResponse) -> bool:
        if response.sent.method == messages.DISCOVER:
            return self._handshake.tolerates(Problem.from_bytes(error))
        is_resumed = response.is_resumable and not response.position.refusal
        return response.sent.is_get or (
            is_resumed and Problem.from_bytes(error).state == "truncated"
        )

    def _new_tool_response(self) -> results.ToolResponse:
        request = self._request
        reader = request.reader() if request.reader else None
        return results.ToolResponse(
            reader, lambda result: request.document(result, self._max_depth)
        )

    def _begin(self, sent: SentMessage) -> None:
        self._is_calling, self._is_resuming, self._session_lost = True, False, False
        self._tolerates_error = False
        resumed = self._response if sent.last_event_id else None
        if resumed is not None:
            resumed.position.resume()
            sent = resumed.sent
        else:
            self._call_count += 1
            if sent.method not in METHODS:
                self._tool_response = self._new_tool_response()
        is_handshake = sent.method in METHODS
        self._response = McpResponse(
            sent,
            self._on_answer,
            self._on_request,
            max_depth=self._max_depth,
            on_raw_message=None if is_handshake else self._tool_response.raw_message,
            resumes=resumed,
        )

    def _on_request(self, seq: int, message: JsonRpcMessage) -> Sequence[Event]:
        if self._response is None:
            return ()
        sent = self._response.sent
        return self._server_requests.read(seq, message, sent.session, sent.version)

    def _on_answer(self, seq: int, message: JsonRpcMessage, in_stream: bool) -> Sequence[Event]:
        if self._response is None:
            return ()
        method = self._response.sent.method
        if method == messages.GET:
            return ()
        if method in METHODS:
            events = self._handshake.answered(seq, method, message)
            # If no call follows, a refusal is the answer.
            is_last = method == messages.INITIALIZE or self._request.tool is None
            if is_last and self._handshake.is_refusal(method, message):
                return [*events, *self._tool_response.read(seq, message, in_stream)]
            return events
        if self._response.answer is None and self._is_lost(self._response, message):
            self._session_lost = True
            return [_session_lost(seq)]
        return self._tool_response.read(seq, message, in_stream)

    def _after_step(
        self, seq: int, response: McpResponse, events: Sequence[Event]
    ) -> Sequence[Event]:
        sent = response.sent
        self._handshake.conclude(sent.method, response)
        self._problem = self._handshake.problem
        if not sent.is_get:
            self._refusal = response.refusal
        self._is_done = self._handshake.state is State.GIVE_UP or (
            self._request.tool is None and self._has_opened
        )
        if not self._is_done:
            # The response to a step that a server does not know is no part of its answer.
            found = [e for e in events if type(e) is not Unknown and e is not self._refusal]
            if sent.method == messages.DISCOVER:
                found += self._handshake.fallback_events(seq, response)
            return found
        is_other = sent.method == messages.DISCOVER and self._target.mcp_version
        if self._refusal and not response.is_old_transport and not is_other:
            self._is_refused, self._problem = True, None
            return [replace(self._refusal, seq=seq)] if sent.is_get else events
        return events

    def _after_call(
        self, seq: int, response: McpResponse, events: Sequence[Event]
    ) -> Sequence[Event]:
        sent = response.sent
        if not self._session_lost and response.answer is None and self._is_lost(response, None):
            self._session_lost, events = True, [_session_lost(seq)]
        if self._session_lost:
            self._reopened = True
            self._handshake.reopen(session=bool(sent.session))
            return events
        self._is_done = True
        failed = response.answer is None if sent.wants_answer else response.status // 100 != 2
        self._is_refused = response.refusal is not None
        if failed and self.outcome is Outcome.FAILURE:
            pass  # The server says why, if not in JSON-RPC.
        elif failed:
            self._problem = response.no_answer_problem()
        elif sent.wants_answer and not self._tool_response.understood:
            self._problem = response.not_nlweb_problem()
        else:
            self._tool_response.end()
        return events

    def _is_lost(self, response: McpResponse, answer: JsonRpcMessage | None) -> bool:
        """Return whether the server has lost the session, for the first time."""
        sent = response.sent
        if self._reopened or not sent.wants_answer or response.is_resumption:
            return False
        code = answer.error.code if answer and answer.error else None
        if sent.session:
            text = answer.error.message if answer and answer.error else response.text
            return response.status == 404 or (response.status == 400 and "session" in text.lower())
        if self._handshake.is_new:
            return False
        # The server is of the other generation by now, or has begun to require a session.
        is_refused = response.status in (400, 404, 405) and code in (None, INVALID_REQUEST)
        return is_refused or code == UNSUPPORTED_PROTOCOL_VERSION


def _session_lost(seq: int) -> Note:
    return Note(seq, "mcp session lost", {"remark": "The server no longer knows the session."})
