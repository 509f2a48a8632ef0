"""Deep links: URLs of the workbench that fill in a request, which is shown and never sent.

    /?agent=SLUG-or-URL&text=…&streaming=0|1&version=…&binding=…&protocol=…
    /?agent=…&request={"query": …}
    /?new=1

Invalid parts are ignored: a link may come from anybody, and the page says where its request would
be sent. Links on the playground's own pages are exempt from that. A request with headers is in the
fragment (`#request=…`), which a browser does not send; static/js/links.js reads that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.http import HttpRequest, QueryDict

from playground.collections.credentials import clean_url_template
from playground.engine.preparation import agent_for_url, version_and_binding
from playground.models import Agent
from playground.protocols import registry
from playground.protocols.origins import MAX_URL, same_origin
from playground.transport import check_url

SAMPLE = "healthy breakfast recipes with eggs"
#: Maximum length of a request in a link.
MAX_LINK = 20_000
#: Maximum shown length of the name of an unknown agent.
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class LinkedRequest:
    """A request that a URL describes."""

    #: None where the URL names another target, or an agent that does not exist.
    agent: Agent | None
    #: The target without an agent, "" with one.
    address: str
    protocol: str
    version: str
    binding: str
    document: dict[str, Any]
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
    protocol = target_agent.protocol
    version, binding = version_and_binding(target_agent, query.get("version"), query.get("binding"))
    text = query.get("text", "")[:MAX_LINK]
    streaming = query.get("streaming") != "0"
    sample = "" if "new" in query else SAMPLE
    document = _document(query) or registry.new_request(
        protocol, version, text or sample, streaming=streaming
    )
    is_foreign = text or "request" in query or (agent_name and agent is None)
    return LinkedRequest(
        agent,
        address,
        protocol,
        version,
        binding,
        document,
        bool(is_foreign),
        _note(agent_name, agent, address),
    )


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
    try:
        document = json.loads(query.get("request", "")[:MAX_LINK])
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
