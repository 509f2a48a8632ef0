"""State of an iteration: captured values and conversations, for the later requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.models import Run, SavedRequest
from playground.protocols import registry

#: Folder, protocol and URL of a conversation.
ConversationKey = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ConversationState:
    """A conversation that the next request may continue."""

    #: Its latest turn, with the columns that a parent needs only.
    turn: Run
    #: The latest session context that the agent returned.
    context: Mapping[str, Any]


@dataclass(slots=True)
class IterationState:
    """The state of one unit."""

    #: Captured values by name.
    values: dict[str, Any] = field(default_factory=dict)
    #: Names of the latest requests that capture a name, by that name.
    sources: dict[str, str] = field(default_factory=dict)
    conversations: dict[ConversationKey, ConversationState] = field(default_factory=dict)

    def note_captures(self, saved: SavedRequest) -> None:
        if isinstance(saved.captures, Mapping):
            self.sources.update(dict.fromkeys(saved.captures, saved.name))

    def conversation_for(
        self, key: ConversationKey, document: Mapping[str, Any]
    ) -> ConversationState | None:
        """Return the conversation that `document` continues, None where it starts one."""
        conversation = self.conversations.get(key)
        if conversation is None or registry.session_context(key[1], document, None) is not None:
            return None
        return conversation

    def add_run(self, key: ConversationKey, run: Run) -> None:
        """Note the session context of `run` for the later requests."""
        if not isinstance(run.session_context, Mapping):
            return
        context = registry.session_context(run.protocol, run.request, run.session_context)
        if isinstance(context, Mapping):
            turn = Run(pk=run.pk, conversation=run.conversation)
            self.conversations[key] = ConversationState(turn, context)
