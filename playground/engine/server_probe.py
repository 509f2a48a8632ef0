"""Probe of a server before a run: a few calls with narrow limits, not stored."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from django.conf import settings

from playground.base.limits import MIB, RunLimits
from playground.engine.call_loop import (
    OwnerSlots,
    collect_frames,
    make_calls,
    new_transport,
    start_clock,
)
from playground.protocols.events import Event
from playground.protocols.exchange import Exchange, ToleratesErrors, UsesSession
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from playground.transport import Transport

#: Seconds for the whole probe, and for one connection.
TIME, CONNECT_TIME = 10.0, 5.0
#: Bytes and frames of one response.
MAX_BYTES, MAX_FRAMES = 4 * MIB, 2_000
#: The most calls, in addition to the limits of the exchange itself.
MAX_CALLS = 50
#: Probes of one user at once; the concurrency limit counts runs only.
MAX_AT_ONCE = 3

_slots = OwnerSlots(MAX_AT_ONCE)


async def probe(
    exchange: Exchange, *, owner: int | None = None, redact: Sequence[str] = ()
) -> tuple[list[Event], Problem | None]:
    """Make the calls of an exchange under the outbound policy, with narrow limits.

    Returns the events and the problem that ended the probe, None without one. The result of the
    handshake is `exchange.handshake`. `owner` is the key of the user, None in local mode; values
    of `redact` appear in no problem.
    """
    with _slots.take(owner) as is_free:
        return await _probe(exchange, redact) if is_free else ([], _too_many_probes())


async def _probe(exchange: Exchange, redact: Sequence[str]) -> tuple[list[Event], Problem | None]:
    limits: RunLimits = settings.RUN_LIMITS
    limits = limits.at_most(
        max_bytes=MAX_BYTES,
        max_frames=MAX_FRAMES,
        connect_timeout=CONNECT_TIME,
        total_timeout=TIME,
    )
    transport = new_transport(limits, redact=redact)
    found = await _make_calls(exchange, transport)
    if isinstance(exchange, UsesSession) and (call := exchange.end_call()):
        await collect_frames(call, transport)
    return found


async def _make_calls(
    exchange: Exchange, transport: Transport
) -> tuple[list[Event], Problem | None]:
    events: list[Event] = []
    seq = 0
    calls = make_calls(exchange, transport, start_clock(), max_calls=MAX_CALLS)
    async with contextlib.aclosing(calls):
        async for frames in calls:
            for frame in frames:
                seq += 1
                events += exchange.receive(replace(frame, seq=seq))
                is_tolerated = isinstance(exchange, ToleratesErrors) and exchange.tolerates_error
                if frame.kind is FrameKind.ERROR and not is_tolerated:
                    return events, Problem.from_bytes(frame.data)
            if exchange.problem is not None:
                break
    return events, exchange.problem


def _too_many_probes() -> Problem:
    return Problem(
        "refused",
        Stage.LIMIT,
        f"Too many lookups in progress ({MAX_AT_ONCE}).",
        "Try again shortly.",
    )
