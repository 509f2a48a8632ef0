"""What the compose pane sends: read, checked, and shown as the call it would become."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from playground.engine import PreparedRequest
from playground.library.credentials import is_placeholder
from playground.models import Run
from playground.protocols import registry, schemas
from playground.protocols.calls import HttpCall
from playground.protocols.origins import origin_of, same_origin, with_port
from playground.rendering.effective_request import pieces
from playground.rendering.pretty import readable
from playground.transport.redaction import is_credential
from playground.views.composed import read_form as read_form

DOTS = "••••••"


def describe_call(
    call: HttpCall,
    secrets: Sequence[str] = (),
    names: Collection[str] = (),
    missing: Collection[str] = (),
) -> dict[str, Any]:
    """A call as a template shows it; values that authenticate appear as dots.

    `names` are those of secrets whose placeholders stand in it, `missing` names that have no
    value: both are marked in the parts.
    """

    def header(name: str, value: str) -> tuple[str, str, bool]:
        hidden = is_credential(name) and not (value and is_placeholder(value))
        hidden = hidden or any(secret in value for secret in secrets)
        return name, DOTS if hidden else value, hidden

    body = call.body.decode("utf-8", "replace")
    with contextlib.suppress(ValueError):
        body = readable(json.loads(body))
    headers = [header(name, value) for name, value in call.headers]
    return {
        "method": call.method,
        "url": call.url,
        "url_parts": pieces(call.url, names, missing),
        "origin": call.origin,
        "headers": headers,
        "header_parts": [
            (name, pieces(value, names, missing), hidden) for name, value, hidden in headers
        ],
        "body": body,
        "body_parts": pieces(body, names, missing),
        "body_bytes": len(call.body),
    }


def shown_call(prepared: PreparedRequest, missing: Collection[str] = ()) -> dict[str, Any] | None:
    """Its call as `describe_call` describes it; None where there is nothing to send.

    `opens` is true where a binding makes another call before it.
    """
    first, call = registry.first_calls(prepared.shown, prepared.request)
    if call is None:
        return None
    described = describe_call(call, prepared.redact, prepared.provenance.secret_names, missing)
    described["opens"] = first != call
    if prepared.wire is not None:
        # Placeholders stand in what is shown: only what is sent has its size.
        sent = registry.preview(prepared.target, prepared.wire_document)
        described["body_bytes"] = len((sent or call).body)
    return described


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """The effective request: exactly what Send would send, and what is wrong with it.

    A document that cannot be sent yet is shown as it stands: what it carries of a conversation
    can be looked at before its text is written.
    """
    composed = read_form(request)
    context: dict[str, Any] = {"problems": composed.problems, "unready": bool(composed.errors)}
    prepared = composed.prepared
    if prepared and (call := shown_call(prepared, composed.missing)):
        context["call"] = call
        context["opens"] = call["opens"]
        context["new_origin"] = is_new(request, call["url"])
        context["made"] = composed.built_in
    return render(request, "compose/effective.html", context)


def is_new(request: HttpRequest, url: str) -> bool:
    """Return whether no request has gone to the origin of `url` before."""
    if same_origin(url, f"{request.scheme}://{request.get_host()}"):
        return False  # The demo agent, which is the playground itself.
    there = Q(url=url)
    for origin in filter(None, {origin_of(url), with_port(origin_of(url))}):
        # With the character that ends it: port 80 is not the beginning of port 8001.
        there |= Q(url__iexact=origin)
        for end in "/?#":
            there |= Q(url__istartswith=origin + end)
    return not Run.objects.owned_by(request.user).filter(there).exists()


@require_GET
def schema(request: HttpRequest, protocol: str, version: str, name: str) -> HttpResponse:
    """A JSON Schema of the protocol, for the editor's hints and for reference."""
    try:
        document = schemas.load(protocol, version, name)
    except (KeyError, OSError, ValueError) as error:
        raise Http404 from error
    return JsonResponse(document, json_dumps_params={"indent": 2})
