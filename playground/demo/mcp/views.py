"""`/demo/mcp`: one endpoint for both generations, and one for each of them alone."""

from __future__ import annotations

import logging

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import rpc
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, json_response
from playground.demo.mcp import request_checks, stateful, stateless
from playground.demo.rpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError

logger = logging.getLogger("playground.demo")

_HEADER = "MCP-Protocol-Version"


@endpoint
async def mcp(request: HttpRequest, only: str = "") -> HttpResponseBase:
    """`POST` takes one message, `DELETE` ends a session; `only` is a revision to speak."""
    if refusal := request_checks.check_request(request):
        return refusal
    if not _speaks(request, only):
        spoken = only or ", ".join(
            (*request_checks.STATEFUL_VERSIONS, *request_checks.STATELESS_VERSIONS)
        )
        text = f"Bad request: unsupported protocol version (supported versions: {spoken})."
        return request_checks.error_response(400, text)
    if request.method == "DELETE":
        return await stateful.end(request)
    return await _reply(request)


def _speaks(request: HttpRequest, only: str) -> bool:
    """Whether the revision that a request names is served at this address."""
    version = request.headers.get(_HEADER)
    if not only:
        return True
    if only in request_checks.STATELESS_VERSIONS:
        return version is not None and version not in request_checks.STATEFUL_VERSIONS
    return version is None or version in request_checks.STATEFUL_VERSIONS


async def _reply(request: HttpRequest) -> HttpResponseBase:
    version = request.headers.get(_HEADER)
    is_older = version is None or version in request_checks.STATEFUL_VERSIONS
    try:
        message = rpc.read(request.body)
        if is_older:
            return await stateful.respond(request, message)
        return await stateless.respond(request, message)
    except RpcError as error:
        failed = error
    except FailureError as failure:
        failed = RpcError(INVALID_PARAMS, failure.message)
    except Exception:
        logger.exception("The demo agent could not answer over MCP")
        failed = RpcError(INTERNAL_ERROR, "Something went wrong here.")
    return _failed(request, failed, is_older)


def _failed(request: HttpRequest, failed: RpcError, is_older: bool) -> HttpResponse:
    statuses = {rpc.PARSE_ERROR: 400, rpc.INVALID_REQUEST: 400} if is_older else stateless.STATUSES
    document = rpc.error(rpc.id_in(request.body), failed)
    return json_response(document, statuses.get(failed.code, 200))
