"""Answers to questions of MCP itself: sent into the open call, or with the request sent again."""

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


def action_of(view: ElicitationView) -> str:
    """Return the chosen action: `accept`, `decline` or `cancel`."""
    action = view.filled.text(ACTION, elicitation.ACCEPT)
    return action if action in elicitation.ACTIONS else elicitation.ACCEPT


def compose(
    request: HttpRequest, view: ElicitationView, values: Mapping[str, Any]
) -> engine.PreparationResult:
    """Return the prepared answer: the same request, with what resumes its exchange."""
    preparation = prepare_follow_up(request, view.run, view.run.request)
    if (prepared := preparation.prepared) is not None and view.form.resume is not None:
        resume = elicitation.resume_of(view.form.resume, action_of(view), values)
        if view.is_server_request:
            # It belongs to the session of the call, so it goes to the same URL.
            if not same_origin(view.run.url, prepared.target.url):
                preparation.add_error("", ORIGIN_CHANGED)
            prepared = prepared.with_url(view.run.url)
        preparation.prepared = prepared.resuming(resume)
    return preparation


def record(
    request: HttpRequest,
    view: ElicitationView,
    prepared: engine.PreparedRequest,
    values: Mapping[str, Any],
) -> Run | str:
    """Record a run of the answer, or return the reason why there is none."""
    kind = RunKind.CLIENT_RESPONSE if view.is_server_request else RunKind.ANSWER
    kind = RunKind.ACTION if view.is_of_action and not view.is_server_request else kind
    parent = engine.RunParent(kind, view.run, *view.entry_ref, values)
    if kind == RunKind.ANSWER:  # A turn can have any number of follow-ups.
        return engine.create_run(prepared, owner_of(request.user), parent)
    with transaction.atomic():
        # Read again: it may have been answered in another tab, or have ended meanwhile.
        run = Run.objects.select_for_update().get(pk=view.run.pk)
        now = replace(view, thread=Thread(run))
        if now.is_settled or now.is_closed:
            return ALREADY_ANSWERED if now.is_settled else CALL_ENDED
        return engine.create_run(prepared, owner_of(request.user), parent)


async def send_answer(
    request: HttpRequest, view: ElicitationView, run: Run, prepared: engine.PreparedRequest
) -> HttpResponse:
    """Send an answer into the call that waits for it, and replace the question on the page."""
    engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(view.run)
    return await sync_to_async(_answered)(request, view)


def _answered(request: HttpRequest, view: ElicitationView) -> HttpResponse:
    """Render the answered question."""
    page = Run() if view.is_nested else None
    thread = Thread(view.run, depth=1 if page else 0, page=page)
    shown = replace(view, thread=thread)
    # The answer is among the child runs of the entry, which is on the page already.
    context = {**thread.children_context(view.entry_ref), "oob": True, "sent": True}
    return render(request, "runs/elicitation/body.html", {**context, "asking": shown})
