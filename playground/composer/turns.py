"""Turns of a conversation: the next one, the rows of others, their entries and requests."""

from __future__ import annotations

import json

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from django_htmx.http import reswap, retarget

from playground.composer.views import composer_fields_of_run, tab_data
from playground.composer.workbench import document_of, headers_of, page, parent_fields
from playground.conversation.sending import prepare_follow_up, start_run
from playground.conversation.thread import SHOWN, Thread, render_entries
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.transcript import transcript_of
from playground.engine import runs
from playground.engine.follow_ups import follow_up_document
from playground.engine.request import PreparedRequest
from playground.models import Agent, Run, RunKind
from playground.models.conversations import turn_of
from playground.models.ownership import owner_of
from playground.ui.formatting import readable
from playground.ui.helpers import get_run, room_problem
from playground.variables import literal

MAX_TEXT = 20_000


async def follow_up(request: HttpRequest, pk: str) -> HttpResponse:
    """Open the composer with the follow-up of a run (GET), or send one with `text` (POST)."""
    if request.method in {"GET", "HEAD"}:
        return await sync_to_async(_compose)(request, pk)
    if request.method != "POST":
        return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
    recorded = await sync_to_async(_record)(request, pk)
    if isinstance(recorded, HttpResponse):
        return recorded
    return await start_run(request, *recorded)


@require_safe
def turn(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the first entries of a turn in the transcript of another one."""
    run = get_run(request, pk)
    thread = Thread(run, depth=1, page=Run())
    entries = ThreadReader(run).read_to(run.frames, SHOWN, run.frames)
    # Pinned entries first, as on the turn's own page.
    shown = sorted(entries, key=lambda entry: not entry.pinned)[:SHOWN]
    cards = render_entries(shown, thread)
    context = {"run": run, "cards": cards, "more": max(0, run.entries - len(cards))}
    return render(request, "conversation/transcript.html#turn", context)


@require_safe
def turns(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the rows of the transcript that the page of a run leaves out.

    Those before its turn with `?part=earlier`, those after it otherwise.
    """
    transcript = transcript_of(get_run(request, pk))
    is_earlier = request.GET.get("part") == "earlier"
    rows = transcript.hidden_earlier if is_earlier else transcript.hidden_later
    return render(request, "conversation/transcript.html#rows", {"rows": rows})


@require_safe
def turn_request(request: HttpRequest, pk: str) -> JsonResponse:
    """Return the request of a turn as the composer's fields, and its saved request.

    An object with `fields`, texts by the names of the fields, and `saved` as
    `composer.views.tab_data` returns it, or null.
    """
    run = turn_of(get_run(request, pk, "agent", "saved_request__collection"))
    saved, fields = run.saved_request, composer_fields_of_run(run)
    agents = Agent.objects.owned_by(request.user)
    fields |= {
        "agent": run.agent.slug if run.agent and not fields["address"] else "",
        "protocol": run.protocol,
        "version": run.version,
        "binding": run.binding,
        "document": readable(document_of(run)),
        "headers": json.dumps(headers_of(run), ensure_ascii=False),
        **parent_fields(run.parent),
    }
    return JsonResponse({"fields": fields, "saved": tab_data(saved, agents) if saved else None})


@ensure_csrf_cookie
def _compose(request: HttpRequest, pk: str) -> HttpResponse:
    run = get_run(request, pk)
    parent = turn_of(run)
    # What the agent sent is sent back unchanged, even if it contains `{{name}}`.
    document = literal(follow_up_document(run), keep=parent.secret_names)
    return page(
        request, parent.agent, run, document, headers_of(parent), parent=parent, onward=False
    )


def _record(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, PreparedRequest]:
    """Record a follow-up; or return the form with errors."""
    run = get_run(request, pk)
    parent = turn_of(run)
    if "branch" in request.POST and parent.parent is not None:
        # Beside a turn that is in progress: what it follows is followed again.
        parent = turn_of(parent.parent)
    text = request.POST.get("text", "").strip()
    if not text:
        return _refuse(request, run, text, ["Enter a follow-up."])
    if len(text) > MAX_TEXT:
        error = f"Enter at most {MAX_TEXT:,} characters, or edit the full request."
        return _refuse(request, run, text[:MAX_TEXT], [error])
    prepared = prepare_follow_up(request, parent, follow_up_document(parent, text))
    if prepared.errors:
        return _refuse(request, run, text, [problem.message for problem in prepared.errors])
    if problem := room_problem(request):
        return _refuse(request, run, text, [problem])
    link = runs.RunParent(RunKind.ASK, parent)
    return runs.create_run(prepared, owner_of(request.user), link), prepared


def _refuse(request: HttpRequest, run: Run, text: str, errors: list[str]) -> HttpResponse:
    transcript = transcript_of(run)
    context = {"run": run, "transcript": transcript, "text": text, "errors": errors}
    response = render(request, "conversation/follow_up.html", context, status=422)
    return reswap(retarget(response, "this"), "outerHTML")
