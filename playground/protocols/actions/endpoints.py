"""Endpoints of actions: the `endpoint` of an action over HTTP as a URL that can be called."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit, urlunsplit

from playground.protocols.http import operation_url
from playground.protocols.origins import MAX_URL

#: URL parsers differ over these characters, so the host would be ambiguous.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]|\s")


class Endpoint(NamedTuple):
    """An endpoint, resolved."""

    #: The URL without its fragment; the agent's text if it cannot be called.
    url: str
    #: Whether the agent gave a relative reference.
    is_relative: bool = False
    #: Why it cannot be called, as a sentence.
    error: str | None = None


def resolve(endpoint: Any, agent_url: str) -> Endpoint:
    """Return the URL of an endpoint; a relative one is resolved against the agent's `ask` URL."""
    if endpoint is None:
        return Endpoint("", error="The action has no endpoint.")
    if not isinstance(endpoint, str):
        return Endpoint("", error="The endpoint of the action is not a string.")
    endpoint = endpoint.strip()
    if not endpoint:
        return Endpoint("", error="The endpoint of the action is empty.")
    if _FORBIDDEN.search(endpoint):
        return Endpoint(endpoint, error=url_error(endpoint))
    try:
        is_relative = not urlsplit(endpoint).scheme
        url = urljoin(operation_url(agent_url, "ask"), endpoint) if is_relative else endpoint
        if error := url_error(url):
            return Endpoint(endpoint, is_relative, error)
        return Endpoint(urlunsplit(urlsplit(url)._replace(fragment="")), is_relative)
    except ValueError:
        return Endpoint(endpoint, error="The endpoint is not a valid URL.")


def url_error(url: str) -> str | None:
    """Return why a URL cannot be called, as a sentence; None if it can.

    Addresses that a host name resolves to are checked by the outbound policy.
    """
    if len(url) > MAX_URL:
        return f"The URL is longer than {MAX_URL:,} characters."
    if _FORBIDDEN.search(url):
        return "The endpoint contains a space, a backslash or a control character."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "The endpoint is not a valid URL."
    if parts.scheme not in ("http", "https"):
        shown = f", not {parts.scheme[:20]}:" if parts.scheme else ""
        return f"The endpoint must be an http or https URL{shown}."
    if not parts.hostname or port == 0:
        return "The endpoint has no valid host."
    if "@" in parts.netloc:
        return "The endpoint must not contain a user name or password."
    return None
