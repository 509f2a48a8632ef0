"""Frames to blocks of bytes, as they crossed the wire."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable
from dataclasses import dataclass

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.rendering.run_status import milliseconds, size

#: Bytes of one block that a page shows; the download has all of them.
MAX_SHOWN = 64 * 1024
_UTF8 = codecs.getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True)
class WireBlock:
    """One frame's bytes as text."""

    seq: int
    at: str
    kind: str
    size: str
    text: str
    #: Bytes that are not shown because the block is too large.
    hidden: str = ""
    #: Whether bytes that are not UTF-8 were replaced.
    replaced: bool = False


def blocks_of(frames: Iterable[Frame]) -> list[WireBlock]:
    """A block for every frame that carries bytes or news."""
    return [_block(frame) for frame in frames]


def _block(frame: Frame) -> WireBlock:
    data, hidden = frame.data[:MAX_SHOWN], len(frame.data) - MAX_SHOWN
    # A character that the cut goes through is left out and not taken for a broken one.
    text = _UTF8("replace").decode(data, final=hidden <= 0)
    if frame.kind is FrameKind.ERROR:
        problem = Problem.from_bytes(frame.data)
        text = f"{problem.cause}\n{problem.detail}".strip()
    elif frame.kind is FrameKind.OPEN:
        facts = json.loads(frame.data)
        text = ", ".join(f"{name}: {value}" for name, value in facts.items() if value)
    return WireBlock(
        seq=frame.seq,
        at=milliseconds(frame.at_ms),
        kind=frame.kind.name.lower(),
        size=size(len(frame.data)),
        text=text,
        hidden=size(hidden) if hidden > 0 else "",
        replaced=text.count("\ufffd") > data.count(b"\xef\xbf\xbd"),
    )
