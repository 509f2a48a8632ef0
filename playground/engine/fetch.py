"""Download of a file: one GET under the outbound policy, with narrow limits, not stored."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings

from playground.engine.call_loop import OwnerSlots, collect_frames, new_transport
from playground.limits import MIB, RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.problems import Problem, Stage

#: Bytes of a file, and seconds for the whole download.
MAX_BYTES, TIME = 32 * MIB, 30.0
#: Seconds to connect, and without a byte.
_CONNECT_TIME, _IDLE_TIME = 10.0, 10.0
#: Downloads of one user at once; the concurrency limit counts runs only.
MAX_AT_ONCE = 2

_slots = OwnerSlots(MAX_AT_ONCE)


class FetchError(Exception):
    """The download failed; the message is a sentence or two."""


async def fetch(url: str, *, owner: int | None = None) -> bytes:
    """Return the body of the response to a GET of `url`; redirects are not followed.

    `owner` is the key of the user, None in local mode. Raises `FetchError`.
    """
    call = HttpCall("GET", url, (("Accept", "application/json, */*;q=0.5"),))
    with _slots.take(owner) as is_free:
        if not is_free:
            raise FetchError(f"Too many downloads in progress ({MAX_AT_ONCE}). Try again shortly.")
        return _body(await collect_frames(call, new_transport(_limits())))


def _body(frames: Sequence[Frame]) -> bytes:
    """Return the body of a response. Raises `FetchError` unless it has status 200."""
    last = frames[-1]
    if last.kind is FrameKind.ERROR:
        raise FetchError(_describe(Problem.from_bytes(last.data)))
    head = next(frame for frame in frames if frame.kind is FrameKind.HEAD)
    status, headers = read_head(head.data)
    if 300 <= status < 400 and (location := headers.get("location")):
        raise FetchError(
            f"The URL redirects (HTTP {status}) to {location[:2000]} Redirects are not "
            "followed. If you trust that URL, enter it."
        )
    if status != 200:
        raise FetchError(f"The URL returned HTTP {status} instead of a file.")
    return b"".join(frame.data for frame in frames if frame.kind in BODY_KINDS)


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
