"""Deep links: URLs of the workbench that fill in a request, which is shown and never sent.

    /?agent=SLUG-or-URL&text=…&streaming=0|1&version=…&binding=…&protocol=…
    /?agent=…&request={"query": …}
    /?new=1

    /#request=JSON of {agent, address, protocol, binding, version, document, headers}, which is
              percent-encoded or in base64url

Invalid parts are ignored: a link may come from anybody, and the page says where its request would
be sent. Links on the playground's own pages are exempt from that. A browser does not send the
fragment with the URL: the page posts it here, and fills in what it gets. Literal credentials are
neither written into a link nor read from one.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from django.db import models
from django.forms import ValidationError
from django.http import HttpRequest, JsonResponse, QueryDict
from django.urls import reverse
from django.views.decorators.http import require_POST

from playground.base.credentials import clean_url_template, without_credentials
from playground.base.fields import parse_document, parse_header_templates, parse_json_value
from playground.engine.preparation import agent_for_url, version_and_binding
from playground.models import Agent
from playground.protocols import lenient, registry
from playground.protocols.origins import MAX_URL, same_origin
from playground.transport import check_url
from playground.ui.formatting import readable

SAMPLE = "healthy breakfast recipes with eggs"
#: Maximum length of a request in a link.
MAX_LINK = 20_000
#: Limits on the characters of a fragment and of a text in it, and on the number of headers.
MAX_FRAGMENT, MAX_TEXT, MAX_HEADERS = 200_000, 2_000, 100
#: Maximum shown length of the name of an unknown agent.
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class LinkedRequest:
    """A request that a URL describes."""

    #: None where the URL names another target, or an agent that does not exist.
    agent: Agent | None
    #: Texts by the names of the composer's fields, without its agent.
    fields: dict[str, str]
    #: Whether the link has more than an agent of the user.
    is_foreign: bool
    #: Notes for the user about the link, as sentences.
    note: str = ""


def read_link(query: QueryDict, agents: models.QuerySet[Agent]) -> LinkedRequest:
    """Return the request that a URL describes; a first request to the first agent without one.

    There is no agent where the named one does not exist: its request must not reach another one.
    """
    agent_name = query.get("agent", "")
    agent = agents.filter(slug=agent_name).first() if agent_name else agents.first()
    address = _valid_url(agent_name) if agent is None else ""
    target_agent = agent or agent_for_url(address, query.get("protocol", ""), None)
    protocol = registry.known(target_agent.protocol)
    version, binding = version_and_binding(target_agent, query.get("version"), query.get("binding"))
    text = query.get("text", "")[:MAX_LINK]
    streaming = query.get("streaming") != "0"
    sample = "" if "new" in query else SAMPLE
    document = _document(query) or registry.of(protocol).new_request(
        version, text or sample, streaming=streaming
    )
    is_foreign = text or "request" in query or (agent_name and agent is None)
    return LinkedRequest(
        agent,
        {
            "address": address,
            "protocol": protocol,
            "version": version,
            "binding": binding,
            "document": readable(document),
        },
        bool(is_foreign),
        _note(agent_name, agent, address),
    )


@require_POST
def request_of_fragment(request: HttpRequest) -> JsonResponse:
    """Return the composer's `fields` for the fragment of a link, and a `note` for the user.

    Without a request in it: 422, with the reason as `error`.
    """
    fragment = request.POST.get("fragment", "")
    if len(fragment) > MAX_FRAGMENT:
        return _error(f"The link is longer than {MAX_FRAGMENT:,} characters.")
    try:
        linked = parse_json_value(_decode(fragment.partition("=")[2]))
    except ValidationError:
        return _error("The link contains no valid JSON.")
    if not isinstance(linked, dict) or not isinstance(linked.get("document"), dict):
        return _error("The link contains no request.")
    text_of = {name: _short_text(linked.get(name)) for name in ("agent", "address", "version")}
    address = clean_url_template(text_of["address"])
    headers, removed = without_credentials(linked.get("headers"))
    if address != text_of["address"]:
        removed.append("the URL")
    protocol, binding = linked.get("protocol"), linked.get("binding")
    agent = Agent.objects.owned_by(request.user).filter(slug=text_of["agent"]).first()
    # An agent that is only called the same is another one.
    is_here = agent is not None and (not address or same_origin(agent.url, address))
    fields = {
        "agent": text_of["agent"] if is_here else "",
        "address": address,
        "protocol": registry.known(protocol),
        "binding": binding if binding in list(registry.BINDINGS) else "http",
        "version": text_of["version"],
        "document": json.dumps(linked["document"], indent=2, ensure_ascii=False),
        "headers": json.dumps(headers[:MAX_HEADERS], ensure_ascii=False),
    }
    note = f"Its credentials were removed: {', '.join(removed)}." if removed else ""
    return JsonResponse({"fields": fields, "note": note})


@require_POST
def create(request: HttpRequest) -> JsonResponse:
    """Return the `link` to the composer's request, or 422 with the reason as `error`."""
    fields = {name: request.POST.get(name, "") for name in ("agent", "protocol", "binding")}
    agent = Agent.objects.owned_by(request.user).filter(slug=fields["agent"]).first()
    address = agent.url if agent else request.POST.get("address", "")
    try:
        headers = parse_header_templates(request.POST.get("headers", ""))
        link = workbench_link(
            request.build_absolute_uri(reverse("workbench")),
            **fields,
            address=clean_url_template(address),
            version=request.POST.get("version", ""),
            document=parse_document(request.POST.get("document", "")),
            headers=without_credentials([list(pair) for pair in headers])[0],
        )
    except ValidationError as error:
        return _error(str(error.messages[0]))
    return JsonResponse({"link": link})


def _error(message: str) -> JsonResponse:
    return JsonResponse({"error": message}, status=422)


def _decode(text: str) -> str:
    """Return the text of a fragment, which is in base64url or percent-encoded."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), "-_", validate=True).decode()
    except ValueError:
        return unquote(text)


def _short_text(value: Any) -> str:
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else ""


def is_own_link(request: HttpRequest) -> bool:
    """Return whether a link on a page of the playground led here.

    Such a page is named in `Referer`, which no other site can set; links that agents and notes
    contain carry `noreferrer`.
    """
    origin = f"{request.scheme}://{request.get_host()}"
    return same_origin(request.headers.get("Referer", ""), origin)


def _note(agent_name: str, agent: Agent | None, address: str) -> str:
    """Return what the user has to know about a named agent that is not used as named."""
    if agent is not None or not agent_name or address == agent_name:
        return ""
    if address:
        return "The credentials in the URL were removed."
    return f"The agent of the link does not exist here: {agent_name[:MAX_NAME]}"


def _valid_url(text: str) -> str:
    """Return a URL that a request could be sent to, without credentials; "" for anything else."""
    if len(text) > MAX_URL or "://" not in text:
        return ""
    address = clean_url_template(text)
    return "" if check_url(address) else address


def _document(query: QueryDict) -> dict[str, Any] | None:
    """Return the document in the URL, None where there is none or it is invalid."""
    document = lenient.decode(query.get("request", "")[:MAX_LINK])
    return document if isinstance(document, dict) else None


def workbench_link(
    workbench: str,
    *,
    address: str,
    protocol: str,
    binding: str,
    version: str,
    document: Mapping[str, Any],
    headers: Sequence[Sequence[str]] = (),
    agent: str = "",
) -> str:
    """Return the URL that opens the workbench at the URL `workbench` with a request filled in.

    The headers must be without credentials. `agent` is the slug of an agent, which is used where it
    has the same origin as `address`.
    """
    request = {
        **({"agent": agent} if agent else {}),
        "address": address,
        "protocol": protocol,
        "binding": binding,
        "version": version,
        "document": document,
        "headers": list(headers),
    }
    text = json.dumps(request, separators=(",", ":"))
    return f"{workbench}#request={base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}"
