"""Answers to an agent's questions: sent as a turn that follows, shown before, or declined."""

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
from playground.models.ownership import owner_of
from playground.protocols.mcp.elicitation import ACCEPT
from playground.query_params import int_param
from playground.rendering.elicitation import (
    STRATEGY,
    TEMPLATE,
    ElicitationView,
    Submitted,
    declined_key,
)
from playground.rendering.thread import Thread
from playground.views import action_answers, binding_elicitation
from playground.views.compose import shown_call
from playground.views.helpers import get_run, is_htmx
from playground.views.runs import start_run
from playground.views.turns import prepare_follow_up


@require_POST
async def answers(request: HttpRequest, pk: str) -> HttpResponse:
    """Answer: a new turn that follows the one that asked, driven in the background."""
    sent = await sync_to_async(_record)(request, pk)
    if isinstance(sent, HttpResponse):
        return sent
    asking, run, prepared = sent
    if asking.is_server_request:
        return await binding_elicitation.send_answer(request, asking, run, prepared)
    if asking.is_of_action:
        send(run, prepared)
        return await sync_to_async(action_answers.started_response)(request, asking)
    return await start_run(request, run, prepared)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Exactly what Answer would send, as far as the questions are answered."""
    asking = _asking(request, pk)
    values, errors = _read(asking)
    unanswered = sum(each.field.name in errors for each in asking.controls)
    if asking.is_of_action:
        return action_answers.preview(request, asking, values, unanswered)
    composed = _compose(request, asking, values, errors)
    context: dict[str, Any] = {
        "asking": asking,
        "unanswered": unanswered,
        "wrong": [errors[name] for name in (STRATEGY, TEMPLATE) if name in errors],
        "problems": composed.problems,
    }
    if composed.prepared and not composed.errors:
        context["call"] = shown_call(composed.prepared)
    return render(request, "runs/elicitation/preview.html", context)


@require_POST
def declined(request: HttpRequest, pk: str) -> HttpResponse:
    """Decline to answer, or with `declined=0` take that back. Nothing is sent either way."""
    asking = _asking(request, pk)
    run, key = asking.run, declined_key(asking.entry_ref)
    with transaction.atomic():
        # Read anew: something else may have been declined in another tab.
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
    shown = ElicitationView(asking.thread, asking.entry_ref, asking.form)
    return render(request, "runs/elicitation/body.html", {"asking": shown})


def _asking(request: HttpRequest, pk: str) -> ElicitationView:
    """What the run asks at the place that the form names, as it was filled in."""
    run = get_run(request, pk)
    form = request.POST
    place = int_param(form, "seq", 0), int_param(form, "part", 0)
    asked = elicitation_at(run, *place)
    if asked is None:
        raise Http404
    thread = Thread(run, depth=1, page=Run()) if form.get("nested") else Thread(run)
    data = {name: [str(value) for value in form.getlist(name)] for name in form}
    return ElicitationView(thread, place, asked, Submitted(data))


def _read(asking: ElicitationView) -> tuple[dict[str, Any], dict[str, str]]:
    """The answers by question, and what is wrong by the name of a control."""
    if asking.is_binding_elicitation and binding_elicitation.action_of(asking) != ACCEPT:
        return {}, {}
    read = read_answers(asking.form, asking.filled.data)
    errors = dict(read.errors)
    if asking.is_binding_elicitation:
        return read.values, errors
    if asking.filled.text(STRATEGY) not in STRATEGIES:
        errors[STRATEGY] = "Choose how the answers are sent."
    return read.values, errors


def _compose(
    request: HttpRequest, asking: ElicitationView, values: dict[str, Any], errors: dict[str, str]
) -> PreparationResult:
    """The next request; what is wrong with the template joins `errors`."""
    if asking.is_binding_elicitation:
        return binding_elicitation.compose(request, asking, values)
    if STRATEGY in errors:
        return PreparationResult()
    strategy, template = asking.filled.text(STRATEGY), asking.filled.text(TEMPLATE)
    try:
        document = answer_document(asking.run, asking.form, values, strategy, template)
    except TemplateError as error:
        errors[TEMPLATE] = str(error)
        return PreparationResult()
    return prepare_follow_up(request, asking.run, document)


def _record(
    request: HttpRequest, pk: str
) -> HttpResponse | tuple[ElicitationView, Run, PreparedRequest]:
    asking = _asking(request, pk)
    values, errors = _read(asking)
    if asking.is_of_action:
        recorded = errors or action_answers.record(request, asking, values)
        return recorded if isinstance(recorded, tuple) else _refuse(request, asking, recorded)
    composed = _compose(request, asking, values, errors)
    if composed.errors:
        errors.setdefault(FORM_ERROR_KEY, " ".join(each.message for each in composed.errors))
    if errors or composed.prepared is None:
        return _refuse(request, asking, errors)
    if asking.is_binding_elicitation:
        run = binding_elicitation.record(request, asking, composed.prepared, values)
        if isinstance(run, str):
            return _refuse(request, asking, {FORM_ERROR_KEY: run})
        return asking, run, composed.prepared
    _remember(composed.prepared.agent, asking)
    seq, part = asking.entry_ref
    link = RunParent(RunKind.ANSWER, asking.run, seq, part, values)
    return asking, create_run(composed.prepared, owner_of(request.user), link), composed.prepared


def _refuse(request: HttpRequest, asking: ElicitationView, errors: dict[str, str]) -> HttpResponse:
    filled = Submitted(asking.filled.data, errors)
    shown = ElicitationView(asking.thread, asking.entry_ref, asking.form, filled)
    response = render(request, "runs/elicitation/body.html", {"asking": shown}, status=422)
    return reswap(retarget(response, "closest answer-form"), "outerHTML")


def _remember(agent: Agent, asking: ElicitationView) -> None:
    """The way to answer is kept with the agent, a template once it has worked."""
    changes = {"answer_strategy": asking.filled.text(STRATEGY)}
    if changes["answer_strategy"] == "template":
        changes["answer_template"] = asking.filled.text(TEMPLATE)
    Agent.objects.filter(pk=agent.pk).update(**changes)
