"""Making a call: the frames of one HTTP request and its response, as they come.

Built on httpcore rather than on an httpx client: a client adds headers of its own, keeps
cookies, and raises on a redirect whose `Location` it cannot read. Here exactly the call is
sent, and whatever comes back is recorded.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import cache, partial

import httpcore
import httpx

from playground.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import errors, http1
from playground.transport.backend import PolicyBackend, Tap
from playground.transport.errors import CallError
from playground.transport.frame_queue import FrameQueue
from playground.transport.policy import OutboundPolicy, check_url
from playground.transport.recorder import BodyRecorder, RemainingLimits
from playground.transport.redaction import Redactor, credentials

# At level DEBUG httpcore logs response heads, and nothing redacts them.
logging.getLogger("httpcore").setLevel(logging.INFO)

#: How much of the bytes that broke a reply is shown.
_EVIDENCE = 2048
#: Chunks that are parsed at once: one read can hold ten thousand.
_CHUNKS = 100


class Transport:
    """Sends the calls of one run, within one allowance of bytes, frames and time.

    `redact` holds the secrets that must not turn up in any frame, besides the credentials in
    a call's headers, which are known by their names. `mask` is the protocol's say in what is
    stored of a reply; it gets each block of a stream, the pieces of a body, and the evidence
    of an error. While `patient` says so, silence is not held against the agent: it waits for
    its user. `ssl_context` replaces the trust in the usual certificate authorities.
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
    ) -> None:
        self._policy = policy
        self._budget = RemainingLimits.of(limits)
        self._redact = redact
        self._mask = mask
        self._patient = patient
        self._ssl_context = ssl_context
        self._deadline: float | None = None
        self._transfer: _Transfer | None = None

    async def send(
        self, call: HttpCall, clock: Callable[[], int]
    ) -> AsyncGenerator[list[Frame], None]:
        """Make the call; yields its frames in bounded lists, as they come.

        CALL comes first, END or ERROR last; `clock` gives microseconds since the run's first
        call. Nothing that the network, the agent or a limit does raises: it is an ERROR
        frame. Cancelling, or closing the generator, closes the connection at once; what had
        come by then is in `leftovers`.
        """
        loop = asyncio.get_running_loop()
        if self._deadline is None:
            self._deadline = loop.time() + self._budget.limits.total_timeout
        outbox = FrameQueue()
        redactor = Redactor(self._redact, guessed=credentials(call.headers), mask=self._mask)
        tap = partial(Tap, clock=clock, patient=self._patient)
        transfer = _Transfer(self._policy, self._budget, redactor, outbox, clock, tap)
        self._transfer = transfer
        context = self._ssl_context
        # A task of its own: a time limit must not cancel whoever reads the frames, and frames
        # pile up here while they are being saved there.
        task = asyncio.create_task(transfer.run(call, self._deadline, context))
        task.add_done_callback(lambda _: outbox.close())
        try:
            while frames := await outbox.get():
                yield frames
            await task  # raises if the playground itself has a bug
        finally:
            task.cancel()
            await asyncio.wait([task])

    def unread_frames(self) -> Iterator[list[Frame]]:
        """Frames of the last call that had come when it was stopped, in bounded lists.

        To be asked for once its generator is closed. Made on demand, from what waited to be
        taken and from bytes that had not been read as frames yet, with the times at which
        they came. There is no END or ERROR among them unless the call had ended before.
        """
        return self._transfer.leftovers() if self._transfer else iter(())


class _Transfer:
    """One call, from its first byte to its last frame."""

    def __init__(
        self,
        policy: OutboundPolicy,
        budget: RemainingLimits,
        redactor: Redactor,
        outbox: FrameQueue,
        clock: Callable[[], int],
        tap: Callable[..., Tap],
    ) -> None:
        self._policy = policy
        self._budget = budget
        self._limits = budget.limits
        self._redactor = redactor
        self._outbox = outbox
        self._clock = clock
        self._tap = tap(self._opened, self._before_read)
        self._stage = Stage.CONNECT
        self._peer = ""
        self._recorder: BodyRecorder | None = None

    async def run(self, call: HttpCall, deadline: float, context: ssl.SSLContext | None) -> None:
        """Make the call and put its frames into the outbox."""
        problem = await self._attempt(call, deadline, context)
        try:
            if self._recorder:
                for _ in self._recorder.finish(self._tap.read_at, clean=problem is None):
                    await self._pause()
        except CallError as error:
            # Bytes that came before the connection broke may already have crossed a limit.
            problem = error.problem
        self._recorder = None
        if problem is None:
            self._emit(FrameKind.END)
        else:
            self._emit(FrameKind.ERROR, self._redacted(problem).to_bytes())

    def leftovers(self) -> Iterator[list[Frame]]:
        """What nobody has taken, after the transfer was cancelled."""
        while frames := self._outbox.get_nowait():
            yield frames
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        # A limit that is crossed here ends what is kept; the run has its reason already.
        with contextlib.suppress(CallError):
            for _ in recorder.finish(self._tap.read_at, clean=False):
                while frames := self._outbox.get_nowait():
                    yield frames
        while frames := self._outbox.get_nowait():
            yield frames

    async def _attempt(
        self, call: HttpCall, deadline: float, context: ssl.SSLContext | None
    ) -> Problem | None:
        """Make the call; why it failed, None if the body came to its proper end."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._exchange(self._prepare(call), context)
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
            return errors.connection_broken(error, self._stage, self._evidence())
        return None

    def _prepare(self, call: HttpCall) -> http1.WireRequest:
        """The call in its form on the wire, after its CALL frame. Raises `CallError`."""
        try:
            if sentence := check_url(call.url):
                raise CallError(errors.bad_url(sentence))
            request = http1.prepare(call)
        except CallError:
            self._count(FrameKind.CALL, http1.unsendable_request_text(call, self._redactor))
            raise
        self._count(FrameKind.CALL, http1.request_bytes(request, self._redactor))
        self._peer = request.host_and_port
        return request

    async def _exchange(self, request: http1.WireRequest, context: ssl.SSLContext | None) -> None:
        """Send the request and record the response."""
        idle = self._limits.idle_timeout
        timeout = {"connect": self._limits.connect_timeout, "read": idle, "write": idle}
        if request.url.scheme == b"https" and context is None:
            context = default_ssl_context()
        backend = PolicyBackend(self._policy, self._limits, self._tap)
        async with (
            httpcore.AsyncConnectionPool(context, network_backend=backend) as pool,
            pool.stream(
                request.method,
                request.url,
                headers=request.headers,
                content=request.body or None,
                extensions={"timeout": timeout},
            ) as response,
        ):
            self._recorder = recorder = self._head(response)
            number = 0
            async for chunk in response.aiter_stream():
                recorder.add(chunk)
                number += 1
                if number % _CHUNKS == 0:
                    await asyncio.sleep(0)

    def _head(self, response: httpcore.Response) -> BodyRecorder:
        """Emit the response head; the recorder for its body."""
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
        headers = httpx.Headers(response.headers)
        return BodyRecorder(
            headers.get("content-type", ""),
            headers.get("content-encoding", ""),
            self._budget,
            self._redactor,
            self._outbox.put,
        )

    def _opened(self, tls: str | None) -> None:
        self._stage = Stage.HEADERS
        self._count(FrameKind.OPEN, json.dumps({"tls": tls, "peer": self._peer}).encode())

    async def _before_read(self) -> None:
        """All that was read has been parsed: frame it."""
        if self._recorder:
            for _ in self._recorder.process(self._tap.read_at):
                await self._pause()

    async def _pause(self) -> None:
        """Let others have their turn, and the reader of frames catch up."""
        await self._outbox.wait_for_space()
        await asyncio.sleep(0)

    def _count(self, kind: FrameKind, data: bytes, at_us: int | None = None) -> None:
        """Emit a frame that counts against the run's allowance."""
        self._emit(kind, data, at_us)
        self._budget.frames_left = max(0, self._budget.frames_left - 1)

    def _emit(self, kind: FrameKind, data: bytes = b"", at_us: int | None = None) -> None:
        at = self._clock() if at_us is None else at_us
        self._outbox.put([Frame(0, at, kind, data)])

    def _evidence(self) -> str:
        """The last bytes that came, printable and without secrets."""
        shown = self._redactor.response(self._tap.tail).decode("utf-8", "backslashreplace")
        text = "".join(_printable(character) for character in shown.replace("\r\n", "\n"))
        return text[-_EVIDENCE:]

    def _redacted(self, problem: Problem) -> Problem:
        clean = self._redactor.text
        return Problem(
            problem.state,
            problem.stage,
            clean(problem.cause),
            problem.fix,
            clean(problem.detail),
            problem.limit,
        )


def _printable(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode("ascii")


@cache
def default_ssl_context() -> ssl.SSLContext:
    """Trust in the authorities that httpx ships and in those of this machine."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context
