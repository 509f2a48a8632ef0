"""Scenarios about HTTP: status codes, media types, encodings, redirects, refusals.

Refusals are those of sections 2.4, 2.5 and 7.4, as NLWeb has them and in other formats.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import AsyncIterator

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import http_date

from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import event_stream, json_response
from playground.demo.responses import encode
from playground.demo.scenarios.scenario import (
    ScenarioRequest,
    Scenarios,
    complete,
    dish,
    document,
    failed,
    paced,
    respond,
    result,
    start,
)

_TOKEN = "demo"  # noqa: S105 - printed on the demo page
_MEMBERS_TOKEN = "demo-token"  # noqa: S105 - printed on the demo page
_RETRY_AFTER = 30
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

ROWS, REFUSALS = Scenarios(), Scenarios()


def _valid_events() -> tuple[bytes, ...]:
    return (start(), result(0), result(1), result(2), complete())


@ROWS.add(
    "gzip",
    "Gzip",
    "A stream compressed with gzip although the request asks for identity.",
    "The results are shown; the response headers include the encoding.",
    results=3,
)
async def gzip(request: ScenarioRequest) -> HttpResponseBase:
    encoding = {"Content-Encoding": "gzip"}
    if not request.streaming:
        body = zlib.compress(encode(document("answer", results=[dish(0), dish(1)])), wbits=_GZIP)
        return HttpResponse(body, "application/json", headers=encoding)

    async def compressed() -> AsyncIterator[bytes]:
        compressor = zlib.compressobj(wbits=_GZIP)
        async for chunk in paced(_valid_events(), request.pause(_PAUSE)):
            yield compressor.compress(chunk) + compressor.flush(zlib.Z_SYNC_FLUSH)
        yield compressor.flush()

    return event_stream(compressed(), headers=encoding)


@ROWS.add(
    "wrong-type",
    "Wrong content type",
    "A valid event stream with the content type text/plain.",
    "The results are shown as usual.",
    results=3,
)
async def wrong_type(request: ScenarioRequest) -> HttpResponseBase:
    return event_stream(paced(_valid_events(), request.pause(_PAUSE)), "text/plain; charset=utf-8")


@ROWS.add(
    "json-as-stream",
    "JSON as a stream",
    "A JSON document with the content type text/event-stream.",
    "The results are shown as usual.",
    results=3,
)
async def json_as_stream(request: ScenarioRequest) -> HttpResponseBase:
    return HttpResponse(
        encode(document("answer", results=[dish(0), dish(1), dish(2)])), "text/event-stream"
    )


@ROWS.add(
    "html-error",
    "HTML error page",
    "502 with a gateway's HTML error page.",
    "The error says that the response is a web page, and includes its source.",
    state="failed",
    outcome="none",
    problem="decode",
)
async def html_error(request: ScenarioRequest) -> HttpResponseBase:
    return HttpResponse(_HTML, "text/html", 502)


@ROWS.add(
    "unauthorized",
    "Unauthorized",
    "401 until the bearer token “demo” is sent.",
    "The agent's error and its WWW-Authenticate header are shown; with the token, an answer.",
    outcome="failure",
)
async def unauthorized(request: ScenarioRequest) -> HttpResponseBase:
    if request.http_request.headers.get("Authorization") == f"Bearer {_TOKEN}":
        return event_stream(paced(_valid_events(), request.pause(_PAUSE)))
    # In the format of OAuth.
    return json_response(
        {"error": "unauthorized", "error_description": f"Use the bearer token “{_TOKEN}”."},
        401,
        {"WWW-Authenticate": 'Bearer realm="NLWeb demo"'},
    )


@ROWS.add(
    "rate-limited",
    "Rate limited",
    "429 with Retry-After: 30 and the error code RATE_LIMITED.",
    "The agent's error is shown.",
    outcome="failure",
)
async def rate_limited(request: ScenarioRequest) -> HttpResponseBase:
    # Retry-After in seconds: section 2.5.
    error = FailureError("RATE_LIMITED", "Too many requests; try again in 30 seconds.")
    return failed(error, {"Retry-After": "30"})


@ROWS.add(
    "server-error",
    "Server error",
    "500 with the error code INTERNAL_ERROR.",
    "The agent's error is shown.",
    outcome="failure",
)
async def server_error(request: ScenarioRequest) -> HttpResponseBase:
    # Section 7.4.
    return failed(FailureError("INTERNAL_ERROR"))


@ROWS.add(
    "redirect",
    "Redirect",
    "307 to another host.",
    "The redirect's target is shown; nothing is sent to it.",
    state="failed",
    outcome="none",
    problem="decode",
)
async def redirect(request: ScenarioRequest) -> HttpResponseBase:
    return HttpResponse(
        b"", "application/json", 307, headers={"Location": "https://agent.example/ask"}
    )


@ROWS.add(
    "empty",
    "Empty",
    "200 with an empty body.",
    "The error says that the response is empty.",
    state="failed",
    outcome="none",
    problem="decode",
)
async def empty(request: ScenarioRequest) -> HttpResponseBase:
    return HttpResponse(b"", "application/json")


@REFUSALS.add(
    "members",
    "Bearer token",
    f"401 until the bearer token {_MEMBERS_TOKEN} is sent; the error has a custom code,"
    " UNAUTHORIZED.",
    "The agent's error and its code are shown; with the token, an answer.",
    outcome="failure",
)
async def members(request: ScenarioRequest) -> HttpResponseBase:
    if request.http_request.headers.get("Authorization") == f"Bearer {_MEMBERS_TOKEN}":
        return await respond(request, dish(0), dish(1))
    error = {
        "code": "UNAUTHORIZED",
        "message": f"Members only: the bearer token is {_MEMBERS_TOKEN}.",
    }
    challenge = {"WWW-Authenticate": 'Bearer realm="members"'}
    return json_response(document("failure", error=error), 401, challenge)


@REFUSALS.add(
    "rate-limited-date",
    "Retry-After with a date",
    "429 with a date in Retry-After, 30 seconds from now.",
    "The agent's error is shown, with the time left until then.",
    outcome="failure",
)
async def rate_limited_date(request: ScenarioRequest) -> HttpResponseBase:
    error = FailureError("RATE_LIMITED", "Too many requests; try again when the clock says so.")
    return failed(error, {"Retry-After": http_date(time.time() + _RETRY_AFTER)})


@REFUSALS.add(
    "failure-details",
    "Failure with details",
    "400 with INVALID_QUERY and a details object.",
    "The agent's error and its details are shown.",
    outcome="failure",
)
async def details(request: ScenarioRequest) -> HttpResponseBase:
    # 0.54 examples, section 6.
    raise invalid_parameter("max_cooking_time", "soon", "ISO 8601 Duration", "a valid duration")


@REFUSALS.add(
    "foreign-error",
    "Error that is not NLWeb",
    "500 with a web framework's JSON error.",
    "The run completes with a failure; a note says that it is a JSON error message.",
    outcome="failure",
)
async def foreign_error(request: ScenarioRequest) -> HttpResponseBase:
    problem = {"detail": "Internal Server Error", "trace_id": "b7ad6b7169203331"}
    return json_response(problem, 500)


@REFUSALS.add(
    "empty-error",
    "Empty error",
    "503 with an empty body.",
    "The status is shown, with a note that the body is empty.",
    state="failed",
    outcome="none",
    problem="decode",
)
async def empty_error(request: ScenarioRequest) -> HttpResponseBase:
    return HttpResponse(b"", "text/plain", 503)
