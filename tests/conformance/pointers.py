"""Resolution of a finding's pointer in the JSON of a frame."""

from __future__ import annotations

import json
from typing import Any

from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind


def resolves(frames: tuple[Frame, ...], seq: int | None, pointer: str) -> bool:
    """Whether a pointer leads to something in its frame, or to where something is missing.

    What stands behind a `#` leads on in the JSON of the text before it.
    """
    outer, mark, inner = pointer.partition("#")
    if not outer:
        return seq is None or any(frame.seq == seq for frame in frames)
    value, last = _above(_json_of(frames, seq), outer)
    if mark and inner:
        text = value[int(last)] if isinstance(value, list) else value[last]
        value, last = _above(json.loads(text), inner)
    return isinstance(value, dict) or int(last) < len(value)


def _above(value: Any, pointer: str) -> tuple[Any, str]:
    """The value that the last step of a pointer is taken in, and that step."""
    *above, last = [s.replace("~1", "/").replace("~0", "~") for s in pointer.split("/")[1:]]
    for step in above:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value, last


def _json_of(frames: tuple[Frame, ...], seq: int | None) -> Any:
    """The document of a frame; that of an END is the whole body since the last head."""
    at = next(at for at, frame in enumerate(frames) if frame.seq == seq)
    if frames[at].kind is not FrameKind.END:
        return json.loads(sse.parse(frames[at].data).data)
    head = max((n for n in range(at) if frames[n].kind is FrameKind.HEAD), default=0)
    return json.loads(b"".join(f.data for f in frames[head:at] if f.kind is FrameKind.BODY))
