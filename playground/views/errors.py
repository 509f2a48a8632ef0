"""Error page for exceptions that no view has handled."""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from playground.executors import UNAVAILABLE

#: Seconds after which a client may try again while the database is unavailable.
RETRY_AFTER = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page of an exception: 503 if the database is unavailable, otherwise 500.

    Django's `handler500`. The pages need neither the database nor the request.
    """
    if isinstance(sys.exc_info()[1], UNAVAILABLE):
        page = render_to_string("503.html")
        return HttpResponse(page, status=503, headers={"Retry-After": str(RETRY_AFTER)})
    return HttpResponse(render_to_string("500.html"), status=500)
