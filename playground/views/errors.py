"""Error pages for exceptions that no view has handled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from playground.engine import ShuttingDownError
from playground.engine.shutdown import request_in_progress
from playground.executors import UNAVAILABLE

#: Seconds after which a client may try again while the database is unavailable or the server stops.
RETRY_AFTER = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page of an exception: 503 if the database is unavailable, otherwise 500.

    Django's `handler500`. The pages need neither the database nor the request.
    """
    if isinstance(sys.exc_info()[1], UNAVAILABLE):
        return _unavailable("503.html")
    return HttpResponse(render_to_string("500.html"), status=500)


class ShuttingDownMiddleware:
    """Middleware that responds with 503 where a view would start a run while the server stops.

    Not `handler500`, which comes with a traceback in the log. A server that stops waits for the
    views that may have recorded a run just before.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Return the response of the view."""
        if iscoroutinefunction(self._get_response) and request.method == "POST":
            return self._wait_for(self._get_response(request))
        return self._get_response(request)

    async def _wait_for(self, response: Coroutine[Any, Any, HttpResponse]) -> HttpResponse:
        """Return the response of a view that may start a run."""
        with request_in_progress():
            return await response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the response to `ShuttingDownError`, None for any other exception."""
        return _unavailable("stopping.html") if isinstance(error, ShuttingDownError) else None


def _unavailable(template: str) -> HttpResponse:
    headers = {"Retry-After": str(RETRY_AFTER)}
    return HttpResponse(render_to_string(template), status=503, headers=headers)
