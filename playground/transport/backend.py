"""Connections: one DNS lookup, the outbound policy for every address, then connect or reuse.

Only the addresses that the policy has checked are connected to, without a second lookup that a
name server could answer differently. A kept connection is reused only for an address that was
looked up and checked for the request. TLS and the `Host` header keep the name.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from ipaddress import ip_address
from typing import Any

import h11
import httpcore

from playground.base.limits import RunLimits
from playground.protocols.problems import Stage
from playground.transport import errors
from playground.transport.chunks import ChunkCutter, Cut
from playground.transport.errors import CallError
from playground.transport.http1 import host_and_port
from playground.transport.policy import OutboundPolicy

_TAIL = 8 * 1024
#: Seconds for which an idle connection is kept: fewer than common servers keep theirs.
KEEP_ALIVE = 4.0
#: Lines of one response head, of an interim response too: parsing a line takes microseconds, and
#: heads are parsed in one step.
MAX_HEAD_LINES = 1000
#: The pause after an interim response, as a multiple of the time that parsing it took. Pages keep
#: most of the event loop's time, however many agents send long ones.
PAUSE = 50
_HEAD_END = re.compile(rb"\n\r?\n")
#: Chunks that h11 parses in one step: one read can hold ten thousand.
MAX_CHUNKS = 200


class Tap:
    """Events of one call's connection for its owner: connected, read, an interim response."""

    def __init__(
        self,
        opened: Callable[[str | None, bool], None],
        before_read: Callable[[], Awaitable[None]],
        on_interim: Callable[[int], None],
        clock: Callable[[], int],
        patient: Callable[[], bool] = lambda: False,
    ) -> None:
        #: Called once, when the connection is established, with the TLS version or None, and
        #: whether an earlier request used the connection.
        self.on_connect = opened
        #: Awaited before each read, when everything read so far has been parsed.
        self.before_read = before_read
        #: Called with the size of each interim response, in bytes.
        self.on_interim_response = on_interim
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
    if _is_address(host):
        return [host]  # The lookup would take a thread.
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _is_address(host: str) -> bool:
    """Return whether `host` is an address as `resolve` returns it."""
    try:
        return str(ip_address(host)) == host and "%" not in host
    except ValueError:
        return False


class Connector:
    """Connects a call to a permitted address of its host, with a tap on the reads."""

    def __init__(self, policy: OutboundPolicy, limits: RunLimits, tap: Tap) -> None:
        self._policy = policy
        self._limits = limits
        self._tap = tap
        self._backend = httpcore.AnyIOBackend()

    async def connect(
        self,
        origin: httpcore.Origin,
        context: ssl.SSLContext | None,
        kept: Callable[[str], Awaitable[Connection | None]],
    ) -> Connection:
        """Return a connection to one of the origin's permitted addresses.

        `context` is that of an https origin; `kept` returns a kept connection to an address, if
        there is one. Raise `CallError`: not resolved, denied by the policy, unreachable, timed
        out, TLS handshake failed.
        """
        host, port = origin.host.decode("ascii"), origin.port
        deadline = asyncio.get_running_loop().time() + self._limits.connect_timeout
        addresses = self._permitted(host, await self._resolve(host, port, deadline))
        failure: Exception | None = None
        for position, address in enumerate(addresses):
            if connection := await kept(address):
                connection.reuse(self._tap)
                return connection
            try:
                share = _seconds_until(deadline) / (len(addresses) - position)
                stream = await self._backend.connect_tcp(address, port, max(share, 0.001))
            except httpcore.ConnectTimeout:
                continue
            except httpcore.ConnectError as error:
                failure = error
                continue
            if context:
                stream = await self._start_tls(stream, context, host, deadline)
            return Connection(origin, address, TappedStream(stream, self._tap))
        if failure is None:
            raise CallError(errors.timed_out("connect_timeout", self._limits, Stage.CONNECT))
        raise CallError(errors.unreachable(host_and_port(host, port), failure)) from failure

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
        rules = {name: self._policy.verdict(ip_address(name), host) for name in addresses}
        if permitted := [name for name, rule in rules.items() if rule is None]:
            return permitted
        for rule in filter(None, rules.values()):
            raise CallError(errors.denied_by_policy(host, rule))
        raise CallError(errors.unresolved(host, OSError("no addresses")))

    async def _start_tls(
        self,
        stream: httpcore.AsyncNetworkStream,
        context: ssl.SSLContext,
        host: str,
        deadline: float,
    ) -> httpcore.AsyncNetworkStream:
        """Return the connection after a TLS handshake. Raise `CallError` if it fails."""
        context.set_alpn_protocols(["http/1.1"])
        try:
            return await stream.start_tls(context, host, max(_seconds_until(deadline), 0.001))
        except httpcore.ConnectTimeout:
            problem = errors.timed_out("connect_timeout", self._limits, Stage.TLS)
            raise CallError(problem) from None
        except (httpcore.ConnectError, OSError) as error:
            raise CallError(errors.tls(host, error)) from error


def _seconds_until(deadline: float) -> float:
    return deadline - asyncio.get_running_loop().time()


class TappedStream(httpcore.AsyncNetworkStream):
    """A connection whose reads pass through the tap."""

    def __init__(self, inner: httpcore.AsyncNetworkStream, tap: Tap) -> None:
        self._inner = inner
        self.tap = tap
        self._announced = self._reused = False

    def reuse(self, tap: Tap) -> None:
        self.tap, self._announced, self._reused = tap, False, True

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        """Return the next bytes, b"" at the end of the stream."""
        await self.tap.before_read()
        data = await self._read(max_bytes, timeout)
        self.tap.arrived(data)
        return data

    async def _read(self, max_bytes: int, timeout: float | None) -> bytes:  # noqa: ASYNC109
        """Return the next bytes; the idle limit does not apply while silence is expected."""
        while True:
            try:
                return await self._inner.read(max_bytes, timeout)
            except httpcore.ReadTimeout:
                if not self.tap.patient():
                    raise

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Send bytes; the first ones of a call announce the established connection."""
        if not self._announced:
            self._announced = True
            session = self._inner.get_extra_info("ssl_object")
            self.tap.on_connect(session.version() if session else None, self._reused)
        await self._inner.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore needs of a connection (TLS object, addresses, readability)."""
        return self._inner.get_extra_info(info)


class Connection(httpcore.AsyncHTTP11Connection):
    """A connection to one address of an origin, for one request after another."""

    def __init__(self, origin: httpcore.Origin, address: str, stream: TappedStream) -> None:
        super().__init__(origin, stream, KEEP_ALIVE)
        self.origin = (origin.scheme, origin.host, origin.port)
        self.address = address
        self._stream = stream
        #: Lines received for the response heads so far.
        self._head_lines = 0
        #: Whether the body of the response is chunked, if it has one.
        self._is_chunked = False

    def reuse(self, tap: Tap) -> None:
        self._stream.reuse(tap)
        self._head_lines = 0

    def has_expired(self) -> bool:
        """Return whether an idle connection cannot be used again.

        The server has closed it, or has sent more than its response, or it was idle for too long.
        """
        return super().has_expired() or self._has_unread_data()

    def is_readable(self) -> bool:
        """Return whether the server has closed an idle connection, or has sent something."""
        return bool(self._stream.get_extra_info("is_readable")) or self._has_unread_data()

    async def _receive_response_body(self, request: httpcore.Request) -> AsyncIterator[bytes]:
        """Yield the body, the data of many chunks at once.

        As httpcore's, which yields the data of each chunk, and takes ten times as long for many
        small ones.
        """
        timeout = request.extensions.get("timeout", {}).get("read")
        state = self._h11_state
        cutter = ChunkCutter(state.trailing_data[0]) if self._is_chunked else None
        for data in self._parsed():
            yield data
        while state.their_state is h11.SEND_BODY:
            read = await self._stream.read(self.READ_NUM_BYTES, timeout)
            before, chunks, after = cutter.cut(read) if cutter else Cut(read, [], b"")
            if before or not read:
                state.receive_data(before)
                for data in self._parsed():
                    yield data
            if chunks:
                yield b"".join(chunks)
            if after:
                state.receive_data(after)
                for data in self._parsed():
                    yield data

    async def _receive_event(self, timeout: float | None = None) -> Any:  # noqa: ASYNC109
        """Return the next event of the response head.

        httpcore skips interim responses (RFC 9110, section 15.2) without end, and without a pause
        as long as more have been received; and it parses heads of any number of lines.
        """
        state = self._h11_state
        while True:
            self._check_head_lines()
            began = time.thread_time()
            try:
                event = state.next_event()
            except h11.RemoteProtocolError as error:
                raise httpcore.RemoteProtocolError(str(error)) from error
            if event is not h11.NEED_DATA:
                break
            data = await self._stream.read(self.READ_NUM_BYTES, timeout)
            if not data and state.their_state is h11.SEND_RESPONSE:
                raise httpcore.RemoteProtocolError(
                    "Server disconnected without sending a response."
                )
            self._head_lines += data.count(b"\n")
            state.receive_data(data)
        spent = time.thread_time() - began
        if isinstance(event, h11.Response):
            # h11 has refused any other coding.
            self._is_chunked = any(name == b"transfer-encoding" for name, _ in event.headers)
        if isinstance(event, h11.InformationalResponse):
            fields = sum(len(name) + len(value) + 4 for name, value in event.headers.raw_items())
            self._stream.tap.on_interim_response(len("HTTP/1.1 100 \r\n\r\n") + fields)
            await asyncio.sleep(PAUSE * spent)
        return event

    def _check_head_lines(self) -> None:
        """Raise `httpcore.RemoteProtocolError` if the head that was received has too many lines."""
        if self._head_lines <= MAX_HEAD_LINES:
            return
        received = self._h11_state.trailing_data[0]
        end = _HEAD_END.search(received)
        if received.count(b"\n", 0, end.end() if end else len(received)) > MAX_HEAD_LINES:
            raise httpcore.RemoteProtocolError(
                f"The response head has more than {MAX_HEAD_LINES:,} lines."
            )

    def _parsed(self) -> Iterator[bytes]:
        """Yield the data that h11 reads from the bytes that it has, of some chunks at once."""
        event: object = h11.Data
        while event is h11.Data:
            data: list[bytes] = []
            try:
                event = self._take_chunks(data)
            except h11.RemoteProtocolError as error:
                yield b"".join(data)
                raise httpcore.RemoteProtocolError(str(error)) from error
            if data:
                yield b"".join(data)

    def _take_chunks(self, data: list[bytes]) -> object:
        """Add received chunks to `data`; return the event that follows, h11.Data for more."""
        for _ in range(MAX_CHUNKS):
            event = self._h11_state.next_event()
            if type(event) is not h11.Data:
                return event
            data.append(event.data)
        return h11.Data

    def _has_unread_data(self) -> bool:
        """Return whether data was received that would be read as the next response."""
        if self._h11_state.trailing_data[0]:
            return True
        session: ssl.SSLObject | None = self._stream.get_extra_info("ssl_object")
        if session is None:
            return False
        try:
            session.read(1)
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError:
            pass
        return True
