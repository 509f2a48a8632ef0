"""How the tests of this package talk to an exchange: a reply goes in, events come out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

from playground.protocols import registry, sse
from playground.protocols.events import Event
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem

TESTS = Path(__file__).parent.parent
EXAMPLES = TESTS / "examples"
CAPTURES = TESTS / "captures"
SSE = "text/event-stream"
JSON = "application/json"


def target(version: str = "0.55", url: str = "http://agent.example.com") -> Target:
    return Target(url, version=version)


class Playbook:
    """One exchange, fed the way the transport feeds it."""

    def __init__(
        self, version: str = "0.55", *, exchange: Exchange | None = None, **options: Any
    ) -> None:
        request = {"query": {"text": "eggs"}}
        self.exchange = exchange or registry.exchange(target(version), request, **options)
        self.events: list[Event] = []
        self.frames: list[Frame] = []

    def frame(self, kind: FrameKind, data: bytes = b"") -> Self:
        seq = len(self.frames) + 1
        self.frames.append(Frame(seq, seq, kind, data))
        self.events += self.exchange.receive(self.frames[-1])
        return self

    def head(self, status: int = 200, media_type: str = JSON, extra: str = "") -> Self:
        head = f"HTTP/1.1 {status} Whatever\r\nContent-Type: {media_type}\r\n{extra}\r\n"
        return self.frame(FrameKind.HEAD, head.encode())

    def body(self, *pieces: bytes) -> Self:
        for piece in pieces:
            self.frame(FrameKind.BODY, piece)
        return self

    def stream(self, chunks: Iterable[bytes]) -> Self:
        """The chunks through a splitter, as the recorder does it."""
        splitter = sse.Splitter()
        for chunk in chunks:
            for block in splitter.feed(chunk):
                kind = FrameKind.COMMENT if block.is_comment else FrameKind.EVENT
                self.frame(kind, block.data)
        if rest := splitter.flush():
            self.frame(FrameKind.TAIL, rest)
        return self

    def end(self) -> Self:
        return self.frame(FrameKind.END)

    @property
    def problem(self) -> Problem:
        """The problem of the exchange, which must exist."""
        assert self.exchange.problem is not None
        return self.exchange.problem

    def of(self, *kinds: type[Event]) -> list[Any]:
        """The events of these kinds."""
        return [event for event in self.events if type(event) in kinds]

    def unnumbered(self) -> list[Event]:
        """The events without the numbers of their frames, to be compared across cuts."""
        return [dataclasses.replace(event, seq=0) for event in self.events]


def read_document(
    value: Any, version: str = "0.55", *, status: int = 200, media_type: str = JSON
) -> Playbook:
    """A whole reply: a JSON value, or bytes as they are."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Playbook(version).head(status, media_type).body(body).end()


def read_stream(*chunks: bytes, version: str = "0.55", status: int = 200) -> Playbook:
    return Playbook(version).head(status, SSE).stream(chunks).end()


def event(payload: Any, name: str | None = None) -> bytes:
    """A block of an event stream."""
    data = payload if isinstance(payload, str) else json.dumps(payload)
    return (f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode()


def every_cut(data: bytes) -> Iterator[list[bytes]]:
    """The data in two chunks, cut at every byte; and byte by byte."""
    for at in range(1, len(data)):
        yield [data[:at], data[at:]]
    yield [data[at : at + 1] for at in range(len(data))]
