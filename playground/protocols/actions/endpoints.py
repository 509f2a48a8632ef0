"""Where an action over HTTP goes: the agent's endpoint as an address that can be called."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

from playground.protocols.http import operation_url

#: Parsers differ over these: what one takes for the host, another does not.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]|\s")

#: Characters of an address that is called: of more, servers refuse most.
MAX_LENGTH = 2_000


class Endpoint(NamedTuple):
    """An endpoint, resolved."""

    #: The address without its fragment; what the agent wrote where it is refused.
    url: str
    #: Whether the agent named only a part of it.
    is_relative: bool = False
    #: Why it cannot be called, as a sentence.
    refusal: str | None = None


def resolve(endpoint: Any, agent_url: str) -> Endpoint:
    """The address of an endpoint; a relative one is meant from where the agent was asked."""
    if endpoint is None:
        return Endpoint("", refusal="The action has no endpoint.")
    if not isinstance(endpoint, str):
        return Endpoint("", refusal="The action's endpoint is not a string.")
    endpoint = endpoint.strip()
    if not endpoint:
        return Endpoint("", refusal="The action's endpoint is empty.")
    if _FORBIDDEN.search(endpoint):
        return Endpoint(endpoint, refusal=url_error(endpoint))
    try:
        is_relative = not urlsplit(endpoint).scheme
        url = urljoin(operation_url(agent_url, "ask"), endpoint) if is_relative else endpoint
        if refusal := url_error(url):
            return Endpoint(endpoint, is_relative, refusal)
        return Endpoint(urlunsplit(urlsplit(url)._replace(fragment="")), is_relative)
    except ValueError:
        return Endpoint(endpoint, refusal="The endpoint cannot be read as an address.")


def url_error(url: str) -> str | None:
    """Why an address cannot be called, as a sentence; None if it can.

    What it says about the address that a name resolves to is for the outbound policy.
    """
    if len(url) > MAX_LENGTH:
        return f"The address has more than {MAX_LENGTH:,} characters."
    if _FORBIDDEN.search(url):
        return "The endpoint contains a space, a backslash or a control character."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "The endpoint cannot be read as an address."
    if parts.scheme not in ("http", "https"):
        shown = f", not {parts.scheme[:20]}:" if parts.scheme else ""
        return f"An action over HTTP must go to an http or https address{shown}."
    if not parts.hostname or port == 0:
        return "The endpoint names no host that can be called."
    if "@" in parts.netloc:
        return "The endpoint has a user name or password in it."
    return None
