"""Scenarios that say no (sections 2.4, 2.5 and 7.4), in NLWeb's words and in others."""

from __future__ import annotations

import time

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import http_date

from playground.demo.failures import FailureError, invalid_parameter
from playground.demo.http import json_response
from playground.demo.scenarios.scenario import Scenario
from playground.demo.scenarios.scene import ScenarioRequest, dish, document, failed, respond

TOKEN = "demo-token"  # noqa: S105 - printed on the demo page
_LATER = 30


async def members(scene: ScenarioRequest) -> HttpResponseBase:
    """Wants a bearer token, and says so as a failure with a code of its own."""
    if scene.request.headers.get("Authorization") == f"Bearer {TOKEN}":
        return await respond(scene, dish(0), dish(1))
    error = {"code": "UNAUTHORIZED", "message": f"For members: the bearer token is {TOKEN}."}
    challenge = {"WWW-Authenticate": 'Bearer realm="members"'}
    return json_response(document("failure", error=error), 401, challenge)


async def rate_limited_date(scene: ScenarioRequest) -> HttpResponseBase:
    """Later, said as a point in time rather than in seconds."""
    error = FailureError("RATE_LIMITED", "Too many requests; try again when the clock says so.")
    return failed(error, {"Retry-After": http_date(time.time() + _LATER)})


async def details(scene: ScenarioRequest) -> HttpResponseBase:
    """A failure with details (0.54 examples, section 6)."""
    raise invalid_parameter("max_cooking_time", "soon", "ISO 8601 Duration", "a valid duration")


async def foreign_error(scene: ScenarioRequest) -> HttpResponseBase:
    """An error in JSON that is not NLWeb's, as web frameworks write it."""
    problem = {"detail": "Internal Server Error", "trace_id": "b7ad6b7169203331"}
    return json_response(problem, 500)


async def empty_error(scene: ScenarioRequest) -> HttpResponseBase:
    """503 and nothing more."""
    return HttpResponse(b"", "text/plain", 503)


ROWS = (
    Scenario("members", "Bearer token", f"401 until the bearer token {TOKEN} is sent; the failure"
             " has a code of its own, UNAUTHORIZED.",
             "The failure with its code; with the token, an answer.", "completed", "failure",
             members),
    Scenario("rate-limited-date", "Rate limited until", "429 with a date in Retry-After, half a"
             " minute from now.", "The failure, and how long until then.", "completed", "failure",
             rate_limited_date),
    Scenario("failure-details", "Failure with details", "400 with INVALID_PARAMETER and an object"
             " of details.", "The failure and its details.", "completed", "failure", details),
    Scenario("foreign-error", "Error that is not NLWeb", "500 with JSON as a web framework writes"
             " it.", "The JSON, and that it is no NLWeb reply.", "failed", "none",
             foreign_error),
    Scenario("empty-error", "Empty error", "503 with an empty body.",
             "The status, and that there is nothing to read.", "failed", "none", empty_error),
)  # fmt: skip
