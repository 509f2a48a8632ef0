"""What the agent has answered so far, folded from what was read."""

from __future__ import annotations

from playground.protocols.agent_api.constants import APPROVAL_TYPES, FAILED_STATUSES
from playground.protocols.events import (
    Content,
    Event,
    Failure,
    Outcome,
    Status,
    ToolCall,
    ToolOutput,
)

#: Calls that wait for an answer and are counted; more change nothing.
_MAX_PENDING = 1_000


class OutcomeReader:
    """The outcome of one response, as far as it was read."""

    def __init__(self) -> None:
        self.failed = False
        #: Code and message of the latest failure, None before there was one.
        self.failure: tuple[str, str] | None = None
        self._status = ""
        self._spoke = False
        self._pending: set[str] = set()

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        completed = self._status == "completed"
        # An error that the agent got over: it went on, and says that all is well.
        overcome = completed and self._spoke
        if self._status in FAILED_STATUSES or (self.failed and not overcome):
            return Outcome.FAILURE
        if self._pending:
            # A function, or an approval, that only the client can give: a question to the user.
            return Outcome.ELICITATION
        return Outcome.ANSWER if self._spoke or completed else Outcome.NONE

    def event(self, event: Event) -> None:
        """Take in an event."""
        kind = type(event)
        if kind is Content:
            self._spoke = True
        elif kind is Failure:
            self.failed = True
            self.failure = event.code, event.message  # type: ignore[attr-defined]
        elif isinstance(event, Status):
            if event.object == "response":
                self._status = event.status
        elif isinstance(event, ToolCall):
            if event.kind in APPROVAL_TYPES and len(self._pending) < _MAX_PENDING:
                self._pending.add(event.call_id)
        elif isinstance(event, ToolOutput):
            self._pending.discard(event.call_id)
