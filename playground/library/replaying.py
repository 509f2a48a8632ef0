"""Recordings to runs: settled ones that open in the workbench like any other, and were never sent.

The frames are read and counted by what reads and counts them when they come over the wire, so
that a recording is judged by today's reader and its columns are as right as those of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.utils import timezone

from playground.counters import RunCounters
from playground.library.recordings import RecordingError, frames_of, validate_recording
from playground.models import (
    Agent,
    Conversation,
    FrameBatch,
    Run,
    RunSource,
    RunState,
    SavedRequest,
)
from playground.models.batches import FramePart, build_batches
from playground.models.json_text import storable
from playground.protocols import registry
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.origins import origin_of
from playground.protocols.problems import Problem

#: Frames that go into one row at most.
_SLICE = 250
#: States that a run has a reason for.
_FAILED = (RunState.FAILED, RunState.REFUSED, RunState.TRUNCATED)


def run_from_frames(
    reply: Mapping[str, Any],
    owner: User | None,
    *,
    agent_name: str,
    url: str,
    protocol: str,
    binding: str,
    version: str,
    request: Mapping[str, Any],
    text: str = "",
    agent: Agent | None = None,
) -> Run:
    """A settled run of `owner` with the frames of a recording; `made_by` says where it is from.

    What the recording says of its own address, protocol, binding, version and request wins over
    what is given here: the saved request may have changed since. Without `text` the run is
    called by what its request asks. Raises `RecordingError` for a recording that `check` has
    something against, and for a protocol, binding or version that is not known.
    """
    if problems := validate_recording(reply):
        first = problems[0]
        raise RecordingError(f"The recorded reply cannot be read: {first.pointer} {first.message}")
    given = {"url": url, "protocol": protocol, "binding": binding, "version": version}
    target = Target(**{name: reply.get(name, value) for name, value in given.items()})
    document = dict(reply.get("request", request))
    try:
        depth = settings.RUN_LIMITS.max_depth
        exchange = registry.exchange(target, document, max_depth=depth)
    except ValueError as error:
        raise RecordingError(str(error)) from error
    read = _read(exchange, list(frames_of(reply)))
    run = Run(
        owner=owner,
        agent=agent,
        agent_name=storable(agent_name)[:80] or "recorded",
        url=storable(target.url)[:2000],
        protocol=target.protocol,
        binding=target.binding,
        version=target.version,
        request=document,
        text=storable((text or registry.request_text(target.protocol, document))[:500]),
        source=RunSource.RECORDING,
        **_ending(reply, exchange, read),
        **read.columns,
    )
    with transaction.atomic():
        run.conversation = Conversation.objects.create(owner=run.owner)
        run.save()
        FrameBatch.objects.bulk_create(build_batches(run, read.parts))
    return run


def run_from_recording(reply: Mapping[str, Any], owner: User | None) -> Run:
    """A recording that says itself where it went and what it asked, as a run.

    Raises `RecordingError` as `replay`, and for one that does not say it.
    """
    names = ("url", "protocol", "binding", "version")
    if missing := [name for name in (*names, "request") if name not in reply]:
        raise RecordingError(f"The recording does not say its {missing[0]}.")
    host = origin_of(reply["url"]).partition("://")[2]
    given = {name: reply[name] for name in names}
    return run_from_frames(reply, owner, agent_name=host, request=reply["request"], **given)


def run_from_saved_response(saved: SavedRequest, owner: User | None) -> Run:
    """The recorded reply of a saved request as a run, the same one every time.

    Raises `RecordingError` where there is no reply, or none that can be read.
    """
    if saved.reply is None:
        raise RecordingError("No reply is kept with this request.")
    with transaction.atomic():
        locked = SavedRequest.objects.select_for_update(of=("self",))
        known = locked.select_related("recorded_run").get(pk=saved.pk)
        if known.recorded_run is None:
            agent = Agent.objects.owned_by(owner or AnonymousUser()).filter(slug=saved.agent)
            known.recorded_run = run_from_frames(
                saved.reply,
                owner,
                agent_name=saved.agent or saved.name,
                url=saved.address,
                protocol=saved.protocol,
                binding=saved.binding,
                version=saved.version,
                request=saved.document if isinstance(saved.document, Mapping) else {},
                agent=agent.first(),
            )
            Run.objects.filter(pk=known.recorded_run.pk).update(saved_request=saved)
            SavedRequest.objects.filter(pk=saved.pk).update(recorded_run=known.recorded_run)
        run: Run = known.recorded_run
    return run


@dataclass(slots=True)
class _Read:
    """What came of the frames."""

    parts: list[FramePart] = field(default_factory=list)
    #: Columns of the run that count them.
    columns: dict[str, Any] = field(default_factory=dict)
    #: Why the transfer ended before its end, None where it did not.
    broken: Problem | None = None
    last_us: int = 0


def _read(exchange: Exchange, frames: Sequence[Frame]) -> _Read:
    read, tally = _Read(), RunCounters()
    rest = iter(frames)
    while piece := list(islice(rest, _SLICE)):
        readings = [(frame, exchange.receive(frame)) for frame in piece]
        read.parts.append(FramePart(piece, **tally.add(readings)))
    read.columns = {**tally.columns, "frames": len(frames)}
    if frames:
        read.last_us = frames[-1].at_us
        if frames[-1].kind is FrameKind.ERROR:
            read.broken = Problem.from_bytes(frames[-1].data)
    return read


def _ending(reply: Mapping[str, Any], exchange: Exchange, read: _Read) -> dict[str, Any]:
    """The columns that say how the run ended. A recording need not say it: the frames do."""
    problem = read.broken or exchange.problem
    context = exchange.session_context
    ended = reply.get("timings", {}).get("ended_us")
    moment = reply.get("recorded_at")
    state = reply.get("state", problem.state if problem else RunState.COMPLETED)
    return {
        "state": state,
        "outcome": exchange.outcome,
        "problem": problem.to_json() if problem and state in _FAILED else None,
        "session_context": dict(context) if context is not None else None,
        "started_at": datetime.fromisoformat(moment) if moment else timezone.now(),
        "ended_us": read.last_us if ended is None else max(ended, read.last_us),
    }
