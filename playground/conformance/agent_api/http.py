"""Rules on HTTP, the stream, and whether it consists of objects of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.agent_api.transcript import OBJECTS, AgentTranscript, row, rule
from playground.conformance.rule import (
    Inconclusive,
    Level,
    RuleIssue,
    Violation,
    info,
    misframed,
    missing,
    mistyped,
    must,
    should,
    unterminated,
)
from playground.conformance.shape import MISSING, Place, never, type_with_article
from playground.protocols import raw, sse
from playground.protocols.response import Message

_LIFECYCLE = "Request/Response Lifecycle"
_STREAMING = "Content Streaming"


def _has_head(t: AgentTranscript) -> bool:
    return t.http_response.head_seq is not None


def _is_success(t: AgentTranscript) -> bool:
    return _has_head(t) and t.http_response.status < 300


def _is_bare_error(t: AgentTranscript) -> bool:
    return bool(t.bare_errors) and not t.stream_state.objects and _is_success(t)


def reply(t: AgentTranscript) -> Iterator[RuleIssue]:
    if not t.events:
        yield missing(t, "The body is empty. Send a response object.", t.http_response.head_seq)
    elif not t.has_response and not t.bare_errors:
        first = t.events[0]
        actual = first.reason or "The body contains no response, message or content object."
        yield missing(t, f"{actual} Send Agent API objects.", first.seq)
    elif not t.http_response.streamed and t.has_response and not t.responses:
        message = "This is not a response. Send it in the output of a response object."
        yield Violation(message, t.events[0].seq, "/object")


def content_type(t: AgentTranscript) -> Iterator[RuleIssue]:
    return mistyped(t.http_response, t.http_response.streamed, "+json")


def error_status(t: AgentTranscript) -> Iterator[RuleIssue]:
    status = t.http_response.status
    if status < 400:
        yield Violation(
            f"The request was rejected with HTTP {status}. Use an error status such as 400, so "
            "that clients can tell without parsing the body.",
            t.http_response.head_seq,
        )
    elif not any(event.members.get("error") for event in t.events):
        yield missing(
            t,
            f"HTTP {status} without an error object. Include one with code and message.",
            t.events[0].seq if t.events else t.http_response.head_seq,
        )


def _errors(t: AgentTranscript) -> Iterator[Place]:
    """Select every error, within an object or not."""
    for event in t.events:
        if error := event.members.get("error"):
            yield event.seq, "/error", error
    yield from t.bare_errors


def _bare_errors(t: AgentTranscript) -> Iterator[Place]:
    """Select the member that a bare error of a successful response lacks."""
    if t.http_response.status < 400:
        yield from ((error.seq, "/object", MISSING) for error in t.bare_errors)


def _says_whether_to_stream(t: AgentTranscript) -> bool:
    return raw.raw_of(t.request) is None and isinstance(t.request.get("stream", True), bool)


def _wants_stream(t: AgentTranscript) -> bool:
    return t.request.get("stream") is not False


def stream_honoured(t: AgentTranscript) -> Iterator[RuleIssue]:
    if _wants_stream(t) and not t.http_response.streamed:
        yield Violation(
            "The request asks for a stream (the default), but the response is a single object. "
            "Stream the response.",
            t.http_response.head_seq,
        )
    elif not _wants_stream(t) and t.http_response.streamed:
        yield Violation(
            'The request has "stream": false, but the response is a stream. Send one response '
            "object.",
            t.http_response.head_seq,
        )


def stream_closed(t: AgentTranscript) -> Iterator[RuleIssue]:
    if not t.http_response.ended:
        yield Inconclusive("The stream was truncated.")
    else:
        yield from unterminated(t.http_response)


def _is_done(event: Message) -> bool:
    return event.text.strip() == sse.DONE


def data_json(t: AgentTranscript) -> Iterator[RuleIssue]:
    if t.http_response.is_json_lines:
        yield Violation(sse.NOT_FRAMED, t.events[0].seq, "", Level.INFO)
    for event in t.events:
        if isinstance(event.payload, dict) or _is_done(event):
            continue
        actual = event.reason or f"The data is {type_with_article(event.payload)}."
        yield Violation(f"{actual} Send one JSON object as the data of each event.", event.seq)
    if not t.http_response.is_json_lines:
        yield from misframed(t.http_response)


def _streamed_events(t: AgentTranscript) -> Iterator[Place]:
    if t.http_response.streamed:
        yield from ((event.seq, "", event) for event in t.events)


def _names(t: AgentTranscript) -> Iterator[Place]:
    if t.http_response.streamed:
        yield from ((event.seq, "", event.name) for event in t.events)


def object_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    for event, known in zip(t.events, t.known, strict=True):
        if not event.members or event.members.get("object") in OBJECTS:
            continue
        # Where the other members tell what it is, another rule reports the missing one.
        if "object" not in event.members and (known or event.members.get("error") is not None):
            continue
        actual = "is missing" if "object" not in event.members else "is not defined by the protocol"
        yield Violation(
            f"object {actual}. Set it to one of {', '.join(OBJECTS)}.", event.seq, "/object"
        )
    for kind, locations in (("message", t.messages), ("content", t.contents)):
        for seq, pointer, value in locations:
            if value.get("object", kind) != kind:
                yield Violation(f"Set object to {kind}.", seq, f"{pointer}/object")


def object_present(t: AgentTranscript) -> Iterator[RuleIssue]:
    for event, known in zip(t.events, t.known, strict=True):
        if known and "object" not in event.members:
            yield Violation(f"Set object to {known.value['object']}.", event.seq, "/object")
    for kind, locations in (("message", t.messages), ("content", t.contents)):
        for seq, pointer, value in locations:
            if "object" not in value:
                yield Violation(f"Set object to {kind}.", seq, f"{pointer}/object")


# fmt: off
RULES = (
    rule("reply", "Requests are answered with a response object or a stream of objects.",
        must(_LIFECYCLE), reply, when=_is_success,
        why="`agent-api.object-known` checks whether each object is defined by the protocol."),
    rule("content-type", "Content-Type matches the body: JSON or an event stream.",
        should(_LIFECYCLE), content_type,
        when=lambda t: _has_head(t) and t.has_response and not t.http_response.is_json_lines,
        why="Clients select their parser by it."),
    rule("error-status",
        "HTTP errors include an error object, and errors have an HTTP error status.",
        info("Error Handling"), error_status,
        when=lambda t: t.http_response.status >= 400 or _is_bare_error(t),
        why="The specification does not mention HTTP. Clients take status 200 for success."),
    rule("stream-honoured", "Responses are streamed if and only if the request asks for it.",
        should("5"), stream_honoured,
        when=lambda t: t.has_response and _says_whether_to_stream(t),
        why="The default of the parameter `stream` is true."),
    rule("stream-closed", "The last event of a stream ends with a blank line.", should(_STREAMING),
        stream_closed, when=lambda t: t.http_response.streamed,
        why="SSE clients discard an event that is not terminated."),
    rule("data-json", "The data of every event is a JSON object.", must(_LIFECYCLE), data_json,
        when=lambda t: t.http_response.streamed and bool(t.events),
        why="Data that was cut off at the end of a stream is not a violation of this rule.\n\n"
            "The specification prints JSON lines and defines no framing: they are reported as "
            "information."),
    row("done-marker", "Streams end with the response object, without an end marker.",
        info(_STREAMING),
        _streamed_events, {
            lambda event: not _is_done(event): "[DONE] is not part of the protocol. Remove it.",
        },
        why="Other protocols end with [DONE]; clients of the Agent API have to ignore it."),
    row("event-names", "Events are unnamed; the object member gives the type.", info(_STREAMING),
        _names, {
            lambda name: name in (None, "message"):
                'Remove the event name "{value}": clients may not listen for it.',
        },
        why="Clients that listen for unnamed events never receive a named one."),
    rule("object-known", "Every object has the member object: response, message or content.",
        must("3, 4, 6"), object_known,
        when=lambda t: any(e.members for e in t.events) and (_is_success(t) or t.has_response),
        why="For an error without any object see `agent-api.bare-error`."),
    rule("object-present", "The member object is present.", should("3, 4, 6"), object_present,
        when=lambda t: t.has_response,
        why="The member has a default value, but every example includes it."),
    row("bare-error", "Errors are part of a response or a message.", should("6"),
        _bare_errors, {
            never: 'Send {"object": "response", "status": "failed", "error": {"code": …, '
                   '"message": …}}.',
        }, when=_errors,
        why="Clients read the status of the response, and ignore an error outside of it."),
)
# fmt: on
