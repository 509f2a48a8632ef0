"""What the compose pane sends: read, checked, and shown as the call it would become."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from playground.counterparts import bindings_of
from playground.engine import Draft, draft_over
from playground.forms import read_document, read_headers
from playground.models import Agent, Run
from playground.protocols import registry, schemas
from playground.protocols.calls import Call
from playground.protocols.exchange import RequestProblem
from playground.rendering.pretty import readable
from playground.transport.redaction import is_credential

DOTS = "••••••"


@dataclass(slots=True)
class Composed:
    """A form that was read: a draft if it can be sent, and everything wrong with it."""

    draft: Draft | None = None
    problems: list[RequestProblem] = field(default_factory=list)

    @property
    def errors(self) -> list[RequestProblem]:
        """The problems that stop a send."""
        return [problem for problem in self.problems if problem.level == "error"]


def read_form(request: HttpRequest) -> Composed:
    """Read the composer's fields: agent, version, document, headers."""
    composed = Composed()
    form = request.POST

    def refuse(pointer: str, message: str) -> None:
        composed.problems.append(RequestProblem(pointer, message, "error"))

    agents = Agent.objects.owned_by(request.user)
    agent = agents.filter(slug=form.get("agent", "")).first()
    if agent is None:
        refuse("", "Choose an agent to send the request to.")
    document: dict[str, Any] = {}
    headers: list[tuple[str, str]] = []
    try:
        document = read_document(form.get("document", ""))
    except ValidationError as error:
        refuse("", error.messages[0])
    try:
        headers = read_headers(form.get("headers", ""))
    except ValidationError as error:
        refuse("#headers", error.messages[0])
    if agent is None or composed.problems:
        return composed
    version = form.get("version") or agent.version
    if version not in {v.name for v in registry.versions(agent.protocol)}:
        version = agent.version
    binding = form.get("binding") or agent.binding
    if binding not in bindings_of(agent):
        binding = agent.binding
    composed.draft = draft_over(agent, document, headers, version=version, binding=binding)
    composed.problems = registry.check(composed.draft.target, document)
    return composed


def describe_call(call: Call, secrets: Sequence[str] = ()) -> dict[str, Any]:
    """A call as a template shows it; values that authenticate appear as dots."""

    def header(name: str, value: str) -> tuple[str, str, bool]:
        hidden = is_credential(name) or any(secret in value for secret in secrets)
        return name, DOTS if hidden else value, hidden

    body = call.body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        body = readable(json.loads(body))
    return {
        "method": call.method,
        "url": call.url,
        "origin": call.origin,
        "headers": [header(name, value) for name, value in call.headers],
        "body": body,
        "body_bytes": len(call.body),
    }


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """The effective request: exactly what Send would send, and what is wrong with it.

    A document that cannot be sent yet is shown as it stands: what it carries of a conversation
    can be looked at before its text is written.
    """
    composed = read_form(request)
    context: dict[str, Any] = {"problems": composed.problems, "unready": bool(composed.errors)}
    if composed.draft:
        draft = composed.draft
        call = registry.preview(draft.target, draft.request)
        if call:
            context["call"] = describe_call(call, draft.secrets)
            context["opens"] = call != registry.exchange(draft.target, draft.request).next_call()
            context["new_origin"] = is_new(request, call.origin)
    return render(request, "compose/effective.html", context)


def is_new(request: HttpRequest, origin: str) -> bool:
    """Whether this would be the first time that a request goes to `origin`."""
    if origin == f"{request.scheme}://{request.get_host()}":
        return False  # The demo agent, which is the playground itself.
    # With the character that ends it: port 80 is not the beginning of port 8001.
    there = Q(url=origin)
    for end in "/?#":
        there |= Q(url__startswith=origin + end)
    return not Run.objects.owned_by(request.user).filter(there).exists()


@require_GET
def schema(request: HttpRequest, protocol: str, version: str, name: str) -> HttpResponse:
    """A JSON Schema of the protocol, for the editor's hints and for reference."""
    try:
        document = schemas.load(protocol, version, name)
    except (KeyError, OSError, ValueError) as error:
        raise Http404 from error
    return JsonResponse(document, json_dumps_params={"indent": 2})
