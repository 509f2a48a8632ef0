"""Connection doctor: makes the calls of a diagnosis, and stores its report with the agent.

It uses the same transport as everything else: outbound policy, limits, redaction. The report is
stored after every call, so that it outlives the page; the detected settings are only proposed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from playground.engine.call_loop import collect_frames, new_transport
from playground.engine.request import request_to
from playground.engine.task_registry import TaskRegistry
from playground.executors import run_in_writer
from playground.limits import RunLimits
from playground.models import Agent
from playground.models.detection import report_of
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.doctor import AnnouncedCall, Diagnosis, announce
from playground.protocols.frames import Frame
from playground.transport import check_url

logger = logging.getLogger(__name__)

#: Seconds of a diagnosis, of its first call, and of each of the others.
TOTAL, FIRST, EACH = 20.0, 8.0, 4.0
#: Bytes and frames of a response that are read: enough to detect the protocol.
MAX_BYTES, MAX_FRAMES = 256 * 1024, 1_000
#: Diagnoses of one user at once.
MAX_AT_ONCE = 3

Listener = Callable[[dict[str, Any]], Awaitable[None]]

#: Diagnoses in progress by agent, with the key of its owner.
_registry: TaskRegistry[int, int | None] = TaskRegistry("diagnosis of agent")


def planned_calls(agent: Agent) -> list[AnnouncedCall]:
    """Return the calls that a diagnosis of the agent may make, to be shown before it starts."""
    if check_url(agent.url):
        return []
    return announce(request_to(agent, {}).target)


async def diagnose(agent: Agent, listener: Listener | None = None) -> dict[str, Any]:
    """Diagnose the agent and return the report, see `Diagnosis.report`.

    `listener` gets the report so far after every call. Never raises because of the network or the
    agent.
    """
    prepared = request_to(agent, {})
    diagnosis = Diagnosis(prepared.target, check_url(agent.url) or "")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TOTAL
    allowed = FIRST
    while call := diagnosis.next_call():
        left = deadline - loop.time()
        if left <= 0:
            diagnosis.give_up()
            break
        diagnosis.add(await _frames(call, min(left, allowed), prepared.redact))
        allowed = EACH
        if listener:
            await listener(_dated(diagnosis, "running"))
    return _dated(diagnosis, "done")


async def _frames(call: HttpCall, seconds: float, secrets: list[str]) -> list[Frame]:
    """Return the frames of one call, within `seconds`."""
    limits: RunLimits = settings.RUN_LIMITS
    limits = limits.at_most(
        max_bytes=MAX_BYTES,
        max_frames=MAX_FRAMES,
        # Shorter than the total, so that the report can name the slow stage.
        connect_timeout=0.6 * seconds,
        idle_timeout=0.9 * seconds,
        total_timeout=seconds,
    )
    mask = registry.masker("nlweb")
    return await collect_frames(call, new_transport(limits, redact=secrets, mask=mask))


def _dated(diagnosis: Diagnosis, state: str) -> dict[str, Any]:
    return {**diagnosis.report(), "state": state, "at": timezone.now().isoformat()}


# The stored report of an agent


def start(agent: Agent) -> bool:
    """Diagnose a saved agent in the background; return False if the owner's limit is reached.

    A diagnosis in progress continues. Must be called on the event loop's thread.
    """
    if agent.pk in _registry:
        return True
    if _registry.values().count(agent.owner_id) >= MAX_AT_ONCE:
        return False
    _registry.begin(agent.pk, agent.owner_id, _diagnose_and_store(agent))
    return True


async def _diagnose_and_store(agent: Agent) -> None:
    async def store(report: dict[str, Any]) -> None:
        await run_in_writer(_store_report, agent.pk, report)

    try:
        await store({"state": "running", "at": timezone.now().isoformat()})
        await store(await diagnose(agent, store))
    except Exception:
        # An error of the playground, not of the agent: the page must not wait for ever.
        logger.exception("Diagnosis of agent %s failed", agent.pk)
        await store({"state": "broken", "at": timezone.now().isoformat()})


def _store_report(pk: int, report: dict[str, Any]) -> None:
    """Store a report, and the detected settings once it is done."""
    agents = Agent.objects.filter(pk=pk)
    before = agents.values_list("detected", flat=True).first()
    stored = before if isinstance(before, dict) and report["state"] != "done" else {}
    found = report.get("found")
    facts = {**found, "at": report["at"]} if isinstance(found, dict) else {}
    agents.update(detected={**stored, **facts, "report": report})


def is_running(agent: Agent) -> bool:
    """Return whether a diagnosis of the agent is in progress, in this or another process.

    A report that has not changed for longer than a diagnosis takes belongs to a dead process.
    """
    if agent.pk in _registry:
        return True
    report = report_of(agent)
    changed_at = parse_datetime(str(report.get("at", ""))) if report else None
    if report is None or report.get("state") != "running" or changed_at is None:
        return False
    return timezone.now() - changed_at < timedelta(seconds=TOTAL)
