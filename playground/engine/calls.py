"""Calls: exchange → transport → frames, for everything that the playground sends.

Runs, probes of a server, the connection doctor and downloads make their calls here, so that
the outbound policy, the limits and the redaction of secrets are the same for all of them. Only
the driver stores the frames.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin
from weakref import WeakValueDictionary

from django.conf import settings
from opentelemetry.trace import INVALID_SPAN

from playground.base.jobs import PerLoop
from playground.base.limits import MIB, RunLimits
from playground.base.memory_budget import RunMemory
from playground.base.tracing import RunTrace, observe
from playground.protocols.calls import HttpCall
from playground.protocols.events import Event
from playground.protocols.exchange import Exchange, UsesSession
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.http import USER_AGENT, Headers
from playground.protocols.media import RASTER_TYPES, raster_type
from playground.protocols.problems import Problem, Stage
from playground.protocols.response import read_head
from playground.transport import OutboundPolicy, Transport

#: Returns the microseconds since it was created.
Clock = Callable[[], int]


def start_clock() -> Clock:
    start = time.perf_counter_ns()
    return lambda: (time.perf_counter_ns() - start) // 1000


def new_transport(limits: RunLimits, **options: Any) -> Transport:
    """Return a transport under the outbound policy of the settings.

    `options` are those of `Transport`: `redact`, `mask`, `patient`, `connections`.
    """
    policy = OutboundPolicy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    return Transport(policy, limits, **options)


def narrow_transport(bounds: Mapping[str, float], **options: Any) -> Transport:
    """Return a transport with the limits of a run, lowered to `bounds`; see `new_transport`."""
    return new_transport(settings.RUN_LIMITS.at_most(**bounds), **options)


async def make_calls(
    exchange: Exchange,
    transport: Transport,
    clock: Clock,
    *,
    max_calls: int | None = None,
    trace: RunTrace | None = None,
) -> AsyncGenerator[list[Frame], None]:
    """Make the calls of an exchange one after the other; yield their frames as they arrive.

    The caller hands every frame to the exchange before it takes the next list. A call ends
    early when the exchange has enough of the response. Closing the generator closes the connection.
    The calls become part of `trace`.
    """
    made = 0
    while (max_calls is None or made < max_calls) and (call := exchange.next_call()):
        made += 1
        await asyncio.sleep(min(call.delay, transport.remaining_time))
        call, span = trace.call(call) if trace else (call, INVALID_SPAN)
        async with contextlib.aclosing(transport.send(call, clock)) as stream:
            with span:
                async for frames in stream:
                    if trace:
                        observe(span, frames)
                    yield frames
                    if exchange.has_enough:
                        break


async def collect_frames(
    call: HttpCall, transport: Transport, memory: RunMemory | None = None
) -> list[Frame]:
    """Make one call and return all of its frames: CALL comes first, END or ERROR last.

    They count as held in `memory`.
    """
    found: list[Frame] = []
    async with contextlib.aclosing(transport.send(call, start_clock())) as stream:
        async for frames in stream:
            found += frames
            if memory:
                memory.add(sum(len(frame.data) for frame in frames))
    return found


class OwnerSlots:
    """A limit on what one owner does at once outside of runs, which have their own limit.

    Owners are keys of users; None is the only owner in local mode.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._taken: Counter[int | None] = Counter()

    @contextlib.contextmanager
    def take(self, owner: int | None) -> Iterator[bool]:
        """Take a slot while the block runs; yields False, and takes none, if all are taken."""
        if self._taken[owner] >= self._maximum:
            yield False
            return
        self._taken[owner] += 1
        try:
            yield True
        finally:
            self._taken[owner] -= 1
            if not self._taken[owner]:
                del self._taken[owner]


# Probes of a server before a run: a few calls with narrow limits, not stored

#: Limits of a probe, beside those of the exchange itself.
PROBE = {
    "max_bytes": 4 * MIB,
    "max_frames": 2_000,
    "connect_timeout": 5.0,
    "total_timeout": 10.0,
}
MAX_PROBE_CALLS = 50
#: Probes of one user at once; the concurrency limit counts runs only.
MAX_PROBES = 3

_probes = OwnerSlots(MAX_PROBES)


async def probe(
    exchange: Exchange, *, owner: int | None = None, redact: Sequence[str] = ()
) -> tuple[list[Event], Problem | None]:
    """Make the calls of an exchange under the outbound policy, with narrow limits.

    Returns the events and the problem that ended the probe, None without one. The result of the
    handshake is `exchange.handshake`. `owner` is the key of the user, None in local mode; values
    of `redact` appear in no problem.
    """
    with _probes.take(owner) as is_free:
        if not is_free:
            cause = f"Too many lookups in progress ({MAX_PROBES})."
            return [], Problem("refused", Stage.LIMIT, cause, "Try again shortly.")
        transport = narrow_transport(PROBE, redact=redact)
        found = await _events_of(exchange, transport)
        if isinstance(exchange, UsesSession) and (call := exchange.end_call()):
            await collect_frames(call, transport)
        return found


async def _events_of(
    exchange: Exchange, transport: Transport
) -> tuple[list[Event], Problem | None]:
    events: list[Event] = []
    seq = 0
    calls = make_calls(exchange, transport, start_clock(), max_calls=MAX_PROBE_CALLS)
    async with contextlib.aclosing(calls):
        async for frames in calls:
            for frame in frames:
                seq += 1
                events += exchange.receive(frame.numbered(seq))
                if frame.kind is FrameKind.ERROR and not exchange.tolerates_error:
                    return events, Problem.from_bytes(frame.data)
            if exchange.problem is not None:
                break
    return events, exchange.problem


# Downloads of a file: one GET, not stored

#: Limits of a download.
DOWNLOAD = {
    "max_bytes": 32 * MIB,
    "connect_timeout": 10.0,
    "idle_timeout": 10.0,
    "total_timeout": 30.0,
}
#: Downloads of one user at once.
MAX_DOWNLOADS = 2

_downloads = OwnerSlots(MAX_DOWNLOADS)


class FetchError(Exception):
    """The download failed; the message is a sentence or two."""


@dataclass(frozen=True, slots=True)
class Download:
    """A complete response to a GET; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def get(
    url: str, headers: Headers, transport: Transport, memory: RunMemory
) -> Download | Problem:
    """Return the response to a GET of `url`, or the problem that ended it.

    Received bytes count as held in `memory`, which the caller closes. Runs wait for it, but not
    the download itself: several that hold what they have could wait for each other.
    """
    frames = await collect_frames(HttpCall("GET", url, tuple(headers)), transport, memory)
    if frames[-1].kind is FrameKind.ERROR:
        return Problem.from_bytes(frames[-1].data)
    head = next(frame for frame in frames if frame.kind is FrameKind.HEAD)
    body = b"".join(frame.data for frame in frames if frame.kind in BODY_KINDS)
    return Download(*read_head(head.data), body)


async def fetch(url: str, *, owner: int | None = None) -> bytes:
    """Return the body of the response to a GET of `url`; redirects are not followed.

    `owner` is the key of the user, None in local mode. Raises `FetchError`.
    """
    with _downloads.take(owner) as is_free:
        if not is_free:
            raise FetchError(
                f"Too many downloads in progress ({MAX_DOWNLOADS}). Try again shortly."
            )
        headers = (("Accept", "application/json, */*;q=0.5"),)
        with contextlib.closing(RunMemory()) as memory:
            return _body(await get(url, headers, narrow_transport(DOWNLOAD), memory))


def _body(found: Download | Problem) -> bytes:
    """Return the body of a response. Raises `FetchError` unless it has status 200."""
    if isinstance(found, Problem):
        raise FetchError(_describe(found))
    if 300 <= found.status < 400 and (location := found.headers.get("location")):
        raise FetchError(
            f"The URL redirects (HTTP {found.status}) to {location[:2000]} Redirects are not "
            "followed. If you trust that URL, enter it."
        )
    if found.status != 200:
        raise FetchError(f"The URL returned HTTP {found.status} instead of a file.")
    return found.body


def _describe(problem: Problem) -> str:
    if problem.limit == "max_bytes":
        largest = min(DOWNLOAD["max_bytes"], settings.RUN_LIMITS.max_bytes)
        return f"The file is larger than {largest:,} bytes."
    if problem.stage is Stage.POLICY:
        return f"{problem.cause} {problem.fix}"
    return problem.cause


# Pictures that agents name: GETs under the outbound policy. The URL is all that comes from the
# agent: no credentials, cookies or referrer are sent, and the type is read from the bytes.

#: Limits of a picture with its redirects.
PICTURE = {
    "max_bytes": 5 * MIB,
    "connect_timeout": 5.0,
    "idle_timeout": 5.0,
    "total_timeout": 15.0,
}
#: Redirects that are followed; servers of pictures often redirect to others.
MAX_REDIRECTS = 3
#: Pictures of one user at once; further ones wait.
MAX_PICTURES = 4

_PICTURE_HEADERS = (("Accept", ", ".join(RASTER_TYPES)), ("User-Agent", USER_AGENT))
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNREACHABLE = frozenset({Stage.RESOLVE, Stage.CONNECT, Stage.TLS})

_slots: PerLoop[WeakValueDictionary[int | None, asyncio.Semaphore]] = PerLoop(WeakValueDictionary)


@dataclass(frozen=True, slots=True)
class Picture:
    """A raster image and its media type."""

    media_type: str
    data: bytes


class PictureError(Exception):
    """The picture cannot be shown: a label of a word or two, and the reason as a sentence."""

    def __init__(self, label: str, reason: str) -> None:
        super().__init__(reason)
        self.label = label


async def fetch_picture(url: str, *, owner: int | None = None) -> Picture:
    """Return the picture at `url`. Raises `PictureError`.

    `owner` is the key of the user, None in local mode. At most `MAX_REDIRECTS` redirects are
    followed, each under the outbound policy, and all within the same limits. None leads from a
    public address into a private network.
    """
    slot = _slots().setdefault(owner, asyncio.Semaphore(MAX_PICTURES))
    async with slot:
        with contextlib.closing(RunMemory()) as memory:
            found = await _follow(url, memory)
    if isinstance(found, Problem):
        raise _picture_error(found)
    if found.status != 200:
        raise PictureError(f"HTTP {found.status}", f"The server returned HTTP {found.status}.")
    if (media_type := raster_type(found.body)) is None:
        raise PictureError("Unsupported", "The file is not a PNG, JPEG, GIF, WebP or AVIF picture.")
    return Picture(media_type, found.body)


async def _follow(url: str, memory: RunMemory) -> Download | Problem:
    """Return the last response of a chain of redirects."""
    # One transport for the chain, which shares its limits of bytes and time.
    transport = narrow_transport(PICTURE)
    for _ in range(MAX_REDIRECTS + 1):
        found = await get(url, _PICTURE_HEADERS, transport, memory)
        if isinstance(found, Problem) or found.status not in _REDIRECTS:
            return found
        try:
            url = urljoin(url, found.headers.get("location", ""))
        except ValueError:
            return found
        transport.follow_redirect()
    raise PictureError("Redirects", f"The server redirects more than {MAX_REDIRECTS} times.")


def _picture_error(problem: Problem) -> PictureError:
    if problem.limit == "max_bytes":
        megabytes = min(PICTURE["max_bytes"], settings.RUN_LIMITS.max_bytes) / MIB
        return PictureError("Too large", f"The picture is larger than {megabytes:.3g} MB.")
    if problem.limit and problem.limit.endswith("_timeout"):
        return PictureError("Timeout", problem.cause)
    if problem.stage is Stage.POLICY:
        return PictureError("Denied", problem.cause)
    label = "Unreachable" if problem.stage in _UNREACHABLE else "Not loaded"
    return PictureError(label, problem.cause)
