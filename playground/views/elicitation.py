"""Answers to an agent's elicitations: sent, previewed, or declined."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from playground import engine
from playground.elicitation import FORM_ERROR_KEY, STRATEGIES, TemplateError, read_answers
from playground.elicitation_answers import (
    ElicitationAnswer,
    NotExpectedError,
    next_call,
    prepare_answer,
    record_answer,
)
from playground.follow_ups import answer_omissions, elicitation_at
from playground.models import Agent, LimitError, Run
from playground.models.conversations import ancestors
from playground.models.elicitation_status import declined_key
from playground.models.ownership import owner_of
from playground.models.storage import check_rows
from playground.protocols.mcp import elicitation as mcp
from playground.query_params import int_param
from playground.rendering.elicitation import STRATEGY, TEMPLATE, ElicitationView, Submitted
from playground.rendering.thread import Thread
from playground.views.calls import describe_call, shown_call
from playground.views.helpers import get_run, is_htmx, room_problem
from playground.views.sending import follow_up_headers, start_run

#: Name of the button that was pressed: an action of MCP.
ACTION = "action"


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """The answer that a form holds, its errors, and the request that sends it."""

    view: ElicitationView
    answer: ElicitationAnswer
    #: Errors of the fields and of the template, by the name of a control.
    errors: dict[str, str]
    prepared: engine.PreparedRequest


@require_POST
async def answers(request: HttpRequest, pk: str) -> HttpResponse:
    """Send an answer, and show what changes on the page."""
    recorded = await sync_to_async(_record)(request, pk)
    if isinstance(recorded, HttpResponse):
        return recorded
    view, run, prepared = recorded
    if not (view.is_server_request or view.is_of_action):
        return await start_run(request, run, prepared)
    await engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(view.run)
    show = _show_sent if view.is_of_action and not view.is_server_request else _show_answered
    return await sync_to_async(show)(request, view)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Show exactly what Answer would send, as far as the questions are answered."""
    submitted = _submitted(request, pk)
    view, errors, prepared = submitted.view, submitted.errors, submitted.prepared
    context: dict[str, Any] = {
        "elicitation": view,
        "unanswered": sum(each.field.name in errors for each in view.controls),
        "wrong": [errors[name] for name in (STRATEGY, TEMPLATE) if name in errors],
        "problems": () if view.is_of_action else prepared.problems,
        "omissions": [] if view.is_binding_elicitation else _omissions(view),
    }
    if prepared.has_call and not prepared.errors:
        if not view.is_of_action:
            context["call"] = shown_call(prepared)
        elif call := next_call(submitted.answer, prepared):
            context["call"] = describe_call(call, prepared.redact)
    return render(request, "runs/elicitation/preview.html", context)


def _omissions(view: ElicitationView) -> list[str]:
    """Return what an answer by the chosen strategy omits, as sentences."""
    return answer_omissions(view.run, view.filled.text(STRATEGY))


@require_POST
def declined(request: HttpRequest, pk: str) -> HttpResponse:
    """Decline to answer, or with `declined=0` undo that. Nothing is sent either way."""
    view = _view(request, pk)
    run, key = view.run, declined_key(view.entry_ref)
    with transaction.atomic():
        # Read again: another elicitation may have been declined in another tab.
        stored = (
            Run.objects.select_for_update()
            .values_list("declined_elicitations", flat=True)
            .get(pk=run.pk)
        )
        others = [each for each in stored or [] if each != key]
        run.declined_elicitations = (
            others if request.POST.get("declined") == "0" else [*others, key]
        )
        run.save(update_fields=["declined_elicitations"])
    if not is_htmx(request):
        return redirect(run)
    shown = ElicitationView(view.thread, view.entry_ref, view.form)
    return render(request, "runs/elicitation/body.html", {"elicitation": shown})


def _view(request: HttpRequest, pk: str) -> ElicitationView:
    """Return the elicitation that the form names, with the submitted answers."""
    run = get_run(request, pk)
    form = request.POST
    entry_ref = int_param(form, "seq", 0), int_param(form, "part", 0)
    elicitation_form = elicitation_at(run, entry_ref)
    if elicitation_form is None:
        raise Http404
    thread = Thread(run, depth=1, page=Run()) if form.get("nested") else Thread(run)
    data = {name: [str(value) for value in form.getlist(name)] for name in form}
    return ElicitationView(thread, entry_ref, elicitation_form, Submitted(data))


def _submitted(request: HttpRequest, pk: str) -> SubmittedAnswer:
    """Return the submitted answer, prepared as far as it can be."""
    view = _view(request, pk)
    values, errors = _read(view)
    strategy, template = view.filled.text(STRATEGY), view.filled.text(TEMPLATE)
    answer = ElicitationAnswer(view.status, view.form, values, _action(view), strategy, template)
    if STRATEGY in errors:
        return SubmittedAnswer(view, answer, errors, engine.PreparedRequest())
    headers: engine.Headers = ()
    header_error = ""
    if not view.is_of_action:
        try:
            headers = follow_up_headers(request, view.run)
        except ValidationError as error:
            header_error = str(error.messages[0])
    try:
        prepared = prepare_answer(answer, headers)
    except TemplateError as error:
        errors[TEMPLATE] = str(error)
        return SubmittedAnswer(view, answer, errors, engine.PreparedRequest())
    if header_error:
        prepared = engine.refused(header_error)
    return SubmittedAnswer(view, answer, errors, prepared)


def _read(view: ElicitationView) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the answers by question, and errors by the name of a control."""
    if view.is_binding_elicitation and _action(view) != mcp.ACCEPT:
        return {}, {}
    read = read_answers(view.form, view.filled.data)
    errors = dict(read.errors)
    if not view.is_binding_elicitation and view.filled.text(STRATEGY) not in STRATEGIES:
        errors[STRATEGY] = "Choose how the answers are sent."
    return read.values, errors


def _action(view: ElicitationView) -> str:
    """Return the chosen action: `accept`, `decline` or `cancel`."""
    action = view.filled.text(ACTION, mcp.ACCEPT)
    return action if action in mcp.ACTIONS else mcp.ACCEPT


def _record(
    request: HttpRequest, pk: str
) -> HttpResponse | tuple[ElicitationView, Run, engine.PreparedRequest]:
    """Record the run of an answer; or return the form with errors."""
    submitted = _submitted(request, pk)
    view, errors, prepared = submitted.view, submitted.errors, submitted.prepared
    if prepared.errors:
        errors.setdefault(FORM_ERROR_KEY, " ".join(each.message for each in prepared.errors))
    if problem := room_problem(request, is_begun=view.is_server_request):
        errors.setdefault(FORM_ERROR_KEY, problem)
    if errors:
        return _refuse(request, view, errors)
    try:
        run = record_answer(submitted.answer, prepared, owner_of(request.user))
    except NotExpectedError as error:
        return _refuse(request, view, {FORM_ERROR_KEY: str(error)})
    if not (view.is_binding_elicitation or view.is_of_action):
        _save_strategy(prepared.agent, submitted.answer)
    return view, run, prepared


def _refuse(request: HttpRequest, view: ElicitationView, errors: dict[str, str]) -> HttpResponse:
    """Return the form with its errors."""
    filled = Submitted(view.filled.data, errors)
    shown = ElicitationView(view.thread, view.entry_ref, view.form, filled)
    response = render(request, "runs/elicitation/body.html", {"elicitation": shown}, status=422)
    return reswap(retarget(response, "closest answer-form"), "outerHTML")


def _save_strategy(agent: Agent, answer: ElicitationAnswer) -> None:
    """Store the answer strategy with the agent, and a template once it has worked."""
    changes = {"answer_strategy": answer.strategy}
    if answer.strategy == "template":
        changes["answer_template"] = answer.template
    if agent.pk is None:
        return
    vars(agent).update(changes)
    with contextlib.suppress(LimitError):  # A template can be too large to be stored.
        check_rows([agent], added=0)
        Agent.objects.filter(pk=agent.pk).update(**changes)


def _show_answered(request: HttpRequest, view: ElicitationView) -> HttpResponse:
    """Show the question whose answer went into the open call."""
    page = Run() if view.is_nested else None
    thread = Thread(view.run, depth=1 if page else 0, page=page)
    # The answer is among the child runs of the entry, which is on the page already.
    context = {**thread.children_context(view.entry_ref), "oob": True, "sent": True}
    shown = replace(view, thread=thread)
    return render(request, "runs/elicitation/body.html", {**context, "elicitation": shown})


def _show_sent(request: HttpRequest, view: ElicitationView) -> HttpResponse:
    """Show the question that an action answered, and open the page's live connection."""
    pk = request.POST.get("page")
    page = next((each for each in ancestors(view.run) if str(each.pk) == pk), view.run)
    thread = Thread(view.run, depth=int(page != view.run), page=page)
    context = {
        **thread.children_context(view.entry_ref),
        "oob": True,
        "sent": True,
        "elicitation": replace(view, thread=thread),
        "run": page,
        "live": True,
    }
    return render(request, "runs/elicitation/sent.html", context)
