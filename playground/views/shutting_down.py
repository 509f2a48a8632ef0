"""Response to a request that would start a run while the server stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from playground.engine import ShuttingDownError
from playground.views.helpers import is_htmx

#: Seconds after which to try again: the next process may run by then.
RETRY_AFTER = 5


class ShuttingDownMiddleware:
    """Middleware that responds with 503 where a view raises `ShuttingDownError`."""

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Return the response of the view."""
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the response to an exception of a view, None for any other."""
        if not isinstance(error, ShuttingDownError):
            return None
        if is_htmx(request):  # The page shows its own message.
            response = HttpResponse(status=503)
        else:
            response = render(request, "503.html", status=503)
        response["Retry-After"] = str(RETRY_AFTER)
        return response
