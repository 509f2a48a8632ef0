"""What every request to the server has to keep, before its message is looked at."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse

from playground.demo import rpc
from playground.demo.http import json_response
from playground.demo.rpc import INVALID_REQUEST, RpcError

#: Revisions of MCP that begin with `initialize`, oldest first.
STATEFUL_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: Revisions whose requests each stand for themselves.
STATELESS_VERSIONS = ("2026-07-28",)
#: What this server is called in both generations.
SERVER = {"name": "nlweb-demo", "title": "NLWeb demo agent", "version": "1.0"}
INSTRUCTIONS = (
    "Ask for recipes, restaurants, cookware, films or articles with the tool ask; what it"
    " promises is fetched with await. The other tools keep a shopping cart."
)


def check_request(request: HttpRequest) -> HttpResponse | None:
    """The reply to a request that no message can mend; None for one that may go on."""
    if _is_foreign(request):
        return error_response(403, "This server is not called by pages of other sites.")
    if request.method not in ("POST", "DELETE"):
        return error_response(
            405, "Method not allowed: there is no stream to listen to.", "POST, DELETE"
        )
    if request.method == "POST" and not _accepts(request):
        text = "Not acceptable: accept both application/json and text/event-stream."
        return error_response(406, text)
    if request.method == "POST" and request.content_type != "application/json":
        return error_response(415, "The Content-Type must be application/json.")
    return None


def error_response(status: int, message: str, allow: str = "") -> HttpResponse:
    """A refusal that belongs to no message: a JSON-RPC error without an id."""
    document = rpc.error(None, RpcError(INVALID_REQUEST, message))
    return json_response(document, status, {"Allow": allow} if allow else None)


def _is_foreign(request: HttpRequest) -> bool:
    """Whether a page of another origin calls: against a rebound name, no cookie helps."""
    origin = request.headers.get("Origin")
    if not origin:
        return False
    try:
        return urlsplit(origin).netloc.lower() != request.get_host().lower()
    except ValueError:
        return True


def _accepts(request: HttpRequest) -> bool:
    return all(request.accepts(kind) for kind in ("application/json", "text/event-stream"))
