"""Scripted agents that misbehave on purpose, each at its own address.

One table: the addresses, the demo page and the tests are all made from it. A scenario reads
nothing from the database and ends as soon as its client goes away.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from django.http.response import HttpResponseBase

from playground.demo.scenarios import breaking, http, order, timing
from playground.demo.scenarios.scene import Scene


@dataclass(frozen=True, slots=True)
class Scenario:
    """One row of the table."""

    slug: str
    title: str
    #: What the agent does.
    happens: str
    #: What the playground makes of it.
    shows: str
    #: How a run ends that nobody stops, in the words of the playground.
    state: str
    outcome: str
    play: Callable[[Scene], Awaitable[HttpResponseBase]]


_TABLE = (
    Scenario(
        "slow",
        "Slow",
        "An event each second, eight results in all (n and every change that).",
        "Results one by one; Stop works at any moment.",
        "completed",
        "answer",
        timing.slow,
    ),
    Scenario(
        "out-of-order",
        "Out of order",
        "Results with the indexes 3, 0, 4, 1, 2.",
        "Cards in the order of arrival; in that of index with one click.",
        "completed",
        "answer",
        order.out_of_order,
    ),
    Scenario(
        "duplicate-index",
        "Duplicate index",
        "Two different results with index 1.",
        "Both of them.",
        "completed",
        "answer",
        order.duplicate_index,
    ),
    Scenario(
        "missing-complete",
        "Missing complete",
        "A stream that ends in good order without a complete event.",
        "A completed run without session context.",
        "completed",
        "answer",
        order.missing_complete,
    ),
    Scenario(
        "error-then-on",
        "Error, then on",
        "Two results, an error event, two more results, complete.",
        "The failure between the results, and all four of them.",
        "completed",
        "answer",
        order.error_then_on,
    ),
    Scenario(
        "capitalised",
        "Capitalised",
        "The response type is “Answer” with a capital letter.",
        "An answer like any other.",
        "completed",
        "answer",
        order.capitalised,
    ),
    Scenario(
        "unnamed",
        "Unnamed events",
        "Events without names: the metadata, then all results in one.",
        "An answer like any other.",
        "completed",
        "answer",
        order.unnamed,
    ),
    Scenario(
        "line-separators",
        "Line separators",
        "U+2028, U+2029 and U+0085 within a result's text.",
        "Two results: these characters end no line of an event stream.",
        "completed",
        "answer",
        order.line_separators,
    ),
    Scenario(
        "bad-utf8",
        "Invalid UTF-8",
        "A name with bytes that are not UTF-8.",
        "The name with replacement characters; the bytes themselves under Wire.",
        "completed",
        "answer",
        order.bad_utf8,
    ),
    Scenario(
        "deep",
        "Deep JSON",
        "A result with lists nested a thousand deep.",
        "The first result; the run is refused at the limit on depth.",
        "refused",
        "answer",
        order.deep,
    ),
    Scenario(
        "truncated",
        "Truncated",
        "The stream ends in the middle of an event, though HTTP sees a proper end.",
        "Two results, the half event, and that it was cut off.",
        "truncated",
        "answer",
        breaking.truncated,
    ),
    Scenario(
        "dirty-close",
        "Dirty close",
        "The connection closes without the last chunk.",
        "Two results, and that the connection was lost.",
        "truncated",
        "answer",
        breaking.dirty_close,
    ),
    Scenario(
        "reset",
        "Reset",
        "The connection is reset in mid-stream.",
        "Two results, and that the connection was lost.",
        "truncated",
        "answer",
        breaking.reset,
    ),
    Scenario(
        "endless",
        "Endless",
        "Ten results a second, for ever (every changes that).",
        "Counters that go up until Stop is pressed or a limit is reached.",
        "failed",
        "answer",
        timing.endless,
    ),
    Scenario(
        "heartbeats",
        "Heartbeats only",
        "A comment each second and never an event.",
        "A stream without events, until Stop or the limit on time.",
        "failed",
        "none",
        timing.heartbeats,
    ),
    Scenario(
        "silent",
        "Silent",
        "The request is taken and never answered.",
        "A run that waits, until Stop or the limit on idle time.",
        "failed",
        "none",
        timing.silent,
    ),
    Scenario(
        "flood",
        "Flood",
        "20,000 results as fast as they go (n changes that).",
        "Exact numbers and a window of cards.",
        "completed",
        "answer",
        timing.flood,
    ),
    Scenario(
        "huge",
        "Huge",
        "One result of 5 MB; as a JSON reply if no stream is preferred.",
        "As a stream: the result before it, then refused at the limit on a line.",
        "refused",
        "answer",
        timing.huge,
    ),
    Scenario(
        "gzip",
        "Gzip",
        "A stream compressed with gzip although identity was asked for.",
        "The results; the encoding is in the response head.",
        "completed",
        "answer",
        http.gzip,
    ),
    Scenario(
        "wrong-type",
        "Wrong content type",
        "A good event stream that says it is text/plain.",
        "The results all the same.",
        "completed",
        "answer",
        http.wrong_type,
    ),
    Scenario(
        "json-as-stream",
        "JSON as a stream",
        "A JSON document that says it is text/event-stream.",
        "The results all the same.",
        "completed",
        "answer",
        http.json_as_stream,
    ),
    Scenario(
        "html-error",
        "HTML error page",
        "502 and a gateway's HTML page.",
        "That the reply is a web page and not an agent's, with its source.",
        "failed",
        "none",
        http.html_error,
    ),
    Scenario(
        "unauthorized",
        "Unauthorized",
        "401 until the bearer token “demo” is sent.",
        "The agent's failure and its WWW-Authenticate header; with the token, an answer.",
        "completed",
        "failure",
        http.unauthorized,
    ),
    Scenario(
        "rate-limited",
        "Rate limited",
        "429 with Retry-After: 30 and the failure RATE_LIMITED.",
        "The agent's failure.",
        "completed",
        "failure",
        http.rate_limited,
    ),
    Scenario(
        "server-error",
        "Server error",
        "500 with the failure INTERNAL_ERROR.",
        "The agent's failure.",
        "completed",
        "failure",
        http.server_error,
    ),
    Scenario(
        "redirect",
        "Redirect",
        "307 to another host.",
        "Where it leads; nothing is sent there.",
        "failed",
        "none",
        http.redirect,
    ),
    Scenario(
        "empty",
        "Empty",
        "200 with an empty body.",
        "That there is nothing to read.",
        "failed",
        "none",
        http.empty,
    ),
)

SCENARIOS: Mapping[str, Scenario] = {scenario.slug: scenario for scenario in _TABLE}
