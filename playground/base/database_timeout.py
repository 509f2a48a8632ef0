"""Timeout of a request for the threads of the database.

A request ends with an error, and its page says so, when a thread of `playground.base.executors` has
not responded for too long. Only requests have this timeout: runs, pruning and polling continue in
the background once the database responds. A statement in PostgreSQL has a timeout of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from django.conf import settings

#: Seconds that the code of a request waits for a thread of the database; None elsewhere.
response_timeout: ContextVar[float | None] = ContextVar("response_timeout", default=None)


@contextlib.contextmanager
def limit_responses() -> Iterator[None]:
    """Have the timeout of a request for the block."""
    token = response_timeout.set(settings.DATABASE_TIMEOUT)
    try:
        yield
    finally:
        response_timeout.reset(token)
