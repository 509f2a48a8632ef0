"""Calls that an agent leaves to its client: answered by hand as a turn that follows."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reswap, retarget

from playground.conversations import call_document
from playground.engine import Draft, Link, create_run
from playground.forms import read_value
from playground.models import Run, RunKind
from playground.protocols import registry
from playground.rendering.calling import Calling, calling_of
from playground.rendering.fold import Fold
from playground.rendering.messages import Joined
from playground.rendering.shown import printed
from playground.rendering.thread import Thread, render_entry
from playground.views.compose import Composed, describe_call
from playground.views.runs import begin
from playground.views.turns import follow_up

#: What is written to the agent for each of the two buttons of an approval.
DECISIONS = {"approve": True, "refuse": False}


@require_POST
async def calls(request: HttpRequest, pk: str) -> HttpResponse:
    """Answer a call: a new turn that follows the one that made it, driven in the background."""
    sent = await sync_to_async(_record)(request, pk)
    if isinstance(sent, HttpResponse):
        return sent
    return await begin(request, *sent)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Exactly what the answer would send."""
    calling = _calling(request, pk)
    context: dict[str, Any] = {}
    try:
        composed = _compose(request, calling)
    except ValidationError as error:
        context["wrong"] = error.messages
    else:
        context["problems"] = composed.problems
        if composed.draft and not composed.errors:
            call = registry.exchange(composed.draft.target, composed.draft.request).next_call()
            context["call"] = describe_call(call, composed.draft.secrets) if call else None
    return render(request, "runs/asking/preview.html", context)


@require_safe
def message(request: HttpRequest, pk: str, seq: int, part: int) -> HttpResponse:
    """A message as it stands now, for a page that nobody tells of it."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    entry = Fold(run).entry_at((seq, part))
    if entry is None or entry.joined is None:
        raise Http404
    html = render_entry(entry, Thread(run), follow=not run.is_final)
    return render(request, "runs/results.html", {"cards": [html]})


@require_safe
def text(request: HttpRequest, pk: str, seq: int, part: int, number: int) -> HttpResponse:
    """The whole text of one part of a message, of which its entry shows the beginning."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    joined = _joined(run, seq, part)
    found = next((each for each in joined.parts.values() if each.number == number), None)
    if found is None:
        raise Http404
    return render(request, "runs/messages/text.html", {"text": printed(found.text)})


def _joined(run: Run, seq: int, part: int) -> Joined:
    entry = Fold(run).entry_at((seq, part))
    if entry is None or entry.joined is None:
        raise Http404
    return entry.joined


def _calling(request: HttpRequest, pk: str) -> Calling:
    """The call at the place that the form names, with what was filled in."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    form = request.POST
    place = _number(form.get("seq", "")), _number(form.get("part", ""))
    calling = calling_of(_joined(run, *place), Thread(run), place)
    if calling is None:
        raise Http404
    filled = {name: str(form.get(name, "")) for name in ("output", "format", "reason", "decision")}
    return Calling(calling.thread, place, calling.event, filled)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _compose(request: HttpRequest, calling: Calling) -> Composed:
    """The next request. Raises `ValidationError` for what is filled in and cannot be sent."""
    filled = calling.filled
    if calling.is_approval:
        approve = DECISIONS.get(filled["decision"], True)
        document = call_document(
            calling.run, calling.event, approve=approve, reason=filled["reason"].strip()
        )
        return follow_up(request, calling.run, document)
    if calling.is_json:
        read_value(filled["output"])
    document = call_document(calling.run, calling.event, output=filled["output"])
    return follow_up(request, calling.run, document)


def _record(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, Draft]:
    calling = _calling(request, pk)
    if calling.is_approval and calling.filled["decision"] not in DECISIONS:
        return _refuse(request, calling, "Choose whether the agent may call the tool.")
    try:
        composed = _compose(request, calling)
    except ValidationError as error:
        return _refuse(request, calling, error.messages[0])
    if composed.draft is None or composed.errors:
        return _refuse(request, calling, " ".join(each.message for each in composed.errors))
    seq, part = calling.place
    link = Link(RunKind.ANSWER, calling.run, seq, part, _answers(calling))
    return create_run(composed.draft, request.user, link), composed.draft


def _answers(calling: Calling) -> dict[str, Any]:
    """What the history says of the answer, by what was asked for."""
    filled, name = calling.filled, calling.event.name or calling.event.call_id or "call"
    if not calling.is_approval:
        return {name: filled["output"]}
    decision = "approved" if DECISIONS[filled["decision"]] else "refused"
    reason = filled["reason"].strip()
    return {name: f"{decision}: {reason}" if reason else decision}


def _refuse(request: HttpRequest, calling: Calling, error: str) -> HttpResponse:
    shown = Calling(calling.thread, calling.place, calling.event, calling.filled, error)
    response = render(request, "runs/messages/calling.html", {"calling": shown}, status=422)
    return reswap(retarget(response, "closest answer-form"), "outerHTML")
