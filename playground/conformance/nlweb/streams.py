"""Streams: section 6 (0.54: section 8.4 and section 5 of its HTTP examples)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from playground.conformance.response_parts import DecodedPayload
from playground.conformance.rule import (
    RuleIssue,
    Violation,
    info,
    missing,
    must,
    rule,
    should,
)
from playground.conformance.transcript import Transcript


def _is_stream(t: Transcript) -> bool:
    return t.streamed and bool(t.messages)


def _spoke(t: Transcript) -> bool:
    return t.streamed and t.has_response


def _called(t: Transcript, name: str) -> list[DecodedPayload]:
    return [message for message in t.messages if message.name == name]


def _has(name: str) -> Callable[[Transcript], bool]:
    return lambda t: _spoke(t) and any(message.name == name for message in t.messages)


@rule(
    "stream-data-json",
    "The data of every event are JSON.",
    v55=must("6.1"),
    v54=must("8.4"),
    when=_is_stream,
)
def stream_data_json(t: Transcript) -> Iterator[RuleIssue]:
    """What was cut off at the end of a stream is not held against it here."""
    for message in t.messages:
        if not message.readable:
            yield Violation(
                f"{message.why} Send one JSON object as the data of each event.", message.seq
            )


@rule(
    "stream-events-named",
    "Every event has a name.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_is_stream,
)
def stream_events_named(t: Transcript) -> Iterator[RuleIssue]:
    """A client that listens for result never hears of an event without a name."""
    for message in t.messages:
        if message.name is None:
            yield Violation("Name the event: add a line such as event: result.", message.seq)


@rule(
    "stream-events-known",
    "Events have names that the version defines.",
    v55=should("6.1"),
    v54=should("HTTP examples 5"),
    when=lambda t: _is_stream(t) and any(message.name for message in t.messages),
)
def stream_events_known(t: Transcript) -> Iterator[RuleIssue]:
    """0.55: start, result, error, complete. 0.54 also content and end, and no error."""
    known: tuple[str, ...] = t.traits["stream_events"]
    for message in t.messages:
        if message.name is not None and message.name not in known:
            yield Violation(
                f'NLWeb {t.version} defines no event "{message.name[:60]}": clients pass over it. '
                f"It defines {', '.join(known)}.",
                message.seq,
            )


@rule(
    "stream-start-first",
    "A stream begins with the event start.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_spoke,
)
def stream_start_first(t: Transcript) -> Iterator[RuleIssue]:
    """Clients set up their view when it comes."""
    if t.messages[0].name != "start":
        yield Violation("Send start with the metadata before everything else.", t.messages[0].seq)


@rule(
    "stream-start-once",
    "The event start comes once.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has("start"),
    needs_complete_response=True,
)
def stream_start_once(t: Transcript) -> Iterator[RuleIssue]:
    """A second one would begin a second reply."""
    for message in _called(t, "start")[1:]:
        yield Violation("This is not the first start: leave it out.", message.seq)


@rule(
    "stream-start-meta",
    'The event start holds _meta with "streaming": true.',
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has("start"),
)
def stream_start_meta(t: Transcript) -> Iterator[RuleIssue]:
    """The flag tells a stream from a whole reply."""
    for message in _called(t, "start")[:1]:
        name = "meta" if t.version == "0.54" and "_meta" not in message.members else "_meta"
        meta = message.members.get(name)
        if not isinstance(meta, dict):
            yield Violation(
                'Put the metadata into _meta, "streaming": true included.', message.seq, "/_meta"
            )
        elif meta.get("streaming") is not True:
            yield Violation("Set streaming to true.", message.seq, f"/{name}/streaming")


def _after(t: Transcript, name: str) -> tuple[DecodedPayload, ...]:
    """What came after the first event of a name."""
    at = next((at for at, message in enumerate(t.messages) if message.name == name), None)
    return () if at is None else t.messages[at + 1 :]


# The end


@rule(
    "stream-complete-present",
    "A stream ends with the event complete.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_spoke,
    needs_complete_response=True,
)
def stream_complete_present(t: Transcript) -> Iterator[RuleIssue]:
    """A stream may also end with an error (0.55), which then stands in for it."""
    last = t.messages[-1]
    if _called(t, "complete") or (t.is_complete and last.name == "error" and t.version == "0.55"):
        return
    yield missing(t, "Send complete with the final metadata when all is sent.", last.seq)


@rule(
    "stream-complete-once",
    "The event complete comes once.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has("complete"),
    needs_complete_response=True,
)
def stream_complete_once(t: Transcript) -> Iterator[RuleIssue]:
    """Clients stop listening at the first."""
    for message in _called(t, "complete")[1:]:
        yield Violation("This is not the first complete: leave it out.", message.seq)


@rule(
    "stream-complete-last",
    "Nothing comes after the event complete.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has("complete"),
    needs_complete_response=True,
)
def stream_complete_last(t: Transcript) -> Iterator[RuleIssue]:
    """In 0.54 one `end` may. A second complete is another rule's."""
    rest = _after(t, "complete")
    if t.version == "0.54" and rest and rest[0].name == "end":
        rest = rest[1:]
    for message in rest:
        if message.name != "complete":
            yield Violation("This came after complete: send it before.", message.seq)


@rule(
    "stream-complete-meta",
    "The event complete holds the final _meta.",
    v55=must("6.1"),
    v54=must("8.4"),
    when=_has("complete"),
)
def stream_complete_meta(t: Transcript) -> Iterator[RuleIssue]:
    """Clients take the session context from it."""
    for message in _called(t, "complete")[:1]:
        name = "meta" if t.version == "0.54" and "_meta" not in message.members else "_meta"
        if not isinstance(message.members.get(name), dict):
            yield Violation(
                "Put the final metadata into _meta, with the session context if there is one.",
                message.seq,
                "/_meta",
            )


# Errors


@rule(
    "error-event",
    "The event error holds what a failure holds: error, an object with a code.",
    v55=must("6.1"),
    when=_has("error"),
)
def error_event(t: Transcript) -> Iterator[RuleIssue]:
    """The structure of section 4.1.4; what is in the object is its rules' question."""
    for message in _called(t, "error"):
        if not isinstance(message.members.get("error"), dict):
            said = "missing" if "error" not in message.members else "no object"
            yield Violation(
                f'error is {said}. Send {{"error": {{"code": …, "message": …}}}}.',
                message.seq,
                "/error" if message.members else "",
            )


@rule(
    "error-event-meta",
    "The event error says in _meta that it is a failure.",
    v55=info("6.1"),
    when=_has("error"),
)
def error_event_meta(t: Transcript) -> Iterator[RuleIssue]:
    """It follows the structure of a failure; whether with the metadata is left open."""
    for message in _called(t, "error"):
        if message.members and not isinstance(message.members.get("_meta"), dict):
            yield Violation(
                "With _meta the event is a failure that any client can read.",
                message.seq,
                "/_meta",
            )


@rule(
    "error-event-last",
    "A stream ends after an error.",
    v55=info("6.1"),
    when=_has("error"),
    needs_complete_response=True,
)
def error_event_last(t: Transcript) -> Iterator[RuleIssue]:
    """Going on is allowed after an error that can be got over: clients have to expect it."""
    rest = [message for message in _after(t, "error") if message.name != "complete"]
    if rest:
        count = "one more event" if len(rest) == 1 else f"{len(rest)} more events"
        yield Violation(
            f"After this error the stream went on with {count}, which is allowed.",
            _called(t, "error")[0].seq,
        )


RULES = (
    stream_data_json,
    stream_events_named,
    stream_events_known,
    stream_start_first,
    stream_start_once,
    stream_start_meta,
    stream_complete_present,
    stream_complete_once,
    stream_complete_last,
    stream_complete_meta,
    error_event,
    error_event_meta,
    error_event_last,
)
