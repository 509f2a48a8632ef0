"""The connection doctor of an agent: what it will send, what it found, and using that."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.engine import doctor
from playground.models import Agent
from playground.models.detection import proposed_changes
from playground.rendering.doctor import report_for
from playground.views.helpers import get_agent


def _context(agent: Agent) -> dict[str, Any]:
    return {
        "agent": agent,
        "is_running": doctor.is_running(agent),
        "report": report_for(agent),
    }


@require_http_methods(["GET", "HEAD", "POST"])
async def diagnosis(request: HttpRequest, slug: str) -> HttpResponse:
    """GET shows what an examination sends and the latest report; POST starts one."""
    agent = await sync_to_async(get_agent)(request, slug)
    if request.method != "POST":
        return await sync_to_async(_page)(request, agent)
    if not doctor.start(agent):
        text = f"{doctor.MAX_AT_ONCE} examinations are under way. Wait for one of them to end."
        await sync_to_async(messages.warning)(request, text)
    return redirect("agent-doctor", agent.slug)


def _page(request: HttpRequest, agent: Agent) -> HttpResponse:
    context = {**_context(agent), "announced": doctor.planned_calls(agent)}
    return render(request, "agents/doctor.html", context)


@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """The report as it is now; it asks for itself again while the examination goes on."""
    return render(request, "agents/doctor_report.html", _context(get_agent(request, slug)))


@require_POST
def apply_detected(request: HttpRequest, slug: str) -> HttpResponse:
    """Set the agent to what was found, which nothing else does."""
    agent = get_agent(request, slug)
    wanted: dict[str, Any] = {**proposed_changes(agent)}
    for name, value in wanted.items():
        setattr(agent, name, value)
    if "url" in wanted and isinstance(agent.detected, dict):
        # What was found holds for the new address: it was found there.
        agent.detected["report"]["url"] = wanted["url"]
        wanted["detected"] = agent.detected
    # Nothing else: a run may have found out more about the agent meanwhile.
    agent.save(update_fields=list(wanted))
    messages.success(request, f"{agent.name} was set to what was found.")
    return redirect("agent-doctor", agent.slug)
