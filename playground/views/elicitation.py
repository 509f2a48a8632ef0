"""Answers to an agent's elicitations: sent as the next turn, previewed, or declined."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from playground.elicitation import FORM_ERROR_KEY, STRATEGIES, TemplateError, read_answers
from playground.engine import PreparationResult, PreparedRequest, RunParent, create_run, send
from playground.follow_ups import answer_document, elicitation_at
from playground.models import Agent, Run, RunKind
from playground.models.elicitation_status import declined_key
from playground.models.ownership import owner_of
from playground.protocols.mcp.elicitation import ACCEPT
from playground.query_params import int_param
from playground.rendering.elicitation import STRATEGY, TEMPLATE, ElicitationView, Submitted
from playground.rendering.thread import Thread
from playground.views import action_elicitation, binding_elicitation
from playground.views.composer import shown_call
from playground.views.helpers import get_run, is_htmx
from playground.views.runs import start_run
from playground.views.turns import prepare_follow_up


@require_POST
async def answers(request: HttpRequest, pk: str) -> HttpResponse:
    """Send answers as a new turn after the one with the question, in the background."""
    sent = await sync_to_async(_record)(request, pk)
    if isinstance(sent, HttpResponse):
        return sent
    view, run, prepared = sent
    if view.is_server_request:
        return await binding_elicitation.send_answer(request, view, run, prepared)
    if view.is_of_action:
        send(run, prepared)
        return await sync_to_async(action_elicitation.started_response)(request, view)
    return await start_run(request, run, prepared)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Show exactly what Answer would send, as far as the questions are answered."""
    view = _view(request, pk)
    values, errors = _read(view)
    unanswered = sum(each.field.name in errors for each in view.controls)
    if view.is_of_action:
        return action_elicitation.preview(request, view, values, unanswered)
    preparation = _compose(request, view, values, errors)
    context: dict[str, Any] = {
        "asking": view,
        "unanswered": unanswered,
        "wrong": [errors[name] for name in (STRATEGY, TEMPLATE) if name in errors],
        "problems": preparation.problems,
    }
    if preparation.prepared and not preparation.errors:
        context["call"] = shown_call(preparation.prepared)
    return render(request, "runs/elicitation/preview.html", context)


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
    return render(request, "runs/elicitation/body.html", {"asking": shown})


def _view(request: HttpRequest, pk: str) -> ElicitationView:
    """Return the elicitation that the form names, with the submitted answers."""
    run = get_run(request, pk)
    form = request.POST
    entry_ref = int_param(form, "seq", 0), int_param(form, "part", 0)
    elicitation_form = elicitation_at(run, *entry_ref)
    if elicitation_form is None:
        raise Http404
    thread = Thread(run, depth=1, page=Run()) if form.get("nested") else Thread(run)
    data = {name: [str(value) for value in form.getlist(name)] for name in form}
    return ElicitationView(thread, entry_ref, elicitation_form, Submitted(data))


def _read(view: ElicitationView) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the answers by question, and errors by the name of a control."""
    if view.is_binding_elicitation and binding_elicitation.action_of(view) != ACCEPT:
        return {}, {}
    read = read_answers(view.form, view.filled.data)
    errors = dict(read.errors)
    if view.is_binding_elicitation:
        return read.values, errors
    if view.filled.text(STRATEGY) not in STRATEGIES:
        errors[STRATEGY] = "Choose how the answers are sent."
    return read.values, errors


def _compose(
    request: HttpRequest, view: ElicitationView, values: dict[str, Any], errors: dict[str, str]
) -> PreparationResult:
    """Return the prepared next request; an error in the template is added to `errors`."""
    if view.is_binding_elicitation:
        return binding_elicitation.compose(request, view, values)
    if STRATEGY in errors:
        return PreparationResult()
    strategy, template = view.filled.text(STRATEGY), view.filled.text(TEMPLATE)
    try:
        document = answer_document(view.run, view.form, values, strategy, template)
    except TemplateError as error:
        errors[TEMPLATE] = str(error)
        return PreparationResult()
    return prepare_follow_up(request, view.run, document)


def _record(
    request: HttpRequest, pk: str
) -> HttpResponse | tuple[ElicitationView, Run, PreparedRequest]:
    """Record the run of an answer; or return the form with errors."""
    view = _view(request, pk)
    values, errors = _read(view)
    if view.is_of_action:
        recorded = errors or action_elicitation.record(request, view, values)
        return recorded if isinstance(recorded, tuple) else _refuse(request, view, recorded)
    preparation = _compose(request, view, values, errors)
    if preparation.errors:
        errors.setdefault(FORM_ERROR_KEY, " ".join(each.message for each in preparation.errors))
    if errors or preparation.prepared is None:
        return _refuse(request, view, errors)
    if view.is_binding_elicitation:
        run = binding_elicitation.record(request, view, preparation.prepared, values)
        if isinstance(run, str):
            return _refuse(request, view, {FORM_ERROR_KEY: run})
        return view, run, preparation.prepared
    _save_strategy(preparation.prepared.agent, view)
    seq, part = view.entry_ref
    parent = RunParent(RunKind.ANSWER, view.run, seq, part, values)
    return (
        view,
        create_run(preparation.prepared, owner_of(request.user), parent),
        preparation.prepared,
    )


def _refuse(request: HttpRequest, view: ElicitationView, errors: dict[str, str]) -> HttpResponse:
    """Return the form with its errors."""
    submitted = Submitted(view.filled.data, errors)
    shown = ElicitationView(view.thread, view.entry_ref, view.form, submitted)
    response = render(request, "runs/elicitation/body.html", {"asking": shown}, status=422)
    return reswap(retarget(response, "closest answer-form"), "outerHTML")


def _save_strategy(agent: Agent, view: ElicitationView) -> None:
    """Store the answer strategy with the agent, and a template once it has worked."""
    changes = {"answer_strategy": view.filled.text(STRATEGY)}
    if changes["answer_strategy"] == "template":
        changes["answer_template"] = view.filled.text(TEMPLATE)
    Agent.objects.filter(pk=agent.pk).update(**changes)
