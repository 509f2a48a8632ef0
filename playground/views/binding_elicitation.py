"""Answers to questions of the binding itself (MCP): sent into the call, or with it once more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from playground import engine
from playground.models import Run, RunKind
from playground.models.ownership import owner_of
from playground.protocols.mcp import elicitation
from playground.protocols.origins import same_origin
from playground.rendering.elicitation import ElicitationView
from playground.rendering.thread import Thread
from playground.views.helpers import is_htmx
from playground.views.turns import prepare_follow_up

#: Name of the button that was pressed.
ACTION = "action"

CALL_ENDED = "The call has ended, so this question can no longer be answered."
ALREADY_ANSWERED = "This question has been answered already."
ORIGIN_CHANGED = "The agent has another address now than that which the call went to."


def action_of(asking: ElicitationView) -> str:
    """What the user does with the question: `accept`, `decline` or `cancel`."""
    action = asking.filled.text(ACTION, elicitation.ACCEPT)
    return action if action in elicitation.ACTIONS else elicitation.ACCEPT


def compose(
    request: HttpRequest, asking: ElicitationView, values: Mapping[str, Any]
) -> engine.PreparationResult:
    """The answer as something that can be sent: the same request, with what resumes it."""
    composed = prepare_follow_up(request, asking.run, asking.run.request)
    if (prepared := composed.prepared) is not None and asking.form.resume is not None:
        resume = elicitation.resume_of(asking.form.resume, action_of(asking), values)
        if asking.is_server_request:
            # It belongs to the session of the call, and so to where that went.
            if not same_origin(asking.run.url, prepared.target.url):
                composed.refuse("", ORIGIN_CHANGED)
            prepared = prepared.at(asking.run.url)
        composed.prepared = prepared.resuming(resume)
    return composed


def record(
    request: HttpRequest,
    asking: ElicitationView,
    prepared: engine.PreparedRequest,
    values: Mapping[str, Any],
) -> Run | str:
    """A run of the answer, or why there is to be none."""
    kind = RunKind.CLIENT_RESPONSE if asking.is_server_request else RunKind.ANSWER
    kind = RunKind.ACTION if asking.is_of_action and not asking.is_server_request else kind
    link = engine.RunParent(kind, asking.run, *asking.entry_ref, values)
    if kind == RunKind.ANSWER:  # A turn can have as many that follow as anybody likes.
        return engine.create_run(prepared, owner_of(request.user), link)
    with transaction.atomic():
        # Read anew: it may have been answered in another tab, or have ended meanwhile.
        run = Run.objects.select_for_update().get(pk=asking.run.pk)
        now = replace(asking, thread=Thread(run))
        if now.is_settled or now.is_closed:
            return ALREADY_ANSWERED if now.is_settled else CALL_ENDED
        return engine.create_run(prepared, owner_of(request.user), link)


async def send_answer(
    request: HttpRequest, asking: ElicitationView, run: Run, prepared: engine.PreparedRequest
) -> HttpResponse:
    """Send an answer into the call that waits for it; the question gives way to it."""
    engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(asking.run)
    return await sync_to_async(_settled)(request, asking)


def _settled(request: HttpRequest, asking: ElicitationView) -> HttpResponse:
    page = Run() if asking.is_nested else None
    thread = Thread(asking.run, depth=1 if page else 0, page=page)
    shown = replace(asking, thread=thread)
    # The answer stands among what came of the entry, which is on the page already.
    context = {**thread.children_context(asking.entry_ref), "oob": True, "sent": True}
    return render(request, "runs/elicitation/body.html", {**context, "asking": shown})
