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
from collections.abc import Iterator
from contextvars import ContextVar

from django.conf import settings

#: Seconds that the code of a request waits for a response of the database; None elsewhere.
response_timeout: ContextVar[float | None] = ContextVar("response_timeout", default=None)


@contextlib.contextmanager
def limit_responses() -> Iterator[None]:
    """Have the timeout of a request for the block."""
    token = response_timeout.set(settings.DATABASE_TIMEOUT)
    try:
        yield
    finally:
        response_timeout.reset(token)
