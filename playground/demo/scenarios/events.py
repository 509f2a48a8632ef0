"""Scenarios about the events of a stream, interrupted transfers, and answers (section 4.1.1)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError
from playground.demo.http import event_stream, json_response
from playground.demo.responses import event, failure
from playground.demo.scenarios.hangup import hang_up
from playground.demo.scenarios.scenario import (
    VERSION,
    Play,
    Scenario,
    ScenarioRequest,
    Scenarios,
    complete,
    dish,
    document,
    paced,
    respond,
    result,
    start,
)

_PAUSE = 0.2
_DEPTH = 1000

ROWS = Scenarios()


@ROWS.add(
    "slow",
    "Slow",
    "One event per second, eight results in total (change with ?n= and ?every=).",
    "Results appear one by one; Stop works at any time.",
    results=8,
    query="?every=0.2",
)
async def slow(request: ScenarioRequest) -> HttpResponseBase:
    total = 8 if request.count is None else request.count
    return await respond(request, *(dish(index) for index in range(total)), pause=1.0)


@ROWS.add(
    "out-of-order",
    "Out of order",
    "Results with the indexes 3, 0, 4, 1, 2.",
    "Cards appear in order of arrival; one click sorts them by index.",
    results=5,
)
async def out_of_order(request: ScenarioRequest) -> HttpResponseBase:
    # Section 6.1 allows it.
    if not request.streaming:
        return await respond(request, *(dish(number) for number in range(5)))
    return _stream(request, start(), *(result(i) for i in (3, 0, 4, 1, 2)), complete())


@ROWS.add(
    "duplicate-index",
    "Duplicate index",
    "Two different results with index 1.",
    "Both results are shown.",
    results=4,
)
async def duplicate_index(request: ScenarioRequest) -> HttpResponseBase:
    again = result(1, {**dish(5), "name": "Apple Crumble, also at index 1"})
    return _stream(request, start(), result(0), result(1), again, result(2), complete())


@ROWS.add(
    "missing-complete",
    "Missing complete",
    "A stream that ends cleanly without a complete event.",
    "The run is completed and has no session context.",
    results=3,
)
async def missing_complete(request: ScenarioRequest) -> HttpResponseBase:
    return _stream(request, start(), *(result(i) for i in range(3)))


@ROWS.add(
    "error-then-on",
    "Error mid-stream",
    "Two results, an error event, two more results, then complete.",
    "The error appears between the results; all four results are shown.",
    results=4,
)
async def error_then_on(request: ScenarioRequest) -> HttpResponseBase:
    # The stream continues after an error event (section 6.1).
    if not request.streaming:
        return await respond(request, *(dish(number) for number in range(4)))
    lost = FailureError("TIMEOUT", "One of three sources did not answer in time.")
    error = event("error", failure(lost, VERSION, None))
    return _stream(request, start(), result(0), result(1), error, result(2), result(3), complete())


@ROWS.add(
    "capitalised",
    "Capitalised response type",
    "The response type is “Answer” with a capital A.",
    "The answer is shown as usual.",
    results=2,
)
async def capitalised(request: ScenarioRequest) -> HttpResponseBase:
    kind = "Answer"
    return _stream(
        request, start(response_type=kind), result(0), result(1), complete(response_type=kind)
    )


@ROWS.add(
    "unnamed",
    "Unnamed events",
    "Events without names: the metadata, then all results in one event.",
    "The answer is shown as usual.",
    results=3,
)
async def unnamed(request: ScenarioRequest) -> HttpResponseBase:
    # As the public ask agent does.
    meta = {"version": "0.54", "response_type": "Answer", "request_id": "scenario"}
    events = ({"_meta": meta}, {"results": [dish(0), dish(1), dish(2)]})
    return _stream(request, *(event("", document) for document in events))


@ROWS.add(
    "line-separators",
    "Line separators",
    "U+2028, U+2029 and U+0085 inside a result's text.",
    "Two results are shown: these characters do not end a line of an event stream.",
    results=2,
)
async def line_separators(request: ScenarioRequest) -> HttpResponseBase:
    item = {**dish(0), "name": "One\u2028line", "description": "Still\u0085the\u2029same line"}
    return await respond(request, item, dish(1))


@ROWS.add(
    "bad-utf8",
    "Invalid UTF-8",
    "A name with invalid UTF-8 bytes.",
    "The name has replacement characters; the Wire tab shows the raw bytes.",
    results=2,
)
async def bad_utf8(request: ScenarioRequest) -> HttpResponseBase:
    item = {**dish(0), "name": "Cr@me br@l@e"}
    broken = result(0, item).replace(b"Cr@me br@l@e", b"Cr\xe8me br\xc3l\xff\xfee")
    return _stream(request, start(), broken, result(1), complete())


@ROWS.add(
    "deep",
    "Deep JSON",
    "A result with lists nested 1,000 levels deep.",
    "The first result is shown; the run then ends at the depth limit.",
    state="refused",
    results=1,
    problem="limit max_depth",
)
async def deep(request: ScenarioRequest) -> HttpResponseBase:
    item = {**dish(1), "nested": "@"}
    nested = b"[" * _DEPTH + b"]" * _DEPTH
    # No result follows: a client that stops shows it if it has arrived in the same piece.
    too_deep = result(1, item).replace(b'"@"', nested)
    return _stream(request, start(), result(0), too_deep, complete())


def _stream(request: ScenarioRequest, *events: bytes) -> HttpResponseBase:
    return event_stream(paced(events, request.pause(_PAUSE)))


# Interrupted transfers


@ROWS.add(
    "truncated",
    "Truncated",
    "The stream ends in the middle of an event, although the HTTP framing is complete.",
    "Two results and the incomplete event are shown; the run is truncated.",
    state="truncated",
    results=2,
    problem="body",
)
async def truncated(request: ScenarioRequest) -> HttpResponseBase:
    half = result(2)[:60]
    return event_stream(paced((start(), result(0), result(1), half), request.pause(_PAUSE)))


@ROWS.add(
    "dirty-close",
    "Dirty close",
    "The connection closes without the final chunk.",
    "Two results are shown, then a lost connection.",
    state="truncated",
    results=2,
    problem="body",
)
async def dirty_close(request: ScenarioRequest) -> HttpResponseBase:
    return event_stream(_until_hang_up(request, reset=False))


@ROWS.add(
    "reset",
    "Reset",
    "The connection is reset mid-stream.",
    "Two results are shown, then a lost connection.",
    state="truncated",
    results=2,
    problem="body",
)
async def reset(request: ScenarioRequest) -> HttpResponseBase:
    return event_stream(_until_hang_up(request, reset=True))


async def _until_hang_up(request: ScenarioRequest, *, reset: bool) -> AsyncIterator[bytes]:
    for chunk in (start(), result(0), result(1), result(2)[:60]):
        yield chunk
        # A reset discards what has not been sent yet: let it be sent first.
        await asyncio.sleep(request.pause(_PAUSE))
    hang_up(request.http_request, reset=reset)
    # The server now notices that the connection is gone and cancels this wait.
    await asyncio.Event().wait()


# Answers: position of the summary, and invalid results

_SUMMARY = {
    "@type": "SearchSummary",
    "text": "Four dishes for a weeknight; the salmon is quickest.",
}


def _summary_at(position: int) -> Play:
    """Send four dishes, with a summary before the one at `position`."""

    async def play(request: ScenarioRequest) -> HttpResponseBase:
        items: list[dict[str, Any]] = [dish(number) for number in range(4)]
        items.insert(position, _SUMMARY)
        return await respond(request, *items)

    return play


def _document(body: Any) -> Play:
    """Always send the same JSON document, even if a stream is preferred."""

    async def play(request: ScenarioRequest) -> HttpResponseBase:
        return json_response(body)

    return play


ANSWERS = (
    Scenario("summary-first", "Summary first", "A summary, then four dishes.",
             "The summary is above the results.", _summary_at(0), results=5),
    Scenario("summary-middle", "Summary in the middle", "Two dishes, a summary, two more dishes.",
             "The summary is above the results.", _summary_at(2), results=5),
    Scenario("summary-last", "Summary last", "Four dishes, then a summary.",
             "The summary is above the results.", _summary_at(4), results=5),
    Scenario("results-object", "Results as an object", "A single result where a list is expected.",
             "The raw value is shown, with a note that it is not a list.",
             _document(document("answer", results=dish(0))), results=1),
    Scenario("results-null", "Results are null", "null where a list is expected.",
             "The answer has no results.", _document(document("answer", results=None))),
    Scenario("results-strings", "Results as strings", "A list of strings, numbers and null.",
             "Each value is shown as text or JSON.",
             _document(document("answer", results=["Soup", 7, None, ["Salad"], dish(0)])),
             results=5),
    Scenario("meta-list", "_meta as a list", "An answer whose _meta is a list.",
             "The results are shown, with a note that _meta is not an object.",
             _document({"_meta": ["answer", "0.55"], "results": [dish(0), dish(1)]}), results=2),
)  # fmt: skip
