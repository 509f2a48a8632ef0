"""The workbench: the composer beside a response, and the turns of its conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from django_htmx.http import reswap, retarget

from playground.composer.deep_links import is_own_link, read_link
from playground.composer.views import composer_context, composer_fields_of_run, tab_data
from playground.conversation.sending import prepare_follow_up, start_run
from playground.conversation.thread import SHOWN, Thread, render_entries
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.transcript import transcript_of
from playground.conversation.updates import response_context
from playground.engine.follow_ups import follow_up_document, follow_up_omissions
from playground.engine.preparation import follow_up_refusal, unknown_protocol
from playground.engine.request import PreparedRequest
from playground.engine.runs import RunParent, create_run
from playground.environments.views import choice_context
from playground.models import Agent, Environment, Run, RunKind, Variable
from playground.models.conversations import branch_to, turn_of
from playground.models.rows import owner_of
from playground.protocols import registry
from playground.ui.formatting import readable
from playground.ui.helpers import get_current_run, get_run, room_problem
from playground.variables.names import literal

#: Most characters of a follow-up.
MAX_TEXT = 20_000
#: Characters of the text of a turn that the composer's request follows.
MAX_CONTINUED = 60


@require_safe
@ensure_csrf_cookie
def workbench(request: HttpRequest) -> HttpResponse:
    """Show a new request to the first agent, or the one that the URL describes; never send it."""
    linked = read_link(request.GET, Agent.objects.owned_by(request.user))
    return page(
        request,
        linked.agent,
        None,
        linked.fields,
        linked=linked.is_foreign and bool(linked.note or not is_own_link(request)),
        link_note=linked.note,
    )


@require_safe
@ensure_csrf_cookie
def run_page(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the workbench with a run: its request in the composer, and its response."""
    run = get_current_run(request, pk)
    fields, saved = composer_fields_of_run(run), run.saved_request
    agents = Agent.objects.owned_by(request.user)
    # No agent is selected when the run's was deleted: Send must not use another one.
    return page(
        request,
        None if fields["address"] else run.agent,
        run,
        fields,
        parent=run.parent if run.is_turn else None,
        saved=tab_data(saved, agents) if saved else None,
        noted=saved,
    )


@require_safe
def run_response(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the response pane of a run, for a tab."""
    return render(
        request, "conversation/response.html", response_context(get_current_run(request, pk))
    )


def parent_fields(parent: Run | None) -> dict[str, str]:
    """Return the composer's fields about the turn that a request follows.

    `parent` is its key, `continues` its number, its text and what the request omits of the
    conversation; both "" without one.
    """
    if parent is None:
        return {"parent": "", "continues": ""}
    turn = turn_of(parent)
    text = turn.text[:MAX_CONTINUED] or "JSON request"
    continues = f"turn {branch_to(turn)[-1].number}, “{text}”"
    return {
        "parent": str(turn.pk),
        "continues": ". ".join([continues, *follow_up_omissions(turn)]),
    }


def page(
    request: HttpRequest,
    agent: Agent | None,
    run: Run | None,
    fields: Mapping[str, str],
    *,
    parent: Run | None = None,
    onward: bool = True,
    **context: Any,
) -> HttpResponse:
    """Render the workbench: `agent` and `fields` in the composer, `run` in the response pane.

    `fields` are texts by the names of the composer's fields.

    With `parent` the composer's request follows that turn. Without `onward` the transcript ends at
    the turn of `run`.

    `context` may have `saved`, what a tab stores of the open saved request, and `noted`, that
    request.
    """
    # Of all environments: the active one may change while the page is open.
    environments = Environment.objects.owned_by(request.user)
    secrets = Variable.objects.filter(environment__in=environments, kind=Variable.Kind.SECRET)
    secret_names = secrets.order_by("name").values_list("name", flat=True).distinct()
    return render(
        request,
        "composer/workbench.html",
        {
            "agent": agent,
            "composed": fields,
            "first_visit": not Run.objects.owned_by(request.user).exists(),
            "bindings": Agent.Binding.choices,
            "protocols": registry.choices(),
            "secret_names": list(secret_names),
            **composer_context(fields["protocol"]),
            **choice_context(request, run.environment if run else None),
            **response_context(run, onward=onward),
            **parent_fields(parent),
            **context,
        },
    )


# Turns: the next one, the rows of others, their entries and requests


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
    entries = ThreadReader(run).read_to(run.frames, SHOWN)
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
    saved, agents = run.saved_request, Agent.objects.owned_by(request.user)
    fields = composer_fields_of_run(run) | parent_fields(run.parent)
    return JsonResponse({"fields": fields, "saved": tab_data(saved, agents) if saved else None})


@ensure_csrf_cookie
def _compose(request: HttpRequest, pk: str) -> HttpResponse:
    run = get_run(request, pk)
    parent = turn_of(run)
    if unknown_protocol(parent):
        messages.error(request, follow_up_refusal(parent))
        return redirect(run)
    # What the agent sent is sent back unchanged, even if it contains `{{name}}`.
    document = literal(follow_up_document(run), keep=parent.secret_names)
    fields = composer_fields_of_run(parent)
    fields |= {"document": readable(document), "expectations": "", "captures": ""}
    agent = None if fields["address"] else parent.agent
    return page(request, agent, run, fields, parent=parent, onward=False)


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
    if refusal := follow_up_refusal(parent):
        return _refuse(request, run, text, [refusal])
    prepared = prepare_follow_up(request, parent, follow_up_document(parent, text))
    if prepared.errors:
        return _refuse(request, run, text, [problem.message for problem in prepared.errors])
    if problem := room_problem(request):
        return _refuse(request, run, text, [problem])
    link = RunParent(RunKind.ASK, parent)
    return create_run(prepared, owner_of(request.user), link), prepared


def _refuse(request: HttpRequest, run: Run, text: str, errors: list[str]) -> HttpResponse:
    transcript = transcript_of(run)
    context = {"run": run, "transcript": transcript, "text": text, "errors": errors}
    response = render(request, "conversation/follow_up.html", context, status=422)
    return reswap(retarget(response, "this"), "outerHTML")
