"""HTTP for the demo: JSON replies, event streams, and what all its endpoints have in common."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from playground.demo.responses import encode

#: Seconds between two events of a stream, at pace 1: slow enough to be watched.
PAUSE = 0.06

View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def endpoint(view: View) -> View:
    """Opens a view to programs: no CSRF token and no login, as befits a public agent.

    Its callers are agents' clients, which have no cookie that another site could misuse. What
    they can change is a short list that belongs to everyone.
    """

    @functools.wraps(view)
    async def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # The GZip middleware would compress streams too, event by event. It goes by this
        # header, and an agent that answers in many small pieces has no use for it.
        request.META.pop("HTTP_ACCEPT_ENCODING", None)
        response = await view(request, *args, **kwargs)
        # Replies are data: even opened in a browser, nothing in them may run or load.
        response.headers["Content-Security-Policy"] = "sandbox; default-src 'none'"
        return response

    # Programs call an agent: no cookie of a browser counts here, so nobody can be made to send one.
    wrapped: View = csrf_exempt(login_not_required(wrapper))
    return wrapped


def json_response(
    document: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """A JSON reply."""
    return HttpResponse(encode(document), "application/json", status, headers=dict(headers or {}))


def event_stream(
    chunks: AsyncIterator[bytes],
    content_type: str = "text/event-stream",
    headers: Mapping[str, str] | None = None,
) -> StreamingHttpResponse:
    """A reply that streams. The iterator is closed as soon as the client goes away."""
    # The second header keeps reverse proxies from collecting the stream.
    quiet = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(
        chunks, content_type=content_type, headers={**quiet, **(headers or {})}
    )
