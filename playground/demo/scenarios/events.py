"""Scenarios about the events of a stream: their order, indexes, names and contents."""

from __future__ import annotations

from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError
from playground.demo.http import event_stream
from playground.demo.responses import event, failure
from playground.demo.scenarios.scenario import (
    VERSION,
    Scenario,
    ScenarioRequest,
    complete,
    dish,
    paced,
    respond,
    result,
    start,
)

_PAUSE = 0.2
_DEPTH = 1000


async def out_of_order(request: ScenarioRequest) -> HttpResponseBase:
    """Send results in another order than that of their indexes, which section 6.1 allows."""
    if not request.streaming:
        return await respond(request, *(dish(number) for number in range(5)))
    return _stream(request, start(), *(result(i) for i in (3, 0, 4, 1, 2)), complete())


async def duplicate_index(request: ScenarioRequest) -> HttpResponseBase:
    """Send two different results with the same index."""
    again = result(1, {**dish(5), "name": "Apple Crumble, also at index 1"})
    return _stream(request, start(), result(0), result(1), again, result(2), complete())


async def missing_complete(request: ScenarioRequest) -> HttpResponseBase:
    """End the stream without its last event."""
    return _stream(request, start(), *(result(i) for i in range(3)))


async def error_then_on(request: ScenarioRequest) -> HttpResponseBase:
    """Send an error event that the stream continues after (section 6.1)."""
    if not request.streaming:
        return await respond(request, *(dish(number) for number in range(4)))
    lost = FailureError("TIMEOUT", "One of three sources did not answer in time.")
    error = event("error", failure(lost, VERSION, None))
    return _stream(request, start(), result(0), result(1), error, result(2), result(3), complete())


async def capitalised(request: ScenarioRequest) -> HttpResponseBase:
    """Send the response type `Answer` instead of `answer`."""
    kind = "Answer"
    return _stream(
        request, start(response_type=kind), result(0), result(1), complete(response_type=kind)
    )


async def unnamed(request: ScenarioRequest) -> HttpResponseBase:
    """Send events without names: metadata, then all results, as the public ask agent does."""
    meta = {"version": "0.54", "response_type": "Answer", "request_id": "scenario"}
    events = ({"_meta": meta}, {"results": [dish(0), dish(1), dish(2)]})
    return _stream(request, *(event("", document).partition(b"\n")[2] for document in events))


async def line_separators(request: ScenarioRequest) -> HttpResponseBase:
    """Send characters that end a line in Unicode and not in an event stream."""
    item = {**dish(0), "name": "One\u2028line", "description": "Still\u0085the\u2029same line"}
    return await respond(request, item, dish(1))


async def bad_utf8(request: ScenarioRequest) -> HttpResponseBase:
    """Send bytes that are not UTF-8 within an otherwise valid event."""
    item = {**dish(0), "name": "Cr@me br@l@e"}
    broken = result(0, item).replace(b"Cr@me br@l@e", b"Cr\xe8me br\xc3l\xff\xfee")
    return _stream(request, start(), broken, result(1), complete())


async def deep(request: ScenarioRequest) -> HttpResponseBase:
    """Send a result with lists nested a thousand deep."""
    item = {**dish(1), "nested": "@"}
    nested = b"[" * _DEPTH + b"]" * _DEPTH
    # No result follows: a client that stops shows it if it has arrived in the same piece.
    too_deep = result(1, item).replace(b'"@"', nested)
    return _stream(request, start(), result(0), too_deep, complete())


def _stream(request: ScenarioRequest, *events: bytes) -> HttpResponseBase:
    return event_stream(paced(events, request.pause(_PAUSE)))


ROWS = (
    Scenario(
        "out-of-order",
        "Out of order",
        "Results with the indexes 3, 0, 4, 1, 2.",
        "Cards appear in order of arrival; one click sorts them by index.",
        "completed",
        "answer",
        out_of_order,
        results=5,
    ),
    Scenario(
        "duplicate-index",
        "Duplicate index",
        "Two different results with index 1.",
        "Both results are shown.",
        "completed",
        "answer",
        duplicate_index,
        results=4,
    ),
    Scenario(
        "missing-complete",
        "Missing complete",
        "A stream that ends cleanly without a complete event.",
        "The run is completed and has no session context.",
        "completed",
        "answer",
        missing_complete,
        results=3,
    ),
    Scenario(
        "error-then-on",
        "Error mid-stream",
        "Two results, an error event, two more results, then complete.",
        "The error appears between the results; all four results are shown.",
        "completed",
        "answer",
        error_then_on,
        results=4,
    ),
    Scenario(
        "capitalised",
        "Capitalised response type",
        "The response type is “Answer” with a capital A.",
        "The answer is shown as usual.",
        "completed",
        "answer",
        capitalised,
        results=2,
    ),
    Scenario(
        "unnamed",
        "Unnamed events",
        "Events without names: the metadata, then all results in one event.",
        "The answer is shown as usual.",
        "completed",
        "answer",
        unnamed,
        results=3,
    ),
    Scenario(
        "line-separators",
        "Line separators",
        "U+2028, U+2029 and U+0085 inside a result's text.",
        "Two results are shown: these characters do not end a line of an event stream.",
        "completed",
        "answer",
        line_separators,
        results=2,
    ),
    Scenario(
        "bad-utf8",
        "Invalid UTF-8",
        "A name with invalid UTF-8 bytes.",
        "The name has replacement characters; the Wire tab shows the raw bytes.",
        "completed",
        "answer",
        bad_utf8,
        results=2,
    ),
    Scenario(
        "deep",
        "Deep JSON",
        "A result with lists nested 1,000 levels deep.",
        "The first result is shown; the run then ends at the depth limit.",
        "refused",
        "answer",
        deep,
        results=1,
        problem="limit max_depth",
    ),
)
