"""Kinds of servers that the doctor knows: what it says of each, and what was detected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from playground.protocols import registry, unreadable
from playground.protocols.exchange import Target
from playground.protocols.registry import ProtocolSpec

#: A kind is a protocol over HTTP, or a binding where that is another.
NLWEB, MCP, AGENT_API, A2A = "nlweb", "mcp", "agent-api", "a2a"


class Kind(NamedTuple):
    """What the doctor says of one kind of server."""

    name: str
    #: The kind of endpoint that is missing.
    endpoint: str
    #: A server of this kind, with its article.
    server: str
    #: How to set an agent to it, or why that is not possible.
    settings: str
    #: What to do if nothing is found at the URL.
    missing: str = ""
    #: Whether an agent can be set to it.
    is_supported: bool = True


_KINDS: Mapping[str, Kind] = {
    NLWEB: Kind("NLWeb", "NLWeb over HTTP", registry.PROTOCOLS[NLWEB].agent_name,
                "Set the protocol to NLWeb and the binding to HTTP.",
                "Check the path of the URL; requests are sent to /ask below it."),
    MCP: Kind("MCP", "MCP", "an MCP server", "Set the binding to MCP.",
              "Check the path of the URL: most MCP servers are at /mcp."),
}  # fmt: skip
_A2A = Kind("A2A", "A2A", "an A2A agent", "A2A agents support actions only, not requests.",
            is_supported=False)  # fmt: skip
_LEGACY = Kind(
    "NLWeb, legacy server", "NLWeb over HTTP", "a legacy NLWeb server",
    "Set the protocol to NLWeb, version legacy and the binding to HTTP.",
)  # fmt: skip


def kinds() -> dict[str, Kind]:
    """Return all kinds by name; A2A is the last one."""
    rows = registry.PROTOCOLS.items()
    others = {name: _of_row(row) for name, row in rows if name == AGENT_API or row.is_message}
    return {**_KINDS, **others, A2A: _A2A}


def _of_row(row: ProtocolSpec) -> Kind:
    missing = "Check the path of the URL: requests are sent to exactly this URL."
    return Kind(row.label, row.label, row.agent_name, f"Set the protocol to {row.label}.", missing)


def kind_of(target: Target) -> str:
    """Return the kind of server that a target is set to."""
    kind = target.protocol if target.binding == "http" else target.binding
    return kind if kind in kinds() else NLWEB


@dataclass(frozen=True, slots=True)
class DetectedProtocol:
    """Detected settings: a protocol, a binding, or both."""

    #: A protocol of the registry, or the name of one that the playground does not support; "" if
    #: only the binding was detected.
    protocol: str = ""
    #: Its version as the registry names it, "" if unknown.
    version: str = ""
    #: `http`, `mcp` or `a2a`.
    binding: str = "http"
    #: The version of MCP or A2A, "" if unknown.
    generation: str = ""
    #: The name of a known deviation from the standard.
    dialect: str = ""

    @property
    def kind(self) -> str:
        """One of `kinds()`, or the name of a protocol that the playground does not support."""
        return self.protocol if self.binding == "http" else self.binding

    @property
    def _words(self) -> Kind:
        if self.kind == NLWEB and self.version == "legacy":
            return _LEGACY
        foreign = Kind(self.kind, self.kind, self.kind, unreadable.FOREIGN_FIX, is_supported=False)
        return kinds().get(self.kind, foreign)

    @property
    def is_supported(self) -> bool:
        """Whether an agent can be set to it."""
        return self._words.is_supported

    @property
    def server(self) -> str:
        """What it makes of a server, such as `an MCP server`."""
        return self._words.server

    @property
    def settings(self) -> str:
        """How to set an agent to it, or why that is not possible, as a sentence."""
        return self._words.settings

    @property
    def label(self) -> str:
        """A label, such as `NLWeb 0.55 over MCP 2026-07-28 (public ask agent)`."""
        row = registry.PROTOCOLS.get(self.protocol)
        inner = DetectedProtocol(self.protocol, self.version)._words.name
        if row and row.has_versions and self.version not in ("", "legacy"):
            inner = f"{inner} {self.version}"
        outer = "" if self.binding == "http" else f"{self._words.name} {self.generation}"
        parts = " over ".join(filter(None, (inner, outer.strip())))
        return f"{parts} ({self.dialect})" if self.dialect else parts
