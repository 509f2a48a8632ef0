"""The timeout of requests for the threads of the database."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from playground.base.database_timeout import response_timeout
from playground.site.middleware import response_headers


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_request(rf: RequestFactory, settings: Any, is_async: bool) -> None:
    settings.DATABASE_TIMEOUT = 7
    found: list[float | None] = []

    def respond(_: HttpRequest) -> HttpResponse:
        found.append(response_timeout.get())
        return HttpResponse()

    async def respond_async(request: HttpRequest) -> HttpResponse:
        return respond(request)

    if is_async:
        await response_headers(respond_async)(rf.get("/"))
    else:
        response_headers(respond)(rf.get("/"))
    assert (found, response_timeout.get()) == ([7], None)
