"""`POST /demo/agent-api`: a response as a stream, or whole."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo import requests as asking
from playground.demo import service, state_store, storage
from playground.demo.agent_api import handlers, malformed, requests
from playground.demo.agent_api.handlers import RequestContext
from playground.demo.agent_api.requests import InvalidRequestError, ParsedRequest
from playground.demo.agent_api.search import Catalog
from playground.demo.agent_api.writer import ResponseWriter
from playground.demo.failures import FailureError
from playground.demo.http import PAUSE, endpoint, event_stream, json_response
from playground.demo.responses import Document, encode
from playground.demo.rpc import MAX_BODY

logger = logging.getLogger("playground.demo")

_AREA = "agent-api"
#: Seconds without a request after which a session is forgotten.
_LIFETIME = 86_400.0


@endpoint
async def agent_api(request: HttpRequest) -> HttpResponseBase:
    """One turn of a session (section "Protocol Flow"). 422 for what is no request."""
    if request.method != "POST":
        return json_response({"detail": "Method Not Allowed"}, 405, {"Allow": "POST"})
    try:
        if len(request.body) > MAX_BODY:
            raise InvalidRequestError("too_long", (), f"At most {MAX_BODY:,} bytes")
        turn = requests.read(request.body)
        pace = asking.read_pace(request.GET.get("pace"))
    except InvalidRequestError as unreadable:
        return json_response({"detail": unreadable.detail}, 422)
    except FailureError as failure:
        return json_response({"detail": failure.message}, 422)
    objects = await _objects(request, turn)
    if not turn.stream:
        return json_response(_whole(objects))
    return event_stream(_events(objects, pace))


async def _objects(request: HttpRequest, turn: ParsedRequest) -> Sequence[Document]:
    """Everything that the stream of a turn consists of."""
    script = ResponseWriter(turn.session)
    if broken := malformed.requested_fault(turn.text):
        script.begin()
        broken.write(script)
        if broken.ends:
            script.end()
        return script.objects
    kitchen = Catalog(await service.known(), service.links(request))
    state = await state_store.load(_AREA, turn.session, _LIFETIME) or {}
    try:
        handlers.respond(RequestContext(turn, kitchen, state, script))
    except FailureError as failure:
        script.end("failed", failure.error)
    except Exception:
        logger.exception("The demo agent could not answer over the Agent API")
        script.end("failed", {"code": "INTERNAL_ERROR", "message": "Something went wrong here."})
    if bought := state.pop("bought", None):
        await storage.add("cart", {"items": bought})
    await state_store.save(_AREA, turn.session, state)
    return script.objects


def _whole(objects: Sequence[Document]) -> Document:
    """The response as it ended, or the last that was said of it."""
    told = [value for value in objects if value.get("object") == "response"]
    return told[-1] if told else objects[-1]


async def _events(objects: Sequence[Document], pace: float) -> AsyncIterator[bytes]:
    """Bare frames, one object each; pieces follow each other faster than the rest."""
    for value in objects:
        await asyncio.sleep(PAUSE * pace * _share(value))
        yield b"data: " + encode(value) + b"\n\n"


def _share(value: Any) -> float:
    return 0.6 if value.get("delta") is True else 1.0
