"""What the agent has answered so far, folded from what was read.

Two sources: what the agent *announced* (`response_type` in a meta block) and what was
*seen* (results, questions, a promise, an error). What was seen counts; an announcement
counts only once the reply is complete, for an answer without results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Outcome,
    Promise,
    Result,
    Text,
)

_BY_NAME = {outcome.value: outcome for outcome in Outcome if outcome is not Outcome.NONE}

#: What an event makes of the outcome. An error may be recoverable (0.55 section 6.1), so
#: results and text that follow it make an answer of it.
_SEEN: Mapping[type[Event], Outcome] = {
    Result: Outcome.ANSWER,
    Text: Outcome.ANSWER,
    Elicitation: Outcome.ELICITATION,
    Promise: Outcome.PROMISE,
    Failure: Outcome.FAILURE,
}
_ASKED = (Outcome.ELICITATION, Outcome.PROMISE)


def announced_by(meta: Mapping[str, Any]) -> Outcome:
    """The `response_type` of a meta block, in any capitalisation; NONE without one."""
    name = meta.get("response_type")
    return _BY_NAME.get(name.strip().lower(), Outcome.NONE) if type(name) is str else Outcome.NONE


class OutcomeReader:
    """The outcome and the session context of one reply, as far as it was read."""

    def __init__(self) -> None:
        self.announced = Outcome.NONE
        self.session_context: Mapping[str, Any] | None = None
        self._seen = Outcome.NONE
        self._settled = False

    @property
    def outcome(self) -> Outcome:
        """What the agent has answered so far."""
        if self._seen is not Outcome.NONE:
            return self._seen
        return self.announced if self._settled else Outcome.NONE

    def meta(self, meta: Mapping[str, Any]) -> None:
        """Take in a meta block: what it announces, and the session context to send back."""
        if (announced := announced_by(meta)) is not Outcome.NONE:
            self.announced = announced
        context = meta.get("session_context")
        if isinstance(context, dict):
            self.session_context = context

    def event(self, event: Event) -> None:
        """Take in an event."""
        if isinstance(event, Completed):
            self._complete(event)
            return
        seen = _SEEN.get(type(event), Outcome.NONE)
        # A word beside a question or a promise does not make an answer of it.
        beside = isinstance(event, Text) and self._seen in _ASKED
        if seen is not Outcome.NONE and not beside:
            self._seen = seen

    def settle(self, default: Outcome = Outcome.NONE) -> None:
        """The reply is complete, so what was announced holds, or else `default`."""
        self._settled = True
        if self.announced is Outcome.NONE:
            self.announced = default

    def document(self) -> None:
        """A whole reply was read: its metadata outweighs its content if it says failure.

        It does not if it says answer: an error without results is none, whatever is said.
        """
        self._settled = True
        if self.announced is Outcome.FAILURE:
            self._seen = Outcome.FAILURE

    def _complete(self, event: Completed) -> None:
        """The agent's last word: it went well after all, or it did not."""
        self._settled = True
        said = announced_by(event.meta)
        if said is Outcome.FAILURE or (said is Outcome.ANSWER and self._seen is Outcome.FAILURE):
            self._seen = said
