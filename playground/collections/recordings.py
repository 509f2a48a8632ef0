"""Recorded replies of saved requests: runs as JSON, their validation, and their replay as runs.

The shape, times in microseconds since the first call:

{"recorded_at": ISO 8601, "state": "completed", "outcome": "answer", "status": 200,
     "timings": {"headers_us": 21, "first_event_us": 30, "ended_us": 90},
     "url": …, "protocol": "nlweb", "binding": "http", "version": "0.55", "request": {…},
     "frames": [{"at_us": 0, "kind": "call", "text": …}, {…, "base64": …}]}

Frames are those of `playground.protocols.frames`, in order, as text where their bytes are UTF-8.
They were redacted when they were stored. `outcome`, `status` and the first two timings are for
readers of the file: a replay computes them from the frames, with the parsers and counters of live
replies, so that today's reader judges a recording and its columns are as right as those of a run.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils import timezone

from playground.base.limits import MIB
from playground.lesson_format.schema_errors import Finding
from playground.models import (
    Agent,
    Conversation,
    FrameBatch,
    Run,
    RunSource,
    RunState,
    SavedRequest,
)
from playground.models.columns import storable, text_bytes
from playground.models.frames import Batch, RunCounters, build_rows
from playground.protocols import registry
from playground.protocols.events import Outcome
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.json_pointer import pointer_of
from playground.protocols.problems import Problem
from playground.protocols.response import read_head

_TIMINGS = ("headers_us", "first_event_us", "ended_us")
_KINDS = {kind.name.lower(): kind for kind in FrameKind}
_FINAL = sorted(state.value for state in RunState if state.is_final)

#: Limit on the frames in one row.
_FRAMES_PER_ROW = 250

#: States of a run that has a problem.
_FAILED = (RunState.FAILED, RunState.REFUSED, RunState.TRUNCATED)

#: Limits on the bytes of all frames together, and on their number.
MAX_BYTES, MAX_FRAMES = MIB, 10_000

#: Limit on the duration of a recording in microseconds: eleven days.
MAX_US = 10**12

#: Number of problems after which validation stops.
MAX_PROBLEMS = 20


class RecordingError(ValueError):
    """A run that cannot be recorded, or a recording that cannot be replayed, with the reason."""


def record(run: Run) -> dict[str, Any]:
    """Return a finished run as JSON.

    Raise `RecordingError` if it has not ended, or is too large to be kept.
    """
    if not run.is_final:
        raise RecordingError(
            "The run is still in progress. Its response can be stored once it ends."
        )
    if run.frames > MAX_FRAMES:
        raise RecordingError(
            f"The response has {run.frames:,} frames. The limit for a stored response is "
            f"{MAX_FRAMES:,}."
        )
    frames, size = [], 0
    for frame in run.read_frames():
        size += len(frame.data)
        if size > MAX_BYTES:
            raise RecordingError(
                "The response is larger than 1 MB, the limit for a stored response."
            )
        frames.append(frame_to_json(frame))
    started_at = run.started_at or run.created_at
    return {
        "recorded_at": started_at.isoformat(),
        "state": str(run.state),
        "outcome": str(run.outcome),
        "status": run.status,
        "timings": {name: getattr(run, name) for name in _TIMINGS},
        **run.describe_target(),
        "request": run.request,
        "frames": frames,
    }


def validate_recording(reply: Any) -> list[Finding]:
    """Return the first problems of a recording: JSON Pointers into it, and sentences.

    If there are none, it can be replayed: no reader of its frames raises.
    """
    return list(islice(_problems(reply), MAX_PROBLEMS))


def frame_to_json(frame: Frame) -> dict[str, Any]:
    row: dict[str, Any] = {"at_us": frame.at_us, "kind": frame.kind.name.lower()}
    if not frame.data:
        return row
    try:
        return {**row, "text": frame.data.decode()}
    except UnicodeDecodeError:
        return {**row, "base64": base64.b64encode(frame.data).decode()}


def frames_of(reply: Mapping[str, Any]) -> Iterator[Frame]:
    """Yield the frames of a valid recording (see `validate_recording`), numbered from 1."""
    for seq, row in enumerate(reply["frames"], 1):
        yield Frame(seq, row["at_us"], _KINDS[row["kind"]], _frame_bytes(row))


def run_from_saved_response(saved: SavedRequest, owner: User | None) -> Run:
    """Return the run of a saved request's recorded reply, the same one every time.

    Raise `RecordingError` if there is no reply, for an invalid one, and for an unknown protocol,
    binding or version.
    """
    if saved.reply is None:
        raise RecordingError("No response is stored with this request.")
    with transaction.atomic():
        locked = SavedRequest.objects.select_for_update(of=("self",))
        known = locked.select_related("recorded_run").get(pk=saved.pk)
        if known.recorded_run is None:
            known.recorded_run = _create_run(saved, saved.reply, owner)
            Run.objects.filter(pk=known.recorded_run.pk).update(saved_request=saved)
            SavedRequest.objects.filter(pk=saved.pk).update(recorded_run=known.recorded_run)
        run: Run = known.recorded_run
    return run


def _create_run(saved: SavedRequest, reply: Mapping[str, Any], owner: User | None) -> Run:
    """Store a finished run with the frames of a recording.

    The address, protocol, binding, version and request of the recording take precedence over those
    of the saved request, which may have changed since.
    """
    if problems := validate_recording(reply):
        raise RecordingError(f"The recorded response is invalid: {' '.join(problems[0])}")
    target = Target(
        url=reply.get("url", saved.address),
        protocol=reply.get("protocol", saved.protocol),
        binding=reply.get("binding", saved.binding),
        version=reply.get("version", saved.version),
    )
    document = dict(reply.get("request", saved.document))
    try:
        depth = settings.RUN_LIMITS.max_depth
        exchange = registry.exchange(target, document, max_depth=depth)
    except ValueError as error:
        raise RecordingError(str(error)) from error
    read = _replay(exchange, list(frames_of(reply)))
    agent = Agent.objects.owned_by(owner or AnonymousUser()).filter(slug=saved.agent).first()
    run = Run(
        owner=owner,
        agent=agent,
        sent_to_url=not saved.agent,
        agent_name=storable(saved.agent or saved.name)[:80] or "recorded",
        url=storable(target.url)[:2000],
        protocol=target.protocol,
        binding=target.binding,
        version=target.version,
        request=document,
        text=storable(registry.request_text(target.protocol, document)[:500]),
        source=RunSource.RECORDING,
        **_final_columns(reply, exchange, read),
        **read.columns,
    )
    run.other_bytes += text_bytes(run)
    run.conversation = Conversation.objects.create(owner=owner)
    run.save()
    FrameBatch.objects.bulk_create(build_rows(run, read.batches))
    return run


def _is_timestamp(value: Any) -> bool:
    """Return whether a value is a time in ISO 8601 with its zone."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


@dataclass(slots=True)
class _ReplayedFrames:
    """The frames of a recording, read by the protocol's parser."""

    batches: list[Batch] = field(default_factory=list)
    #: Columns of the run with their counts.
    columns: dict[str, Any] = field(default_factory=dict)
    #: Problem that ended the transfer early, None if there was none.
    broken: Problem | None = None
    last_us: int = 0


def _replay(exchange: Exchange, frames: Sequence[Frame]) -> _ReplayedFrames:
    read, counters = _ReplayedFrames(), RunCounters()
    rest = iter(frames)
    while row := list(islice(rest, _FRAMES_PER_ROW)):
        batch = counters.count(row, [exchange.receive(frame) for frame in row])
        batch.events = None  # They would hold a large recording in memory.
        read.batches.append(batch)
    read.columns = {**counters.columns, "frames": len(frames)}
    if frames:
        read.last_us = frames[-1].at_us
        if frames[-1].kind is FrameKind.ERROR:
            read.broken = Problem.from_bytes(frames[-1].data)
    return read


def _final_columns(
    reply: Mapping[str, Any], exchange: Exchange, read: _ReplayedFrames
) -> dict[str, Any]:
    """Return the columns of how the run ended, which the frames tell if the recording does not."""
    problem = read.broken or exchange.problem
    context = exchange.session_context
    ended = reply.get("timings", {}).get("ended_us")
    recorded_at = reply.get("recorded_at")
    state = reply.get("state", problem.state if problem else RunState.COMPLETED)
    return {
        "state": state,
        "outcome": exchange.outcome,
        "problem": problem.to_json() if problem and state in _FAILED else None,
        "session_context": dict(context) if context is not None else None,
        "started_at": datetime.fromisoformat(recorded_at) if recorded_at else timezone.now(),
        "ended_us": read.last_us if ended is None else max(ended, read.last_us),
    }


def _problems(reply: Any) -> Iterator[Finding]:
    if not isinstance(reply, Mapping):
        yield "", "A recorded response must be a JSON object."
        return
    for name in reply:
        if name not in _MEMBERS and name != "frames":
            yield pointer_of([str(name)[:60]]), "Unknown member of a recorded response."
    for name, (is_valid, what) in _MEMBERS.items():
        if name in reply and not is_valid(reply[name]):
            yield f"/{name}", f"Must be {what}."
    yield from _check_target(reply)
    frames = reply.get("frames")
    if not isinstance(frames, list):
        yield "/frames", "A recorded response must have an array of frames."
    elif len(frames) > MAX_FRAMES:
        yield "/frames", f"More than {MAX_FRAMES:,} frames."
    else:
        yield from _check_frames(frames)


def _check_target(reply: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield problems of protocol, binding and version: they must be known ones."""
    protocol, binding, version = (reply.get(name) for name in ("protocol", "binding", "version"))
    if isinstance(binding, str) and binding not in registry.BINDINGS:
        yield "/binding", f"Unknown binding “{binding[:40]}”."
    if not isinstance(protocol, str):
        return
    if protocol not in registry.PROTOCOLS:
        yield "/protocol", f"Unknown protocol “{protocol[:40]}”."
        return
    known = {each.name for each in registry.of(protocol).versions}
    if isinstance(version, str) and version not in known:
        yield "/version", f"Unknown version “{version[:40]}” of this protocol."


def _check_frames(frames: list[Any]) -> Iterator[Finding]:
    size, latest = 0, 0
    for number, row in enumerate(frames):
        pointer = f"/frames/{number}"
        message = _frame_error(row, latest)
        if message:
            yield pointer, message
            continue
        latest = row["at_us"]
        data = _frame_bytes(row)
        size += len(data)
        if size > MAX_BYTES:
            yield pointer, "The frames are larger than 1 MB in total."
            return
        is_valid = _CONTENTS.get(_KINDS[row["kind"]])
        if is_valid and not is_valid(data):
            yield pointer, f"Invalid content for a frame of kind “{row['kind']}”."


def _frame_error(row: Any, latest: int) -> str:
    """Return the error in the members of a frame; "" for none."""
    if not isinstance(row, Mapping):
        return "A frame must be a JSON object."
    if set(row) - {"at_us", "kind", "text", "base64"}:
        return "Unknown member. A frame has at_us, kind, and text or base64."
    if not isinstance(row.get("kind"), str) or row["kind"] not in _KINDS:
        return f"The kind of a frame must be one of {', '.join(_KINDS)}."
    if not _is_microseconds(row.get("at_us")):
        return "at_us must be an integer (microseconds)."
    if row["at_us"] < latest:
        return "at_us is smaller than that of the previous frame."
    try:
        _frame_bytes(row)
    except (ValueError, TypeError, binascii.Error):
        return "The content of a frame must be a string: text or base64."
    return ""


def _frame_bytes(row: Mapping[str, Any]) -> bytes:
    """Return the bytes of a frame. Raise `ValueError` or `TypeError` if it has none."""
    if "base64" not in row:
        text = row.get("text", "")
        if not isinstance(text, str):
            raise TypeError
        return text.encode()
    if "text" in row or not isinstance(row["base64"], str):
        raise TypeError
    return base64.b64decode(row["base64"], validate=True)


def _is_open(data: bytes) -> bool:
    facts = _json(data)
    return isinstance(facts, dict) and all(
        value is None or isinstance(value, str) or (name == "reused" and value is True)
        for name, value in facts.items()
    )


def _is_problem_json(data: bytes) -> bool:
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


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


#: Checks of the bytes of frames, by kind, so that no reader of them raises.
_CONTENTS: Mapping[FrameKind, Callable[[bytes], bool]] = {
    FrameKind.OPEN: _is_open,
    FrameKind.HEAD: lambda data: data.startswith(b"HTTP/") and 100 <= read_head(data)[0] <= 999,
    FrameKind.ERROR: _is_problem_json,
}


def _is_microseconds(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_US


def _is_timings(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        name in _TIMINGS and (time is None or _is_microseconds(time))
        for name, time in value.items()
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 2000


#: Optional members of a recording, which has frames: their check, and its description.
_MEMBERS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "recorded_at": (_is_timestamp, "an ISO 8601 timestamp with a time zone"),
    "state": (lambda value: value in _FINAL, f"one of {', '.join(_FINAL)}"),
    "outcome": (lambda value: value in list(Outcome), f"one of {', '.join(Outcome)}"),
    "status": (
        lambda value: value is None or (type(value) is int and 0 <= value <= 999),
        "an HTTP status",
    ),
    "timings": (_is_timings, f"an object of {', '.join(_TIMINGS)} in microseconds"),
    "url": (_is_text, "a URL"),
    "protocol": (_is_text, "a string"),
    "binding": (_is_text, "a string"),
    "version": (_is_text, "a string"),
    "request": (lambda value: isinstance(value, Mapping), "a JSON object"),
}
