"""Middleware that sets the headers about caching and browser features on every response.

It is the outermost one, so that errors, redirects and responses of other middleware have them. A
page has its budget in it, too: see `playground.page_budget`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import iscoroutinefunction
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from playground.page_budget import limit_page

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
            with limit_page(request):
                return _with_headers(await respond(request))

        return async_middleware

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with limit_page(request):
            return _with_headers(get_response(request))

    return middleware


def _with_headers(response: HttpResponseBase) -> HttpResponseBase:
    # Nothing of a hosted playground stays on a computer that others may use as well. Locally a
    # page may be kept for Back, and is asked for again otherwise.
    caching = "no-store" if settings.HOSTED else "private, no-cache"
    response.headers.setdefault("Cache-Control", caching)
    response.headers.setdefault("Permissions-Policy", _PERMISSIONS_POLICY)
    return response
