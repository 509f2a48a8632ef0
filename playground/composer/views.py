"""The composer: its fields, the preview of its call, and Send; lists, repeats and cancels runs."""

from __future__ import annotations

import json
from typing import Any

from asgiref.sync import sync_to_async
from django.db import models
from django.db.models import Q
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    JsonResponse,
)
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import reswap, retarget, trigger_client_event

from playground.composer.fields import RAW, protocol_forms, script_rows
from playground.composer.forms import SendForm
from playground.conversation.sending import start_run
from playground.engine import preparation, tasks
from playground.engine.preparation import (
    AUTH,
    EXPECTATIONS,
    HEADERS,
    RequestTemplate,
    VariableScope,
    without_empty_credentials,
)
from playground.engine.request import PreparedRequest, SecretNotAllowedError, refused
from playground.engine.runs import RunParent, create_run
from playground.environments.views import active_environment
from playground.history.views import list_runs
from playground.models import Agent, Run, RunKind, RunState, SavedRequest
from playground.models.agents import detected_settings
from playground.models.collections import resolve_target
from playground.models.conversations import turn_of
from playground.models.rows import owner_of
from playground.protocols import registry, schemas
from playground.ui.calls import is_new_origin, shown_call
from playground.ui.formatting import readable
from playground.ui.helpers import find_run, get_run, is_htmx
from playground.variables.names import literal

#: The pointer of a problem in a field; problems of other fields belong to the whole request.
_PROBLEM_POINTERS = {"headers": HEADERS, "auth": AUTH, "expectations": EXPECTATIONS}
#: The suggested request of the demo agent whose tool call the user answers.
_SUGGESTED_TOOL_CALL = {
    "input": [
        {
            "role": "user",
            "type": "message",
            "content": [{"type": "text", "text": "What weather is it for a barbecue?"}],
        }
    ],
    "stream": True,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "The weather at a place.",
                "parameters": {
                    "type": "object",
                    "properties": {"place": {"type": "string"}},
                    "required": ["place"],
                },
            },
        }
    ],
}


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Show the effective request: exactly what Send would send, and its validation problems.

    A document that cannot be sent yet is shown unchanged, so that the context of a conversation
    can be inspected before its text is written.
    """
    prepared = prepare_form(request)
    context: dict[str, Any] = {"problems": prepared.problems, "unready": bool(prepared.errors)}
    if prepared.has_call and (call := shown_call(prepared)):
        context["call"] = call
        context["opens"] = call["opens"]
        context["new_origin"] = is_new_origin(request, call["url"])
        context["made"] = [name for name in prepared.used if name.startswith("$")]
        context["substituted"] = prepared.substituted
        context["binding"] = prepared.target.binding
        context["is_document"] = call["body_value"] == prepared.request
    return render(request, "composer/preview.html", context)


@require_GET
def schema(request: HttpRequest, protocol: str, version: str, name: str) -> HttpResponse:
    """Return a JSON Schema of a protocol, for the editor's hints and for reference."""
    try:
        document = schemas.load(protocol, version, name)
    except (KeyError, OSError, ValueError) as error:
        raise Http404 from error
    return JsonResponse(document, json_dumps_params={"indent": 2})


def prepare_form(request: HttpRequest) -> PreparedRequest:
    """Read the composer's fields, and prepare the request: target, document, headers and the rest.

    A document that cannot be sent yet is prepared all the same, for previews.
    """
    form = SendForm(request.POST, request.user)
    if form.errors:
        refused = PreparedRequest(can_send_anyway=set(form.errors) == {"document"})
        for name, errors in form.errors.items():
            refused.add_error(_PROBLEM_POINTERS.get(name, ""), str(errors[0]))
        return refused
    fields = form.cleaned_data
    environment = fields.pop("environment")
    if "environment" not in request.POST:
        # The active environment of the top bar applies.
        environment = active_environment(request)
    template = RequestTemplate(request=fields.pop("document"), **fields)
    return preparation.prepare(template, VariableScope(environment), owner_of(request.user))


def composer_context(protocol: str) -> dict[str, Any]:
    """Return the protocol of the composer, and the fields of the panels of all protocols.

    An unknown protocol becomes the first one of the protocol table.
    """
    return {
        "protocol": registry.known(protocol),
        "row": registry.spec(protocol),
        "versions": [
            (name, version) for name, row in registry.PROTOCOLS.items() for version in row.versions
        ],
        "forms": protocol_forms(),
        "raw_fields": RAW,
        "script_rows": script_rows(),
        "tour_call": json.dumps(_SUGGESTED_TOOL_CALL),
    }


def composer_fields(saved: SavedRequest, agents: models.QuerySet[Agent]) -> dict[str, str]:
    """Return a saved request as texts by the names of the composer's fields.

    Its agent is named only where the user has one of that name; otherwise its URL is used.
    """
    agent, address = resolve_target(saved, agents)
    return {
        "agent": agent.slug if agent else "",
        "address": address,
        "protocol": agent.protocol if agent else saved.protocol,
        "version": saved.version,
        "binding": saved.binding,
        "document": readable(saved.document),
        "headers": _json_text(saved.headers),
        "auth": _json_text(saved.auth),
        "expectations": _json_text(saved.expectations),
        "captures": _json_text(saved.captures),
    }


def composer_fields_of_run(run: Run) -> dict[str, str]:
    """Return a run's request as it was composed, as texts by the names of the composer's fields.

    The URL is in place of the agent where the request was sent to a URL, or where the agent was
    deleted. Headers are there as far as they are stored: the values of credentials are not, and
    empty ones would replace the agent's.
    """
    template = run.request_template or {}
    saved = run.saved_request
    address = str(template.get("address") or ("" if run.agent else run.url))
    # Without a template, `{{name}}` in the document is literal text.
    document = template.get("document", literal(run.request, keep=run.secret_names))
    headers = without_empty_credentials(template.get("headers", run.headers))
    return {
        "agent": run.agent.slug if run.agent and not address else "",
        "address": address,
        "protocol": run.protocol,
        "version": run.version,
        "binding": run.binding,
        "detected": _json_text(detected_settings(run.detected)),
        "document": readable(document),
        "headers": json.dumps(headers, ensure_ascii=False),
        "auth": _json_text(template.get("auth")),
        "expectations": _json_text(template.get("expectations", run.expectations)),
        "captures": _json_text(saved.captures) if saved else "",
    }


def _json_text(value: Any) -> str:
    """Return a value as JSON text, "" for an empty one."""
    return json.dumps(value, ensure_ascii=False) if value else ""


def tab_summary(saved: SavedRequest) -> dict[str, Any]:
    """Return what a workbench tab stores of its saved request.

    `saved` is the request's natural key, as the composer's field of that name.
    """
    return {
        "saved": f"{saved.collection.slug}/{saved.slug}",
        "name": saved.name,
        "modified": saved.modified_at.isoformat(),
        "url": saved.get_absolute_url(),
    }


def tab_data(saved: SavedRequest, agents: models.QuerySet[Agent]) -> dict[str, Any]:
    """Return what a tab needs to open a saved request, and to detect changes to it."""
    return tab_summary(saved) | {"fields": composer_fields(saved, agents)}


# Runs: Send, repeat, cancel


async def runs(request: HttpRequest) -> HttpResponse:
    """GET lists runs (`q` searches, `before` pages); POST sends the composer's request."""
    if request.method == "POST":
        return await send(request)
    if request.method in {"GET", "HEAD"}:
        return await sync_to_async(list_runs)(request)
    return HttpResponseNotAllowed(["GET", "HEAD", "POST"])


async def send(request: HttpRequest) -> HttpResponse:
    """Record the composer's request as a run, and start it in the background."""
    recorded = await sync_to_async(_record)(request)
    if isinstance(recorded, HttpResponse):
        return recorded
    return await start_run(request, *recorded)


def _record(request: HttpRequest) -> HttpResponse | tuple[Run, PreparedRequest]:
    """Record the composer's request as a run; or return why it cannot be sent."""
    prepared = prepare_form(request)
    parent = parent_turn(request, prepared)
    if prepared.errors:
        return error_response(request, prepared, anyway=prepared.can_send_anyway)
    link = RunParent(RunKind.ASK, parent)
    return create_run(prepared, owner_of(request.user), link), prepared


def error_response(
    request: HttpRequest, prepared: PreparedRequest, *, anyway: bool = False
) -> HttpResponse:
    """Show above the composer's fields why its request is not sent, and a button if it can be."""
    context = {"problems": prepared.errors or prepared.problems, "anyway": anyway}
    response = render(request, "composer/problems.html", context, status=422)
    return reswap(retarget(response, "#compose-problems"), "innerHTML")


def parent_turn(request: HttpRequest, prepared: PreparedRequest) -> Run | None:
    """Return the turn that the composer continues, None for a new conversation."""
    pk = request.POST.get("parent", "")
    if not pk:
        return None
    if found := find_run(request, pk):
        return turn_of(found)
    prepared.add_error(
        "", "The turn that this request continues was deleted. Press “New conversation”."
    )
    return None


@require_POST
async def repeat(request: HttpRequest, pk: str) -> HttpResponse:
    """Send the request of a turn again, to the same target and with the same parent.

    Credentials are the agent's current ones: a run stores none. Variables in its template get
    their current values. With `protocol`, `binding`, `version` or `url` the target is switched.
    """
    recorded = await sync_to_async(_repeat)(request, pk)
    if isinstance(recorded, HttpResponse):
        return recorded
    run, prepared = recorded
    response = await start_run(request, run, prepared)
    if not _switch_fields(request):
        return response
    # The composer follows.
    agent = run.agent.slug if run.agent else ""
    detail = {"agent": agent, "label": run.protocol, **run.describe_target()}
    return trigger_client_event(response, "target:switch", detail)


#: The fields of a repetition to another target.
_SWITCH = ("protocol", "binding", "version", "url")


def _switch_fields(request: HttpRequest) -> dict[str, str]:
    return {name: request.POST[name] for name in _SWITCH if name in request.POST}


def _repeat(request: HttpRequest, pk: str) -> HttpResponse | tuple[Run, PreparedRequest]:
    """Record the repetition of a run; or return why it cannot be sent."""
    can_be_continued = Q(agent__isnull=False) | Q(sent_to_url=True)
    found = Run.objects.turns().filter(can_be_continued, protocol__in=registry.PROTOCOLS)
    run = get_object_or_404(found.owned_by(request.user).select_related("agent", "parent"), pk=pk)
    fields = _switch_fields(request)
    if run.state == RunState.REFUSED and not run.request:
        refusal = refused("The request was not stored. Send it from the composer.")
        return error_response(request, refusal)
    try:
        prepared = (
            preparation.switched_request(run, fields) if fields else preparation.repeat_request(run)
        )
    except SecretNotAllowedError as error:
        prepared = refused(str(error))
    if prepared.errors:
        return error_response(request, prepared)
    if not fields:
        prepared = prepared.with_target(resume=run.resume)
    link = RunParent(
        kind=RunKind(run.kind),
        parent=run.parent,
        seq=run.parent_entry_seq,
        part=run.parent_entry_part,
        answers=run.answers,
    )
    return create_run(prepared, owner_of(request.user), link), prepared


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Cancel a run. Cancelling a completed one is not an error."""
    run = await sync_to_async(get_run)(request, pk)
    await tasks.cancel(run)
    if is_htmx(request):
        return HttpResponse(status=204)
    return redirect(run)
