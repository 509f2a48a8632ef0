"""HTTP of the demo: JSON responses, event streams, and the decorator of all endpoints."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from playground.demo.requests import MAX_BODY, read_pace
from playground.demo.responses import encode

#: Seconds between two events of a stream at pace 1: slow enough to watch.
PAUSE = 0.06

#: Names the factor of all delays where a URL has no parameter `pace`.
PACE_HEADER = "Demo-Pace"

#: Methods that change nothing (RFC 9110, section 9.2.1).
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})

View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def endpoint(error: Callable[[str], Any], *methods: str) -> Callable[[View], View]:
    """Return the decorator of an endpoint; `error` makes a message a document of its protocol.

    It exempts a view from CSRF checks and login, refuses requests of other origins, with other
    methods, or with a body that is no JSON or too large, and sets the headers of all endpoints.
    Callers are clients of agents and have no token. They can change only what everyone who uses
    the demo shares.
    """
    allowed = (*methods, *(("HEAD",) if "GET" in methods else ()), "OPTIONS")
    allow = {"Allow": ", ".join(allowed)}

    def decorate(view: View) -> View:
        @functools.wraps(view)
        async def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            # Without this header the GZip middleware leaves responses alone; it would compress
            # streams event by event.
            request.META.pop("HTTP_ACCEPT_ENCODING", None)
            response: HttpResponseBase
            if is_cross_origin(request):
                response = json_response(error("Cross-origin requests are not allowed."), 403)
            elif methods and request.method == "OPTIONS":
                response = HttpResponse(status=204, headers=allow)
            elif methods and request.method not in allowed:
                text = f"Allowed methods: {', '.join(methods)}."
                response = json_response(error(text), 405, allow)
            elif methods and request.method == "POST" and (refused := _refused_body(request)):
                response = json_response(error(refused[1]), refused[0])
            else:
                response = await view(request, *args, **kwargs)
            # Responses are data: even in a browser, nothing in them may run or load.
            response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
            return response

        # Agents' clients have no CSRF token; a page of another origin was refused above.
        wrapped: View = csrf_exempt(login_not_required(wrapper))
        return wrapped

    return decorate


def _refused_body(request: HttpRequest) -> tuple[int, str] | None:
    """Return the status and the reason for a body that is not read; None for one that is."""
    try:
        size = len(request.body)
    except RequestDataTooBig:
        size = MAX_BODY + 1
    if size > MAX_BODY:
        return 413, f"The body is larger than {MAX_BODY:,} bytes."
    if size and request.content_type != "application/json":
        return 415, "The Content-Type must be application/json."
    return None


def is_cross_origin(request: HttpRequest) -> bool:
    """Return whether a page of another origin sent a request, links to a document excepted.

    Browsers set both headers and clients of agents send neither. Origin is refused with every
    method, as MCP demands (2025-11-25, "Streamable HTTP", security warning).
    """
    if origin := request.headers.get("Origin", "").lower():
        own = f"{request.scheme}://{request.get_host()}".lower()
        return origin != own and origin not in settings.CSRF_TRUSTED_ORIGINS
    site = request.headers.get("Sec-Fetch-Site")
    return request.method not in SAFE_METHODS and site in ("cross-site", "same-site")


def error_document(message: str) -> dict[str, str]:
    """Return the document of an error where no protocol defines one."""
    return {"error": message}


def json_response(
    document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return HttpResponse(encode(document), "application/json", status, headers=dict(headers or {}))


def event_stream(
    chunks: AsyncIterator[bytes],
    content_type: str = "text/event-stream",
    headers: Mapping[str, str] | None = None,
) -> StreamingHttpResponse:
    """Return a streaming response; its iterator is closed when the client disconnects."""
    # The second header prevents reverse proxies from buffering the stream.
    unbuffered = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(
        chunks, content_type=content_type, headers={**unbuffered, **(headers or {})}
    )


def pace_of(request: HttpRequest) -> float:
    """Return the factor of the delays that a request asks for, 1 by default.

    It is the parameter `pace`, else the header Demo-Pace. Raise `FailureError` if it is invalid.
    """
    return read_pace(request.GET.get("pace", request.headers.get(PACE_HEADER)))
