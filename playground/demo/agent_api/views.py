"""`POST /demo/agent-api`: a response as a stream or as one document."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo import lists, responses, service, state_store
from playground.demo.agent_api import handlers, malformed
from playground.demo.agent_api.request_context import Catalog, RequestContext
from playground.demo.agent_api.requests import ParsedRequest, read_request
from playground.demo.agent_api.writer import ResponseWriter
from playground.demo.failures import FailureError
from playground.demo.http import PAUSE, endpoint, event_stream, json_response, pace_of
from playground.demo.responses import Document

logger = logging.getLogger("playground.demo")

_AREA = "agent-api"
#: Seconds without a request after which a session is lost.
_LIFETIME = 86_400.0


def _error_document(message: str) -> Document:
    """Return the error of a request that has no response, in the form of section 7."""
    return {"error": {"code": "INVALID_REQUEST", "message": message}}


@endpoint(_error_document, "POST")
async def agent_api(request: HttpRequest) -> HttpResponseBase:
    """Respond to one request of a session (section "Protocol Flow"); 400 for an invalid one.

    With the parameter `extensions` in the URL, messages of unlisted types are sent as well.
    """
    try:
        parsed = read_request(request.body)
        pace = pace_of(request)
    except FailureError as failure:
        return json_response(_error_document(failure.message), 400)
    objects = await _objects(request, parsed)
    if not parsed.stream:
        return json_response(_last_response(objects))
    return event_stream(_events(objects, pace))


@endpoint(_error_document)
async def not_found(request: HttpRequest, path: str) -> HttpResponseBase:
    """Any other path below the endpoint."""
    return json_response(_error_document(f"Unknown path: {path[:80]}."), 404)


async def _objects(request: HttpRequest, parsed: ParsedRequest) -> Sequence[Document]:
    writer = ResponseWriter(parsed.session, extensions="extensions" in request.GET)
    if fault := malformed.requested_fault(parsed.text):
        writer.begin()
        fault.write(writer)
        if fault.ends:
            writer.end()
        return writer.objects
    catalog = Catalog(await service.loaded_corpus(), service.links(request))
    state = await state_store.load(_AREA, parsed.session, _LIFETIME) or {}
    try:
        handlers.respond(RequestContext(parsed, catalog, state, writer))
    except FailureError as failure:
        writer.end("failed", {"code": failure.code, "message": failure.message})
    except Exception:
        logger.exception("Answering a request over the Agent API failed")
        writer.end("failed", {"code": "INTERNAL_ERROR", "message": "Internal server error."})
    if bought := state.pop("bought", None):
        await lists.add("cart", {"items": bought})
    await state_store.save(_AREA, parsed.session, state)
    return writer.objects


def _last_response(objects: Sequence[Document]) -> Document:
    """Return the last response object, or the last object if there is none."""
    found = [value for value in objects if value.get("object") == "response"]
    return found[-1] if found else objects[-1]


async def _events(objects: Sequence[Document], pace: float) -> AsyncIterator[bytes]:
    """Yield SSE events without names, one object each; deltas at shorter intervals."""
    for value in objects:
        factor = 0.6 if value.get("delta") is True else 1.0
        await asyncio.sleep(PAUSE * pace * factor)
        yield responses.event("", value)
