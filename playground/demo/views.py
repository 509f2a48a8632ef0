"""Endpoints of NLWeb over HTTP (section 7.1), of the scenarios, and the demo page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from playground.demo import requests, responses, scenarios, service
from playground.demo.failures import CODES, FailureError
from playground.demo.guides import GROUPS, guides
from playground.demo.http import PAUSE, SAFE_METHODS, endpoint, event_stream, json_response
from playground.demo.responses import Answer, meta
from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.parts import read_request
from playground.demo.service import ServedResponse

logger = logging.getLogger("playground.demo")

#: The version of responses to requests without a known version.
_NEWEST = requests.VERSIONS[-1]


def _error_document(message: str) -> dict[str, Any]:
    """Return a failure of a request that was not read; its version is unknown."""
    return responses.failure(FailureError("INVALID_QUERY", message), _NEWEST, None)


@endpoint(_error_document, "POST")
async def ask(request: HttpRequest) -> HttpResponseBase:
    """`POST /ask`: an answer, questions, a promise or a failure, as JSON or as a stream."""

    async def respond(document: Mapping[str, Any]) -> HttpResponseBase:
        served = await service.ask(request, document)
        if isinstance(served.response, Answer) and served.streaming:
            return event_stream(_events(served, served.response))
        return json_response(served.document(), served.status)

    return await _respond_or_fail(request, respond)


@endpoint(_error_document, "POST")
async def await_(request: HttpRequest) -> HttpResponseBase:
    """`POST /await`: the progress of a promised task, its answer, or its failure (section 4.2)."""

    async def respond(document: Mapping[str, Any]) -> HttpResponseBase:
        served = await service.await_(document)
        return json_response(served.document(), served.status)

    return await _respond_or_fail(request, respond)


@endpoint(_error_document, "POST")
async def scenario(request: HttpRequest, slug: str, operation: str) -> HttpResponseBase:
    """`POST scenarios/<slug>/ask` and `…/await`: the response of a scripted scenario."""
    if not (found := SCENARIOS.get(slug)):
        return json_response(_error_document(f"Unknown scenario: {slug[:80]}."), 404)
    try:
        respond = found.play if operation == "ask" else found.await_
        return await respond(read_request(request))
    except FailureError as failure:
        return json_response(responses.failure(failure, _NEWEST, None), failure.status(_NEWEST))


@endpoint(_error_document)
async def not_found(request: HttpRequest, path: str) -> HttpResponseBase:
    """Any other path: a failure of NLWeb, or the site's page for a browser that follows a link."""
    if request.method in SAFE_METHODS and "text/html" in request.headers.get("Accept", ""):
        raise Http404
    return json_response(_error_document(f"Unknown path: {path[:80]}."), 404)


@login_not_required
def page(request: HttpRequest) -> HttpResponse:
    """Render the demo page: URLs, examples, guides, failures and scenarios."""
    origin = request.build_absolute_uri("/").rstrip("/")
    context = {
        "ask_url": origin + reverse("demo-ask"),
        "await_url": origin + reverse("demo-await"),
        "cart_url": origin + reverse("demo-cart"),
        "cookbook_url": origin + reverse("demo-cookbook"),
        "groups": GROUPS,
        "guides": guides(origin),
        "codes": CODES.items(),
        "chapters": [
            (title, [(row, origin + reverse("demo-scenario", args=[row.slug])) for row in rows])
            for title, rows in scenarios.GROUPS.items()
        ],
    }
    return render(request, "demo/index.html", context)


async def _respond_or_fail(
    request: HttpRequest, respond: Callable[[Mapping[str, Any]], Awaitable[HttpResponseBase]]
) -> HttpResponseBase:
    """Read the request and respond to it; convert every error to a failure response."""
    version, session = _NEWEST, None
    try:
        document = requests.read_json(request.body)
        version = requests.version_of(document)
        session = requests.session_of(document)
        return await respond(document)
    except FailureError as error:
        failure = error
    except Exception:
        logger.exception("Answering an NLWeb request over HTTP failed")
        failure = FailureError("INTERNAL_ERROR")
    body = responses.failure(failure, version, session)
    return json_response(body, failure.status(version), failure.headers)


async def _events(served: ServedResponse, answer: Answer) -> AsyncIterator[bytes]:
    """Yield an answer as server-sent events (section 6.1; 0.54 examples, section 5)."""
    event = responses.event
    version = served.version
    yield event("start", {"_meta": meta("answer", version, None, streaming=True)})
    index = 0
    for part in answer.parts:
        await asyncio.sleep(PAUSE * served.pace)
        if part.item is not None:
            yield event("result", {"index": index, "item": part.item})
            index += 1
        else:
            yield event("content", part.content)
    if answer.failure:
        yield event("error", responses.failure(answer.failure, version, served.session))
    more = {**answer.meta, "total_items": index, "processing_time_ms": served.milliseconds}
    more |= served.language.meta
    yield event("complete", {"_meta": meta("answer", version, served.session, **more)})
    if answer.closing_failure:
        yield event("end", {"message": answer.closing_failure})
