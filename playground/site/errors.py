"""Error pages for exceptions that no view has handled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.defaults import bad_request as default_bad_request

from playground.base.executors import UNAVAILABLE
from playground.engine.process import request_in_progress
from playground.engine.runs import ShuttingDownError
from playground.models import LimitError
from playground.ui.helpers import previous_page, redirect_with_note

#: Seconds after which a client may try again while the database is unavailable or the server stops.
RETRY_AFTER = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page of an exception: 503 if the database is unavailable, otherwise 500.

    Django's `handler500`. The pages need neither the database nor the request.
    """
    if _is_database_unavailable(sys.exc_info()[1]):
        return _unavailable("503.html")
    return HttpResponse(render_to_string("500.html"), status=500)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the page of a request that is not accepted: 503 if the database is unavailable.

    Django's `handler400`. Django takes a session that cannot be saved for one that was deleted.
    """
    if _is_database_unavailable(exception):
        return _unavailable("503.html")
    return default_bad_request(request, exception)


def _is_database_unavailable(error: BaseException | None) -> bool:
    """Return whether the database is the reason for an error, or for the one that led to it."""
    while error is not None and not isinstance(error, UNAVAILABLE):
        error = error.__cause__ or error.__context__
    return error is not None


class ExceptionMiddleware:
    """Middleware that responds where any view may raise an exception that is no error.

    Not `handler500`, which comes with a traceback in the log. A view that would start a run while
    the server stops responds with 503; a server that stops waits for the views that may have
    recorded a run just before. A view that would store a row beyond a limit leads back to the page
    that the request came from, which says why.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self._get_response) and request.method == "POST":
            return self._wait_for(self._get_response(request))
        return self._get_response(request)

    async def _wait_for(self, response: Coroutine[Any, Any, HttpResponse]) -> HttpResponse:
        with request_in_progress():
            return await response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Return the response to such an exception, None for any other."""
        if isinstance(error, ShuttingDownError):
            return _unavailable("stopping.html")
        if isinstance(error, LimitError):
            messages.error(request, str(error))
            return redirect_with_note(request, previous_page(request) or "workbench")
        return None


def _unavailable(template: str) -> HttpResponse:
    headers = {"Retry-After": str(RETRY_AFTER)}
    return HttpResponse(render_to_string(template), status=503, headers=headers)
