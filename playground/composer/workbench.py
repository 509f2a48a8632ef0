"""The workbench: the composer on the left, the response on the right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.composer.deep_links import is_own_link, read_link
from playground.composer.views import composer_context, composer_fields_of_run, tab_data
from playground.conversation.updates import response_context
from playground.engine.follow_ups import follow_up_omissions
from playground.environments.views import choice_context
from playground.models import Agent, Environment, Run, Variable
from playground.models.conversations import branch_to, turn_of
from playground.protocols.headers import is_credential
from playground.ui.formatting import readable
from playground.ui.helpers import get_current_run
from playground.variables import literal

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
        linked.document,
        [],
        protocol=linked.protocol,
        version=linked.version,
        binding=linked.binding,
        composed={"address": linked.address},
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
        document_of(run),
        headers_of(run),
        composed=fields,
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


def document_of(run: Run) -> Any:
    """Return a run's request document as it was composed."""
    # Without a template, `{{name}}` in the document is literal text.
    template = run.request_template or {}
    return template.get("document", literal(run.request, keep=run.secret_names))


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


def headers_of(run: Run) -> list[list[str]]:
    """Return a run's own headers as they were composed, as far as they are stored.

    The values of credentials are not; empty ones would replace the agent's.
    """
    fields = (run.request_template or {}).get("headers", run.headers)
    return [[name, value] for name, value in fields if value or not is_credential(name)]


def page(
    request: HttpRequest,
    agent: Agent | None,
    run: Run | None,
    document: Mapping[str, Any],
    headers: list[list[str]],
    *,
    parent: Run | None = None,
    onward: bool = True,
    **context: Any,
) -> HttpResponse:
    """Render the workbench: `document` and `headers` in the composer, `run` in the response pane.

    With `parent` the composer's request follows that turn. Without `onward` the transcript ends at
    the turn of `run`.

    `context` may have `composed`, texts by the names of the composer's other fields, `saved`, what
    a tab stores of the open saved request, and `noted`, that request.
    """
    return render(
        request,
        "composer/workbench.html",
        {
            "agent": agent,
            "document_json": readable(document),
            "headers_json": json.dumps(headers, ensure_ascii=False),
            "first_visit": not Run.objects.owned_by(request.user).exists(),
            "binding": run.binding if run else (agent.binding if agent else "http"),
            "bindings": Agent.Binding.choices,
            "protocols": Agent.Protocol.choices,
            "secret_names": _secret_names(request),
            **composer_context(agent, run),
            **choice_context(request, run.environment if run else None),
            **response_context(run, onward=onward),
            **parent_fields(parent),
            **context,
        },
    )


def _secret_names(request: HttpRequest) -> list[str]:
    """Return the names of all secrets: the active environment may change while the page is open."""
    environments = Environment.objects.owned_by(request.user)
    secrets = Variable.objects.filter(environment__in=environments, kind=Variable.Kind.SECRET)
    return list(secrets.order_by("name").values_list("name", flat=True).distinct())
