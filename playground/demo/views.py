"""The endpoints of the agent, section 7.1 (`ask`, `await`), its scenarios, and its page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from playground.demo import pages, requests, responses, service
from playground.demo.failures import FailureError
from playground.demo.http import PAUSE, endpoint, event_stream, json_response
from playground.demo.responses import Answer, meta
from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.scene import read_scene
from playground.demo.service import ServedResponse

logger = logging.getLogger("playground.demo")


@endpoint
async def ask(request: HttpRequest) -> HttpResponseBase:
    """`POST /ask`: an answer, questions, a promise or a failure, as JSON or as a stream."""

    async def answer(document: Mapping[str, Any]) -> HttpResponseBase:
        served = await service.ask(request, document)
        if isinstance(served.response, Answer) and served.streaming:
            return event_stream(_events(served, served.response))
        return json_response(served.document(), served.status)

    return await _replying(request, answer)


@endpoint
async def await_(request: HttpRequest) -> HttpResponseBase:
    """`POST /await`: how a promised task is doing, its answer, or its end (section 4.2)."""

    async def answer(document: Mapping[str, Any]) -> HttpResponseBase:
        served = await service.await_(document)
        return json_response(served.document(), served.status)

    return await _replying(request, answer)


@endpoint
async def scenario(request: HttpRequest, slug: str, operation: str) -> HttpResponseBase:
    """`POST scenarios/<slug>/ask` and `…/await`: plays one of the scripted scenarios."""
    if not (found := SCENARIOS.get(slug)):
        failure = FailureError("INVALID_QUERY", f"There is no scenario {slug[:80]}.")
        return json_response(responses.failure(failure, requests.VERSIONS[-1], None), 404)
    if request.method != "POST":
        return _post_only()
    try:
        play = found.play if operation == "ask" else found.await_
        return await play(read_scene(request))
    except FailureError as failure:
        document = responses.failure(failure, requests.VERSIONS[-1], None)
        return json_response(document, failure.status)


@login_not_required
def page(request: HttpRequest) -> HttpResponse:
    """For people: what the agent can do, questions to copy, and the scenarios."""
    origin = request.build_absolute_uri("/").rstrip("/")
    return render(request, "demo/index.html", pages.context(origin))


async def _replying(
    request: HttpRequest, answer: Callable[[Mapping[str, Any]], Awaitable[HttpResponseBase]]
) -> HttpResponseBase:
    """Read the request, answer it, and turn whatever goes wrong into a failure reply."""
    version, session = requests.VERSIONS[-1], None
    try:
        if request.method != "POST":
            return _post_only()
        asked = requests.read_json(request.body)
        version = requests.version_of(asked)
        session = requests.session_of(asked)
        return await answer(asked)
    except FailureError as error:
        failure = error
    except Exception:
        logger.exception("The demo agent could not answer")
        failure = FailureError("INTERNAL_ERROR")
    document = responses.failure(failure, version, session)
    return json_response(document, failure.status, failure.headers)


def _post_only() -> HttpResponse:
    failure = FailureError("INVALID_QUERY", "Ask with POST.")
    return json_response(
        responses.failure(failure, requests.VERSIONS[-1], None), 405, {"Allow": "POST"}
    )


async def _events(served: ServedResponse, reply: Answer) -> AsyncIterator[bytes]:
    """An answer as server-sent events (section 6.1; 0.54 examples, section 5)."""
    event = responses.event
    version = served.version
    opening = meta("answer", version, None, streaming=True)
    yield event("start", {"_meta": opening})
    index = 0
    for part in reply.parts:
        await asyncio.sleep(PAUSE * served.pace)
        if part.item is not None:
            yield event("result", {"index": index, "item": part.item})
            index += 1
        else:
            yield event("content", part.content)
    if reply.failure:
        yield event("error", responses.failure(reply.failure, version, served.session))
    more = {**reply.meta, "total_items": index, "processing_time_ms": served.milliseconds}
    yield event("complete", {"_meta": meta("answer", version, served.session, **more)})
    if reply.closing_failure:
        yield event("end", {"message": reply.closing_failure})
