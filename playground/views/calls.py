"""Calls that an agent leaves to its client: answered by hand, all with one turn that follows."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from playground.engine import PreparationResult, PreparedRequest, RunParent, create_run
from playground.follow_ups import tool_output_document
from playground.models import Run, RunKind
from playground.models.ownership import owner_of
from playground.query_params import int_param
from playground.rendering.message_parts import display_text
from playground.rendering.messages import JoinedMessage
from playground.rendering.thread import Thread, render_entry
from playground.rendering.thread_reader import ThreadReader
from playground.rendering.tool_calls import ToolCallForm
from playground.views.answering import ToolCallAnswer, bind_form
from playground.views.compose import shown_call
from playground.views.helpers import get_run
from playground.views.runs import start_run
from playground.views.turns import prepare_follow_up


@require_POST
async def tool_outputs(request: HttpRequest, pk: str) -> HttpResponse:
    """Answer the calls of a turn with one that follows it, driven in the background."""
    sent = await sync_to_async(_record)(request, pk)
    if isinstance(sent, HttpResponse):
        return sent
    return await start_run(request, *sent)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Exactly what the answer would send."""
    answer = _answer(request, pk)
    if answer.selected.is_approval and not answer.is_joint:
        # Its buttons decide, and neither was pressed: it is shown as the first would send it.
        answer = answer.with_decision("approve")
    context: dict[str, Any] = {}
    if wrong := answer.errors:
        context["wrong"] = [
            f"{each.waiting.label[:80]}: {each.error}" if answer.is_joint else each.error
            for each in wrong
        ]
    else:
        composed = _compose(request, answer)
        context["problems"] = composed.problems
        if composed.prepared and not composed.errors:
            context["call"] = shown_call(composed.prepared)
    return render(request, "runs/elicitation/preview.html", context)


@require_safe
def message(request: HttpRequest, pk: str, seq: int, part: int) -> HttpResponse:
    """A message as it stands now, for a page that nobody tells of it."""
    run = get_run(request, pk)
    entry = ThreadReader(run).entry_at((seq, part))
    if entry is None or entry.message is None:
        raise Http404
    html = render_entry(entry, Thread(run), follow=not run.is_final)
    return render(request, "runs/results.html", {"cards": [html]})


@require_safe
def message_text(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """The whole text of one part of a message, of which its entry shows the beginning."""
    run = get_run(request, pk)
    joined = _joined(run, seq, part)
    found = next((each for each in joined.parts.values() if each.number == number), None)
    if found is None:
        raise Http404
    return render(request, "runs/messages/text.html", {"text": display_text(found.text)})


def _joined(run: Run, seq: int, part: int) -> JoinedMessage:
    entry = ThreadReader(run).entry_at((seq, part))
    if entry is None or entry.message is None:
        raise Http404
    return entry.message


def _answer(request: HttpRequest, pk: str) -> ToolCallAnswer:
    """What was filled in for each call that the run leaves open, whatever the form claims."""
    run = get_run(request, pk)
    form = request.POST
    place = int_param(form, "seq", 0), int_param(form, "part", 0)
    thread = Thread(run)
    callings = [bind_form(ToolCallForm(thread, each), form) for each in thread.waiting]
    chosen = next((each for each in callings if each.entry_ref == place), None)
    if chosen is None:
        raise Http404
    return ToolCallAnswer(chosen, callings)


def _compose(request: HttpRequest, answer: ToolCallAnswer) -> PreparationResult:
    run = answer.selected.run
    return prepare_follow_up(request, run, tool_output_document(run, answer.messages))


def _record(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, PreparedRequest]:
    answer = _answer(request, pk)
    if answer.errors:
        return _refuse(request, answer)
    composed = _compose(request, answer)
    if composed.prepared is None or composed.errors:
        said = " ".join(each.message for each in composed.errors)
        return _refuse(request, answer.is_denied(said or "This cannot be sent."))
    run, (seq, part) = answer.selected.run, answer.selected.entry_ref
    link = RunParent(RunKind.ANSWER, run, seq, part, answer.history)
    return create_run(composed.prepared, owner_of(request.user), link), composed.prepared


def _refuse(request: HttpRequest, answer: ToolCallAnswer) -> HttpResponse:
    """The forms as they were filled in, each with what is wrong with it now."""
    first = answer.errors[0]
    others = [each for each in answer.shown if each.entry_ref != first.entry_ref]
    context = {"first": first, "others": others}
    response = render(request, "runs/messages/tool_call_forms.html", context, status=422)
    return reswap(retarget(response, first.selector), "outerHTML")
