"""Timeout of a request for each response of the database.

======  ==================================================================
`base`  PostgreSQL with this timeout, as a database backend of Django
======  ==================================================================

A PostgreSQL that hangs accepts connections and statements, and responds to none of them. Neither a
`statement_timeout` nor TCP notices that, because the server would have to run and its system
acknowledges what it receives. A request then ends with an error, and its page says so. Only
requests have this timeout: migrations and commands may take any time, and runs, pruning and polling
continue in the background once the server does.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from inspect import iscoroutinefunction
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

#: Seconds that the code of a request waits for a response of the database; None elsewhere.
response_timeout: ContextVar[float | None] = ContextVar("response_timeout", default=None)


@sync_and_async_middleware
def limit_requests(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Return the middleware that sets the timeout. A response that is streamed has none."""
    if iscoroutinefunction(get_response):
        respond: Callable[[HttpRequest], Awaitable[HttpResponseBase]] = get_response

        async def async_middleware(request: HttpRequest) -> HttpResponseBase:
            with limit_responses():
                return await respond(request)

        return async_middleware

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with limit_responses():
            response: HttpResponseBase = get_response(request)
            return response

    return middleware


@contextlib.contextmanager
def limit_responses() -> Iterator[None]:
    """Have the timeout of a request for the block."""
    token = response_timeout.set(settings.DATABASE_TIMEOUT)
    try:
        yield
    finally:
        response_timeout.reset(token)
