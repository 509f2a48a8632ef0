"""A look at a server before a run goes to it: few calls, little time, and nothing recorded."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from playground.engine.call_loop import OwnerSlots, make_calls, new_transport, start_clock
from playground.limits import MIB, RunLimits
from playground.protocols.events import Event
from playground.protocols.exchange import Exchange
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage

#: Seconds for all of it, and for one connection.
TIME, CONNECT_TIME = 10.0, 5.0
#: Bytes and frames of one reply.
MAX_BYTES, MAX_FRAMES = 4 * MIB, 2_000
#: Calls that are made at most: an exchange has limits of its own, this is the last of them.
MAX_CALLS = 50
#: Looks of one user at once: they are no runs, so the limit on those does not count them.
MAX_AT_ONCE = 3

_slots = OwnerSlots(MAX_AT_ONCE)


async def peek(
    exchange: Exchange, *, owner: int | None = None, redact: Sequence[str] = ()
) -> tuple[list[Event], Problem | None]:
    """Make the calls of an exchange under the outbound policy, within narrow limits.

    Gives what was read and why it went no further, None where it came to its end. What the
    exchange found out is in its `opening`. `owner` is the key of the user whose look it is,
    None in local mode, where there are none; `redact` are values that appear in no problem.
    """
    with _slots.take(owner) as is_free:
        return await _look(exchange, redact) if is_free else ([], _too_many())


async def _look(exchange: Exchange, redact: Sequence[str]) -> tuple[list[Event], Problem | None]:
    own: RunLimits = settings.RUN_LIMITS
    limits = own.at_most(
        max_bytes=MAX_BYTES,
        max_frames=MAX_FRAMES,
        connect_timeout=CONNECT_TIME,
        total_timeout=TIME,
    )
    transport = new_transport(limits, redact=redact)
    events: list[Event] = []
    seq = 0
    calls = make_calls(exchange, transport, start_clock(), max_calls=MAX_CALLS)
    async with contextlib.aclosing(calls):
        async for frames in calls:
            for frame in frames:
                seq += 1
                events += exchange.receive(replace(frame, seq=seq))
                if frame.kind is FrameKind.ERROR:
                    return events, Problem.from_bytes(frame.data)
            if exchange.problem is not None:
                break
    return events, exchange.problem


def _too_many() -> Problem:
    return Problem(
        "refused",
        Stage.LIMIT,
        f"{MAX_AT_ONCE} looks at servers are under way, which is as many as may be at once.",
        "Wait for one of them to end, and try again.",
    )
