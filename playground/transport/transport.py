"""HTTP calls: the frames of one request and its response, as they arrive.

Built on httpcore instead of an httpx client: a client adds headers, keeps cookies, and raises on
a redirect with an invalid `Location`. Here exactly the call is sent, and any response recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import cache
from ipaddress import ip_address
from urllib.parse import parse_qsl

import httpcore

from playground.base.limits import RunLimits
from playground.base.memory_budget import RunMemory
from playground.protocols.calls import HttpCall
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.headers import is_credential, size_error
from playground.protocols.problems import Problem, Stage
from playground.transport import errors, http1
from playground.transport.backend import Connection, Connector, Tap
from playground.transport.connection_pool import ConnectionPool
from playground.transport.deltas import DeltaRedactor
from playground.transport.errors import CallError
from playground.transport.frame_queue import FrameQueue
from playground.transport.http_library import Headers, create_ssl_context
from playground.transport.policy import OutboundPolicy, check_url
from playground.transport.recorder import BodyRecorder, RemainingLimits
from playground.transport.redaction import Redactor, credentials

# At level DEBUG httpcore logs response heads, which nothing redacts.
logging.getLogger("httpcore").setLevel(logging.INFO)

#: The most bytes shown of data that violates the protocol.
_EVIDENCE = 2048


class Transport:
    """Sends the calls of one run, within its limits of bytes, frames and time.

    `redact` holds the secrets that must not occur in any frame, besides the credentials in a
    call's headers, which are known by their names. `mask` is the protocol's masking of stored
    responses; it gets each block of a stream, the pieces of a body, and the evidence of an error.
    While `patient` returns true, the idle limit does not apply: the agent waits for its user.
    `ssl_context` replaces the trust in the usual certificate authorities. Each call has its own
    connection, unless there is a pool of `connections`. What has been received and was not taken
    counts as held in `memory`.
    """

    def __init__(
        self,
        policy: OutboundPolicy,
        limits: RunLimits,
        *,
        redact: Sequence[str] = (),
        mask: Callable[[bytes], bytes] | None = None,
        patient: Callable[[], bool] = lambda: False,
        ssl_context: ssl.SSLContext | None = None,
        connections: ConnectionPool | None = None,
        memory: RunMemory | None = None,
    ) -> None:
        self.policy = policy
        self.limits = limits
        self.remaining = RemainingLimits.of(limits)
        self.secrets = tuple(redact)
        self.mask = mask
        self.patient = patient
        self.ssl_context = ssl_context
        self.connections = connections
        self.memory = memory
        self._deadline: float | None = None
        self._transfer: _Transfer | None = None

    @property
    def remaining_time(self) -> float:
        """Return the seconds that are left of the total time of the calls, at least 0."""
        if self._deadline is None:
            return self.limits.total_timeout
        return max(0.0, self._deadline - asyncio.get_running_loop().time())

    def follow_redirect(self) -> None:
        """Apply to later calls the policy for a redirect from the server of the last one."""
        if self._transfer and (address := self._transfer.address):
            self.policy = self.policy.after(ip_address(address))

    async def send(
        self, call: HttpCall, clock: Callable[[], int]
    ) -> AsyncGenerator[list[Frame], None]:
        """Make the call; yield its frames in bounded lists, as they arrive.

        CALL is the first, END or ERROR the last; `clock` gives microseconds since the run's first
        call. Nothing that the network, the agent or a limit does raises: it is an ERROR frame.
        Cancelling, or closing the generator, closes the connection at once; frames that had
        arrived by then are in `unread_frames`.
        """
        loop = asyncio.get_running_loop()
        if self._deadline is None:
            self._deadline = loop.time() + self.limits.total_timeout
        self._transfer = transfer = _Transfer(self, call, clock)
        queue = transfer.queue
        # A task of its own: a time limit must not cancel the consumer of the frames, and frames
        # queue up while the consumer stores them.
        task = asyncio.create_task(transfer.run(self._deadline))
        task.add_done_callback(lambda _: queue.close())
        try:
            while frames := await queue.get():
                yield frames
            await task  # raises if the playground itself has a bug
        finally:
            task.cancel()
            await asyncio.wait([task])

    def unread_frames(self) -> Iterator[list[Frame]]:
        """Yield the frames of a stopped call that had arrived, in bounded lists.

        To be called once the generator is closed. Made on demand, from the queue and from bytes
        that were not yet parsed, with their times of arrival. There is no END or ERROR among
        them unless the call had ended before.
        """
        return self._transfer.leftovers() if self._transfer else iter(())


class _Transfer:
    """One call, from its first byte to its last frame."""

    def __init__(self, transport: Transport, call: HttpCall, clock: Callable[[], int]) -> None:
        self._call = call
        self._transport = transport
        self._limits = transport.limits
        self._remaining = transport.remaining
        self._connections = transport.connections
        self._redactor = Redactor(
            transport.secrets, guessed=credentials(call.headers), mask=transport.mask
        )
        self.queue = FrameQueue(transport.memory)
        self._deltas = (
            DeltaRedactor(self._redactor, self.queue.put, transport.memory)
            if self._redactor.secrets
            else None
        )
        self._clock = clock
        self._tap = Tap(
            self._on_connect,
            self._before_read,
            self._remaining.count_interim_response,
            clock,
            transport.patient,
        )
        self._stage = Stage.CONNECT
        self._peer = ""
        #: The address of the server once it is connected.
        self.address = ""
        self._recorder: BodyRecorder | None = None
        #: Calls of another caller never share its connection.
        self._caller = frozenset(_credentials_of(call)), frozenset(transport.secrets)
        self._connection: Connection | None = None
        self._reused = False

    async def run(self, deadline: float) -> None:
        try:
            problem = await self._attempt(deadline)
            try:
                if self._recorder:
                    for _ in self._recorder.finish(self._tap.read_at, clean=problem is None):
                        await self._pause()
            except CallError as error:
                # Bytes that arrived before the connection broke may already exceed a limit.
                problem = error.problem
            self._recorder = None
            self._release_deltas()
            if problem is None and self._connections and self._connection:
                connection, self._connection = self._connection, None
                await self._connections.put(self._caller, connection)
        finally:
            if self._connection:
                await self._connection.aclose()
        if problem is None:
            self._emit(FrameKind.END)
        else:
            self._emit(FrameKind.ERROR, self._redacted(problem).to_bytes())

    def leftovers(self) -> Iterator[list[Frame]]:
        """Return the unread frames, after the transfer was cancelled."""
        while frames := self.queue.get_nowait():
            yield frames
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        # A limit that is exceeded here ends what is stored; the run has its problem already.
        with contextlib.suppress(CallError):
            for _ in recorder.finish(self._tap.read_at, clean=False):
                while frames := self.queue.get_nowait():
                    yield frames
        self._release_deltas()
        while frames := self.queue.get_nowait():
            yield frames

    def _release_deltas(self) -> None:
        """Emit the frames that are held because they may begin a secret."""
        if self._deltas:
            self._deltas.flush()

    async def _attempt(self, deadline: float) -> Problem | None:
        """Make the call; return its problem, None if the body ended properly."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._exchange(self._prepare())
        except CallError as error:
            return error.problem
        except TimeoutError:
            return errors.timed_out("total_timeout", self._limits, self._stage)
        except httpcore.TimeoutException as error:
            stage = Stage.SEND if isinstance(error, httpcore.WriteTimeout) else self._stage
            return errors.timed_out("idle_timeout", self._limits, stage)
        except httpcore.LocalProtocolError as error:
            return errors.unsendable(error)
        except (httpcore.ProtocolError, httpcore.NetworkError, OSError) as error:
            if self._reused and self._stage is Stage.HEADERS and not self._tap.tail:
                if self._connections and self._connection:
                    self._connections.stop_keeping(self._connection)
                return errors.kept_connection_closed(error)
            return errors.connection_broken(error, self._stage, self._evidence())
        return None

    def _prepare(self) -> http1.WireRequest:
        """Return the call in its wire form, after its CALL frame. Raise `CallError`."""
        call = self._call
        try:
            if sentence := check_url(call.url):
                raise CallError(errors.refused(sentence, "Correct the URL."))
            if sentence := size_error(call.headers):
                raise CallError(errors.refused(sentence, "Shorten the headers."))
            request = http1.prepare(call)
        except CallError:
            self._count(FrameKind.CALL, http1.unsendable_request_text(call, self._redactor))
            raise
        self._count(FrameKind.CALL, http1.request_bytes(request, self._redactor))
        self._peer = request.host_and_port
        return request

    async def _exchange(self, request: http1.WireRequest) -> None:
        """Send the request and record the response, within the time of a limit of its own."""
        idle, time_limit = self._limits.idle_timeout, self._call.time_limit
        origin = request.url.origin
        is_https = origin.scheme == b"https"
        context = (self._transport.ssl_context or default_ssl_context()) if is_https else None
        connector = Connector(self._transport.policy, self._limits, self._tap)

        async def take_kept(address: str) -> Connection | None:
            pool = self._connections
            return await pool.take(origin, self._caller, address) if pool else None

        self._connection = await connector.connect(origin, context, take_kept)
        self.address = self._connection.address
        timer = asyncio.timeout(getattr(self._limits, time_limit) if time_limit else None)
        try:
            async with (
                timer,
                self._connection.stream(
                    request.method,
                    request.url,
                    headers=request.headers,
                    content=request.body or None,
                    extensions={"timeout": {"read": idle, "write": idle}},
                ) as response,
            ):
                self._recorder = recorder = self._head(response)
                async for data in response.aiter_stream():
                    recorder.add(data)
                    await asyncio.sleep(0)
        except TimeoutError:
            if not timer.expired():
                raise
            raise CallError(errors.timed_out(time_limit, self._limits, self._stage)) from None
        finally:
            if not self._connections:
                await self._connection.aclose()

    def _head(self, response: httpcore.Response) -> BodyRecorder:
        """Emit the response head; return the recorder for its body."""
        self._stage = Stage.BODY
        extensions = response.extensions
        head = http1.head_as_received(
            extensions["http_version"],
            response.status,
            extensions["reason_phrase"],
            response.headers,
            self._redactor,
        )
        self._count(FrameKind.HEAD, head, self._tap.read_at)
        headers = Headers(response.headers)
        return BodyRecorder(
            headers.get("content-type", ""),
            headers.get("content-encoding", ""),
            self._remaining,
            self._redactor,
            self._deltas.put if self._deltas else self.queue.put,
        )

    def _on_connect(self, tls: str | None, reused: bool) -> None:
        self._stage, self._reused = Stage.HEADERS, reused
        facts: dict[str, object] = {"tls": tls, "peer": self._peer}
        if reused:
            facts["reused"] = True
        self._count(FrameKind.OPEN, json.dumps(facts).encode())

    async def _before_read(self) -> None:
        """Make frames of everything that was read and parsed."""
        if self._recorder:
            for _ in self._recorder.process(self._tap.read_at):
                await self._pause()

    async def _pause(self) -> None:
        """Yield to other tasks, and wait for the consumer of frames."""
        await self.queue.wait_for_space()
        await asyncio.sleep(0)

    def _count(self, kind: FrameKind, data: bytes, at_us: int | None = None) -> None:
        """Emit a frame that counts against the limits of the run."""
        self._emit(kind, data, at_us)
        self._remaining.frames_left = max(0, self._remaining.frames_left - 1)

    def _emit(self, kind: FrameKind, data: bytes = b"", at_us: int | None = None) -> None:
        at = self._clock() if at_us is None else at_us
        self.queue.put([Frame(0, at, kind, data)])

    def _evidence(self) -> str:
        """Return the last received bytes, printable and without secrets."""
        shown = self._redactor.received(self._tap.tail, _EVIDENCE)
        text = shown.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        return "".join(map(_printable, text))[-_EVIDENCE:]

    def _redacted(self, problem: Problem) -> Problem:
        clean = self._redactor.text
        return Problem(
            problem.state,
            problem.stage,
            clean(problem.cause),
            clean(problem.fix),
            clean(problem.detail),
            problem.limit,
        )


def _credentials_of(call: HttpCall) -> Iterator[tuple[str, str]]:
    """Yield the headers and the parameters of the URL that are credentials by name."""
    query = parse_qsl(call.url.partition("?")[2], keep_blank_values=True)
    for name, value in (*call.headers, *query):
        if is_credential(name):
            yield name.lower(), value


def _printable(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode("ascii")


@cache
def default_ssl_context() -> ssl.SSLContext:
    """Return a context that trusts the authorities of httpx and those of this machine."""
    context = create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
