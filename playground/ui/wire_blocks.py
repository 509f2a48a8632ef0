"""Wire tab: frames as blocks of the bytes that crossed the wire."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable
from dataclasses import dataclass

from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem
from playground.ui.formatting import kind_label, milliseconds, size

#: Bytes of a block that a page shows; the download has all of them.
MAX_SHOWN = 64 * 1024
_UTF8 = codecs.getincrementaldecoder("utf-8")


@dataclass(frozen=True, slots=True)
class WireBlock:
    """The bytes of a frame as text."""

    seq: int
    at: str
    kind: str
    size: str
    text: str
    #: Number of bytes that are not shown, as text; "" for none.
    hidden: str = ""
    #: Whether bytes that are not valid UTF-8 were replaced.
    replaced: bool = False

    @property
    def label(self) -> str:
        return kind_label(self.kind)


def blocks_of(frames: Iterable[Frame]) -> list[WireBlock]:
    return [_block(frame) for frame in frames]


def _block(frame: Frame) -> WireBlock:
    data, hidden = frame.data[:MAX_SHOWN], len(frame.data) - MAX_SHOWN
    # A character that is cut in two is left out instead of being replaced.
    text = _UTF8("replace").decode(data, final=hidden <= 0)
    if frame.kind is FrameKind.ERROR:
        problem = Problem.from_bytes(frame.data)
        text = f"{problem.cause}\n{problem.detail}".strip()
    elif frame.kind is FrameKind.OPEN:
        facts = json.loads(frame.data)
        text = ", ".join(
            "connection reused" if name == "reused" else f"{name}: {value}"
            for name, value in facts.items()
            if value
        )
    return WireBlock(
        seq=frame.seq,
        at=milliseconds(frame.at_ms),
        kind=frame.kind.name.lower(),
        size=size(len(frame.data)),
        text=text,
        hidden=size(hidden) if hidden > 0 else "",
        replaced=text.count("\ufffd") > data.count(b"\xef\xbf\xbd"),
    )
