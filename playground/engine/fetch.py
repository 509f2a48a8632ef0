"""Download of a file: one GET under the outbound policy, with narrow limits, not stored."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings

from playground.base.limits import MIB, RunLimits
from playground.base.memory_budget import RunMemory
from playground.engine.call_loop import OwnerSlots, collect_frames, new_transport
from playground.protocols.calls import HttpCall
from playground.protocols.frames import BODY_KINDS, FrameKind
from playground.protocols.http import Headers, read_head
from playground.protocols.problems import Problem, Stage
from playground.transport import Transport

#: Bytes of a file, and seconds for the whole download.
MAX_BYTES, TIME = 32 * MIB, 30.0
#: Seconds to connect, and without a byte.
_CONNECT_TIME, _IDLE_TIME = 10.0, 10.0
#: Downloads of one user at once; the concurrency limit counts runs only.
MAX_AT_ONCE = 2

_slots = OwnerSlots(MAX_AT_ONCE)


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
    with _slots.take(owner) as is_free:
        if not is_free:
            raise FetchError(f"Too many downloads in progress ({MAX_AT_ONCE}). Try again shortly.")
        headers = (("Accept", "application/json, */*;q=0.5"),)
        with contextlib.closing(RunMemory()) as memory:
            return _body(await get(url, headers, new_transport(_limits()), memory))


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
        return f"The file is larger than {_limits().max_bytes:,} bytes."
    if problem.stage is Stage.POLICY:
        return f"{problem.cause} {problem.fix}"
    return problem.cause


def _limits() -> RunLimits:
    """Return the limits of a download, or those of a run where they are narrower."""
    limits: RunLimits = settings.RUN_LIMITS
    return limits.at_most(
        max_bytes=MAX_BYTES,
        connect_timeout=_CONNECT_TIME,
        idle_timeout=_IDLE_TIME,
        total_timeout=TIME,
    )
