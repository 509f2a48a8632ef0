"""`/demo/mcp`: an endpoint for both generations, and one for each of them alone."""

from __future__ import annotations

import logging

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import jsonrpc
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, json_response
from playground.demo.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from playground.demo.mcp import stateful, stateless
from playground.demo.mcp.responses import error_response
from playground.demo.mcp.stateful import STATEFUL_VERSIONS
from playground.demo.mcp.stateless import STATELESS_VERSIONS

logger = logging.getLogger("playground.demo")

_HEADER = "MCP-Protocol-Version"


@endpoint(jsonrpc.refusal, "POST", "DELETE")
async def mcp(request: HttpRequest, only: str = "") -> HttpResponseBase:
    """`POST` takes one message, `DELETE` ends a session; `only` restricts the versions."""
    if request.method == "POST" and not all(
        request.accepts(kind) for kind in ("application/json", "text/event-stream")
    ):
        text = "Not acceptable: accept both application/json and text/event-stream."
        return error_response(406, text)
    if not _is_supported(request, only):
        supported = only or ", ".join((*STATEFUL_VERSIONS, *STATELESS_VERSIONS))
        text = f"Bad request: unsupported protocol version (supported versions: {supported})."
        return error_response(400, text)
    if request.method == "DELETE":
        return await stateful.end(request)
    return await _respond(request)


def _is_supported(request: HttpRequest, only: str) -> bool:
    """Return True if this URL supports the version of a request."""
    version = request.headers.get(_HEADER)
    if not only:
        return True
    if only in STATELESS_VERSIONS:
        return version is not None and version not in STATEFUL_VERSIONS
    return version is None or version in STATEFUL_VERSIONS


async def _respond(request: HttpRequest) -> HttpResponseBase:
    version = request.headers.get(_HEADER)
    is_stateful = version is None or version in STATEFUL_VERSIONS
    try:
        message = jsonrpc.read_message(request.body)
        if is_stateful:
            return await stateful.respond(request, message)
        return await stateless.respond(request, message)
    except RpcError as error:
        failed = error
    except FailureError as failure:
        failed = RpcError(INVALID_PARAMS, failure.message)
    except Exception:
        logger.exception("Answering a message over MCP failed")
        failed = RpcError(INTERNAL_ERROR, "Internal server error.")
    return _error_response(request, failed, is_stateful)


def _error_response(request: HttpRequest, error: RpcError, is_stateful: bool) -> HttpResponse:
    statuses = (
        {jsonrpc.PARSE_ERROR: 400, jsonrpc.INVALID_REQUEST: 400}
        if is_stateful
        else stateless.STATUSES
    )
    document = jsonrpc.error(jsonrpc.id_in(request.body), error)
    return json_response(document, statuses.get(error.code, 200))
