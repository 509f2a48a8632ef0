"""The workbench: compose on the left, the response on the right."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.models import Agent, Environment, Run, Variable
from playground.rendering.pretty import readable
from playground.transport.redaction import is_credential
from playground.variables import literal
from playground.views.composing import composer_context
from playground.views.contexts import history_context, response_context
from playground.views.deep_links import read_link
from playground.views.environment_choice import choice_context
from playground.views.helpers import get_current_run
from playground.views.keeping import composed_for, tab_data
from playground.views.sidebar import library_context


@require_safe
@ensure_csrf_cookie
def workbench(request: HttpRequest) -> HttpResponse:
    """A fresh request to the first agent, or the one that the address describes; never sent."""
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
        linked=linked.is_foreign,
        link_note=linked.note,
    )


@require_safe
@ensure_csrf_cookie
def run_page(request: HttpRequest, pk: str) -> HttpResponse:
    """The workbench, opened on a run: its request to edit, its response to watch."""
    run = get_current_run(request, pk)
    composed, saved = composed_for(run), run.saved_request
    agents = Agent.objects.owned_by(request.user)
    # No agent is chosen when the run's was deleted: Send must not go to some other one.
    return page(
        request,
        None if composed["address"] else run.agent,
        run,
        # Where the user wrote no names, those that stand there are words of somebody's.
        (run.request_template or {}).get("document", literal(run.request, keep=run.secret_names)),
        headers_of(run),
        composed=composed,
        saved=tab_data(saved, agents) if saved else None,
    )


@require_safe
def run_response(request: HttpRequest, pk: str) -> HttpResponse:
    """The response pane of a run, for a tab that shows it."""
    return render(request, "runs/response.html", response_context(get_current_run(request, pk)))


def headers_of(run: Run) -> list[list[str]]:
    """A run's own headers as they were composed, as far as they are kept.

    The values of credentials are not; empty ones would replace the agent's.
    """
    composed = (run.request_template or {}).get("headers", run.headers)
    return [[name, value] for name, value in composed if value or not is_credential(name)]


def page(
    request: HttpRequest,
    agent: Agent | None,
    run: Run | None,
    document: Mapping[str, Any],
    headers: list[list[str]],
    **context: Any,
) -> HttpResponse:
    """The page: `document` and `headers` in the composer, `run` in the response pane.

    In `context` may be `composed`, texts for the composer's other fields by their names, and
    `saved`, what a tab knows of the saved request that is open.
    """
    history = history_context(request.user)
    return render(
        request,
        "workbench.html",
        {
            "agents": Agent.objects.owned_by(request.user),
            "agent": agent,
            "document_json": readable(document),
            "headers_json": json.dumps(headers, ensure_ascii=False),
            "first_visit": not history["shown"],
            "binding": run.binding if run else (agent.binding if agent else "http"),
            "bindings": Agent.Binding.choices,
            "protocols": Agent.Protocol.choices,
            "secret_names": _secret_names(request),
            **composer_context(agent, run),
            **history,
            **choice_context(request, run.environment if run else None),
            **library_context(request),
            **response_context(run),
            **context,
        },
    )


def _secret_names(request: HttpRequest) -> list[str]:
    """The names of all secrets: which environment is active may change while the page is open."""
    environments = Environment.objects.owned_by(request.user)
    secrets = Variable.objects.filter(environment__in=environments, kind=Variable.Kind.SECRET)
    return list(secrets.order_by("name").values_list("name", flat=True).distinct())
