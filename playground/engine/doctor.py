"""The connection doctor at work: makes an examination's calls, and keeps what they came to.

Through the same transport as everything else: outbound policy, limits, redaction. A report is
kept with its agent while it grows, so that it outlives the page; it is never acted upon.
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

from playground.engine.background import TaskRegistry
from playground.engine.call_loop import collect_frames, new_transport
from playground.engine.request import request_to
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

#: Seconds of an examination, of its first call, and of each of the others.
TOTAL, FIRST, EACH = 20.0, 8.0, 4.0
#: What of a reply is read: enough to tell what it speaks.
MAX_BYTES, MAX_FRAMES = 256 * 1024, 1_000
#: Examinations of one user at once.
MAX_AT_ONCE = 3

Listener = Callable[[dict[str, Any]], Awaitable[None]]

#: Examinations by agent, with the key of its owner.
_registry: TaskRegistry[int, int | None] = TaskRegistry("examination of agent")


def planned_calls(agent: Agent) -> list[AnnouncedCall]:
    """What an examination of the agent may send, to be read before it is started."""
    if check_url(agent.url):
        return []
    return announce(request_to(agent, {}).target)


async def diagnose(agent: Agent, listener: Listener | None = None) -> dict[str, Any]:
    """Examine the agent; returns the report, see `Examination.report`.

    `listener` gets the report so far after every call. Nothing that the network or the agent
    does raises.
    """
    prepared = request_to(agent, {})
    examination = Diagnosis(prepared.target, check_url(agent.url) or "")
    loop = asyncio.get_running_loop()
    deadline = loop.time() + TOTAL
    allowed = FIRST
    while call := examination.next_call():
        left = deadline - loop.time()
        if left <= 0:
            examination.give_up()
            break
        examination.add(await _frames(call, min(left, allowed), prepared.redact))
        allowed = EACH
        if listener:
            await listener(_dated(examination, "running"))
    return _dated(examination, "done")


async def _frames(call: HttpCall, seconds: float, secrets: list[str]) -> list[Frame]:
    """The frames of one call, within its share of the time."""
    own: RunLimits = settings.RUN_LIMITS
    limits = own.at_most(
        max_bytes=MAX_BYTES,
        max_frames=MAX_FRAMES,
        # Shorter than the whole, so that the report can say what it was that took so long.
        connect_timeout=0.6 * seconds,
        idle_timeout=0.9 * seconds,
        total_timeout=seconds,
    )
    mask = registry.masker("nlweb")
    return await collect_frames(call, new_transport(limits, redact=secrets, mask=mask))


def _dated(examination: Diagnosis, state: str) -> dict[str, Any]:
    return {**examination.report(), "state": state, "at": timezone.now().isoformat()}


# --- kept with an agent -----------------------------------------------------------------------


def start(agent: Agent) -> bool:
    """Examine a saved agent in the background; False if its owner has too many under way.

    One that is under way already goes on. Must be called on the event loop's thread.
    """
    if agent.pk in _registry:
        return True
    if _registry.values().count(agent.owner_id) >= MAX_AT_ONCE:
        return False
    _registry.begin(agent.pk, agent.owner_id, _examine_and_keep(agent))
    return True


async def _examine_and_keep(agent: Agent) -> None:
    async def keep(report: dict[str, Any]) -> None:
        await run_in_writer(_keep, agent.pk, report)

    try:
        await keep({"state": "running", "at": timezone.now().isoformat()})
        await keep(await diagnose(agent, keep))
    except Exception:
        # Our bug, not the agent's: logged with its traceback, and nobody waits for ever.
        logger.exception("the examination of agent %s failed inside the playground", agent.pk)
        await keep({"state": "broken", "at": timezone.now().isoformat()})


def _keep(pk: int, report: dict[str, Any]) -> None:
    """Store a report, and what it found once it is done."""
    agents = Agent.objects.filter(pk=pk)
    before = agents.values_list("detected", flat=True).first()
    kept = before if isinstance(before, dict) and report["state"] != "done" else {}
    found = report.get("found")
    facts = {**found, "at": report["at"]} if isinstance(found, dict) else {}
    agents.update(detected={**kept, **facts, "report": report})


def is_running(agent: Agent) -> bool:
    """Whether an examination of the agent is under way, here or in another process.

    One that has said nothing for longer than it may take is not: its process went down.
    """
    if agent.pk in _registry:
        return True
    report = report_of(agent)
    moment = parse_datetime(str(report.get("at", ""))) if report else None
    if report is None or report.get("state") != "running" or moment is None:
        return False
    return timezone.now() - moment < timedelta(seconds=TOTAL)
