"""Call loop: exchange → transport → frames, for everything that the playground sends.

Runs, probes of a server, the connection doctor and downloads make their calls here, so that
the outbound policy, the limits and the redaction of secrets are the same for all of them. Only
the driver stores the frames. Imported by the modules of the engine.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

from django.conf import settings
from opentelemetry.trace import INVALID_SPAN

from playground.base.limits import RunLimits
from playground.base.memory_budget import RunMemory
from playground.base.tracing import RunTrace, observe
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Exchange, StopsEarly
from playground.protocols.frames import Frame
from playground.transport import OutboundPolicy, Transport

#: Returns the microseconds since it was created.
Clock = Callable[[], int]


def start_clock() -> Clock:
    """Return a clock that counts the microseconds from now on."""
    start = time.perf_counter_ns()
    return lambda: (time.perf_counter_ns() - start) // 1000


def new_transport(limits: RunLimits, **options: Any) -> Transport:
    """Return a transport under the outbound policy of the settings.

    `options` are those of `Transport`: `redact`, `mask`, `patient`, `connections`.
    """
    policy = OutboundPolicy.from_settings(settings.HOSTED, settings.OUTBOUND_ALLOW)
    return Transport(policy, limits, **options)


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
    early when the exchange has enough of the response (`StopsEarly`). Closing the generator closes
    the connection. The calls become part of `trace`.
    """
    stops_early = exchange if isinstance(exchange, StopsEarly) else None
    made = 0
    while (max_calls is None or made < max_calls) and (call := exchange.next_call()):
        made += 1
        await asyncio.sleep(min(call.delay, transport.remaining_time))
        call, span = trace.call(call) if trace else (call, INVALID_SPAN)
        async with contextlib.aclosing(transport.send(call, clock)) as stream:
            with span:
                async for frames in stream:
                    observe(span, frames)
                    yield frames
                    if stops_early and stops_early.has_enough:
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
