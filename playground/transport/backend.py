"""Connections: one DNS lookup, the outbound policy for every address, then connect.

Only the addresses that the policy has checked are connected to, without a second lookup that a
name server could answer differently. TLS and the `Host` header keep the name.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import ip_address
from typing import Any

import httpcore

from playground.limits import RunLimits
from playground.protocols.problems import Stage
from playground.transport import errors
from playground.transport.errors import CallError
from playground.transport.http1 import host_and_port
from playground.transport.policy import OutboundPolicy

_TAIL = 8 * 1024


class Tap:
    """Events of one call's connection for its owner: connected, before a read, bytes read."""

    def __init__(
        self,
        opened: Callable[[str | None], None],
        before_read: Callable[[], Awaitable[None]],
        clock: Callable[[], int],
        patient: Callable[[], bool] = lambda: False,
    ) -> None:
        #: Called once, with the TLS version or None, when the connection is established.
        self.on_connect = opened
        #: Awaited before each read, when everything read so far has been parsed.
        self.before_read = before_read
        #: Arrival of the last bytes, in microseconds of the clock.
        self.read_at = clock()
        #: The last bytes read, at most 8 KiB: evidence if they violate the protocol.
        self.tail = b""
        #: Return whether silence is expected at the moment, and is no sign of a failure.
        self.patient = patient
        self._clock = clock

    def arrived(self, data: bytes) -> None:
        """Record the arrival of bytes, or of the end of the stream (b"")."""
        self.read_at = self._clock()
        self.tail = data[-_TAIL:] if len(data) >= _TAIL else (self.tail + data)[-_TAIL:]


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of `host`, in the system's order of preference. Raise `OSError`."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class PolicyBackend(httpcore.AsyncNetworkBackend):
    """Network backend for httpcore, with the outbound policy and a tap on the reads."""

    def __init__(self, policy: OutboundPolicy, limits: RunLimits, tap: Tap) -> None:
        self._policy = policy
        self._limits = limits
        self._tap = tap
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to one of the host's permitted addresses.

        Raise `CallError`: not resolved, denied by the policy, unreachable, timed out.
        """
        deadline = asyncio.get_running_loop().time() + self._limits.connect_timeout
        addresses = self._permitted(host, await self._resolve(host, port, deadline))
        stream = await self._first(addresses, host, port, deadline)
        return TappedStream(stream, self._tap, self._limits, deadline)

    async def _resolve(self, host: str, port: int, deadline: float) -> list[str]:
        try:
            async with asyncio.timeout_at(deadline):
                return await resolve(host, port)
        except TimeoutError:
            problem = errors.timed_out("connect_timeout", self._limits, Stage.RESOLVE)
            raise CallError(problem) from None
        except (OSError, UnicodeError) as error:
            raise CallError(errors.unresolved(host, error)) from error

    def _permitted(self, host: str, addresses: list[str]) -> list[str]:
        """Return the addresses that the policy permits; raise `CallError` if there are none."""
        verdicts = [(name, self._policy.verdict(ip_address(name), host)) for name in addresses]
        permitted = [name for name, refusal in verdicts if refusal is None]
        if not permitted:
            for _, refusal in verdicts:
                if refusal:
                    raise CallError(errors.denied_by_policy(host, refusal))
            raise CallError(errors.unresolved(host, OSError("no addresses")))
        return permitted

    async def _first(
        self, addresses: list[str], host: str, port: int, deadline: float
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address that responds, each with its share of the remaining time."""
        loop = asyncio.get_running_loop()
        failure: Exception | None = None
        for position, address in enumerate(addresses):
            share = (deadline - loop.time()) / (len(addresses) - position)
            try:
                return await self._inner.connect_tcp(address, port, timeout=max(share, 0.001))
            except httpcore.ConnectTimeout:
                continue
            except httpcore.ConnectError as error:
                failure = error
        if failure is None:
            raise CallError(errors.timed_out("connect_timeout", self._limits, Stage.CONNECT))
        raise CallError(errors.unreachable(host_and_port(host, port), failure)) from failure


class TappedStream(httpcore.AsyncNetworkStream):
    """A connection whose reads pass through the tap."""

    def __init__(
        self, inner: httpcore.AsyncNetworkStream, tap: Tap, limits: RunLimits, deadline: float
    ) -> None:
        self._inner = inner
        self._tap = tap
        self._limits = limits
        #: Time limit for connecting, including TLS, in seconds of the event loop.
        self._deadline = deadline
        self._announced = False

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return the next bytes, b"" at the end of the stream."""
        await self._tap.before_read()
        data = await self._read(max_bytes, timeout)
        self._tap.arrived(data)
        return data

    async def _read(self, max_bytes: int, timeout: float | None) -> bytes:  # noqa: ASYNC109
        """Return the next bytes; the idle limit does not apply while silence is expected."""
        while True:
            try:
                return await self._inner.read(max_bytes, timeout)
            except httpcore.ReadTimeout:
                if not self._tap.patient():
                    raise

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Send bytes; at the first ones the connection is established, including TLS."""
        if not self._announced:
            self._announced = True
            session = self._inner.get_extra_info("ssl_object")
            self._tap.on_connect(session.version() if session else None)
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._inner.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        """Return the connection after a TLS handshake. Raise `CallError` if it fails."""
        left = self._deadline - asyncio.get_running_loop().time()
        try:
            stream = await self._inner.start_tls(ssl_context, server_hostname, max(left, 0.001))
        except httpcore.ConnectTimeout:
            problem = errors.timed_out("connect_timeout", self._limits, Stage.TLS)
            raise CallError(problem) from None
        except (httpcore.ConnectError, OSError) as error:
            raise CallError(errors.tls(server_hostname or "the server", error)) from error
        return TappedStream(stream, self._tap, self._limits, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore needs of a connection (TLS object, addresses, readability)."""
        return self._inner.get_extra_info(info)
