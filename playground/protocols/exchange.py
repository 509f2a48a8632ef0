"""The contract between a protocol, a binding and whoever drives them.

Two axes, kept apart: a *protocol* knows documents and what they mean (`Reader`), a *binding*
knows how documents travel (`Exchange`). The engine sees exchanges only: while one has a next
call, the engine makes it and hands back every frame.
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
    """Where a request goes and how: what of an agent a protocol has to know."""

    url: str
    protocol: str = "nlweb"
    binding: str = "http"
    version: str = "0.55"
    #: Headers of the agent and of the request, authentication included, in sending order.
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    #: Names of the tools for `ask` and `await`; "" for what the tool list suggests. MCP only.
    tools: tuple[str, str] = ("", "")
    #: What an earlier exchange with the same agent has found out (`Exchange.handshake`).
    handshake: Mapping[str, Any] | None = None
    #: The answer to a question of the binding itself, as `Elicitation.reply` asks for it.
    resume: Mapping[str, Any] | None = None
    #: What the ids of calls begin with, so that runs that share a session do not share ids.
    request_id_prefix: str = ""


@dataclass(frozen=True, slots=True)
class RequestProblem:
    """Something wrong with a request document, found before it is sent."""

    #: JSON pointer into the document, "" for the document itself.
    pointer: str
    message: str
    #: `error` stops the send; `warning` is shown and lets it through.
    level: str = "warning"


class Reader(Protocol):
    """The meaning of a protocol's payloads. Never raises on an agent's data."""

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Events of one whole JSON reply."""
        ...

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Events of one stream message: its event name (None if unnamed) and data."""
        ...

    def end(self) -> None:
        """The reply ended the way its framing says, so what it announced holds."""
        ...

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        ...

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """The latest session context that the agent returned, None if it returned none."""
        ...


class Assembler(Protocol):
    """Puts the events of one reply together into one JSON document. Never raises."""

    def add(self, events: Iterable[Event]) -> None:
        """Take in all that one frame says."""
        ...

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """The document of what was taken in; None where nothing was."""
        ...


class Exchange(Protocol):
    """Says what to send next and turns frames into events. Pure; one instance per run."""

    def next_call(self) -> HttpCall | None:
        """The next call to make, None when there is nothing more to send."""
        ...

    def receive(self, frame: Frame) -> Sequence[Event]:
        """What `frame` means. Never raises on an agent's data."""
        ...

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        ...

    @property
    def problem(self) -> Problem | None:
        """Why the reply cannot be read (further), None while there is no reason to say so.

        A problem whose state is `refused` (JSON nested too deep) asks the engine to stop
        the transfer; the others stand at the end of the reply.
        """
        ...

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """The latest session context that the agent returned, None if it returned none."""
        ...

    @property
    def handshake(self) -> Mapping[str, Any] | None:
        """What the next exchange with the same agent need not find out again, as JSON.

        None where there is nothing of the kind, or nothing new.
        """
        ...


@runtime_checkable
class WaitsForUser(Exchange, Protocol):
    """An exchange whose other side asks things back while it answers."""

    @property
    def is_waiting_for_user(self) -> bool:
        """Whether the other side waits for an answer of the user: its silence is no fault."""
        ...

    def automatic_responses(self) -> Sequence[Mapping[str, Any]]:
        """Answers that are due in mid-call and need no user, each once, as `Target.resume`."""
        ...


@runtime_checkable
class StopsEarly(Exchange, Protocol):
    """An exchange that can do without the rest of a reply."""

    @property
    def has_enough(self) -> bool:
        """Whether to hang up on the reply under way, and go on with the next call."""
        ...


@dataclass(frozen=True, slots=True)
class Version:
    """One row of a protocol's version table: how the versions differ."""

    name: str
    label: str
    traits: Mapping[str, Any] = field(default_factory=dict)
