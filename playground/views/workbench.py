"""The workbench: compose on the left, the response on the right."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.models import Agent, Run
from playground.models.liveness import mark_interrupted
from playground.protocols import registry
from playground.rendering.pretty import readable
from playground.transport.redaction import is_credential
from playground.views.composing import composer_context
from playground.views.contexts import history_context, response_context

SAMPLE = "healthy breakfast recipes with eggs"
#: Characters of a request that a link may carry.
MAX_LINK = 20_000


@require_safe
@ensure_csrf_cookie
def workbench(request: HttpRequest) -> HttpResponse:
    """A fresh request to the first agent, or to the one that `?agent=` names.

    A link can prefill it, with `?text=` or with a whole document in `?request=`; it never sends.
    """
    agents = Agent.objects.owned_by(request.user)
    agent = agents.filter(slug=request.GET.get("agent", "")).first() or agents.first()
    text = request.GET.get("text", "")[:MAX_LINK] or SAMPLE
    composing = composer_context(agent, None)
    document = registry.new_request(
        composing["protocol"], composing["version"], text, streaming=True
    )
    return page(request, agent, None, _linked(request) or document, [])


def _linked(request: HttpRequest) -> dict[str, Any] | None:
    """The document in the address, None where there is none that can be read."""
    try:
        document = json.loads(request.GET.get("request", "")[:MAX_LINK])
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


@require_safe
@ensure_csrf_cookie
def run_page(request: HttpRequest, pk: str) -> HttpResponse:
    """The workbench, opened on a run: its request to edit, its response to watch."""
    run = get_object_or_404(Run.objects.owned_by(request.user), pk=pk)
    if not run.is_final and mark_interrupted():
        run.refresh_from_db()
    # No agent is chosen when the run's was deleted: Send must not go to some other one.
    return page(request, run.agent, run, run.request, headers_of(run))


def headers_of(run: Run) -> list[list[str]]:
    """A run's own headers as far as they are kept.

    The values of credentials are not; empty ones would replace the agent's.
    """
    return [[name, value] for name, value in run.headers if value or not is_credential(name)]


def page(
    request: HttpRequest,
    agent: Agent | None,
    run: Run | None,
    document: dict[str, Any],
    headers: list[list[str]],
    **context: Any,
) -> HttpResponse:
    """The page: `document` and `headers` in the composer, `run` in the response pane."""
    history = history_context(request.user)
    return render(
        request,
        "workbench.html",
        {
            "agents": Agent.objects.owned_by(request.user),
            "agent": agent,
            "document_json": readable(document),
            "headers_json": json.dumps(headers, ensure_ascii=False),
            "first_visit": not history["history"],
            "binding": run.binding if run else (agent.binding if agent else "http"),
            "bindings": Agent.Binding.choices,
            **composer_context(agent, run),
            **history,
            **response_context(run),
            **context,
        },
    )
