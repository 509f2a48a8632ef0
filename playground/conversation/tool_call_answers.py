"""Tool calls: messages that hold them, and answers to those of the client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import sync_to_async
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from playground.base.fields import int_param, parse_json_value
from playground.conversation.messages import ToolCallForm, display_text, tool_call_forms
from playground.conversation.sending import prepare_follow_up, start_run
from playground.conversation.thread import Thread, render_entry
from playground.conversation.thread_reader import ThreadReader, message_part
from playground.engine.follow_ups import tool_output_document
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent, create_run
from playground.models import Run, RunKind
from playground.models.rows import owner_of
from playground.protocols.agent_api.requests import approval_message
from playground.ui.calls import shown_call
from playground.ui.helpers import get_run, room_problem


@require_POST
async def tool_outputs(request: HttpRequest, pk: str) -> HttpResponse:
    """Answer the client-side calls of a turn with the next turn, in the background."""
    sent = await sync_to_async(_record)(request, pk)
    if isinstance(sent, HttpResponse):
        return sent
    return await start_run(request, *sent)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Show exactly what the answer would send."""
    answer = _answer(request, pk)
    selected = answer.selected
    if selected.is_approval and not answer.is_joint:
        # Neither of its buttons was pressed: preview the first one.
        decided = replace(selected, submitted={"decision": "approve", **selected.submitted})
        answer = ToolCallAnswer(decided, [decided])
    context: dict[str, Any] = {}
    if errors := answer.errors:
        context["wrong"] = [
            f"{each.waiting.label[:80]}: {each.error}" if answer.is_joint else each.error
            for each in errors
        ]
    else:
        prepared = _compose(request, answer)
        context["problems"] = prepared.problems
        if not prepared.errors:
            context["call"] = shown_call(prepared)
    return render(request, "conversation/elicitation.html#preview", context)


@require_safe
def message(request: HttpRequest, pk: str, seq: int, part: int) -> HttpResponse:
    """Show the current state of a message, for a page without a live connection."""
    run = get_run(request, pk)
    entry = ThreadReader(run).entry_at((seq, part))
    if entry is None or entry.message is None:
        raise Http404
    html = render_entry(entry, Thread(run), follow=not run.is_final)
    return render(request, "conversation/response.html#results", {"cards": [html]})


@require_safe
def message_text(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """Show the whole text of one part of a message, whose entry shows only the beginning."""
    run = get_run(request, pk)
    text = display_text(message_part(run, (seq, part), number).text)
    return render(request, "conversation/messages.html#text", {"text": text})


#: The value that is sent for each of the two decisions about an approval.
DECISIONS = {"approve": True, "refuse": False}
_CONTROLS = ("output", "format", "reason", "decision")


@dataclass(frozen=True, slots=True)
class ToolCallAnswer:
    """The answers that one request sends, and the form that was submitted."""

    selected: ToolCallForm
    #: Every open call, in the order of the calls; `selected` is one of them.
    forms: Sequence[ToolCallForm]

    @property
    def is_joint(self) -> bool:
        """Return whether more than one call is answered."""
        return len(self.forms) > 1

    @property
    def shown(self) -> list[ToolCallForm]:
        """Return the calls whose forms are on the page, each with its error.

        The error of a call without a form is shown at the submitted form.
        """
        checked = [replace(each, error=each.error or _error(each)) for each in self.forms]
        on_page = [
            each for each in checked if each.submitted or each.entry_ref == self.selected.entry_ref
        ]
        if len(on_page) == len(checked):
            return on_page
        missing = [each.waiting.label[:80] for each in checked if each not in on_page]
        error = (
            f"Unanswered calls are not loaded yet: {', '.join(missing[:3])}. Load more "
            "entries first."
        )
        return [_with_error(each, self.selected, error) for each in on_page]

    @property
    def errors(self) -> list[ToolCallForm]:
        """Return the calls with errors; their `error` says why."""
        return [each for each in self.shown if each.error]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Return one message per call, in the order of the calls. Only without `errors`."""
        return [_message(each) for each in self.forms]

    @property
    def history(self) -> dict[str, str]:
        """Return the answers for the history, by the label of the call."""
        return {each.waiting.label: _summary(each) for each in self.forms}

    def with_error(self, error: str) -> ToolCallAnswer:
        """Return the same answer with an error at the submitted form."""
        checked = [_with_error(each, self.selected, error) for each in self.forms]
        return ToolCallAnswer(self.selected, checked)


def _answer(request: HttpRequest, pk: str) -> ToolCallAnswer:
    """Return the answer to every open call of the run, whatever the form claims."""
    run = get_run(request, pk)
    form = request.POST
    entry_ref = int_param(form, "seq", 0), int_param(form, "part", 0)
    forms = []
    for call in tool_call_forms(Thread(run)):
        names = {name: f"{call.key}-{name}" for name in _CONTROLS}
        # Without any, where they were not submitted.
        submitted = {name: str(form[key]) for name, key in names.items() if key in form}
        forms.append(replace(call, submitted=submitted))
    selected = next((each for each in forms if each.entry_ref == entry_ref), None)
    if selected is None:
        raise Http404
    return ToolCallAnswer(selected, forms)


def _compose(request: HttpRequest, answer: ToolCallAnswer) -> PreparedRequest:
    run = answer.selected.run
    return prepare_follow_up(request, run, tool_output_document(run, answer.messages))


def _record(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, PreparedRequest]:
    """Record the run of the answer; or return the forms with errors."""
    answer = _answer(request, pk)
    if answer.errors:
        return _refuse(request, answer)
    prepared = _compose(request, answer)
    if prepared.errors:
        said = " ".join(each.message for each in prepared.errors)
        return _refuse(request, answer.with_error(said))
    if problem := room_problem(request):
        return _refuse(request, answer.with_error(problem))
    run, (seq, part) = answer.selected.run, answer.selected.entry_ref
    parent = RunParent(RunKind.ANSWER, run, seq, part, answer.history)
    return create_run(prepared, owner_of(request.user), parent), prepared


def _refuse(request: HttpRequest, answer: ToolCallAnswer) -> HttpResponse:
    first = answer.errors[0]
    others = [each for each in answer.shown if each.entry_ref != first.entry_ref]
    context = {"first": first, "others": others}
    response = render(request, "conversation/messages.html#tool_call_forms", context, status=422)
    return reswap(retarget(response, first.selector), "outerHTML")


def _with_error(tool_call: ToolCallForm, selected: ToolCallForm, error: str) -> ToolCallForm:
    """Return the call with the error, if it is the selected one."""
    return (
        replace(tool_call, error=error) if tool_call.entry_ref == selected.entry_ref else tool_call
    )


def _error(tool_call: ToolCallForm) -> str:
    """Return the error in a call's fields, "" for none."""
    if tool_call.is_approval:
        is_decided = tool_call.submitted.get("decision") in DECISIONS
        return "" if is_decided else "Approve or deny the tool call."
    if not tool_call.is_json:
        return ""
    try:
        parse_json_value(tool_call.submitted.get("output", ""))
    except ValidationError as error:
        return str(error.messages[0])
    return ""


def _message(tool_call: ToolCallForm) -> dict[str, Any]:
    """Return the message that answers a call."""
    submitted = tool_call.submitted
    if not tool_call.is_approval:
        spec = tool_call.run.spec
        return spec.output_message(tool_call.waiting.event, submitted.get("output", ""))
    decision, reason = DECISIONS[submitted["decision"]], submitted.get("reason", "").strip()
    return approval_message(tool_call.waiting.event, decision, reason)


def _summary(tool_call: ToolCallForm) -> str:
    submitted = tool_call.submitted
    if not tool_call.is_approval:
        return submitted.get("output", "")
    decision = "approved" if DECISIONS[submitted["decision"]] else "denied"
    reason = submitted.get("reason", "").strip()
    return f"{decision}: {reason}" if reason else decision
