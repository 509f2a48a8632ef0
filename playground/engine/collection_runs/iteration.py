"""What one request of a unit leaves for those after it: values, and the session context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.models import Run, SavedRequest
from playground.protocols import registry

#: Where a conversation is: folder, protocol and address.
ConversationKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ConversationState:
    """A conversation that the next request may go on with."""

    #: Its latest turn: no more of it than what links the next one to it.
    turn: Run
    #: What the agent has returned latest.
    context: Mapping[str, Any]


@dataclass(slots=True)
class IterationState:
    """What is carried in one unit."""

    #: Captured, by name.
    values: dict[str, Any] = field(default_factory=dict)
    #: By name, the request that was the latest to capture it, or should have.
    sources: dict[str, str] = field(default_factory=dict)
    threads: dict[ConversationKey, ConversationState] = field(default_factory=dict)

    def note_captures(self, saved: SavedRequest) -> None:
        """Note that it was this request's turn to capture what it does."""
        if isinstance(saved.captures, Mapping):
            self.sources.update(dict.fromkeys(saved.captures, saved.name))

    def conversation_for(
        self, place: ConversationKey, document: Mapping[str, Any]
    ) -> ConversationState | None:
        """The conversation that `document` goes on with, None where it begins one."""
        thread = self.threads.get(place)
        if thread is None or registry.session_context(place[1], document, None) is not None:
            return None
        return thread

    def add_run(self, place: ConversationKey, run: Run) -> None:
        """Note what `run` has brought for the requests after it."""
        if not isinstance(run.session_context, Mapping):
            return
        context = registry.session_context(run.protocol, run.request, run.session_context)
        if isinstance(context, Mapping):
            turn = Run(pk=run.pk, conversation=run.conversation)
            self.threads[place] = ConversationState(turn, context)
