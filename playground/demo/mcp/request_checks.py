"""Checks of HTTP requests, before their message is read: method and headers."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from playground.demo import jsonrpc
from playground.demo.http import json_response


def check_request(request: HttpRequest) -> HttpResponse | None:
    """Return an error response for an invalid request; None for a valid one."""
    if request.method not in ("POST", "DELETE"):
        return error_response(
            405, "Method not allowed: this server has no GET stream.", "POST, DELETE"
        )
    if request.method == "POST" and not _accepts(request):
        text = "Not acceptable: accept both application/json and text/event-stream."
        return error_response(406, text)
    if request.method == "POST" and request.content_type != "application/json":
        return error_response(415, "The Content-Type must be application/json.")
    return None


def error_response(status: int, message: str, allow: str = "") -> HttpResponse:
    """Return a JSON-RPC error without an id."""
    return json_response(jsonrpc.refusal(message), status, {"Allow": allow} if allow else None)


def _accepts(request: HttpRequest) -> bool:
    return all(request.accepts(kind) for kind in ("application/json", "text/event-stream"))
