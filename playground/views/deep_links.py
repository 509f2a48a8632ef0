"""Links that bring a request along: read from the address, shown, and never sent by themselves.

    /?agent=SLUG-or-URL&text=…&streaming=0|1&version=…&binding=…&protocol=…
    /?agent=…&request={"query": …}

Whatever cannot be read is left out: a link comes from anybody. A whole request with headers comes
in the fragment (`#request=…`), which a browser keeps to itself; static/js/links.js reads that.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.http import QueryDict

from playground.engine.preparation import agent_for, version_and_binding
from playground.library.credentials import clean_url_template
from playground.models import Agent
from playground.protocols import registry
from playground.transport import check_url

SAMPLE = "healthy breakfast recipes with eggs"
#: Characters of a request, and of an address, that a link may carry.
MAX_LINK, MAX_ADDRESS = 20_000, 2000
#: Characters shown of the name of an agent that is not here.
MAX_NAME = 80


@dataclass(frozen=True, slots=True)
class LinkedRequest:
    """What an address asks for."""

    #: None where the address names another place, or nothing that there is.
    agent: Agent | None
    #: Where it goes without an agent, "" with one.
    address: str
    protocol: str
    version: str
    binding: str
    document: dict[str, Any]
    #: Whether more than an agent of the user's own came along.
    is_foreign: bool
    #: What a reader has to know of the link beside where it goes, as sentences.
    note: str = ""


def read_link(query: QueryDict, agents: models.QuerySet[Agent]) -> LinkedRequest:
    """The request that an address describes; a first request to the first agent without one.

    An agent that is named and not there is nobody: what was meant for one is not to reach another.
    """
    named = query.get("agent", "")
    agent = agents.filter(slug=named).first() if named else agents.first()
    address = _address(named) if agent is None else ""
    spoken_by = agent or agent_for(address, query.get("protocol", ""), None)
    protocol = spoken_by.protocol
    version, binding = version_and_binding(spoken_by, query.get("version"), query.get("binding"))
    text = query.get("text", "")[:MAX_LINK]
    streaming = query.get("streaming") != "0"
    document = _document(query) or registry.new_request(
        protocol, version, text or SAMPLE, streaming=streaming
    )
    brought = text or "request" in query or (named and agent is None)
    return LinkedRequest(
        agent,
        address,
        protocol,
        version,
        binding,
        document,
        bool(brought),
        _note(named, agent, address),
    )


def _note(named: str, agent: Agent | None, address: str) -> str:
    """What became of the agent that a link names, where it is not as it was named."""
    if agent is not None or not named or address == named:
        return ""
    if address:
        return "The credentials in its address were left out."
    return f"It names an agent that is not here: {named[:MAX_NAME]}"


def _address(named: str) -> str:
    """An address that a request could go to, without any credential; "" for anything else."""
    if len(named) > MAX_ADDRESS or "://" not in named:
        return ""
    address = clean_url_template(named)
    return "" if check_url(address) else address


def _document(query: QueryDict) -> dict[str, Any] | None:
    """The document in the address, None where there is none that can be read."""
    try:
        document = json.loads(query.get("request", "")[:MAX_LINK])
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
