"""Middleware around every response, and the pages of exceptions that no view has handled."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.decorators import sync_and_async_middleware
from django.views.defaults import bad_request as default_bad_request

from playground.base.executors import UNAVAILABLE, limit_responses
from playground.base.limits import IS_GONE, PageBudget, page_budget
from playground.engine.process import request_in_progress
from playground.engine.runs import ShuttingDownError
from playground.models import LimitError
from playground.ui.helpers import previous_page, redirect_with_note

#: Browser features that no page uses. Browsers warn of names that they do not know, so this has
#: only those that Chromium lists; other browsers ignore the header.
_UNUSED_FEATURES = (
    "accelerometer autoplay browsing-topics camera clipboard-read display-capture encrypted-media "
    "fullscreen gamepad geolocation gyroscope hid identity-credentials-get idle-detection "
    "local-fonts magnetometer microphone midi otp-credentials payment picture-in-picture "
    "publickey-credentials-create publickey-credentials-get screen-wake-lock serial "
    "storage-access usb window-management xr-spatial-tracking"
).split()
_PERMISSIONS_POLICY = ", ".join(
    [*(f"{name}=()" for name in _UNUSED_FEATURES), "clipboard-write=(self)"]
)


@sync_and_async_middleware
def response_headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Return the middleware that sets headers about caching and browser features, and limits.

    It is the outermost one, so that errors, redirects and responses of other middleware have them.
    A view that has set a header itself keeps it. The limits are those of the database's responses
    and of the text on a page. Streams have none.
    """
    if iscoroutinefunction(get_response):
        respond: Callable[[HttpRequest], Awaitable[HttpResponseBase]] = get_response

        async def async_middleware(request: HttpRequest) -> HttpResponseBase:
            with _limits(request):
                return _with_headers(await respond(request))

        return async_middleware

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with _limits(request):
            return _with_headers(get_response(request))

    return middleware


@contextlib.contextmanager
def _limits(request: HttpRequest) -> Iterator[None]:
    extensions = getattr(request, "scope", {}).get("extensions") or {}
    token = page_budget.set(PageBudget(extensions.get(IS_GONE, bool)))
    try:
        with limit_responses():
            yield
    finally:
        page_budget.reset(token)


def _with_headers(response: HttpResponseBase) -> HttpResponseBase:
    # Nothing of a hosted playground stays on a computer that others may use as well. Locally a
    # page may be kept for Back, and is asked for again otherwise.
    caching = "no-store" if settings.HOSTED else "private, no-cache"
    response.headers.setdefault("Cache-Control", caching)
    response.headers.setdefault("Permissions-Policy", _PERMISSIONS_POLICY)
    return response


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
