"""Answers to elicitations: sent, previewed, or declined.

Who asks decides how an answer travels:

- NLWeb or the Agent API: as the next request of the conversation, by an answer strategy.
- An MCP server in mid-call: as a client response, into the open call.
- An MCP server that ended the call with its elicitation: the same request again, with what resumes
  its exchange.
- The server or agent of an action: the action again, with what resumes its exchange.
"""

from __future__ import annotations

import contextlib
import uuid
from dataclasses import replace
from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from playground import engine
from playground.base.query_params import int_param
from playground.conversation.elicitation import STRATEGY, TEMPLATE, ElicitationEntry
from playground.conversation.entry_runs import EntryRuns
from playground.conversation.sending import follow_up_headers, start_run
from playground.conversation.thread import Thread
from playground.elicitation import FORM_ERROR_KEY, TemplateError
from playground.engine.follow_ups import answer_document, answer_omissions, elicitation_at
from playground.models import Agent, LimitError, Run, RunKind
from playground.models.conversations import ancestors
from playground.models.ownership import owner_of
from playground.models.storage import check_rows
from playground.protocols import a2a, registry
from playground.protocols.calls import HttpCall
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import elicitation as mcp
from playground.protocols.origins import same_origin
from playground.ui.calls import describe_call, shown_call
from playground.ui.helpers import get_run, is_htmx, room_problem

CALL_ENDED = "The request has ended, so this question can no longer be answered."
ALREADY_ANSWERED = "This question has already been answered."
ORIGIN_CHANGED = "The agent’s URL has changed since the request was sent."
AGENT_DELETED = "The agent that offered the action was deleted."


@require_POST
async def answers(request: HttpRequest, pk: str) -> HttpResponse:
    """Send an answer, and show what changes on the page."""
    recorded = await sync_to_async(_record)(request, pk)
    if isinstance(recorded, HttpResponse):
        return recorded
    elicitation, run, prepared = recorded
    if not (elicitation.is_server_request or elicitation.is_of_action):
        return await start_run(request, run, prepared)
    await engine.send(run, prepared)
    if not is_htmx(request):
        return redirect(elicitation.run)
    return await sync_to_async(_show_answered)(request, elicitation)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Show exactly what Answer would send, as far as the questions are answered."""
    elicitation, prepared = _submitted(request, pk)
    errors = elicitation.errors
    omissions: list[str] = []
    if not elicitation.is_binding_elicitation:
        omissions = answer_omissions(elicitation.run, elicitation.submitted(STRATEGY))
    context: dict[str, Any] = {
        "unanswered": sum(each.name in errors for each in elicitation.form.fields),
        "wrong": [errors[name] for name in (STRATEGY, TEMPLATE) if name in errors],
        "problems": () if elicitation.is_of_action else prepared.problems,
        "omissions": omissions,
    }
    if prepared.has_call and not prepared.errors:
        if not elicitation.is_of_action:
            context["call"] = shown_call(prepared)
        elif call := _next_call(elicitation, prepared):
            context["call"] = describe_call(call, prepared.redact)
    return render(request, "runs/elicitation/preview.html", context)


@require_POST
def declined(request: HttpRequest, pk: str) -> HttpResponse:
    """Decline to answer, or with `declined=0` undo that. Nothing is sent either way."""
    elicitation = _get_elicitation(request, pk)
    run, key = elicitation.run, elicitation.declined_key
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
    shown = replace(elicitation, data={})
    return render(request, "runs/elicitation/body.html", {"elicitation": shown})


def _get_elicitation(request: HttpRequest, pk: str) -> ElicitationEntry:
    """Return the elicitation that the form names, with the submitted answers."""
    run = get_run(request, pk)
    form = request.POST
    entry_ref = int_param(form, "seq", 0), int_param(form, "part", 0)
    elicitation_form = elicitation_at(run, entry_ref)
    if elicitation_form is None:
        raise Http404
    thread = Thread(run, depth=1, page=Run()) if form.get("nested") else Thread(run)
    data = {name: [str(value) for value in form.getlist(name)] for name in form}
    return ElicitationEntry(thread, entry_ref, elicitation_form, data)


def _submitted(request: HttpRequest, pk: str) -> tuple[ElicitationEntry, engine.PreparedRequest]:
    """Return the elicitation with its errors, and its answer prepared as far as it can be."""
    elicitation = _get_elicitation(request, pk)
    errors = dict(elicitation.submitted_answers.errors)
    prepared = engine.PreparedRequest()
    if STRATEGY not in errors:
        try:
            headers = (
                () if elicitation.is_of_action else follow_up_headers(request, elicitation.run)
            )
            prepared = _prepare(elicitation, headers)
        except TemplateError as error:
            errors[TEMPLATE] = str(error)
        except ValidationError as error:
            prepared = engine.refused(str(error.messages[0]))
    return replace(elicitation, errors=errors), prepared


def _record(
    request: HttpRequest, pk: str
) -> HttpResponse | tuple[ElicitationEntry, Run, engine.PreparedRequest]:
    """Record the run of an answer; or return the form with errors."""
    elicitation, prepared = _submitted(request, pk)
    errors = dict(elicitation.errors)
    if prepared.errors:
        errors.setdefault(FORM_ERROR_KEY, " ".join(each.message for each in prepared.errors))
    if problem := room_problem(request, is_begun=elicitation.is_server_request):
        errors.setdefault(FORM_ERROR_KEY, problem)
    if errors:
        return _refuse(request, elicitation, errors)
    values = elicitation.submitted_answers.values
    parent = engine.RunParent(_kind(elicitation), elicitation.run, *elicitation.entry_ref, values)
    with transaction.atomic():
        if refusal := _refusal(elicitation):
            return _refuse(request, elicitation, {FORM_ERROR_KEY: refusal})
        run = engine.create_run(prepared, owner_of(request.user), parent)
    if not (elicitation.is_binding_elicitation or elicitation.is_of_action):
        _save_strategy(prepared.agent, elicitation)
    return elicitation, run, prepared


def _kind(elicitation: ElicitationEntry) -> RunKind:
    """Return the kind of the run that an answer is."""
    if elicitation.is_server_request:
        return RunKind.CLIENT_RESPONSE
    return RunKind.ACTION if elicitation.is_of_action else RunKind.ANSWER


def _refusal(elicitation: ElicitationEntry) -> str:
    """Return why no answer is expected any more, "" if one is; lock the run until it is recorded.

    It may have been answered in another tab, or have ended meanwhile.
    """
    if _kind(elicitation) == RunKind.ANSWER:  # A turn can have any number of follow-ups.
        return ""
    run = Run.objects.select_for_update().get(pk=elicitation.run.pk)
    now = replace(elicitation, thread=EntryRuns(run))
    if now.is_settled:
        return ALREADY_ANSWERED
    return CALL_ENDED if now.is_closed else ""


def _refuse(
    request: HttpRequest, elicitation: ElicitationEntry, errors: dict[str, str]
) -> HttpResponse:
    """Return the form with its errors."""
    context = {"elicitation": replace(elicitation, errors=errors)}
    response = render(request, "runs/elicitation/body.html", context, status=422)
    return reswap(retarget(response, "closest answer-form"), "outerHTML")


def _save_strategy(agent: Agent, elicitation: ElicitationEntry) -> None:
    """Store the answer strategy with the agent, and a template once it has worked."""
    changes = {"answer_strategy": elicitation.submitted(STRATEGY)}
    if elicitation.submitted(STRATEGY) == "template":
        changes["answer_template"] = elicitation.submitted(TEMPLATE)
    if agent.pk is None:
        return
    vars(agent).update(changes)
    with contextlib.suppress(LimitError):  # A template can be too large to be stored.
        check_rows([agent], added=0)
        Agent.objects.filter(pk=agent.pk).update(**changes)


def _show_answered(request: HttpRequest, elicitation: ElicitationEntry) -> HttpResponse:
    """Show an answered elicitation; if the answer runs an action, open the live connection."""
    run, page = elicitation.run, Run() if elicitation.is_nested else elicitation.run
    is_action = elicitation.is_of_action and not elicitation.is_server_request
    if is_action:
        pk = request.POST.get("page")
        page = next((each for each in ancestors(run) if str(each.pk) == pk), run)
    thread = Thread(run, depth=int(page != run), page=page)
    # The answer is among the child runs of the entry, which is on the page already.
    context = {
        **thread.children_context(elicitation.entry_ref),
        "oob": True,
        "sent": True,
        "elicitation": replace(elicitation, thread=thread),
    }
    if not is_action:
        return render(request, "runs/elicitation/body.html", context)
    context |= {"run": page, "live": True}
    return render(request, "runs/elicitation/sent.html", context)


# The request that sends an answer


def _prepare(elicitation: ElicitationEntry, headers: engine.Headers) -> engine.PreparedRequest:
    """Return the prepared request that sends the submitted answer, and its problems.

    `headers` are those of the next request of the conversation; an action has its own. Raises
    `TemplateError` for a template that is not a request.
    """
    run, values = elicitation.run, elicitation.submitted_answers.values
    if elicitation.is_of_action:
        return _prepare_action(elicitation)
    if not elicitation.is_binding_elicitation:
        strategy, template = elicitation.submitted(STRATEGY), elicitation.submitted(TEMPLATE)
        document = answer_document(run, elicitation.form, values, strategy, template)
        return engine.prepare_follow_up(run, document, headers)
    prepared = engine.prepare_follow_up(run, run.request, headers)
    if not prepared.has_call:
        return prepared
    if elicitation.is_server_request:
        # It belongs to the session of the call, so it goes to the same URL.
        if not same_origin(run.url, prepared.target.url):
            prepared.add_error("", ORIGIN_CHANGED)
        prepared = prepared.with_url(run.url)
    resume = mcp.resume_of(elicitation.resume, elicitation.action, values)
    return prepared.resuming(resume)


def _prepare_action(elicitation: ElicitationEntry) -> engine.PreparedRequest:
    """Return the action with what resumes its exchange.

    No credentials are sent: a run does not store those that it was sent with.
    """
    run, values = elicitation.run, elicitation.submitted_answers.values
    if (agent := elicitation.agent) is None:
        return engine.refused(AGENT_DELETED)
    resume: dict[str, Any] | None
    if elicitation.is_task:
        resume = a2a.resume_of(elicitation.resume, values, _message_id(elicitation))
    else:
        resume = mcp.resume_of(elicitation.resume, elicitation.action, values)
    headers = [(name, value) for name, value in run.headers if value]
    return engine.action_request(
        agent, run.request, run.url, binding=run.binding, headers=headers, resume=resume
    )


def _message_id(elicitation: ElicitationEntry) -> str:
    """Return the id of the message: the same for its preview, and another for each answer."""
    earlier = len(elicitation.thread.runs_at(elicitation.entry_ref, RunKind.ACTION))
    return str(uuid.uuid5(elicitation.run.pk, f"{elicitation.entry_ref}-{earlier}"))


def _next_call(elicitation: ElicitationEntry, prepared: engine.PreparedRequest) -> HttpCall | None:
    """Return the first call that sends an answer to the server or agent of an action.

    The exchange learns the details of an A2A agent from the run's frames before its first message:
    they hold the agent card.
    """
    if not elicitation.is_task:
        return registry.preview(prepared.target, prepared.request)
    exchange = registry.exchange(prepared.target, prepared.request)
    for frame in elicitation.run.read_frames():
        if frame.kind is FrameKind.CALL and not frame.data.startswith(b"GET "):
            break
        exchange.receive(frame)
    return exchange.next_call()
