"""Outcome and session context of an NLWeb response, from its events and metadata.

Two sources: the outcome that the agent *announced* (`response_type` in a meta block) and the
outcome that was *seen* (results, questions, a promise, an error). The seen outcome takes
precedence; an announcement counts only once the response is complete, for an answer without
results.
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

#: The outcome of an event. An error may be recoverable (0.55 section 6.1), so results and text
#: that follow it change the outcome to an answer.
_SEEN: Mapping[type[Event], Outcome] = {
    Result: Outcome.ANSWER,
    Text: Outcome.ANSWER,
    Elicitation: Outcome.ELICITATION,
    Promise: Outcome.PROMISE,
    Failure: Outcome.FAILURE,
}
_INTERMEDIATE = (Outcome.ELICITATION, Outcome.PROMISE)


def announced_by(meta: Mapping[str, Any]) -> Outcome:
    """Return the `response_type` of a meta block, in any capitalisation; NONE without one."""
    name = meta.get("response_type")
    return _BY_NAME.get(name.strip().lower(), Outcome.NONE) if type(name) is str else Outcome.NONE


class OutcomeReader:
    """Reads the outcome and the session context of one response from its events."""

    def __init__(self) -> None:
        self.announced = Outcome.NONE
        self.session_context: Mapping[str, Any] | None = None
        self._seen = Outcome.NONE
        self._settled = False

    @property
    def outcome(self) -> Outcome:
        if self._seen is not Outcome.NONE:
            return self._seen
        return self.announced if self._settled else Outcome.NONE

    def meta(self, meta: Mapping[str, Any]) -> None:
        """Add a meta block: the announced outcome and the session context."""
        if (announced := announced_by(meta)) is not Outcome.NONE:
            self.announced = announced
        context = meta.get("session_context")
        if isinstance(context, dict):
            self.session_context = context

    def event(self, event: Event) -> None:
        if isinstance(event, Completed):
            self._complete(event)
            return
        seen = _SEEN.get(type(event), Outcome.NONE)
        # A text beside a question or a promise does not change the outcome.
        beside = isinstance(event, Text) and self._seen in _INTERMEDIATE
        if seen is not Outcome.NONE and not beside:
            self._seen = seen

    def settle(self, default: Outcome = Outcome.NONE) -> None:
        """Note that the response is complete: the announced outcome counts, or else `default`."""
        self._settled = True
        if self.announced is Outcome.NONE:
            self.announced = default

    def document(self) -> None:
        """Note that a whole response was read: an announced failure is the outcome.

        An announced answer does not: an error without results is a failure.
        """
        self._settled = True
        if self.announced is Outcome.FAILURE:
            self._seen = Outcome.FAILURE

    def _complete(self, event: Completed) -> None:
        """Add the end of the response, whose outcome takes precedence over an earlier failure."""
        self._settled = True
        final = announced_by(event.meta)
        if final is Outcome.FAILURE or (final is Outcome.ANSWER and self._seen is Outcome.FAILURE):
            self._seen = final
