"""Threads for the database: errors, retries, and the timeout of requests."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from playground.base import executors
from playground.base.executors import response_timeout, retry_while_unavailable
from playground.site.middleware import response_headers

AWAY = [OperationalError, InterfaceError, OperationalError]


@pytest.mark.parametrize(
    ("failures", "patience", "attempts", "raised"),
    [
        ([], 10.0, 1, None),
        (AWAY, 10.0, 4, None),
        (AWAY, 0.0, 1, OperationalError),
        ([DatabaseError], 10.0, 1, DatabaseError),
        ([OperationalError, OSError], 10.0, 2, OSError),
        ([asyncio.CancelledError], 10.0, 1, asyncio.CancelledError),
    ],
)
async def test_attempts_are_repeated_while_the_database_is_unavailable(
    failures: list[type[BaseException]],
    patience: float,
    attempts: int,
    raised: type[BaseException] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executors, "FIRST_PAUSE", 0.001)
    left, made = iter(failures), []

    async def attempt() -> int:
        made.append(1)
        if error := next(left, None):
            raise error
        return 7

    with pytest.raises(raised) if raised else contextlib.nullcontext():
        assert await retry_while_unavailable(attempt, patience) == 7
    assert len(made) == attempts


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
