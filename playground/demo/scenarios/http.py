"""Scenarios about HTTP: status codes, media types, encodings, redirects."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from playground.demo.failures import FailureError
from playground.demo.http import event_stream, json_response
from playground.demo.responses import encode
from playground.demo.scenarios.scene import (
    VERSION,
    ScenarioRequest,
    complete,
    dish,
    failed,
    paced,
    result,
    start,
)

TOKEN = "demo"  # noqa: S105 - printed on the demo page
_PAUSE = 0.2
_GZIP = 31
_HTML = b"""<!doctype html>
<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>gateway</center>
</body>
</html>
"""


def _usual() -> tuple[bytes, ...]:
    return (start(), result(0), result(1), result(2), complete())


def _document() -> dict[str, object]:
    meta = {"response_type": "answer", "version": VERSION}
    return {"_meta": meta, "results": [dish(0), dish(1), dish(2)]}


async def gzip(scene: ScenarioRequest) -> HttpResponseBase:
    """A stream that is compressed although identity was asked for; each event is flushed."""

    async def compressed() -> AsyncIterator[bytes]:
        packer = zlib.compressobj(wbits=_GZIP)
        async for chunk in paced(_usual(), scene.pause(_PAUSE)):
            yield packer.compress(chunk) + packer.flush(zlib.Z_SYNC_FLUSH)
        yield packer.flush()

    return event_stream(compressed(), headers={"Content-Encoding": "gzip"})


async def wrong_type(scene: ScenarioRequest) -> HttpResponseBase:
    """A good stream that calls itself plain text."""
    return event_stream(paced(_usual(), scene.pause(_PAUSE)), "text/plain; charset=utf-8")


async def json_as_stream(scene: ScenarioRequest) -> HttpResponseBase:
    """A JSON document that calls itself an event stream."""
    return HttpResponse(encode(_document()), "text/event-stream")


async def html_error(scene: ScenarioRequest) -> HttpResponseBase:
    """A gateway's error page, the one reply that is neither JSON nor events."""
    return HttpResponse(_HTML, "text/html", 502)


async def unauthorized(scene: ScenarioRequest) -> HttpResponseBase:
    """Wants a bearer token; with the right one it answers."""
    if scene.request.headers.get("Authorization") == f"Bearer {TOKEN}":
        return event_stream(paced(_usual(), scene.pause(_PAUSE)))
    return json_response(
        {"error": "unauthorized", "error_description": f"Use the bearer token “{TOKEN}”."},
        401,
        {"WWW-Authenticate": 'Bearer realm="NLWeb demo"'},
    )


async def rate_limited(scene: ScenarioRequest) -> HttpResponseBase:
    """Always says: later (section 2.5)."""
    error = FailureError("RATE_LIMITED", "Too many requests; try again in 30 seconds.")
    return failed(error, {"Retry-After": "30"})


async def server_error(scene: ScenarioRequest) -> HttpResponseBase:
    """A failure of the agent itself (section 7.4)."""
    return failed(FailureError("INTERNAL_ERROR"))


async def redirect(scene: ScenarioRequest) -> HttpResponseBase:
    """Sends the client elsewhere; a playground shows that and stays."""
    return HttpResponse(
        b"", "application/json", 307, headers={"Location": "https://agent.example/ask"}
    )


async def empty(scene: ScenarioRequest) -> HttpResponseBase:
    """Success, and nothing in it."""
    return HttpResponse(b"", "application/json")
