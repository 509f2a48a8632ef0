"""A plan: the exact call that an action is."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from playground.protocols.calls import origin_of

Headers = Sequence[tuple[str, str]]


class Unset(enum.Enum):
    """The type of `UNSET`."""

    UNSET = enum.auto()


#: Stands for parameters that nobody has edited, because null is a value that they may have.
UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Plan:
    """One call, described completely, and what speaks against making it."""

    protocol: str
    #: The HTTP method; POST for JSON-RPC. "" where the call cannot be made out.
    method: str
    #: Where it goes. For MCP the agent's name of the server, which need not be an address.
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
    refusals: tuple[str, ...] = ()
    #: Names of headers that the agent itself has put credentials into.
    credentials: tuple[str, ...] = ()
    #: Where the parameters go: `query`, `body`, or "" where there are none.
    placement: str = ""
    #: Whether there is something to send it with, and nothing that speaks against it.
    sendable: bool = False

    @property
    def origin(self) -> str:
        """Scheme, host and port of the address, "" for what is none."""
        return origin_of(self.url)
