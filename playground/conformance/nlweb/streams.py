"""Rules on streams: their events, their transfer, and the order of results.

Section 6 (0.54: section 8.4, and section 5 of its HTTP examples).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from playground.conformance.nlweb.transcript import VERSIONS, Transcript, blocks, content
from playground.conformance.rule import (
    Inconclusive,
    Level,
    RuleIssue,
    Violation,
    always,
    info,
    misframed,
    must,
    should,
)
from playground.conformance.shape import (
    MISSING,
    Fix,
    Place,
    RuleFactory,
    Selector,
    integer,
    is_given,
    is_nonempty_text,
    is_object,
    is_string,
    members,
    never,
    one_of,
    present,
    those,
)
from playground.protocols.frames import BODY_KINDS, FrameKind
from playground.protocols.response import Message

_BOM = b"\xef\xbb\xbf"
#: A byte order mark at the start of a line.
_BOM_AT_LINE = re.compile(rb"(?<![^\r\n])" + _BOM)
#: Names like that of the event result.
_LIKE_RESULT = re.compile(r"(?:search[-_. ]?)?(?:(?:result|item)s?[-_. ]?){1,2}", re.IGNORECASE)
#: The requirement of most rules: 0.54 shows the events in examples only.
_DEFINED = (must("6.1"), should("HTTP examples 5"))


def _has_events(t: Transcript) -> bool:
    return t.streamed and bool(t.messages) and not t.is_json_lines


#: For rules on any stream, on one with events, and on one with an NLWeb response.
_any_stream = RuleFactory[Transcript]("", VERSIONS, lambda t: t.streamed)
_with_events = RuleFactory[Transcript]("", VERSIONS, _has_events)
_nlweb_stream = RuleFactory[Transcript]("", VERSIONS, lambda t: _has_events(t) and t.has_response)


def _named(t: Transcript, name: str) -> list[Message]:
    return [message for message in t.messages if message.name == name]


def _events(name: str) -> Selector[Transcript]:
    """Select the data of the events of a name."""
    return lambda t: ((m.seq, "", m.payload) for m in t.messages if m.name == name)


def _repeated(name: str) -> Selector[Transcript]:
    """Select the events of a name after the first one."""
    return lambda t: islice(_events(name)(t), 1, None)


def _meta(name: str) -> Selector[Transcript]:
    """Select the metadata of the first event of a name; `MISSING` if it has none."""

    def select(t: Transcript) -> Iterator[Place]:
        for message in _named(t, name)[:1]:
            found = message.members
            is_old = t.version == "0.54" and "_meta" not in found
            key = "meta" if is_old and isinstance(found.get("meta"), dict) else "_meta"
            yield message.seq, f"/{key}", found.get(key, MISSING)

    return select


def _names(t: Transcript) -> Iterator[Place]:
    return ((message.seq, "", message.name) for message in t.messages)


def _after(t: Transcript, name: str) -> tuple[Message, ...]:
    """Return the messages after the first event of a name."""
    at = next((at for at, message in enumerate(t.messages) if message.name == name), None)
    return () if at is None else t.messages[at + 1 :]


# Data and names


def _without_data(t: Transcript) -> Iterator[Place]:
    return ((m.seq, "", None) for m in t.messages if not m.readable and not m.text)


def stream_data_json(t: Transcript) -> Iterator[RuleIssue]:
    for message in t.messages:
        if not message.readable and message.text:
            text = f"{message.reason} Send one JSON object as the data of each event."
            yield Violation(text, message.seq)
    yield from misframed(t.response)


def stream_events_known(t: Transcript) -> Iterator[RuleIssue]:
    known: tuple[str, ...] = t.traits["stream_events"]
    has_results = not t.has_own_format
    for message in t.messages:
        if message.name is not None and message.name not in known:
            text = (
                f'NLWeb {t.version} does not define the event "{message.name[:60]}", so clients '
                f"ignore it. It defines {', '.join(known)}."
            )
            if has_results and _is_misnamed_result(message):
                text += " Send each result as a result event."
                yield Violation(text, message.seq, level=Level.SHOULD)
            else:
                yield Violation(text, message.seq)


def _is_misnamed_result(message: Message) -> bool:
    """Return whether an event with a name like results or result_item has data, or an item."""
    has_items = bool(message.members or isinstance(message.payload, list))
    named_so = _LIKE_RESULT.fullmatch(message.name or "") is not None
    return (named_so and has_items) or {"index", "item"} <= message.members.keys()


# The start and the end


def _left_open(t: Transcript, _: Place) -> Level | None:
    """Return "info" where 0.54 leaves open that there is a start event."""
    is_left_open = t.version == "0.54" and t.metas and not _named(t, "start")
    return Level.INFO if is_left_open else None


def _is_true(value: Any) -> bool:
    return value is True


def _unfinished_end(t: Transcript) -> Iterator[Place]:
    """Yield the last event if the stream has not ended: in 0.55 an error event may end it."""
    last = t.messages[-1]
    ends_with_error = t.is_complete and last.name == "error" and t.version == "0.55"
    if not ends_with_error and not _named(t, "complete"):
        yield last.seq, "", None


def _after_complete(t: Transcript) -> Iterator[Place]:
    rest = _after(t, "complete")
    if t.version == "0.54" and rest and rest[0].name == "end":
        rest = rest[1:]
    return ((message.seq, "", message.name) for message in rest)


def stream_meta_agrees(t: Transcript) -> Iterator[RuleIssue]:
    for name in ("response_type", "response_format", "version"):
        places = those(present(blocks, name), is_nonempty_text)(t)
        named = [(seq, pointer, value.strip().lower()) for seq, pointer, value in places]
        for seq, pointer, value in named[:-1]:
            kinds = (value, named[-1][2])
            if value != kinds[1] and not (name == "response_type" and "failure" in kinds):
                message = f"{name} differs from that of the last event. Send the same value."
                yield Violation(message, seq, pointer)


# Errors


def error_event(t: Transcript) -> Iterator[RuleIssue]:
    for message in _named(t, "error"):
        if not isinstance(message.members.get("error"), dict):
            actual = "missing" if "error" not in message.members else "not an object"
            text = f'error is {actual}. Send {{"error": {{"code": …, "message": …}}}}.'
            yield Violation(text, message.seq, "/error" if message.members else "")


def error_event_last(t: Transcript) -> Iterator[RuleIssue]:
    rest = [message for message in _after(t, "error") if message.name != "complete"]
    if rest:
        count = "one more event" if len(rest) == 1 else f"{len(rest)} more events"
        text = f"The stream continued after this error with {count}, which is allowed."
        yield Violation(text, _named(t, "error")[0].seq)


# Transfer: whether a stream was requested, and what standard clients read of its bytes


def stream_closed(t: Transcript) -> Iterator[RuleIssue]:
    tails = [frame for frame in t.response.frames if frame.kind is FrameKind.TAIL]
    if not t.ended:
        yield Inconclusive("The stream was truncated.", tails[0].seq if tails else None)
        return
    for frame in tails:
        message = (
            "The last event is incomplete and clients discard it. End each event with a blank line."
        )
        yield Violation(message, frame.seq)


def _marks(t: Transcript) -> Iterator[Place]:
    """Yield the frames with a byte order mark."""
    for frame in t.response.frames:
        if frame.kind in BODY_KINDS and _BOM in frame.data and _BOM_AT_LINE.search(frame.data):
            yield frame.seq, "", None


def stream_compression(t: Transcript) -> Iterator[RuleIssue]:
    encoding = t.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        message = f"The stream is compressed ({encoding[:40]}), which may delay events."
        yield Violation(message, t.head_seq)


def streaming_honoured(t: Transcript) -> Iterator[RuleIssue]:
    wanted = t.prefer("streaming")
    if wanted and not t.streamed and "structuredData" not in t.parts:
        message = (
            "prefer.streaming is true, but the response is a single document. Send it as events."
        )
        level = Level.INFO if _is_acceptable(t) else None
        yield Violation(message, t.head_seq, level=level)
    elif not wanted and t.streamed:
        message = (
            "prefer.streaming is false, but the response is a stream. Return one JSON document."
        )
        yield Violation(message, t.head_seq)


def _is_acceptable(t: Transcript) -> bool:
    """Return whether the request accepts the media type of the response."""
    accepted = t.request_headers.get("accept", "*/*").lower()
    return "*" in accepted or t.response.media_type in accepted


# The order of results: section 6.1


def _results(t: Transcript) -> Iterator[Place]:
    return ((m.seq, "", m.payload) for m in t.messages if m.name == "result" and not m.reason)


_valid_indexes = those(members(_results, "index"), integer(0))


def _indexes(t: Transcript) -> Iterator[tuple[int | None, int]]:
    """Yield (frame, index) of the results with a valid index."""
    return ((seq, int(index)) for seq, _, index in _valid_indexes(t))


def result_index_unique(t: Transcript) -> Iterator[RuleIssue]:
    seen: set[int] = set()
    for seq, index in _indexes(t):
        if index in seen:
            message = f"Another result already has index {_short(index)}. Use a unique index."
            yield Violation(message, seq, "/index")
        seen.add(index)


def result_index_gapless(t: Transcript) -> Iterator[RuleIssue]:
    if not t.is_complete:
        return  # The missing results may have followed.
    expected = 0
    for index, seq in sorted({index: seq for seq, index in _indexes(t)}.items()):
        if index > expected:
            message = f"Index {_short(expected)} is missing. Number results from 0 without gaps."
            yield Violation(message, seq, "/index")
        expected = index + 1


def result_order(t: Transcript) -> Iterator[RuleIssue]:
    highest = -1
    for seq, index in _indexes(t):
        if index < highest:
            message = (
                f"Index {_short(index)} was sent after {_short(highest)}. This is allowed; "
                "clients sort results by index."
            )
            yield Violation(message, seq, "/index")
        highest = max(highest, index)


def _short(number: int) -> str:
    """Return a number as text that fits into a sentence, however large it is."""
    return str(number) if number < 10**15 else "beyond 10^15"


# fmt: off
RULES = (
    _with_events.rule("stream-data-json", "The data of every event is JSON.",
        (must("6.1"), must("8.4")), stream_data_json,
        why="Data that was cut off at the end of a stream is not a violation of this rule."),
    _with_events.row("stream-data-present", "Events have data.", (info("6.1"), info("8.4")),
        _without_data, {never: "This event has no data, so clients ignore it."}, when=always,
        why="Clients of event streams ignore an event without data, as browsers do."),
    _with_events.row("stream-events-named", "Every event has a name.", _DEFINED,
        _names, {is_string: "Add an event name: a line such as event: result."},
        why="Clients that listen for `result` events never receive an unnamed one."),
    _with_events.rule("stream-events-known", "Event names are listed in the specification.",
        (info("6.1"), info("HTTP examples 5")), stream_events_known, when=those(_names, bool),
        why="0.55 has start, result, error, complete. 0.54 also has content and end, but no "
            "error.\n\n"
            "No sentence forbids other events. Results are sent as result events: under another "
            "name, clients lose them."),
    _nlweb_stream.row("stream-start-first", "Streams start with a start event.", _DEFINED,
        lambda t: islice(_names(t), 1), {
            one_of("start"):
                Fix("Send start with the metadata before all other events.", _left_open),
        },
        why="Clients initialize their view with it.\n\n"
            "Section 8.4 of 0.54 only requires the metadata in one of the events."),
    _nlweb_stream.row("stream-start-once", "Streams have only one start event.", _DEFINED,
        _repeated("start"), {never: "Remove this second start event."},
        when=_events("start"), needs_complete_response=True,
        why="A second start event would begin another response."),
    _nlweb_stream.row("stream-start-meta", 'The start event has _meta with "streaming": true.',
        _DEFINED, _meta("start"),
        {is_object: 'Put the metadata, including "streaming": true, in _meta.'},
        (members(_meta("start"), "streaming"), {_is_true: "Set streaming to true."}),
        why="The flag distinguishes a stream from a single document."),
    _nlweb_stream.row("stream-complete-present", "Streams end with a complete event.", _DEFINED,
        _unfinished_end, {
            never: Fix("End the stream with a `complete` event carrying the final metadata.",
                       may_follow=True),
        }, when=always, needs_complete_response=True,
        why="In 0.55 a stream may also end with an error event."),
    _nlweb_stream.row("stream-complete-once", "Streams have only one complete event.", _DEFINED,
        _repeated("complete"), {never: "Remove this second complete event."},
        when=_events("complete"), needs_complete_response=True,
        why="Clients stop reading at the first one."),
    _nlweb_stream.row("stream-complete-last", "No events follow the complete event.", _DEFINED,
        _after_complete,
        {one_of("complete"): "This event was sent after complete. Send it before."},
        when=_events("complete"), needs_complete_response=True,
        why="In 0.54 an `end` event may follow. For a second one see `stream-complete-once`."),
    _nlweb_stream.row("stream-complete-meta", "The complete event has the final _meta.",
        (must("6.1"), must("8.4")), _meta("complete"), {
            is_object: "Put the final metadata in _meta, including the session context if there "
                       "is one.",
        },
        why="Clients read the session context from it."),
    _nlweb_stream.rule("stream-meta-agrees", "The metadata of all events of a stream agree.",
        (should("6.1"), should("HTTP examples 5")), stream_meta_agrees,
        when=lambda t: len(t.metas) > 1,
        why="Compared are type, format and version with those of the last event.\n\n"
            "A stream may end with a failure."),
    _nlweb_stream.rule("error-event", "Error events have an error object with a code.",
        (must("6.1"), None), error_event, when=_events("error"),
        why="The structure is that of failures (4.1.4). Other rules check the members of the "
            "object."),
    _nlweb_stream.row("error-event-meta", "Error events have _meta with response_type failure.",
        (should("6.1"), None), members(those(_events("error"), bool), "_meta"),
        {is_object: "Add _meta, so that all clients recognize the event as a failure."},
        when=_events("error"),
        why="Its data follows the structure of a failure, which has metadata in the example of "
            "4.1.4."),
    _nlweb_stream.rule("error-event-last", "Streams end after an error event.", (info("6.1"), None),
        error_event_last, when=_events("error"), needs_complete_response=True,
        why="The specification allows more events after a recoverable error; clients expect them."),
    content.rule("streaming-honoured",
        "Responses are streamed if and only if the request asks for it.", should("3.3"),
        streaming_honoured,
        when=lambda t: t.kind == "answer" and isinstance(t.prefer("streaming"), bool),
        why="Streaming is a preference: a document is allowed, unless Accept excludes its type "
            "(7.3).\n\n"
            "The format chatgpt_app is always one document (6.1)."),
    _any_stream.rule("stream-closed", "The last event of a stream ends with a blank line.",
        (should("6"), should("8.4")), stream_closed,
        why="SSE clients discard an event that is not terminated."),
    _any_stream.row("stream-bom", "Streams have no byte order mark.", (info("6"), info("8.4")),
        _marks, {never: "Remove the byte order mark: UTF-8 does not need one."}, when=always,
        why="Clients remove one at the start of a stream, and misread any other line with one."),
    _any_stream.rule("stream-compression", "Streams are not compressed.",
        (info("7.3"), info("8.4")), stream_compression, when=lambda t: t.head_seq is not None,
        why="Compression buffers events, which delays them."),
    _any_stream.row("result-event", "Result events have an item.", _DEFINED,
        _results, {is_object: "The data is {actual}; expected an object."},
        (members(_results, "item"),
         {is_given: 'Put the result in item: {"index": …, "item": …}.'}),
        when=_events("result"), why="Each event wraps one item together with its index."),
    _any_stream.row("result-index", "The index of a result is an integer of 0 or more.", _DEFINED,
        members(those(_results, bool), "index"), {
            integer(0): "Set index to the position in the final array, an integer of 0 or more.",
        }, when=_events("result"),
        why="The index is the position in the final array of results."),
    _any_stream.rule("result-index-unique", "Result indexes are unique.", _DEFINED,
        result_index_unique, when=_valid_indexes, needs_complete_response=True,
        why="Two results cannot have the same position in an array."),
    _any_stream.rule("result-index-gapless", "Result indexes have no gaps.",
        (info("6.1"), info("HTTP examples 5")), result_index_gapless, when=_valid_indexes,
        needs_complete_response=True,
        why="Positions in an array start at 0. The specification does not require all of them."),
    _any_stream.rule("result-order", "Results are sent in the order of their index.",
        (info("6.1"), info("HTTP examples 5")), result_order, when=_valid_indexes,
        needs_complete_response=True,
        why="No order is required: clients sort the results."),
)
# fmt: on
