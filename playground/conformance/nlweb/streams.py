"""Rules on streams: their events, their transfer, and the order of results.

Section 6 (0.54: section 8.4, and section 5 of its HTTP examples).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

from playground.conformance.findings import Level
from playground.conformance.response_parts import DecodedPayload
from playground.conformance.rule import (
    Inconclusive,
    RuleIssue,
    Violation,
    info,
    misframed,
    missing,
    must,
    rule,
    should,
)
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_integer, is_nonempty_text, type_with_article
from playground.protocols.frames import BODY_KINDS, FrameKind

_BOM = b"\xef\xbb\xbf"
#: A byte order mark at the start of a line.
_BOM_AT_LINE = re.compile(rb"(?<![^\r\n])" + _BOM)
#: Names like that of the event result.
_LIKE_RESULT = re.compile(r"(?:search[-_. ]?)?(?:(?:result|item)s?[-_. ]?){1,2}", re.IGNORECASE)


def _is_stream_with_events(t: Transcript) -> bool:
    return t.streamed and bool(t.messages) and not t.is_json_lines


def _is_nlweb_stream(t: Transcript) -> bool:
    return t.streamed and t.has_response and not t.is_json_lines


def _events_named(t: Transcript, name: str) -> list[DecodedPayload]:
    return [message for message in t.messages if message.name == name]


def _has_event(name: str) -> Callable[[Transcript], bool]:
    return lambda t: _is_nlweb_stream(t) and any(message.name == name for message in t.messages)


@rule(
    "stream-data-json",
    "The data of every event is JSON.",
    v55=must("6.1"),
    v54=must("8.4"),
    when=_is_stream_with_events,
)
def stream_data_json(t: Transcript) -> Iterator[RuleIssue]:
    """Data that was cut off at the end of a stream is not a violation of this rule."""
    for message in t.messages:
        if not message.readable and message.text:
            yield Violation(
                f"{message.reason} Send one JSON object as the data of each event.", message.seq
            )
    yield from misframed(t.frames)


@rule(
    "stream-data-present",
    "Events have data.",
    v55=info("6.1"),
    v54=info("8.4"),
    when=_is_stream_with_events,
)
def stream_data_present(t: Transcript) -> Iterator[RuleIssue]:
    """Clients of event streams ignore an event without data, as browsers do."""
    for message in t.messages:
        if not message.readable and not message.text:
            yield Violation("This event has no data, so clients ignore it.", message.seq)


@rule(
    "stream-events-named",
    "Every event has a name.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_is_stream_with_events,
)
def stream_events_named(t: Transcript) -> Iterator[RuleIssue]:
    """Clients that listen for `result` events never receive an unnamed one."""
    for message in t.messages:
        if message.name is None:
            yield Violation("Add an event name: a line such as event: result.", message.seq)


@rule(
    "stream-events-known",
    "Event names are listed in the specification.",
    v55=info("6.1"),
    v54=info("HTTP examples 5"),
    when=lambda t: _is_stream_with_events(t) and any(message.name for message in t.messages),
)
def stream_events_known(t: Transcript) -> Iterator[RuleIssue]:
    """0.55 has start, result, error, complete. 0.54 also has content and end, but no error.

    No sentence forbids other events. Results are sent as result events: under another name,
    clients lose them.
    """
    known: tuple[str, ...] = t.traits["stream_events"]
    has_results = not t.has_own_format
    for message in t.messages:
        if message.name is not None and message.name not in known:
            is_result = has_results and _is_misnamed_result(message)
            yield Violation(
                f'NLWeb {t.version} does not define the event "{message.name[:60]}", so clients '
                f"ignore it. It defines {', '.join(known)}."
                + (" Send each result as a result event." if is_result else ""),
                message.seq,
                level=Level.SHOULD if is_result else None,
            )


def _is_misnamed_result(message: DecodedPayload) -> bool:
    """Return whether an event with a name like results or result_item has data, or an item."""
    has_items = bool(message.members or isinstance(message.payload, list))
    named_so = _LIKE_RESULT.fullmatch(message.name or "") is not None
    return (named_so and has_items) or {"index", "item"} <= message.members.keys()


@rule(
    "stream-start-first",
    "Streams start with a start event.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_is_nlweb_stream,
)
def stream_start_first(t: Transcript) -> Iterator[RuleIssue]:
    """Clients initialize their view with it.

    Section 8.4 of 0.54 only requires the metadata in one of the events.
    """
    if t.messages[0].name != "start":
        is_left_open = t.version == "0.54" and t.metas and not _events_named(t, "start")
        message = "Send start with the metadata before all other events."
        yield Violation(message, t.messages[0].seq, level=Level.INFO if is_left_open else None)


@rule(
    "stream-start-once",
    "Streams have only one start event.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_event("start"),
    needs_complete_response=True,
)
def stream_start_once(t: Transcript) -> Iterator[RuleIssue]:
    """A second start event would begin another response."""
    for message in _events_named(t, "start")[1:]:
        yield Violation("Remove this second start event.", message.seq)


@rule(
    "stream-start-meta",
    'The start event has _meta with "streaming": true.',
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_event("start"),
)
def stream_start_meta(t: Transcript) -> Iterator[RuleIssue]:
    """The flag distinguishes a stream from a single document."""
    for message in _events_named(t, "start")[:1]:
        name = "meta" if t.version == "0.54" and "_meta" not in message.members else "_meta"
        meta = message.members.get(name)
        if not isinstance(meta, dict):
            yield Violation(
                'Put the metadata, including "streaming": true, in _meta.', message.seq, "/_meta"
            )
        elif meta.get("streaming") is not True:
            yield Violation("Set streaming to true.", message.seq, f"/{name}/streaming")


def _after(t: Transcript, name: str) -> tuple[DecodedPayload, ...]:
    """Return the messages after the first event of a name."""
    at = next((at for at, message in enumerate(t.messages) if message.name == name), None)
    return () if at is None else t.messages[at + 1 :]


# The end


@rule(
    "stream-complete-present",
    "Streams end with a complete event.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_is_nlweb_stream,
    needs_complete_response=True,
)
def stream_complete_present(t: Transcript) -> Iterator[RuleIssue]:
    """In 0.55 a stream may also end with an error event."""
    last = t.messages[-1]
    if _events_named(t, "complete") or (
        t.is_complete and last.name == "error" and t.version == "0.55"
    ):
        return
    yield missing(
        t, "End the stream with a `complete` event carrying the final metadata.", last.seq
    )


@rule(
    "stream-complete-once",
    "Streams have only one complete event.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_event("complete"),
    needs_complete_response=True,
)
def stream_complete_once(t: Transcript) -> Iterator[RuleIssue]:
    """Clients stop reading at the first one."""
    for message in _events_named(t, "complete")[1:]:
        yield Violation("Remove this second complete event.", message.seq)


@rule(
    "stream-complete-last",
    "No events follow the complete event.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_event("complete"),
    needs_complete_response=True,
)
def stream_complete_last(t: Transcript) -> Iterator[RuleIssue]:
    """In 0.54 an `end` event may follow. For a second one see `stream-complete-once`."""
    rest = _after(t, "complete")
    if t.version == "0.54" and rest and rest[0].name == "end":
        rest = rest[1:]
    for message in rest:
        if message.name != "complete":
            yield Violation("This event was sent after complete. Send it before.", message.seq)


@rule(
    "stream-complete-meta",
    "The complete event has the final _meta.",
    v55=must("6.1"),
    v54=must("8.4"),
    when=_has_event("complete"),
)
def stream_complete_meta(t: Transcript) -> Iterator[RuleIssue]:
    """Clients read the session context from it."""
    for message in _events_named(t, "complete")[:1]:
        name = "meta" if t.version == "0.54" and "_meta" not in message.members else "_meta"
        if not isinstance(message.members.get(name), dict):
            yield Violation(
                "Put the final metadata in _meta, including the session context if there is one.",
                message.seq,
                "/_meta",
            )


@rule(
    "stream-meta-agrees",
    "The metadata of all events of a stream agree.",
    v55=should("6.1"),
    v54=should("HTTP examples 5"),
    when=lambda t: _is_nlweb_stream(t) and len(t.metas) > 1,
)
def stream_meta_agrees(t: Transcript) -> Iterator[RuleIssue]:
    """Compared are type, format and version with those of the last event.

    A stream may end with a failure.
    """
    blocks = [(each, each.value) for each in t.metas if isinstance(each.value, dict)]
    for name in ("response_type", "response_format", "version"):
        named = [(each, meta[name]) for each, meta in blocks if is_nonempty_text(meta.get(name))]
        if not named:
            continue
        last = _comparable(named[-1][1])
        for (seq, pointer, _), value in named[:-1]:
            kinds = (_comparable(value), last)
            if kinds[0] != last and not (name == "response_type" and "failure" in kinds):
                message = f"{name} differs from that of the last event. Send the same value."
                yield Violation(message, seq, f"{pointer}/{name}")


def _comparable(value: str) -> str:
    return value.strip().lower()


# Errors


@rule(
    "error-event",
    "Error events have an error object with a code.",
    v55=must("6.1"),
    when=_has_event("error"),
)
def error_event(t: Transcript) -> Iterator[RuleIssue]:
    """The structure is that of failures (4.1.4). Other rules check the members of the object."""
    for message in _events_named(t, "error"):
        if not isinstance(message.members.get("error"), dict):
            actual = "missing" if "error" not in message.members else "not an object"
            yield Violation(
                f'error is {actual}. Send {{"error": {{"code": …, "message": …}}}}.',
                message.seq,
                "/error" if message.members else "",
            )


@rule(
    "error-event-meta",
    "Error events have _meta with response_type failure.",
    v55=should("6.1"),
    when=_has_event("error"),
)
def error_event_meta(t: Transcript) -> Iterator[RuleIssue]:
    """Its data follows the structure of a failure, which has metadata in the example of 4.1.4."""
    for message in _events_named(t, "error"):
        if message.members and not isinstance(message.members.get("_meta"), dict):
            yield Violation(
                "Add _meta, so that all clients recognize the event as a failure.",
                message.seq,
                "/_meta",
            )


@rule(
    "error-event-last",
    "Streams end after an error event.",
    v55=info("6.1"),
    when=_has_event("error"),
    needs_complete_response=True,
)
def error_event_last(t: Transcript) -> Iterator[RuleIssue]:
    """The specification allows more events after a recoverable error; clients expect them."""
    rest = [message for message in _after(t, "error") if message.name != "complete"]
    if rest:
        count = "one more event" if len(rest) == 1 else f"{len(rest)} more events"
        yield Violation(
            f"The stream continued after this error with {count}, which is allowed.",
            _events_named(t, "error")[0].seq,
        )


# Transfer: whether a stream was requested, and what standard clients read of its bytes


@rule(
    "stream-closed",
    "The last event of a stream ends with a blank line.",
    v55=should("6"),
    v54=should("8.4"),
    when=lambda t: t.streamed,
)
def stream_closed(t: Transcript) -> Iterator[RuleIssue]:
    """SSE clients discard an event that is not terminated."""
    tails = [frame for frame in t.frames if frame.kind is FrameKind.TAIL]
    if not t.ended:
        yield Inconclusive("The stream was truncated.", tails[0].seq if tails else None)
        return
    for frame in tails:
        yield Violation(
            "The last event is incomplete and clients discard it. End each event with a blank "
            "line.",
            frame.seq,
        )


@rule(
    "stream-bom",
    "Streams have no byte order mark.",
    v55=info("6"),
    v54=info("8.4"),
    when=lambda t: t.streamed,
)
def stream_bom(t: Transcript) -> Iterator[RuleIssue]:
    """Clients remove one at the start of a stream, and misread any other line with one."""
    for frame in t.frames:
        if frame.kind in BODY_KINDS and _BOM in frame.data and _BOM_AT_LINE.search(frame.data):
            yield Violation("Remove the byte order mark: UTF-8 does not need one.", frame.seq)


@rule(
    "stream-compression",
    "Streams are not compressed.",
    v55=info("7.3"),
    v54=info("8.4"),
    when=lambda t: t.streamed and t.head_seq is not None,
)
def stream_compression(t: Transcript) -> Iterator[RuleIssue]:
    """Compression buffers events, which delays them."""
    encoding = t.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        yield Violation(
            f"The stream is compressed ({encoding[:40]}), which may delay events.",
            t.head_seq,
        )


@rule(
    "streaming-honoured",
    "Responses are streamed if and only if the request asks for it.",
    v55=should("3.3"),
    v54=should("3.3"),
    when=lambda t: (
        t.has_response and t.kind == "answer" and isinstance(t.prefer("streaming"), bool)
    ),
)
def streaming_honoured(t: Transcript) -> Iterator[RuleIssue]:
    """Streaming is a preference: a document is allowed, unless Accept excludes its type (7.3).

    The format chatgpt_app is always one document (6.1).
    """
    wanted = t.prefer("streaming")
    if wanted and not t.streamed and "structuredData" not in t.parts:
        level = Level.INFO if _is_acceptable(t) else None
        yield Violation(
            "prefer.streaming is true, but the response is a single document. Send it as events.",
            t.head_seq,
            level=level,
        )
    elif not wanted and t.streamed:
        yield Violation(
            "prefer.streaming is false, but the response is a stream. Return one JSON document.",
            t.head_seq,
        )


def _is_acceptable(t: Transcript) -> bool:
    """Return whether the request accepts the media type of the response."""
    accepted = t.request_headers.get("accept", "*/*").lower()
    actual = t.headers.get("content-type", "").partition(";")[0].strip().lower()
    return "*" in accepted or actual in accepted


# The order of results: section 6.1


def _result_events(t: Transcript) -> list[DecodedPayload]:
    return [message for message in t.messages if message.name == "result" and message.readable]


def _has_results(t: Transcript) -> bool:
    return t.streamed and any(message.name == "result" for message in t.messages)


def _indexes(t: Transcript) -> list[tuple[int, int]]:
    """Return (frame, index) of the results with a valid index."""
    pairs = [(message.seq, message.members.get("index")) for message in _result_events(t)]
    return [(seq, int(index)) for seq, index in pairs if _is_index(index)]


def _is_index(index: Any) -> TypeGuard[int]:
    return (type(index) is int or is_integer(index)) and index >= 0


def _has_indexes(t: Transcript) -> bool:
    return t.streamed and any(_is_index(m.members.get("index")) for m in _result_events(t))


@rule(
    "result-event",
    "Result events have an item.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_results,
)
def result_event(t: Transcript) -> Iterator[RuleIssue]:
    """Each event wraps one item together with its index."""
    for message in _result_events(t):
        if not isinstance(message.payload, dict):
            actual = type_with_article(message.payload)
            yield Violation(f"The data is {actual}; expected an object.", message.seq)
        elif "item" not in message.payload:
            yield Violation(
                'Put the result in item: {"index": …, "item": …}.', message.seq, "/item"
            )


@rule(
    "result-index",
    "The index of a result is an integer of 0 or more.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_results,
)
def result_index(t: Transcript) -> Iterator[RuleIssue]:
    """The index is the position in the final array of results."""
    for message in _result_events(t):
        if message.members and not _is_index(message.members.get("index")):
            yield Violation(
                "Set index to the position in the final array, an integer of 0 or more.",
                message.seq,
                "/index",
            )


@rule(
    "result-index-unique",
    "Result indexes are unique.",
    v55=must("6.1"),
    v54=should("HTTP examples 5"),
    when=_has_indexes,
    needs_complete_response=True,
)
def result_index_unique(t: Transcript) -> Iterator[RuleIssue]:
    """Two results cannot have the same position in an array."""
    seen: set[int] = set()
    for seq, index in _indexes(t):
        if index in seen:
            message = f"Another result already has index {_short(index)}. Use a unique index."
            yield Violation(message, seq, "/index")
        seen.add(index)


@rule(
    "result-index-gapless",
    "Result indexes have no gaps.",
    v55=info("6.1"),
    v54=info("HTTP examples 5"),
    when=_has_indexes,
    needs_complete_response=True,
)
def result_index_gapless(t: Transcript) -> Iterator[RuleIssue]:
    """Positions in an array start at 0. The specification does not require all of them."""
    if not t.is_complete:
        return  # The missing results may have followed.
    expected = 0
    for index, seq in sorted({index: seq for seq, index in _indexes(t)}.items()):
        if index > expected:
            yield Violation(
                f"Index {_short(expected)} is missing. Number results from 0 without gaps.",
                seq,
                "/index",
            )
        expected = index + 1


@rule(
    "result-order",
    "Results are sent in the order of their index.",
    v55=info("6.1"),
    v54=info("HTTP examples 5"),
    when=_has_indexes,
    needs_complete_response=True,
)
def result_order(t: Transcript) -> Iterator[RuleIssue]:
    """Any order is allowed: clients sort the results."""
    highest = -1
    for seq, index in _indexes(t):
        if index < highest:
            yield Violation(
                f"Index {_short(index)} was sent after {_short(highest)}. This is allowed; "
                "clients sort results by index.",
                seq,
                "/index",
            )
        highest = max(highest, index)


def _short(number: int) -> str:
    """Return a number as text that fits into a sentence, however large it is."""
    return str(number) if number < 10**15 else "beyond 10^15"


RULES = (
    stream_data_json,
    stream_data_present,
    stream_events_named,
    stream_events_known,
    stream_start_first,
    stream_start_once,
    stream_start_meta,
    stream_complete_present,
    stream_complete_once,
    stream_complete_last,
    stream_complete_meta,
    stream_meta_agrees,
    error_event,
    error_event_meta,
    error_event_last,
    streaming_honoured,
    stream_closed,
    stream_bom,
    stream_compression,
    result_event,
    result_index,
    result_index_unique,
    result_index_gapless,
    result_order,
)
