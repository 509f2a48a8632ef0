"""Checks of HTTP requests, before their message is read: origin, method, headers."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

from playground.demo import jsonrpc
from playground.demo.http import json_response
from playground.demo.jsonrpc import INVALID_REQUEST, RpcError


def check_request(request: HttpRequest) -> HttpResponse | None:
    """Return an error response for an invalid request; None for a valid one."""
    if _is_cross_origin(request):
        return error_response(403, "Cross-origin requests are not allowed.")
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
    """Return a JSON-RPC error without an id, which belongs to no message."""
    document = jsonrpc.error(None, RpcError(INVALID_REQUEST, message))
    return json_response(document, status, {"Allow": allow} if allow else None)


def _is_cross_origin(request: HttpRequest) -> bool:
    """Return True for a page of another origin, as a protection against DNS rebinding."""
    origin = request.headers.get("Origin")
    if not origin:
        return False
    try:
        return urlsplit(origin).netloc.lower() != request.get_host().lower()
    except ValueError:
        return True


def _accepts(request: HttpRequest) -> bool:
    return all(request.accepts(kind) for kind in ("application/json", "text/event-stream"))
