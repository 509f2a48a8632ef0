"""Connection diagnosis of an agent or of a run to a URL, and detection for the composer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.agents import diagnosis as doctor
from playground.agents.doctor import report_for
from playground.composer.views import prepare_form
from playground.conversation.errors import authentication
from playground.engine import PreparedRequest, SecretNotAllowedError
from playground.engine.preparation import ADDRESS
from playground.models import Agent
from playground.models.detection import proposed_changes
from playground.protocols.doctor import Remedy
from playground.ui.helpers import get_agent, get_run, room_problem

BUSY = f"{doctor.MAX_AT_ONCE} diagnoses are in progress. Try again shortly."


def _subject(request: HttpRequest, slug: str, pk: UUID | None) -> doctor.Subject:
    """Return the agent with a slug, or the run with a key that was sent to a URL."""
    if pk is None:
        return get_agent(request, slug)
    run = get_run(request, pk)
    if not run.sent_to_url:
        raise Http404
    return run


def _context(subject: doctor.Subject) -> dict[str, Any]:
    """Return the context of the report."""
    agent = subject if isinstance(subject, Agent) else None
    args = [agent.slug] if agent else [subject.pk]
    prefix = "agent" if agent else "run"
    return {
        "agent": agent,
        "subject": subject,
        "name": agent.name if agent else str(getattr(subject, "agent_name", "")),
        "doctor_url": reverse(f"{prefix}-doctor", args=args),
        "report_url": reverse(f"{prefix}-doctor-report", args=args),
        "is_running": doctor.is_running(subject),
        "report": report_for(subject),
    }


@require_http_methods(["GET", "HEAD", "POST"])
async def diagnosis(request: HttpRequest, slug: str = "", pk: UUID | None = None) -> HttpResponse:
    """Show the planned calls and the latest report (GET), or start a diagnosis (POST)."""
    subject = await sync_to_async(_subject)(request, slug, pk)
    if request.method != "POST":
        return await sync_to_async(_page)(request, subject)
    try:
        prepared = await sync_to_async(doctor.request_of)(subject)
    except SecretNotAllowedError as error:
        await sync_to_async(messages.warning)(request, str(error))
    else:
        if refusal := await sync_to_async(room_problem)(request, is_begun=True):
            await sync_to_async(messages.warning)(request, refusal)
        elif not doctor.start(subject, prepared):
            await sync_to_async(messages.warning)(request, BUSY)
    return redirect(f"{'agent' if pk is None else 'run'}-doctor", slug or pk)


def _page(request: HttpRequest, subject: doctor.Subject) -> HttpResponse:
    context = _context(subject)
    try:
        context["announced"] = doctor.planned_calls(subject)
    except SecretNotAllowedError:
        context["announced"] = []  # Starting says why.
    return render(request, "agents/doctor.html", context)


@require_safe
def report(request: HttpRequest, slug: str = "", pk: UUID | None = None) -> HttpResponse:
    """Show the current report; it polls itself while the diagnosis is in progress."""
    return render(request, "agents/doctor_report.html", _context(_subject(request, slug, pk)))


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
    messages.success(request, f"Detected settings applied to {agent.name}.")
    return redirect("agent-doctor", agent.slug)


@require_POST
async def detection(request: HttpRequest) -> HttpResponse:
    """Detect what responds at the URL of the composer; nothing is stored.

    The response is JSON: `found` has the detected settings, null for none, `cause` why nothing was
    detected. A cause that credentials help against has `authenticate`, the label of a link, and
    `auth`, how an agent authenticates.
    """
    prepared = await sync_to_async(_prepared)(request)
    if isinstance(prepared, HttpResponse):
        return prepared
    owner = prepared.agent.owner_id
    try:
        found = await doctor.detect(prepared, owner)
    except doctor.TooManyError:
        return _no_detection(BUSY)
    cause = found["cause"]
    if cause and cause["remedy"] == Remedy.AUTHENTICATE:
        label, auth = authentication(cause["scheme"])
        cause = {**cause, "authenticate": label, "auth": auth}
    return JsonResponse({"found": found["found"], "cause": cause, "at": found["at"]})


def _prepared(request: HttpRequest) -> PreparedRequest | HttpResponse:
    """Return the composer's request; or why nothing may be sent to its URL.

    The problems of its document do not matter: it is not sent.
    """
    prepared = prepare_form(request)
    if not prepared.has_call:
        return _no_detection(prepared.errors[0].message)
    at_url = (each.message for each in prepared.errors if each.pointer == ADDRESS)
    reasons = [*prepared.refusals(), *at_url]
    return _no_detection(reasons[0]) if reasons else prepared


def _no_detection(reason: str) -> JsonResponse:
    cause = {"headline": reason, "fix": "", "remedy": "edit", "scheme": "", "url": "", "facts": []}
    return JsonResponse({"found": None, "cause": cause, "at": ""})
