"""Middleware around every response: headers about caching and browser features, and limits.

It is the outermost one, so that errors, redirects and responses of other middleware have them. The
limits are those of the database's responses and of the text on a page. Streams have none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from inspect import iscoroutinefunction
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from playground.base.executors import limit_responses
from playground.base.limits import IS_GONE, PageBudget, page_budget

#: Browser features that no page uses. Browsers warn of names that they do not know, so this has
#: only those that Chromium lists; other browsers ignore the header.
_UNUSED_FEATURES = (
    "accelerometer",
    "autoplay",
    "browsing-topics",
    "camera",
    "clipboard-read",
    "display-capture",
    "encrypted-media",
    "fullscreen",
    "gamepad",
    "geolocation",
    "gyroscope",
    "hid",
    "identity-credentials-get",
    "idle-detection",
    "local-fonts",
    "magnetometer",
    "microphone",
    "midi",
    "otp-credentials",
    "payment",
    "picture-in-picture",
    "publickey-credentials-create",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "storage-access",
    "usb",
    "window-management",
    "xr-spatial-tracking",
)
_PERMISSIONS_POLICY = ", ".join(
    [*(f"{name}=()" for name in _UNUSED_FEATURES), "clipboard-write=(self)"]
)


@sync_and_async_middleware
def response_headers(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Return the middleware. A view that has set a header itself keeps it."""
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
