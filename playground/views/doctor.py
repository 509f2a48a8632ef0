"""Connection diagnosis of an agent: planned calls, report, and applying detected settings."""

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
    """Return the context of the report."""
    return {
        "agent": agent,
        "is_running": doctor.is_running(agent),
        "report": report_for(agent),
    }


@require_http_methods(["GET", "HEAD", "POST"])
async def diagnosis(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the planned calls and the latest report (GET), or start a diagnosis (POST)."""
    agent = await sync_to_async(get_agent)(request, slug)
    if request.method != "POST":
        return await sync_to_async(_page)(request, agent)
    if not doctor.start(agent):
        message = f"{doctor.MAX_AT_ONCE} examinations are under way. Wait for one of them to end."
        await sync_to_async(messages.warning)(request, message)
    return redirect("agent-doctor", agent.slug)


def _page(request: HttpRequest, agent: Agent) -> HttpResponse:
    context = {**_context(agent), "announced": doctor.planned_calls(agent)}
    return render(request, "agents/doctor.html", context)


@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the current report; it polls itself while the diagnosis is in progress."""
    return render(request, "agents/doctor_report.html", _context(get_agent(request, slug)))


@require_POST
def apply_detected(request: HttpRequest, slug: str) -> HttpResponse:
    """Apply the detected settings to the agent, which nothing else does."""
    agent = get_agent(request, slug)
    changes: dict[str, Any] = {**proposed_changes(agent)}
    for name, value in changes.items():
        setattr(agent, name, value)
    if "url" in changes and isinstance(agent.detected, dict):
        # The report is about the new URL: it was made there.
        agent.detected["report"]["url"] = changes["url"]
        changes["detected"] = agent.detected
    # No other fields: a run may have stored more about the agent meanwhile.
    agent.save(update_fields=list(changes))
    messages.success(request, f"{agent.name} was set to what was found.")
    return redirect("agent-doctor", agent.slug)
