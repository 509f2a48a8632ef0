"""Recorded replies: a run as JSON that is kept with a saved request, and what is wrong with one.

The shape, times in microseconds since the first call:

    {"recorded_at": ISO 8601, "state": "completed", "outcome": "answer", "status": 200,
     "timings": {"headers_us": 21, "first_event_us": 30, "ended_us": 90},
     "url": …, "protocol": "nlweb", "binding": "http", "version": "0.55", "request": {…},
     "frames": [{"at_us": 0, "kind": "call", "text": …}, {…, "base64": …}]}

Frames are what `playground.protocols.frames` has, in order, as text where their bytes are UTF-8.
They were redacted when they were stored. `outcome`, `status` and the first two timings are for
readers of the file: who replays it finds them again in the frames.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from playground.limits import MIB
from playground.models import Run, RunState
from playground.protocols import registry
from playground.protocols.events import Outcome
from playground.protocols.exchange import RequestProblem
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import read_head
from playground.protocols.json_pointer import pointer_of
from playground.protocols.problems import Problem

#: Bytes of all frames together, and how many there may be: what goes along with a request.
MAX_BYTES, MAX_FRAMES = MIB, 10_000
#: Microseconds that a recording may take: eleven days.
MAX_US = 10**12
#: Problems after which a check says no more.
MAX_PROBLEMS = 20

_TIMINGS = ("headers_us", "first_event_us", "ended_us")
_KINDS = {kind.name.lower(): kind for kind in FrameKind}
_FINAL = sorted(state.value for state in RunState if state.is_final)


class RecordingError(ValueError):
    """A run that cannot be recorded, or a recording that cannot be replayed; says why."""


def record(run: Run) -> dict[str, Any]:
    """A run that is over as JSON.

    Raises `RecordingError` for one that goes on, and for one that is too large to be kept.
    """
    if not run.is_final:
        raise RecordingError("The run goes on: its reply can be kept once it has ended.")
    if run.frames > MAX_FRAMES:
        raise RecordingError(
            f"The reply has {run.frames:,} frames; up to {MAX_FRAMES:,} can be kept with a request."
        )
    frames, size = [], 0
    for frame in run.read_frames():
        size += len(frame.data)
        if size > MAX_BYTES:
            raise RecordingError("The reply is larger than 1 MB: too large to be kept.")
        frames.append(frame_to_json(frame))
    moment = run.started_at or run.created_at
    return {
        "recorded_at": moment.isoformat(),
        "state": str(run.state),
        "outcome": str(run.outcome),
        "status": run.status,
        "timings": {name: getattr(run, name) for name in _TIMINGS},
        **run.describe_target(),
        "request": run.request,
        "frames": frames,
    }


def frame_to_json(frame: Frame) -> dict[str, Any]:
    """A frame as the recording has it."""
    shown: dict[str, Any] = {"at_us": frame.at_us, "kind": frame.kind.name.lower()}
    if not frame.data:
        return shown
    try:
        return {**shown, "text": frame.data.decode()}
    except UnicodeDecodeError:
        return {**shown, "base64": base64.b64encode(frame.data).decode()}


def frames_of(reply: Mapping[str, Any]) -> Iterator[Frame]:
    """The frames of a recording that `check` has nothing against, numbered from 1."""
    for seq, shown in enumerate(reply["frames"], 1):
        yield Frame(seq, shown["at_us"], _KINDS[shown["kind"]], _data_of(shown))


def validate_recording(reply: Any) -> list[RequestProblem]:
    """What is wrong with a recording, each with its place as a JSON pointer.

    An empty list says that it can be replayed: nothing that reads its frames raises.
    """
    if not isinstance(reply, Mapping):
        return [_error("", "A recorded reply is a JSON object.")]
    found = []
    for problem in _check(reply):
        found.append(problem)
        if len(found) == MAX_PROBLEMS:
            break
    return found


def _check(reply: Mapping[str, Any]) -> Iterator[RequestProblem]:
    for name in reply:
        if name not in _MEMBERS:
            yield _error(pointer_of([str(name)[:60]]), "A recorded reply has no such member.")
    for name, (is_right, what) in _MEMBERS.items():
        if name in reply and not is_right(reply[name]):
            yield _error(f"/{name}", f"This has to be {what}.")
    yield from _check_target(reply)
    frames = reply.get("frames")
    if not isinstance(frames, list):
        yield _error("/frames", "A recorded reply has a list of frames.")
    elif len(frames) > MAX_FRAMES:
        yield _error("/frames", f"There are more than {MAX_FRAMES:,} frames.")
    else:
        yield from _check_frames(frames)


def _check_target(reply: Mapping[str, Any]) -> Iterator[RequestProblem]:
    """Protocol, binding and version have to be ones that can be read."""
    protocol, binding, version = (reply.get(name) for name in ("protocol", "binding", "version"))
    if isinstance(binding, str) and binding not in registry.BINDINGS:
        yield _error("/binding", f"There is no binding “{binding[:40]}”.")
    if not isinstance(protocol, str):
        return
    if protocol not in registry.PROTOCOLS:
        yield _error("/protocol", f"There is no protocol “{protocol[:40]}”.")
    elif isinstance(version, str) and not _speaks(protocol, version):
        yield _error("/version", f"There is no version “{version[:40]}” of this protocol.")


def _speaks(protocol: str, version: str) -> bool:
    return version in {known.name for known in registry.versions(protocol)}


def _check_frames(frames: list[Any]) -> Iterator[RequestProblem]:
    size, latest = 0, 0
    for number, shown in enumerate(frames):
        place = f"/frames/{number}"
        message = _wrong(shown, latest)
        if message:
            yield _error(place, message)
            continue
        latest = shown["at_us"]
        data = _data_of(shown)
        size += len(data)
        if size > MAX_BYTES:
            yield _error(place, "The frames are larger than 1 MB together.")
            return
        if not _CONTENTS.get(_KINDS[shown["kind"]], _anything)(data):
            yield _error(place, f"This is not what a frame of the kind “{shown['kind']}” holds.")


def _wrong(shown: Any, latest: int) -> str:
    """What is wrong with the members of a frame; "" for nothing."""
    if not isinstance(shown, Mapping):
        return "A frame is a JSON object."
    if set(shown) - {"at_us", "kind", "text", "base64"}:
        return "A frame has at_us, kind, and text or base64."
    if not isinstance(shown.get("kind"), str) or shown["kind"] not in _KINDS:
        return f"The kind of a frame is one of {', '.join(_KINDS)}."
    if not _is_moment(shown.get("at_us")):
        return "at_us is a whole number of microseconds."
    if shown["at_us"] < latest:
        return "The frame comes before the one that stands before it."
    try:
        _data_of(shown)
    except (ValueError, TypeError, binascii.Error):
        return "The bytes of a frame are a text, or another text in base64."
    return ""


def _data_of(shown: Mapping[str, Any]) -> bytes:
    """The bytes of a frame. Raises `ValueError` or `TypeError` where they are none."""
    if "base64" not in shown:
        text = shown.get("text", "")
        if not isinstance(text, str):
            raise TypeError
        return text.encode()
    if "text" in shown or not isinstance(shown["base64"], str):
        raise TypeError
    return base64.b64decode(shown["base64"], validate=True)


def _anything(_: bytes) -> bool:
    return True


def _is_open(data: bytes) -> bool:
    facts = _json(data)
    return isinstance(facts, dict) and all(v is None or isinstance(v, str) for v in facts.values())


def _is_problem(data: bytes) -> bool:
    value = _json(data)
    if not isinstance(value, dict):
        return False
    texts = (value.get(name, "") for name in ("state", "cause", "fix", "detail"))
    if not all(isinstance(text, str) for text in texts) or value.get("state") not in _FINAL:
        return False
    try:
        Problem.from_json(value)
    except (KeyError, ValueError, TypeError):
        return False
    return isinstance(value.get("limit"), str | None)


def _is_head(data: bytes) -> bool:
    return data.startswith(b"HTTP/") and 100 <= read_head(data)[0] <= 999


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


#: What the bytes of some kinds have to be, so that nobody who reads them stumbles.
_CONTENTS: Mapping[FrameKind, Callable[[bytes], bool]] = {
    FrameKind.OPEN: _is_open,
    FrameKind.HEAD: _is_head,
    FrameKind.ERROR: _is_problem,
}


def _is_moment(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_US


def _is_date(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_timings(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        name in _TIMINGS and (moment is None or _is_moment(moment))
        for name, moment in value.items()
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 2000


#: Members beside the frames, all of which may be missing: what they have to be, and its name.
_MEMBERS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "recorded_at": (_is_date, "a moment in ISO 8601, with its time zone"),
    "state": (lambda value: value in _FINAL, f"one of {', '.join(_FINAL)}"),
    "outcome": (lambda value: value in list(Outcome), f"one of {', '.join(Outcome)}"),
    "status": (
        lambda value: value is None or (type(value) is int and 0 <= value <= 999),
        "an HTTP status",
    ),
    "timings": (_is_timings, f"an object of {', '.join(_TIMINGS)} in microseconds"),
    "url": (_is_text, "an address"),
    "protocol": (_is_text, "a text"),
    "binding": (_is_text, "a text"),
    "version": (_is_text, "a text"),
    "request": (lambda value: isinstance(value, Mapping), "a JSON object"),
    "frames": (_anything, ""),
}


def _error(pointer: str, message: str) -> RequestProblem:
    return RequestProblem(pointer, message, "error")
