"""A plan: the exact call that an action is."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.protocols.origins import origin_of

Headers = Sequence[tuple[str, str]]


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = enum.auto()


#: Stands for parameters that nobody has edited, because null is a value that they may have.
UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What is known of the server or agent that an action over MCP or A2A names."""

    #: Where the user says that the MCP server is.
    url: str = ""
    #: The card of the A2A agent, None as long as nobody has read it.
    description: Any = None
    #: What the message to an A2A agent is called: no two may have the same name.
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """One call, described completely, and what speaks against making it."""

    protocol: str
    #: The HTTP method; POST for JSON-RPC. "" where the call cannot be made out.
    method: str
    #: Where it goes; "" as long as nobody has said where the MCP server is.
    url: str
    #: As they will be sent, in order.
    headers: tuple[tuple[str, str], ...]
    #: The parameters in use: the agent's, or as they were edited. None where there are none.
    params: Any
    body: bytes
    #: What is stored as the request of the run, and makes the same call again.
    request: dict[str, Any]
    #: Which of `name`, `protocol`, `method` and `url` the agent did not say (in full).
    inferred: frozenset[str] = frozenset()
    #: Why it cannot be sent, as sentences.
    errors: tuple[str, ...] = ()
    #: Names of headers that the agent itself has put credentials into.
    credentials: tuple[str, ...] = ()
    #: Where the parameters go: `query`, `body`, or "" where there are none.
    params_in: str = ""
    #: What the user has to give or read first: `address`, `card`, or "".
    missing_fields: str = ""
    #: Whether all is there that it needs, and nothing speaks against it.
    sendable: bool = False

    @property
    def origin(self) -> str:
        """Scheme, host and port of the address, "" for what is none."""
        return origin_of(self.url)
