"""Pool of the connections that are kept between the requests of one collection run."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable
from typing import Self

import httpcore

from playground.transport.backend import Connection

#: Seconds between two searches for connections that were idle for too long.
CLEANUP_INTERVAL = 1.0


class ConnectionPool:
    """Idle connections by their origin, address and caller, which stands for the credentials.

    An asynchronous context manager, whose end closes the connections.
    """

    def __init__(self, size: int) -> None:
        """Keep at most `size` idle connections."""
        self._size = size
        #: Their callers; the oldest connection first.
        self._idle: dict[Connection, Hashable] = {}
        #: Origins whose server closes connections that it does not announce to close.
        self._unreliable: set[Hashable] = set()
        self._closed = False
        self._cleanup: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._cleanup = asyncio.create_task(self._clean_up())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closed = True
        if self._cleanup:
            self._cleanup.cancel()
        await self._close(list(self._idle))

    async def take(
        self, origin: httpcore.Origin, caller: Hashable, address: str
    ) -> Connection | None:
        """Remove and return a connection for one more request, None if there is none."""
        matching = [
            connection
            for connection, its_caller in self._idle.items()
            if its_caller == caller
            and connection.address == address
            and connection.can_handle_request(origin)
        ]
        for connection in reversed(matching):
            if connection not in self._idle:
                continue  # Closed or taken while another one was being closed.
            if not connection.has_expired():
                del self._idle[connection]
                return connection
            if connection.is_readable():
                self.stop_keeping(connection)
            await self._close([connection])
        return None

    async def put(self, caller: Hashable, connection: Connection) -> None:
        """Keep the connection if its response was read to the end and the server keeps it."""
        if self._closed or connection.origin in self._unreliable or not connection.is_idle():
            await connection.aclose()
            return
        self._idle[connection] = caller
        await self._close(list(self._idle)[: -self._size])

    def stop_keeping(self, connection: Connection) -> None:
        """Keep no more connections to the origin of this one, which its server has closed.

        The next one might be closed in the moment of a request, which then fails.
        """
        self._unreliable.add(connection.origin)

    async def _clean_up(self) -> None:
        """Close connections that have expired, until cancelled."""
        while True:
            await asyncio.sleep(CLEANUP_INTERVAL)
            await self._close([each for each in self._idle if each.has_expired()])

    async def _close(self, connections: Iterable[Connection]) -> None:
        for connection in connections:
            # It may have been closed or taken while another one was being closed.
            if connection in self._idle:
                del self._idle[connection]
                await connection.aclose()
