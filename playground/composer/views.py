"""The composer: its fields, the preparation of its request, and the preview of the call."""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from playground.base.credentials import clean_auth
from playground.composer.forms import SendForm
from playground.engine.preparation import (
    AUTH,
    EXPECTATIONS,
    HEADERS,
    RequestTemplate,
    VariableScope,
    prepare,
)
from playground.engine.request import PreparedRequest
from playground.environments.views import active_environment
from playground.models import Agent, Run, SavedRequest
from playground.models.collections import resolve_target
from playground.models.detection import detected_settings
from playground.models.ownership import owner_of
from playground.protocols import registry, schemas
from playground.protocols.agent_api.parameters import PARAMETERS, Parameter
from playground.protocols.agent_api.requests import SESSION
from playground.reference.explanations import meaning
from playground.ui.calls import is_new_origin, shown_call
from playground.ui.formatting import readable

#: The pointer of a problem in a field; problems of other fields belong to the whole request.
_PROBLEM_POINTERS = {"headers": HEADERS, "auth": AUTH, "expectations": EXPECTATIONS}
#: The value types of a parameter's field, by the parameter's kind.
_EDITORS = {"text": "text", "texts": "text list", "number": "number", "integer": "number"}
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
_SESSION_FIELDS = frozenset({*SESSION, "user_id"})


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
    # Without the field, the active environment of the top bar applies.
    is_named = "environment" in request.POST
    environment = form.cleaned_data["environment"] if is_named else active_environment(request)
    return prepare(_request_template(form), VariableScope(environment), owner_of(request.user))


def _request_template(form: SendForm) -> RequestTemplate:
    found = form.cleaned_data
    return RequestTemplate(
        request=found["document"],
        headers=found["headers"],
        agent=found["agent"],
        address="" if found["agent"] else found["address"],
        protocol=found["protocol"],
        version=found["version"],
        binding=found["binding"],
        auth=clean_auth(found["auth"]),
        saved=found["saved"],
        expectations=found["expectations"],
        detected=found["detected"],
        anyway=found["anyway"],
    )


def composer_context(agent: Agent | None, run: Run | None) -> dict[str, Any]:
    """Return the protocol of the composer, and the fields of the panels of all protocols.

    The protocol is that of the run, of the agent, or of the first row of the protocol table.
    """
    default = next(iter(registry.PROTOCOLS))
    protocol = run.protocol if run else (agent.protocol if agent else default)
    protocol = protocol if protocol in registry.PROTOCOLS else default
    latest = registry.versions(protocol)[-1].name
    parameters = [row for row in PARAMETERS.values() if row.name not in _SESSION_FIELDS]
    session = [row for row in PARAMETERS.values() if row.name in _SESSION_FIELDS]
    return {
        "protocol": protocol,
        "version": run.version if run else (agent.version if agent else latest),
        "versions": [
            (name, version) for name, row in registry.PROTOCOLS.items() for version in row.versions
        ],
        "parameters": [_parameter_field(row) for row in parameters],
        "session_fields": [_parameter_field(row) for row in session],
        "tour_call": json.dumps(_SUGGESTED_TOOL_CALL),
    }


def _parameter_field(row: Parameter) -> dict[str, str]:
    text = row.extension or meaning("agent-api", "request", f"/{row.name}")
    expected = "" if row.kind == "text" else f" {row.expected[0].upper()}{row.expected[1:]}."
    return {
        "label": row.name,
        "pointer": f"/{row.name}",
        "types": _EDITORS[row.kind],
        "hint": f"{text}{expected}",
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
    """Return texts by the names of the composer's fields for a run, without document and headers.

    The URL is shown where the request was sent to a URL and not to an agent, or where the agent
    was deleted.
    """
    template = run.request_template or {}
    saved = run.saved_request
    return {
        "address": str(template.get("address") or ("" if run.agent else run.url)),
        "detected": _json_text(detected_settings(run.detected)),
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
