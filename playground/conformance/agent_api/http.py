"""How a response travels: HTTP, the stream, and that what came are objects of the protocol."""

from __future__ import annotations

from collections.abc import Iterator

from playground.conformance.agent_api.rule import rule
from playground.conformance.agent_api.transcript import DONE, OBJECTS, AgentTranscript
from playground.conformance.response_parts import DecodedPayload
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    should,
)
from playground.conformance.values import type_with_article
from playground.protocols.frames import FrameKind

_LIFECYCLE = "Request/Response Lifecycle"
_STREAMING = "Content Streaming"


def _said_yes(t: AgentTranscript) -> bool:
    return t.transfer.head_seq is not None and t.transfer.status < 300


@rule(
    "reply",
    "A request is answered with a response, or with a stream of objects.",
    must(_LIFECYCLE),
    when=_said_yes,
)
def reply(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Whether each object is one of the protocol is another rule's question."""
    if not t.events:
        yield missing(t, "The reply is empty. Send a response.", t.transfer.head_seq)
    elif not t.has_response and not t.bare_errors:
        first = t.events[0]
        said = first.why or "Nothing in it is a response, a message or a content."
        yield missing(t, f"{said} Send objects of the protocol.", first.seq)


@rule(
    "content-type",
    "The Content-Type is that of what came: JSON or an event stream.",
    should(_LIFECYCLE),
    when=lambda t: t.transfer.head_seq is not None and t.has_response,
)
def content_type(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients choose by it how they read."""
    said = t.transfer.media_type
    wanted = "text/event-stream" if t.transfer.streamed else "application/json"
    if said != wanted:
        came = f"is {said[:60]}" if said else "is missing"
        yield Violation(f"Content-Type {came}. Set it to {wanted}.", t.transfer.head_seq)


@rule(
    "error-status",
    "An error of HTTP comes with an error of the protocol, and a refusal with an error of HTTP.",
    info("Error Handling"),
    when=lambda t: (
        t.transfer.status >= 400 or (bool(t.bare_errors) and not t.walk.objects and _said_yes(t))
    ),
)
def error_status(t: AgentTranscript) -> Iterator[RuleIssue]:
    """The specification leaves HTTP out; a client that sees 200 believes that all is well."""
    status = t.transfer.status
    if status < 400:
        yield Violation(
            f"The request was refused with HTTP {status}. Send a status such as 400, so that "
            "clients notice before they read.",
            t.transfer.head_seq,
        )
    elif not any(event.members.get("error") for event in t.events):
        yield missing(
            t,
            f"HTTP {status} came without an error object. Send one with a code and a message.",
            t.events[0].seq if t.events else t.transfer.head_seq,
        )


def _asked_stream(t: AgentTranscript) -> bool:
    return t.request.get("stream") is not False


@rule(
    "stream-honoured",
    "The response streams if and only if that was asked for.",
    should("5"),
    when=lambda t: t.has_response and isinstance(t.request.get("stream", True), bool),
)
def stream_honoured(t: AgentTranscript) -> Iterator[RuleIssue]:
    """`stream` is true unless the request says otherwise."""
    if _asked_stream(t) and not t.transfer.streamed:
        yield Violation(
            "A stream was asked for, or left to be the default, and one object came: send the "
            "response as a stream.",
            t.transfer.head_seq,
        )
    elif not _asked_stream(t) and t.transfer.streamed:
        yield Violation(
            '"stream": false was asked for and a stream came: send one response object.',
            t.transfer.head_seq,
        )


@rule(
    "stream-closed",
    "The last event of a stream ends with a blank line.",
    should(_STREAMING),
    when=lambda t: t.transfer.streamed,
)
def stream_closed(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Standard clients drop an event that does not."""
    if not t.transfer.ended:
        yield Inconclusive("The stream broke off before its end.")
        return
    for frame in t.transfer.frames:
        if frame.kind is FrameKind.TAIL:
            message = "The stream ended within an event: clients drop it. End with a blank line."
            yield Violation(message, frame.seq)


def _is_done(event: DecodedPayload) -> bool:
    return event.text.strip() == DONE


@rule(
    "data-json",
    "The data of every event are a JSON object.",
    must(_LIFECYCLE),
    when=lambda t: t.transfer.streamed and bool(t.events),
)
def data_json(t: AgentTranscript) -> Iterator[RuleIssue]:
    """What was cut off at the end of a stream is not held against it here."""
    for event in t.events:
        if isinstance(event.payload, dict) or _is_done(event):
            continue
        said = event.why or f"The data are {type_with_article(event.payload)}."
        yield Violation(f"{said} Send one JSON object as the data of each event.", event.seq)


@rule(
    "done-marker",
    "A stream ends with its response, and needs no other mark.",
    info(_STREAMING),
    when=lambda t: t.transfer.streamed and bool(t.events),
)
def done_marker(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Other protocols end with [DONE]: clients of this one have to pass over it."""
    for event in t.events:
        if _is_done(event):
            yield Violation("[DONE] is no object of the protocol: leave it out.", event.seq)


@rule(
    "event-names",
    "Events have no names of their own: the object in them says what it is.",
    info(_STREAMING),
    when=lambda t: t.transfer.streamed and bool(t.events),
)
def event_names(t: AgentTranscript) -> Iterator[RuleIssue]:
    """A client that listens for unnamed events never hears of one with a name."""
    for event in t.events:
        if event.name not in (None, "message"):
            message = f'Leave the name "{str(event.name)[:40]}" out: clients may not listen for it.'
            yield Violation(message, event.seq)


@rule(
    "object-known",
    "Every object says which it is: response, message or content.",
    must("3, 4, 6"),
    when=lambda t: any(event.members for event in t.events) and (_said_yes(t) or t.has_response),
)
def object_known(t: AgentTranscript) -> Iterator[RuleIssue]:
    """By the member `object`. An error that comes by itself is another rule's."""
    bare = {place.seq for place in t.bare_errors}
    for event in t.events:
        if not event.members or event.seq in bare or event.members.get("object") in OBJECTS:
            continue
        said = "is missing" if "object" not in event.members else "is none of the protocol"
        yield Violation(
            f"object {said}. Set it to one of {', '.join(OBJECTS)}.", event.seq, "/object"
        )


@rule(
    "bare-error",
    "An error stands in a response or a message.",
    should("6"),
    when=lambda t: bool(t.bare_errors) or any(event.members.get("error") for event in t.events),
)
def bare_error(t: AgentTranscript) -> Iterator[RuleIssue]:
    """Clients look for the response and its status; of one without either they know nothing."""
    for place in t.bare_errors:
        if t.transfer.status < 400:
            yield Violation(
                'Send {"object": "response", "status": "failed", "error": {"code": …, '
                '"message": …}}.',
                place.seq,
                "/object",
            )


RULES = (
    reply,
    content_type,
    error_status,
    stream_honoured,
    stream_closed,
    data_json,
    done_marker,
    event_names,
    object_known,
    bare_error,
)
