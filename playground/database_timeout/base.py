"""PostgreSQL with a timeout, as a database backend of Django: `ENGINE` is the package's name."""

from __future__ import annotations

import time
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base

from playground.database_timeout import response_timeout
from playground.processes import connection_name, this_process

T = TypeVar("T")


class LimitedConnection(psycopg.Connection[Any]):
    """Connection that is closed when the server has not responded to a request for too long."""

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **options: Any) -> T:
        """Wait for the server; raise `psycopg.OperationalError` after the timeout."""
        seconds = response_timeout.get()
        if seconds is None:
            return super().wait(gen, *args, **options)
        try:
            return super().wait(_limited(gen, seconds), *args, **options)
        except NoResponseError:
            # The statement may be in progress: nothing else can be sent on this connection.
            self.close()
            raise


class NoResponseError(psycopg.OperationalError):
    """The server has not responded within the timeout."""


def _limited(gen: Generator[Any, Any, T], seconds: float) -> Generator[Any, Any, T]:
    """Yield what psycopg waits for; raise once nothing could be read or written for too long."""
    latest = time.monotonic()
    try:
        awaited = next(gen)
        while True:
            ready = yield awaited
            now = time.monotonic()
            if ready:
                latest = now
            elif now - latest >= seconds:
                raise NoResponseError(f"PostgreSQL has not responded for {seconds:g} s")
            awaited = gen.send(ready)
    except StopIteration as end:
        value: T = end.value
        return value


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection to PostgreSQL, made of limited ones."""

    #: The module, with this class of connections.
    Database = SimpleNamespace(  # type: ignore[assignment]
        **{**vars(psycopg), "connect": LimitedConnection.connect}
    )

    def get_connection_params(self) -> dict[str, Any]:
        """Return the parameters, with the name by which the connections can be ended."""
        name = connection_name(this_process())
        return {**super().get_connection_params(), "application_name": name}
