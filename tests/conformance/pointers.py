"""Resolution of a finding's pointer in the JSON of a frame."""

from __future__ import annotations

import json
from typing import Any

from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind


def resolves(frames: tuple[Frame, ...], seq: int | None, pointer: str) -> bool:
    """Whether a pointer leads to something in its frame, or to where something is missing.

    The part after a `#` is a pointer into the JSON of the text before it, unless the `#` is part of
    a name.
    """
    outer, _, inner = pointer.partition("#")
    if not outer:
        return seq is None or any(frame.seq == seq for frame in frames)
    document = _json_of(frames, seq)
    if not inner:
        return _leads(document, outer)
    if _leads(document, pointer):
        return True
    value, last = _above(document, outer)
    text = value[int(last)] if isinstance(value, list) else value[last]
    return _leads(json.loads(text), inner)


def _leads(value: Any, pointer: str) -> bool:
    try:
        value, last = _above(value, pointer)
    except (KeyError, TypeError, ValueError, IndexError):
        return False
    return isinstance(value, dict) or (isinstance(value, list) and int(last) < len(value))


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
        return json.loads(sse.parse_all(frames[at].data)[0].data)
    head = max((n for n in range(at) if frames[n].kind is FrameKind.HEAD), default=0)
    return json.loads(b"".join(f.data for f in frames[head:at] if f.kind is FrameKind.BODY))
