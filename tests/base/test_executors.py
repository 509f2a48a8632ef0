"""Threads for the database: errors of one that is unavailable, and retries."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError

from playground.base import executors
from playground.base.executors import retry_while_unavailable

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
