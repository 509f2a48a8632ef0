"""The contract between a protocol, a binding and their caller.

Two axes, kept apart: a *protocol* gives documents their meaning (`Reader`), a *binding* defines
how documents travel (`Exchange`). The engine sees exchanges only: while an exchange has a next
call, the engine makes it and passes every frame back to the exchange.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from playground.protocols.calls import HttpCall
from playground.protocols.events import Event, Outcome
from playground.protocols.frames import Frame
from playground.protocols.problems import Problem


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a request: the facts about an agent that a protocol needs."""

    url: str
    protocol: str = "nlweb"
    binding: str = "http"
    version: str = "0.55"
    #: Headers of the agent and of the request, authentication included, in sending order.
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    #: Names of the tools for `ask` and `await`, "" to select them from the tool list. MCP only.
    tools: tuple[str, str] = ("", "")
    #: The result of an earlier handshake with the same agent (`Exchange.handshake`).
    handshake: Mapping[str, Any] | None = None
    #: Version and id of the session that the conversation has with this server. MCP only.
    session: tuple[str, str] = field(default=("", ""), repr=False)
    #: The version of MCP to use: one with sessions, or the stateless one; "" to find out.
    mcp_version: str = ""
    #: The answer to an elicitation of the binding itself, in the form of `Elicitation.resume`.
    resume: Mapping[str, Any] | None = None
    #: Prefix of request ids, so that runs that share a session do not share ids.
    request_id_prefix: str = ""


@dataclass(frozen=True, slots=True)
class RequestProblem:
    """A validation problem of a request document, found before it is sent."""

    #: JSON pointer into the document, "" for the document itself.
    pointer: str
    message: str
    #: `error` prevents sending; `warning` is only shown.
    level: str = "warning"
    #: The variable that is not defined, if that is the problem.
    variable: str = field(default="", compare=False)


class Reader(Protocol):
    """Gives the payloads of a protocol their meaning. Never raises on an agent's data."""

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a response that is one JSON document."""
        ...

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return the events of one stream message: its event name (None if unnamed) and data."""
        ...

    def end(self) -> None:
        """Note that the response ended as its framing says, so that its announcements count."""
        return

    @property
    def outcome(self) -> Outcome:
        """Return the outcome of the response so far."""
        return Outcome.NONE

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """Return the latest session context that the agent returned, None if it returned none."""
        return None


class Assembler(Protocol):
    """Puts the events of one response together into one JSON document. Never raises."""

    def add(self, events: Iterable[Event]) -> None:
        """Add all events of one frame."""
        ...

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """Return the document of the events that were added, None if there were none."""
        ...


class Exchange(Protocol):
    """Determines the next call and turns frames into events. Pure; one instance per run."""

    def next_call(self) -> HttpCall | None:
        """Return the next call to make, None if there is nothing more to send."""
        ...

    def receive(self, frame: Frame) -> Sequence[Event]:
        """Never raises on an agent's data."""
        ...

    @property
    def outcome(self) -> Outcome:
        """Return the outcome of the response so far."""
        ...

    @property
    def problem(self) -> Problem | None:
        """Return why the response cannot be read (any further), None if it can.

        A problem with the state `refused` (JSON nested too deep) makes the engine stop the
        transfer; the others take effect at the end of the response.
        """
        ...

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """Return the latest session context that the agent returned, None if it returned none."""
        return None

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """Return what the next exchange with the same agent need not find out again, as JSON.

        None if there is no handshake, or nothing new in it.
        """
        return None

    @property
    def has_enough(self) -> bool:
        """Return whether to close the current response and continue with the next call."""
        return False

    @property
    def tolerates_error(self) -> bool:
        """Return whether the run goes on, or ends well, after the ERROR frame of the last call."""
        return False

    @property
    def is_waiting_for_user(self) -> bool:
        """Return whether the server waits for the user, so that its silence is no error."""
        return False

    def automatic_responses(self) -> Sequence[Mapping[str, Any]]:
        """Return the responses that are due in mid-call and need no user, each once.

        Their form is that of `Target.resume`.
        """
        return ()


@runtime_checkable
class UsesSession(Exchange, Protocol):
    """An exchange within a session, which the server keeps until it is ended."""

    @property
    def session(self) -> tuple[str, str]:
        """Return version and id of the session, both "" without one."""
        ...

    def end_call(self) -> HttpCall | None:
        """Return the call that ends the session, None without one."""
        ...


@dataclass(frozen=True, slots=True)
class Version:
    """One row of a protocol's version table: the differences between versions as traits."""

    name: str
    label: str
    traits: Mapping[str, Any] = field(default_factory=dict)
