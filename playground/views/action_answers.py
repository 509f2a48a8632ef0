"""Answers to what the server or agent of an action asks: the same action once more, with them.

A question in mid-call is answered like any other of MCP (`own_questions`); all else is a run of
the action below the question.
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
from playground.views.action_desk import ancestors
from playground.views.compose import describe_call
from playground.views.helpers import is_htmx


def prepared_of(
    asking: ElicitationView, values: Mapping[str, Any]
) -> engine.PreparedRequest | None:
    """The action as it is run again; None where whoever offered it is no longer known.

    Nothing secret goes along: a run does not keep what it was sent with.
    """
    run, reply = asking.run, asking.form.resume or {}
    if run.agent is None:
        return None
    if asking.is_task:
        resume: dict[str, Any] | None = a2a.resume_of(reply, values, _message_id(asking))
    else:
        resume = elicitation.resume_of(reply, binding_elicitation.action_of(asking), values)
    headers = [(name, value) for name, value in run.headers if value]
    return engine.action_request(
        run.agent, run.request, run.url, binding=run.binding, headers=headers, resume=resume
    )


def record(
    request: HttpRequest, asking: ElicitationView, values: Mapping[str, Any]
) -> tuple[ElicitationView, Run, engine.PreparedRequest] | dict[str, str]:
    """A run of the action with the answer, below the question; or what is wrong, by control."""
    prepared = prepared_of(asking, values)
    if prepared is None:
        return {FORM_ERROR_KEY: "The agent that offered the action was deleted."}
    run = binding_elicitation.record(request, asking, prepared, values)
    return {FORM_ERROR_KEY: run} if isinstance(run, str) else (asking, run, prepared)


def preview(
    request: HttpRequest, asking: ElicitationView, values: Mapping[str, Any], unanswered: int
) -> HttpResponse:
    """Exactly what Answer would send, as far as the questions are answered."""
    prepared = prepared_of(asking, values)
    call = _call(asking, prepared) if prepared else None
    context: dict[str, Any] = {"asking": asking, "unanswered": unanswered}
    if prepared and call:
        context["call"] = describe_call(call, prepared.redact)
    return render(request, "runs/elicitation/preview.html", context)


def _call(asking: ElicitationView, prepared: engine.PreparedRequest) -> HttpCall | None:
    """The call that carries an answer.

    What the run has learnt of an agent's card tells how: it has the calls before its message.
    """
    if not asking.is_task:
        return registry.preview(prepared.target, prepared.request)
    exchange = registry.exchange(prepared.target, prepared.request)
    for frame in asking.run.read_frames():
        if frame.kind is FrameKind.CALL and not frame.data.startswith(b"GET "):
            break
        exchange.receive(frame)
    return exchange.next_call()


def started_response(request: HttpRequest, asking: ElicitationView) -> HttpResponse:
    """What changes on the page: the question is answered, and the page's socket listens."""
    if not is_htmx(request):
        return redirect(asking.run)
    page = _page(request, asking.run)
    thread = Thread(asking.run, depth=int(page != asking.run), page=page)
    context = {
        **thread.children_context(asking.entry_ref),
        "oob": True,
        "sent": True,
        "asking": replace(asking, thread=thread),
        "run": page,
        "live": True,
    }
    return render(request, "runs/elicitation/sent.html", context)


def _page(request: HttpRequest, run: Run) -> Run:
    asked = request.POST.get("page")
    return next((each for each in ancestors(run) if str(each.pk) == asked), run)


def _message_id(asking: ElicitationView) -> str:
    """What the message is called: the same in its preview, and another for each answer."""
    earlier = len(asking.thread.runs_at(asking.entry_ref, RunKind.ACTION))
    return str(uuid.uuid5(asking.run.pk, f"{asking.entry_ref}-{earlier}"))
