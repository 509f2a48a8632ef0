"""Answers to questions of an action's server or agent: the action again, with the answers.

A question during a call is answered as any other of MCP (`binding_elicitation`); every other
answer is a run of the action below the question.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from playground import engine
from playground.elicitation import FORM_ERROR_KEY
from playground.models import Run, RunKind
from playground.protocols import a2a, registry
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import elicitation
from playground.rendering.elicitation import ElicitationView
from playground.rendering.thread import Thread
from playground.views import binding_elicitation
from playground.views.action_panel import ancestors
from playground.views.composer import describe_call
from playground.views.helpers import is_htmx


def answered_action(
    view: ElicitationView, values: Mapping[str, Any]
) -> engine.PreparedRequest | None:
    """Return the action as a request that is sent again with answers.

    Return None where the agent that offered it was deleted. No credentials are sent: a run does
    not store those that it was sent with.
    """
    run, question = view.run, view.form.resume or {}
    if run.agent is None:
        return None
    if view.is_task:
        resume: dict[str, Any] | None = a2a.resume_of(question, values, _message_id(view))
    else:
        resume = elicitation.resume_of(question, binding_elicitation.action_of(view), values)
    headers = [(name, value) for name, value in run.headers if value]
    return engine.action_request(
        run.agent, run.request, run.url, binding=run.binding, headers=headers, resume=resume
    )


def record(
    request: HttpRequest, view: ElicitationView, values: Mapping[str, Any]
) -> tuple[ElicitationView, Run, engine.PreparedRequest] | dict[str, str]:
    """Record a run of the action with the answers, below the question; or return errors.

    Errors are by the name of a control.
    """
    prepared = answered_action(view, values)
    if prepared is None:
        return {FORM_ERROR_KEY: "The agent that offered the action was deleted."}
    run = binding_elicitation.record(request, view, prepared, values)
    return {FORM_ERROR_KEY: run} if isinstance(run, str) else (view, run, prepared)


def preview(
    request: HttpRequest, view: ElicitationView, values: Mapping[str, Any], unanswered: int
) -> HttpResponse:
    """Show exactly what Answer would send, as far as the questions are answered."""
    prepared = answered_action(view, values)
    call = _call(view, prepared) if prepared else None
    context: dict[str, Any] = {"asking": view, "unanswered": unanswered}
    if prepared and call:
        context["call"] = describe_call(call, prepared.redact)
    return render(request, "runs/elicitation/preview.html", context)


def _call(view: ElicitationView, prepared: engine.PreparedRequest) -> HttpCall | None:
    """Return the call that sends an answer.

    The exchange learns the details of an A2A agent from the run's frames before its first message:
    they hold the agent card.
    """
    if not view.is_task:
        return registry.preview(prepared.target, prepared.request)
    exchange = registry.exchange(prepared.target, prepared.request)
    for frame in view.run.read_frames():
        if frame.kind is FrameKind.CALL and not frame.data.startswith(b"GET "):
            break
        exchange.receive(frame)
    return exchange.next_call()


def started_response(request: HttpRequest, view: ElicitationView) -> HttpResponse:
    """Return the changed fragments: the answered question, and the page's live connection."""
    if not is_htmx(request):
        return redirect(view.run)
    page = _page(request, view.run)
    thread = Thread(view.run, depth=int(page != view.run), page=page)
    context = {
        **thread.children_context(view.entry_ref),
        "oob": True,
        "sent": True,
        "asking": replace(view, thread=thread),
        "run": page,
        "live": True,
    }
    return render(request, "runs/elicitation/sent.html", context)


def _page(request: HttpRequest, run: Run) -> Run:
    """Return the run whose page the form is on."""
    pk = request.POST.get("page")
    return next((each for each in ancestors(run) if str(each.pk) == pk), run)


def _message_id(view: ElicitationView) -> str:
    """Return the id of the message: the same for its preview, and another for each answer."""
    earlier = len(view.thread.runs_at(view.entry_ref, RunKind.ACTION))
    return str(uuid.uuid5(view.run.pk, f"{view.entry_ref}-{earlier}"))
