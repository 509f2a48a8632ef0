"""Scenarios about the events of a stream: their order, numbers, names and contents."""

from __future__ import annotations

from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError
from playground.demo.http import event_stream
from playground.demo.responses import event, failure
from playground.demo.scenarios.scene import (
    VERSION,
    ScenarioRequest,
    complete,
    dish,
    paced,
    result,
    start,
)

_PAUSE = 0.2
_DEPTH = 1000


async def out_of_order(scene: ScenarioRequest) -> HttpResponseBase:
    """Results in another order than their indexes, which section 6.1 allows."""
    return _stream(scene, start(), *(result(i) for i in (3, 0, 4, 1, 2)), complete())


async def duplicate_index(scene: ScenarioRequest) -> HttpResponseBase:
    """Two different results that claim the same place."""
    again = result(1, {**dish(5), "name": "Apple Crumble, also at index 1"})
    return _stream(scene, start(), result(0), result(1), again, result(2), complete())


async def missing_complete(scene: ScenarioRequest) -> HttpResponseBase:
    """A stream that ends in good order, without its last event."""
    return _stream(scene, start(), *(result(i) for i in range(3)))


async def error_then_on(scene: ScenarioRequest) -> HttpResponseBase:
    """An error that the agent recovers from (section 6.1)."""
    lost = FailureError("TIMEOUT", "One of three sources did not answer in time.")
    error = event("error", failure(lost, VERSION, None))
    return _stream(scene, start(), result(0), result(1), error, result(2), result(3), complete())


async def capitalised(scene: ScenarioRequest) -> HttpResponseBase:
    """`Answer` where the spec's examples have `answer`."""
    kind = "Answer"
    return _stream(
        scene, start(response_type=kind), result(0), result(1), complete(response_type=kind)
    )


async def unnamed(scene: ScenarioRequest) -> HttpResponseBase:
    """No event names: the metadata, then all results at once, as the public ask agent does."""
    meta = {"version": "0.54", "response_type": "Answer", "request_id": "scenario"}
    events = ({"_meta": meta}, {"results": [dish(0), dish(1), dish(2)]})
    return _stream(scene, *(event("", document).partition(b"\n")[2] for document in events))


async def line_separators(scene: ScenarioRequest) -> HttpResponseBase:
    """Characters that Unicode counts as line ends and event streams do not."""
    item = {**dish(0), "name": "One\u2028line", "description": "Still\u0085the\u2029same line"}
    return _stream(scene, start(), result(0, item), result(1), complete())


async def bad_utf8(scene: ScenarioRequest) -> HttpResponseBase:
    """Bytes that are not UTF-8 within an otherwise good event."""
    item = {**dish(0), "name": "Cr@me br@l@e"}
    broken = result(0, item).replace(b"Cr@me br@l@e", b"Cr\xe8me br\xc3l\xff\xfee")
    return _stream(scene, start(), broken, result(1), complete())


async def deep(scene: ScenarioRequest) -> HttpResponseBase:
    """A result whose lists lie in lists, a thousand deep."""
    item = {**dish(1), "nested": "@"}
    nested = b"[" * _DEPTH + b"]" * _DEPTH
    return _stream(
        scene, start(), result(0), result(1, item).replace(b'"@"', nested), result(2), complete()
    )


def _stream(scene: ScenarioRequest, *events: bytes) -> HttpResponseBase:
    return event_stream(paced(events, scene.pause(_PAUSE)))
