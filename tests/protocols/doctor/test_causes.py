"""Causes of failed requests, as their stored responses prove them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.doctor import cause_of, evidence_of
from playground.protocols.doctor.causes import Remedy
from playground.protocols.exchange import Target
from playground.protocols.problems import USE_HTTP, USE_HTTPS, Problem, Stage
from tests.protocols.doctor.wire import Response, frames_of, response, stream

URL = "http://agent.example.com/api"
HTTP = Target(URL, version="0.55")
MCP = replace(HTTP, binding="mcp")
API = Target(URL, protocol="agent-api", version="1")

NO_SESSION = response(
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Missing session ID"}}, 400
)
ANSWER = response({"_meta": {"version": "0.55", "response_type": "answer"}, "results": []})
LEGACY = stream({"message_type": "complete"})
MESSAGE = stream({"object": "response", "status": "created", "id": "r"})
DECODE = Problem("failed", Stage.DECODE, "It is not JSON.", "Look.")


def failed(stage: Stage, fix: str = "Look.", limit: str | None = None) -> Problem:
    return Problem("failed", stage, f"It broke at {stage}.", fix, limit=limit)


@pytest.mark.parametrize(
    ("answer", "target", "headline", "remedy", "url"),
    [
        (NO_SESSION, HTTP, "This is an MCP server.", Remedy.SWITCH, ""),
        (NO_SESSION, API, "This is an MCP server.", Remedy.SWITCH, ""),
        (NO_SESSION, MCP, "The server rejected the request (HTTP 400).", Remedy.RETRY, ""),
        (ANSWER, MCP, "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (ANSWER, API, "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (MESSAGE, HTTP, "This is an Agent API agent.", Remedy.SWITCH, ""),
        (LEGACY, HTTP, "This is a legacy NLWeb server.", Remedy.SWITCH, ""),
        (ANSWER, replace(HTTP, version="legacy"), "This is an NLWeb agent.", Remedy.SWITCH, ""),
        (response({"name": "Chef", "url": URL, "skills": []}), HTTP, "This is an A2A agent.",
         Remedy.DIAGNOSE, ""),
        (response({"error": "x"}, 401, www_authenticate='Basic realm="a"'), HTTP,
         "Authentication required (HTTP 401): Basic, realm “a”.", Remedy.AUTHENTICATE, ""),
        (response(b"<html>", 403, "text/html"), HTTP,
         "Authentication required, or access denied (HTTP 403).", Remedy.AUTHENTICATE, ""),
        (response({}, 404), HTTP, "Nothing found at this URL (HTTP 404).", Remedy.DIAGNOSE, ""),
        (response({}, 404), replace(HTTP, url="http://a.example/mcp/"),
         "Nothing found at this URL (HTTP 404). The URL looks like that of an MCP server.",
         Remedy.SWITCH, ""),
        (response({}, 404), replace(HTTP, url="http://a.example/api/process"),
         "Nothing found at this URL (HTTP 404). The URL looks like that of an Agent API agent.",
         Remedy.SWITCH, ""),
        (response({}, 404), replace(MCP, url="http://a.example/mcp"),
         "Nothing found at this URL (HTTP 404).", Remedy.DIAGNOSE, ""),
        (NO_SESSION, Target(URL, protocol="action"),
         "The server rejected the request (HTTP 400).", Remedy.RETRY, ""),
        (response({}, 405), MCP, "this URL does not accept POST requests (HTTP 405).",
         Remedy.DIAGNOSE, ""),
        (response(b"<html>", 400, "text/html"), HTTP,
         "This URL serves a web page, not an agent (HTTP 400).", Remedy.DIAGNOSE, ""),
        (response({}, 429), HTTP, "Rate limit exceeded (HTTP 429).", Remedy.RETRY, ""),
        (response({}, 503), HTTP, "The server failed (HTTP 503).", Remedy.RETRY, ""),
        (response({}, 422), HTTP, "The server rejected the request (HTTP 422).", Remedy.RETRY, ""),
        (response({}, 301, location="/nlweb/ask"), HTTP,
         "The agent redirects to /nlweb/ask (HTTP 301).", Remedy.SWITCH,
         "http://agent.example.com/nlweb"),
        (response({}, 308, location="https://agent.example.com/mcp"), MCP,
         "The agent redirects to https://agent.example.com/mcp (HTTP 308).", Remedy.SWITCH,
         "https://agent.example.com/mcp"),
        (response({}, 302, location="https://u:p@b.example/"), HTTP,
         "The agent redirects to https://u:p@b.example/ (HTTP 302).", Remedy.EDIT, ""),
        (response({}, 302, location="data:,x"), HTTP, "The agent redirects to data:,x (HTTP 302).",
         Remedy.EDIT, ""),
        (failed(Stage.CONNECT), HTTP, "It broke at connect.", Remedy.RETRY, ""),
        (failed(Stage.RESOLVE), HTTP, "It broke at resolve.", Remedy.EDIT, ""),
        (failed(Stage.TLS), HTTP, "It broke at tls.", Remedy.RETRY, ""),
        (failed(Stage.TLS, USE_HTTP), replace(HTTP, url="https://a.example/x"), "It broke at tls.",
         Remedy.SWITCH, "http://a.example/x"),
        (failed(Stage.HEADERS, USE_HTTPS), HTTP, "It broke at headers.", Remedy.SWITCH,
         "https://agent.example.com/api"),
        (response(b"<!doctype html>", media_type="text/html"), HTTP,
         "This URL serves a web page, not an agent.", Remedy.DIAGNOSE, ""),
    ],
)  # fmt: skip
def test_the_response_decides(
    answer: Response, target: Target, headline: str, remedy: Remedy, url: str
) -> None:
    cause = cause_of(evidence_of(frames_of(answer)), target)
    assert cause
    assert (cause.headline, cause.remedy, cause.url) == (headline, remedy, url)
    assert cause.fix


@pytest.mark.parametrize(
    ("answer", "target"),
    [(ANSWER, HTTP), (MESSAGE, API), (LEGACY, replace(HTTP, version="legacy"))],
)
def test_there_is_none_of_a_response_as_expected(answer: Response, target: Target) -> None:
    assert cause_of(evidence_of(frames_of(answer)), target) is None


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [(DECODE, Remedy.DIAGNOSE), (failed(Stage.BODY), Remedy.RETRY)],
)
def test_of_a_problem_that_came_later(problem: Problem, remedy: Remedy) -> None:
    cause = cause_of(evidence_of(frames_of(response({"hello": 1}))), HTTP, problem)
    assert cause
    assert (cause.headline, cause.fix, cause.remedy) == (problem.cause, problem.fix, remedy)


@given(st.binary(max_size=60), st.sampled_from([0, 200, 301, 401, 404, 500]), st.text(max_size=40))
def test_no_response_makes_it_raise(body: bytes, status: int, header: str) -> None:
    header = "".join(each for each in header if each.isprintable())
    answer: Response = failed(Stage.BODY)
    if status:
        answer = response(body, status, location=header, www_authenticate=header)
    for target in (HTTP, MCP, API):
        cause_of(evidence_of(frames_of(answer)), target)
