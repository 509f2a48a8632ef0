"""`/demo/mcp`: one endpoint for both generations, and one for each of them alone."""

from __future__ import annotations

import logging

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from playground.demo import rpc
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, json_response
from playground.demo.mcp import newer, older, rules
from playground.demo.rpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError

logger = logging.getLogger("playground.demo")

_HEADER = "MCP-Protocol-Version"


@endpoint
async def mcp(request: HttpRequest, only: str = "") -> HttpResponseBase:
    """`POST` takes one message, `DELETE` ends a session; `only` is a revision to speak."""
    if refusal := rules.refuse(request):
        return refusal
    if not _speaks(request, only):
        spoken = only or ", ".join((*rules.OLDER, *rules.NEWER))
        text = f"Bad request: unsupported protocol version (supported versions: {spoken})."
        return rules.refusal(400, text)
    if request.method == "DELETE":
        return await older.end(request)
    return await _reply(request)


def _speaks(request: HttpRequest, only: str) -> bool:
    """Whether the revision that a request names is served at this address."""
    version = request.headers.get(_HEADER)
    if not only:
        return True
    if only in rules.NEWER:
        return version is not None and version not in rules.OLDER
    return version is None or version in rules.OLDER


async def _reply(request: HttpRequest) -> HttpResponseBase:
    version = request.headers.get(_HEADER)
    is_older = version is None or version in rules.OLDER
    try:
        message = rpc.read(request.body)
        if is_older:
            return await older.reply(request, message)
        return await newer.reply(request, message)
    except RpcError as error:
        failed = error
    except FailureError as failure:
        failed = RpcError(INVALID_PARAMS, failure.message)
    except Exception:
        logger.exception("The demo agent could not answer over MCP")
        failed = RpcError(INTERNAL_ERROR, "Something went wrong here.")
    return _failed(request, failed, is_older)


def _failed(request: HttpRequest, failed: RpcError, is_older: bool) -> HttpResponse:
    statuses = {rpc.PARSE_ERROR: 400, rpc.INVALID_REQUEST: 400} if is_older else newer.STATUSES
    document = rpc.error(rpc.id_in(request.body), failed)
    return json_response(document, statuses.get(failed.code, 200))
