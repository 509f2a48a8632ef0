"""The endpoints of the agent, section 7.1 (`ask`, `await`), its scenarios, and its page."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from playground.demo import agent, asking, corpus, lists, pages, replying, storing
from playground.demo.asking import Ask
from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, event_stream, json_response
from playground.demo.offering import Links
from playground.demo.promising import Pledge
from playground.demo.replying import Answer, Shelf, Whole, meta
from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.scene import read_scene

logger = logging.getLogger("playground.demo")

#: Seconds between two events of a stream, at pace 1: slow enough to be watched.
_PAUSE = 0.06


@endpoint
async def ask(request: HttpRequest) -> HttpResponseBase:
    """`POST /ask`: an answer, questions, a promise or a failure, as JSON or as a stream."""

    async def answer(document: Mapping[str, Any]) -> HttpResponseBase:
        began = time.monotonic()
        asked = asking.read_ask(
            document, request.headers.get("Accept", ""), request.GET.get("pace")
        )
        reply = agent.ask(await _corpus(), asked, _links(request))
        if isinstance(reply, Pledge):
            reply = agent.promise(await storing.keep(reply))
        elif isinstance(reply, Shelf):
            reply = agent.composed([await lists.described(request, reply.name)], reply.ask)
        if isinstance(reply, Answer) and asked.streaming:
            return event_stream(_events(asked, reply, began))
        return _json(reply, asked.version, asked.session, began)

    return await _replying(request, answer)


@endpoint
async def await_(request: HttpRequest) -> HttpResponseBase:
    """`POST /await`: how a promised task is doing, its answer, or its end (section 4.2)."""

    async def answer(document: Mapping[str, Any]) -> HttpResponseBase:
        began = time.monotonic()
        awaited = asking.read_await(document)
        found = storing.cancel if awaited.action == "cancel" else storing.task
        task = await found(awaited.token)
        reply = agent.await_(await _corpus(), task)
        return _json(reply, awaited.version, {**task.ask.session, **awaited.session}, began)

    return await _replying(request, answer)


@endpoint
async def scenario(request: HttpRequest, slug: str, operation: str) -> HttpResponseBase:
    """`POST scenarios/<slug>/ask` and `…/await`: plays one of the scripted scenarios."""
    if not (found := SCENARIOS.get(slug)):
        failure = FailureError("INVALID_QUERY", f"There is no scenario {slug[:80]}.")
        return json_response(replying.failure(failure, asking.VERSIONS[-1], None), 404)
    if request.method != "POST":
        return _post_only()
    try:
        play = found.play if operation == "ask" else found.follow
        return await play(read_scene(request))
    except FailureError as failure:
        document = replying.failure(failure, asking.VERSIONS[-1], None)
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
    version, session = asking.VERSIONS[-1], None
    try:
        if request.method != "POST":
            return _post_only()
        asked = asking.read_json(request.body)
        version = asking.version_of(asked)
        session = asking.session_of(asked)
        return await answer(asked)
    except FailureError as error:
        failure = error
    except Exception:
        logger.exception("The demo agent could not answer")
        failure = FailureError("INTERNAL_ERROR")
    document = replying.failure(failure, version, session)
    return json_response(document, failure.status, failure.headers)


def _post_only() -> HttpResponse:
    failure = FailureError("INVALID_QUERY", "Ask with POST.")
    return json_response(
        replying.failure(failure, asking.VERSIONS[-1], None), 405, {"Allow": "POST"}
    )


async def _corpus() -> Corpus:
    return corpus.loaded() or await sync_to_async(corpus.load)()


def _links(request: HttpRequest) -> Links:
    return Links(
        # Without the hash of the manifest: an item's picture has one address for good.
        static=request.build_absolute_uri(settings.STATIC_URL),
        cookbook=request.build_absolute_uri(reverse("demo-cookbook")),
        cart=request.build_absolute_uri(reverse("demo-cart")),
        a2a=request.build_absolute_uri(reverse("demo") + "a2a"),
    )


def _json(
    reply: Answer | Whole, version: str, session: Mapping[str, Any], began: float
) -> HttpResponse:
    """A reply in one piece."""
    if isinstance(reply, Whole):
        session = {**session, **reply.remember}
        body, more, kind, status = reply.body, reply.meta, reply.kind, reply.status
    else:
        body, more, kind, status = {"results": reply.items}, reply.meta, "answer", 200
    if kind == "answer":
        more = {**more, "processing_time_ms": _milliseconds(began)}
    return json_response({"_meta": meta(kind, version, session, **more), **body}, status)


async def _events(asked: Ask, reply: Answer, began: float) -> AsyncIterator[bytes]:
    """An answer as server-sent events (section 6.1; 0.54 examples, section 5)."""
    event = replying.event
    version = asked.version
    opening = meta("answer", version, None, streaming=True)
    yield event("start", {"_meta": opening})
    index = 0
    for part in reply.parts:
        await asyncio.sleep(_PAUSE * asked.pace)
        if part.item is not None:
            yield event("result", {"index": index, "item": part.item})
            index += 1
        else:
            yield event("content", part.content)
    if reply.failure:
        yield event("error", replying.failure(reply.failure, version, asked.session))
    more = {**reply.meta, "total_items": index, "processing_time_ms": _milliseconds(began)}
    yield event("complete", {"_meta": meta("answer", version, asked.session, **more)})
    if reply.farewell:
        yield event("end", {"message": reply.farewell})


def _milliseconds(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
