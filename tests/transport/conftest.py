from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Iterable

import pytest

from playground.base.limits import RunLimits
from playground.protocols.calls import HttpCall
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.problems import Problem
from playground.transport import OutboundPolicy, Transport
from tests.support.servers import Server


class Recording(list[Frame]):
    """The frames of a call, with words for what tests ask of them."""

    @property
    def kinds(self) -> list[str]:
        return [frame.kind.name for frame in self]

    @property
    def body(self) -> bytes:
        return b"".join(frame.data for frame in self if frame.kind in BODY_KINDS)

    def of(self, kind: FrameKind) -> list[bytes]:
        return [frame.data for frame in self if frame.kind is kind]

    @property
    def problem(self) -> Problem:
        assert self[-1].kind is FrameKind.ERROR, self.kinds
        return Problem.from_bytes(self[-1].data)


def counter() -> Callable[[], int]:
    """A clock that is never the same twice, so that order can be seen."""
    return itertools.count().__next__


def sending(url: str, transport: Transport | None = None) -> AsyncGenerator[list[Frame], None]:
    """The lists of frames of one call to `url`."""
    sender = transport or Transport(OutboundPolicy(), RunLimits())
    return sender.send(HttpCall("GET", url), counter())


async def is_gone(server: Server) -> None:
    """Wait until the client has gone away."""
    async with asyncio.timeout(20):
        await server.gone.wait()


async def record(
    url: str,
    *,
    transport: Transport | None = None,
    limits: RunLimits | None = None,
    redact: Iterable[str] = (),
    call: HttpCall | None = None,
) -> Recording:
    """All frames of one call to `url`."""
    sender = transport or Transport(OutboundPolicy(), limits or RunLimits(), redact=tuple(redact))
    frames = Recording()
    async for batch in sender.send(call or HttpCall("GET", url), counter()):
        assert batch
        frames += batch
    return frames


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """`resolver(["127.0.0.1"], ["10.0.0.1"])` answers lookups in turn; returns who asked."""

    def install(*answers: list[str] | Exception) -> list[str]:
        asked: list[str] = []
        remaining = iter(answers)

        async def resolve(host: str, port: int) -> list[str]:
            asked.append(host)
            answer = next(remaining)
            if isinstance(answer, Exception):
                raise answer
            return answer

        monkeypatch.setattr("playground.transport.backend.resolve", resolve)
        return asked

    return install
