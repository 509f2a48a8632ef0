"""A file from an address: one GET under the outbound policy, little time, nothing recorded."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from playground.limits import MIB, Limits
from playground.protocols.calls import Call
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.problems import Problem, Stage
from playground.transport import Policy, Transport

#: Bytes of a file, and seconds for all of it.
MAX_BYTES, TIME = 32 * MIB, 30.0
#: Seconds for the connection, and without a byte.
_CONNECT_TIME, _IDLE_TIME = 10.0, 10.0
#: Files of one user at once: they are no runs, so the limit on those does not count them.
MAX_AT_ONCE = 2

#: Files under way, by owner.
_under_way: Counter[int | None] = Counter()


class FetchError(Exception):
    """There is no file from there; says why in a sentence or two."""


async def fetch(url: str, *, owner: int | None = None) -> bytes:
    """The body of what `url` answers to GET. Redirects are not followed.

    `owner` is the key of the user whose file it is, None in local mode. Raises `FetchError`.
    """
    if _under_way[owner] >= MAX_AT_ONCE:
        raise FetchError(f"{MAX_AT_ONCE} files are being fetched already. Wait for one of them.")
    _under_way[owner] += 1
    try:
        frames = await _frames(Call("GET", url, (("Accept", "application/json, */*;q=0.5"),)))
    finally:
        _under_way[owner] -= 1
        if not _under_way[owner]:
            del _under_way[owner]
    return _body(frames)


async def _frames(call: Call) -> list[Frame]:
    policy = Policy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    transport = Transport(policy, _limits(settings.RUN_LIMITS))
    start = time.perf_counter_ns()
    found: list[Frame] = []
    stream = transport.send(call, lambda: (time.perf_counter_ns() - start) // 1000)
    async with contextlib.aclosing(stream) as batches:
        async for frames in batches:
            found += frames
    return found


def _body(frames: Sequence[Frame]) -> bytes:
    """The body that these frames carry. Raises `FetchError` where it is not one to be used."""
    last = frames[-1]
    if last.kind is FrameKind.ERROR:
        raise FetchError(_words(Problem.from_bytes(last.data)))
    head = next(frame for frame in frames if frame.kind is FrameKind.HEAD)
    status, headers = read_head(head.data)
    if 300 <= status < 400 and (location := headers.get("location")):
        raise FetchError(
            f"The address answers with a redirect (status {status}) to {location[:2000]} "
            "Redirects are not followed: give that address, if you trust it."
        )
    if status != 200:
        raise FetchError(f"The address answers with status {status}, not with a file.")
    return b"".join(frame.data for frame in frames if frame.kind in BODY_KINDS)


def _words(problem: Problem) -> str:
    if problem.limit == "max_bytes":
        return f"The file is larger than {_limits(settings.RUN_LIMITS).max_bytes:,} bytes."
    if problem.stage is Stage.POLICY:
        return f"{problem.cause} {problem.fix}"
    return problem.cause


def _limits(own: Limits) -> Limits:
    """The limits of a run where they are narrower, else those of a file."""
    return replace(
        own,
        max_bytes=min(own.max_bytes, MAX_BYTES),
        connect_timeout=min(own.connect_timeout, _CONNECT_TIME),
        idle_timeout=min(own.idle_timeout, _IDLE_TIME),
        total_timeout=min(own.total_timeout, TIME),
    )
