"""The call loop, with scripted exchanges and servers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from playground.engine import call_loop
from playground.engine.call_loop import OwnerSlots, collect_frames, make_calls, new_transport
from playground.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import Frame, FrameKind
from tests.support.servers import HOLD, STREAM_HEAD, chunk, reply, serve

CALL, HEAD, EVENT, END, ERROR = (
    FrameKind.CALL,
    FrameKind.HEAD,
    FrameKind.EVENT,
    FrameKind.END,
    FrameKind.ERROR,
)


class Scripted:
    """An exchange that has these calls, and enough of a reply after a kind of frame."""

    outcome = problem = handshake = session_context = None

    def __init__(self, *calls: HttpCall, enough: FrameKind | None = None) -> None:
        self._calls = iter(calls)
        self._enough = enough
        self.has_enough = False
        self.asked = 0

    def next_call(self) -> HttpCall | None:
        self.asked += 1
        self.has_enough = False
        return next(self._calls, None)

    def receive(self, frame: Frame) -> list[Any]:
        self.has_enough = self.has_enough or frame.kind is self._enough
        return []


async def kinds_of(exchange: Any, **options: Any) -> list[FrameKind]:
    found: list[FrameKind] = []
    transport = new_transport(RunLimits())
    async for frames in make_calls(exchange, transport, call_loop.start_clock(), **options):
        for frame in frames:
            exchange.receive(frame)
            found.append(frame.kind)
    return found


@pytest.mark.parametrize(
    ("calls", "options", "made"),
    [(0, {}, 0), (1, {}, 1), (3, {}, 3), (3, {"max_calls": 2}, 2), (2, {"max_calls": 2}, 2)],
)
async def test_every_call_is_made_in_order(calls: int, options: Any, made: int) -> None:
    async with serve(reply(b"{}")) as server:
        exchange = Scripted(*(HttpCall("GET", f"{server.url}/{n}") for n in range(calls)))
        found = await kinds_of(exchange, **options)
    paths = [request.split()[1] for request in server.requests]
    assert paths == [f"/{n}".encode() for n in range(made)]
    assert (found.count(CALL), found.count(END)) == (made, made)


async def test_a_call_ends_early_where_the_exchange_has_enough_and_the_next_is_made() -> None:
    def script(request: bytes) -> Any:
        endless = (STREAM_HEAD, chunk(b"data: 1\n\n"), HOLD)
        return endless if b"GET /stream" in request else (reply(b"{}"),)

    async with serve(answer=script) as server:
        calls = (HttpCall("GET", f"{server.url}/{path}") for path in ("stream", "next"))
        found = await kinds_of(Scripted(*calls, enough=EVENT))
        await asyncio.wait_for(server.gone.wait(), 5)
    assert [kind for kind, _ in itertools.groupby(found) if kind is not FrameKind.OPEN] == [
        CALL, HEAD, EVENT, CALL, HEAD, FrameKind.BODY, END,
    ]  # fmt: skip


async def test_closing_the_loop_closes_the_connection() -> None:
    async with serve(STREAM_HEAD, chunk(b"data: 1\n\n"), HOLD) as server:
        exchange = Scripted(HttpCall("GET", server.url), HttpCall("GET", server.url))
        loop = make_calls(exchange, new_transport(RunLimits()), call_loop.start_clock())  # type: ignore[arg-type]
        async with contextlib.aclosing(loop):
            async for frames in loop:
                if any(frame.kind is EVENT for frame in frames):
                    break
        await asyncio.wait_for(server.gone.wait(), 5)
    assert (len(server.requests), exchange.asked) == (1, 1)


async def test_a_call_waits_for_its_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with serve(reply(b"{}")) as server:
        calls = [replace(HttpCall("GET", server.url), delay=delay) for delay in (0.0, 2.5)]
        with monkeypatch.context() as patch:
            patch.setattr(call_loop, "asyncio", type("Clock", (), {"sleep": staticmethod(sleep)}))
            await kinds_of(Scripted(*calls))
    assert slept == [0.0, 2.5]


@pytest.mark.parametrize(
    ("limits", "url", "last"),
    [
        (RunLimits(), lambda url: url, END),
        (RunLimits(max_bytes=1), lambda url: url, ERROR),
        (RunLimits(), lambda url: "http://127.0.0.1:1/", ERROR),
    ],
)
async def test_one_call_is_collected(
    limits: RunLimits, url: Callable[[str], str], last: FrameKind
) -> None:
    async with serve(reply(b"{}")) as server:
        frames = await collect_frames(HttpCall("GET", url(server.url)), new_transport(limits))
    assert (frames[0].kind, frames[-1].kind) == (CALL, last)


async def test_the_policy_of_the_settings_holds(settings: Any) -> None:
    settings.HOSTED = True
    frames = await collect_frames(
        HttpCall("GET", "http://127.0.0.1:1/"), new_transport(RunLimits())
    )
    assert frames[-1].kind is ERROR
    assert b'"policy"' in frames[-1].data


async def test_secrets_are_in_no_frame() -> None:
    async with serve(reply(b'{"a": "s3cret-value"}')) as server:
        transport = new_transport(RunLimits(), redact=["s3cret-value"])
        frames = await collect_frames(HttpCall("GET", server.url), transport)
    assert not any(b"s3cret-value" in frame.data for frame in frames)


def test_slots_are_counted_for_each_owner_and_given_back() -> None:
    slots = OwnerSlots(2)
    with slots.take(1) as first, slots.take(1) as second, slots.take(1) as third:
        assert (first, second, third) == (True, True, False)
        with slots.take(None) as other:
            assert other
    with pytest.raises(ZeroDivisionError), slots.take(1):
        raise ZeroDivisionError
    with slots.take(1) as first, slots.take(1) as second:
        assert first
        assert second


@pytest.mark.parametrize(
    ("bounds", "lowered"),
    [
        ({}, {}),
        ({"max_bytes": 5, "total_timeout": 0.5}, {"max_bytes": 5, "total_timeout": 0.5}),
        ({"max_bytes": 10**12}, {}),
    ],
)
def test_bounds_lower_limits_and_never_raise_them(bounds: Any, lowered: Any) -> None:
    assert RunLimits().at_most(**bounds) == replace(RunLimits(), **lowered)
