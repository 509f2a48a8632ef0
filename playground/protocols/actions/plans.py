"""Action plans: the exact call that an action is, and why it cannot be sent, if so."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from playground.protocols.origins import MAX_URL, origin_of

Headers = Sequence[tuple[str, str]]


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = enum.auto()


#: The value of parameters that were not edited; null is a value that they may have.
UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Facts about the server or agent that an action over MCP or A2A names."""

    #: The URL of the MCP server as the user entered it, or that for messages as confirmed.
    url: str = ""
    #: The version of MCP that is set for the server, "" to find out.
    mcp_version: str = ""
    #: The card of the A2A agent, None until it is read.
    description: Any = None
    #: The id of the message to an A2A agent, unique to it.
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """One call, described completely, and the reasons against making it."""

    protocol: str
    #: The HTTP method; POST for JSON-RPC; "" if there is no call.
    method: str
    #: The URL; "" until the user has entered that of the MCP server.
    url: str
    #: The headers as sent, in order.
    headers: tuple[tuple[str, str], ...]
    #: The agent's parameters, or the edited ones. None without any.
    params: Any
    body: bytes
    #: The request document of the run, which makes the same call again.
    request: dict[str, Any]
    #: Which of `name`, `protocol`, `method` and `url` the agent did not give (completely).
    inferred: frozenset[str] = frozenset()
    #: Why it cannot be sent, as sentences.
    errors: tuple[str, ...] = ()
    #: Names of headers in which the agent itself gave credentials.
    credentials: tuple[str, ...] = ()
    #: Location of the parameters: `query`, `body`, or "" without any.
    params_in: str = ""
    #: What the user has to enter or read first: `address`, `card`, or "".
    missing: str = ""
    #: Whether it is complete and has no errors.
    sendable: bool = False

    @property
    def origin(self) -> str:
        """Scheme, host and port of the URL, "" if it is none."""
        return origin_of(self.url)


#: URL parsers differ over these characters, so the host would be ambiguous.
FORBIDDEN_IN_URL = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]|\s")


def url_error(url: str) -> str | None:
    """Return why a URL cannot be called, as a sentence; None if it can.

    Addresses that a host name resolves to are checked by the outbound policy.
    """
    if len(url) > MAX_URL:
        return f"The URL is longer than {MAX_URL:,} characters."
    if FORBIDDEN_IN_URL.search(url):
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
