"""Checks of HTTP requests, before their message is read: headers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.demo import jsonrpc
from playground.demo.http import json_response


def check_request(request: HttpRequest) -> HttpResponse | None:
    """Return an error response for an invalid request; None for a valid one."""
    if request.method == "POST" and not _accepts(request):
        text = "Not acceptable: accept both application/json and text/event-stream."
        return error_response(406, text)
    return None


def error_response(status: int, message: str) -> HttpResponse:
    """Return a JSON-RPC error without an id."""
    return json_response(jsonrpc.refusal(message), status)


def _accepts(request: HttpRequest) -> bool:
    return all(request.accepts(kind) for kind in ("application/json", "text/event-stream"))
