"""Outcome of an Agent API response, from its events."""

from __future__ import annotations

from playground.protocols.agent_api.constants import CLIENT_CALLS, FAILED_STATUSES
from playground.protocols.events import (
    Content,
    Event,
    Failure,
    Outcome,
    Status,
    ToolCall,
    ToolOutput,
)

#: Most pending calls that are stored; more do not change the outcome.
_MAX_PENDING = 1_000


class OutcomeReader:
    """Reads the outcome of one response from its events."""

    def __init__(self) -> None:
        self.failed = False
        #: Code and message of the latest failure, None if there was none.
        self.failure: tuple[str, str] | None = None
        self._status = ""
        self._has_content = False
        self._pending: set[str] = set()

    @property
    def outcome(self) -> Outcome:
        completed = self._status == "completed"
        # The agent recovered from an error: it continued and completed.
        recovered = completed and self._has_content
        if self._status in FAILED_STATUSES or (self.failed and not recovered):
            return Outcome.FAILURE
        if self._pending:
            # A function call or an approval that only the client can give: a question to the user.
            return Outcome.ELICITATION
        return Outcome.ANSWER if self._has_content or completed else Outcome.NONE

    def event(self, event: Event) -> None:
        kind = type(event)
        if kind is Content:
            self._has_content = True
        elif kind is Failure:
            self.failed = True
            self.failure = event.code, event.message  # type: ignore[attr-defined]
        elif isinstance(event, Status):
            if event.object == "response":
                self._status = event.status
        elif isinstance(event, ToolCall):
            if event.kind in CLIENT_CALLS and len(self._pending) < _MAX_PENDING:
                self._pending.add(event.call_id)
        elif isinstance(event, ToolOutput):
            self._pending.discard(event.call_id)
