"""A look at a server before a run goes to it: few calls, little time, and nothing recorded."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from playground.limits import MIB, Limits
from playground.protocols.events import Event
from playground.protocols.exchange import Choosy, Exchange
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import Policy, Transport

#: Seconds for all of it, and for one connection.
TIME, CONNECT_TIME = 10.0, 5.0
#: Bytes and frames of one reply.
MAX_BYTES, MAX_FRAMES = 4 * MIB, 2_000
#: Calls that are made at most: an exchange has limits of its own, this is the last of them.
MAX_CALLS = 50
#: Looks of one user at once: they are no runs, so the limit on those does not count them.
MAX_AT_ONCE = 3

#: Looks under way, by owner.
_under_way: Counter[int | None] = Counter()


async def peek(
    exchange: Exchange, *, owner: int | None = None, redact: Sequence[str] = ()
) -> tuple[list[Event], Problem | None]:
    """Make the calls of an exchange under the outbound policy, within narrow limits.

    Gives what was read and why it went no further, None where it came to its end. What the
    exchange found out is in its `opening`. `owner` is the key of the user whose look it is,
    None in local mode, where there are none; `redact` are values that appear in no problem.
    """
    if _under_way[owner] >= MAX_AT_ONCE:
        return [], _too_many()
    _under_way[owner] += 1
    try:
        return await _look(exchange, redact)
    finally:
        _under_way[owner] -= 1
        if not _under_way[owner]:
            del _under_way[owner]


async def _look(exchange: Exchange, redact: Sequence[str]) -> tuple[list[Event], Problem | None]:
    policy = Policy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    transport = Transport(policy, _limits(settings.RUN_LIMITS), redact=redact)
    start = time.perf_counter_ns()
    events: list[Event] = []
    seq = 0
    choosy = exchange if isinstance(exchange, Choosy) else None
    for _ in range(MAX_CALLS):
        if (call := exchange.next_call()) is None:
            break
        await asyncio.sleep(call.delay)
        stream = transport.send(call, lambda: (time.perf_counter_ns() - start) // 1000)
        async with contextlib.aclosing(stream) as batches:
            async for frames in batches:
                for frame in frames:
                    seq += 1
                    events += exchange.receive(replace(frame, seq=seq))
                    if frame.kind is FrameKind.ERROR:
                        return events, Problem.from_bytes(frame.data)
                if (problem := exchange.problem) is not None:
                    return events, problem
                if choosy and choosy.has_enough:
                    break
    return events, exchange.problem


def _limits(own: Limits) -> Limits:
    """The limits of a run where they are narrower, else those of a look."""
    return replace(
        own,
        max_bytes=min(own.max_bytes, MAX_BYTES),
        max_frames=min(own.max_frames, MAX_FRAMES),
        connect_timeout=min(own.connect_timeout, CONNECT_TIME),
        total_timeout=min(own.total_timeout, TIME),
    )


def _too_many() -> Problem:
    return Problem(
        "refused",
        Stage.LIMIT,
        f"{MAX_AT_ONCE} looks at servers are under way, which is as many as may be at once.",
        "Wait for one of them to end, and try again.",
    )
