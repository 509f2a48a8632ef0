"""A call exactly as it would be sent, for previews."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from django.db.models import Q
from django.http import HttpRequest

from playground.base.credentials import is_placeholder
from playground.engine.request import PreparedRequest
from playground.models import Run
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.headers import is_credential
from playground.protocols.origins import origin_of, same_origin, with_port
from playground.ui.formatting import readable
from playground.variables.names import PLACEHOLDER

MASKED = "••••••"


def shown_call(prepared: PreparedRequest) -> dict[str, Any] | None:
    """Return the call of a prepared request as `describe_call` does; None without a call.

    `opens` is true where a binding makes another call before it.
    """
    first, call = registry.first_calls(prepared.redacted_target, prepared.request)
    if call is None:
        return None
    described = describe_call(call, prepared.redact, prepared.secret_names, prepared.missing)
    described["opens"] = first != call
    if prepared.has_secrets:
        # The shown call has placeholders: only what is sent has the final size.
        sent = registry.preview(prepared.target, prepared.document)
        described["body_bytes"] = len((sent or call).body)
    return described


def describe_call(
    call: HttpCall,
    secrets: Sequence[str] = (),
    names: Collection[str] = (),
    missing: Collection[str] = (),
) -> dict[str, Any]:
    """Return a call for templates; values of credentials are masked.

    `names` are the secrets whose placeholders are in it, `missing` names without a value: both are
    marked in the parts.
    """

    def header(name: str, value: str) -> tuple[str, str, bool]:
        hidden = is_credential(name) and not (value and is_placeholder(value))
        hidden = hidden or any(secret in value for secret in secrets)
        return name, MASKED if hidden else value, hidden

    body, body_value = call.body.decode("utf-8", "replace"), None
    with contextlib.suppress(ValueError):
        body_value = json.loads(body)
        body = readable(body_value)
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
        "body_value": body_value,
        "body_parts": pieces(body, names, missing),
        "body_bytes": len(call.body),
    }


def is_new_origin(request: HttpRequest, url: str) -> bool:
    """Return whether no request was sent to the origin of `url` before."""
    if same_origin(url, f"{request.scheme}://{request.get_host()}"):
        return False  # The demo agent, which is the playground itself.
    earlier = Q(url=url)
    for origin in filter(None, {origin_of(url), with_port(origin_of(url))}):
        # With the character that ends it: port 80 is not a prefix of port 8001.
        earlier |= Q(url__iexact=origin)
        for end in "/?#":
            earlier |= Q(url__istartswith=origin + end)
    return not Run.objects.owned_by(request.user).filter(earlier).exists()


#: Placeholders, also percent-encoded as in a document that a protocol puts into a URL.
_PLACEHOLDER = re.compile(rf"{PLACEHOLDER.pattern}|%7B%7B([A-Za-z0-9_.-]{{1,80}})%7D%7D")


def pieces(
    text: str, secrets: Collection[str] = (), missing: Collection[str] = ()
) -> list[tuple[str, str]]:
    """Return `text` in segments: each with its kind, which is "", "secret" or "missing".

    The text of a secret or a missing value is its name.
    """
    segments: list[tuple[str, str]] = []
    end = 0
    for match in _PLACEHOLDER.finditer(text):
        name = match.group(1) or match.group(2)
        kind = "secret" if name in secrets else "missing" if name in missing else ""
        if kind:
            segments += [(text[end : match.start()], ""), (name, kind)]
            end = match.end()
    return [each for each in (*segments, (text[end:], "")) if each[0]]
