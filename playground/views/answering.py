"""What was filled in for the calls of one reply: checked, and made into one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.forms import ValidationError

from playground.forms import read_value
from playground.protocols.agent_api.turns import approval_message, output_message
from playground.rendering.calling import Calling

#: What is written to the agent for each of the two decisions about an approval.
DECISIONS = {"approve": True, "refuse": False}
_CONTROLS = ("output", "format", "reason", "decision")


@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that goes into one request, and the form from which it was sent."""

    chosen: Calling
    #: Every call that is open, in the order of the calls; `chosen` is one of them.
    callings: Sequence[Calling]

    @property
    def is_joint(self) -> bool:
        """Whether more than one call is answered."""
        return len(self.callings) > 1

    @property
    def shown(self) -> list[Calling]:
        """The calls whose forms are on the page, with what is wrong with each.

        A call whose form is not there is told of at the form from which it was sent.
        """
        marked = [replace(each, error=each.error or _wrong(each)) for each in self.callings]
        known = [each for each in marked if each.filled or each.place == self.chosen.place]
        if len(known) == len(marked):
            return known
        missing = [each.waiting.label[:80] for each in marked if each not in known]
        error = f"Not on the page, so not answered: {', '.join(missing[:3])}. Show more first."
        return [_at(each, self.chosen, error) for each in known]

    @property
    def wrong(self) -> list[Calling]:
        """The calls that cannot be answered like that; `error` says why."""
        return [each for each in self.shown if each.error]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """One message per call, in the order of the calls. Only where nothing is `wrong`."""
        return [_message(each) for each in self.callings]

    @property
    def history(self) -> dict[str, str]:
        """What the history says of the answer, by what was asked for."""
        return {each.waiting.label: _said(each) for each in self.callings}

    def deciding(self, decision: str) -> Answer:
        """The same with a decision where there is none."""
        made = replace(self.chosen, filled={"decision": decision, **self.chosen.filled})
        return Answer(made, [made if each is self.chosen else each for each in self.callings])

    def refused(self, error: str) -> Answer:
        """The same, refused at the form from which it was sent."""
        marked = [_at(each, self.chosen, error) for each in self.callings]
        return Answer(self.chosen, marked)


def filled_in(calling: Calling, form: Mapping[str, Any]) -> Calling:
    """The call with what a form says of it; without, where the form does not have it."""
    names = {name: f"{calling.name}-{name}" for name in _CONTROLS}
    return replace(
        calling, filled={name: str(form[key]) for name, key in names.items() if key in form}
    )


def _at(calling: Calling, chosen: Calling, error: str) -> Calling:
    return replace(calling, error=error) if calling.place == chosen.place else calling


def _wrong(calling: Calling) -> str:
    if calling.is_approval:
        is_decided = calling.filled.get("decision") in DECISIONS
        return "" if is_decided else "Choose whether the agent may call the tool."
    if not calling.is_json:
        return ""
    try:
        read_value(calling.filled.get("output", ""))
    except ValidationError as error:
        return str(error.messages[0])
    return ""


def _message(calling: Calling) -> dict[str, Any]:
    filled = calling.filled
    if not calling.is_approval:
        return output_message(calling.event, filled.get("output", ""))
    decision, reason = DECISIONS[filled["decision"]], filled.get("reason", "").strip()
    return approval_message(calling.event, decision, reason)


def _said(calling: Calling) -> str:
    filled = calling.filled
    if not calling.is_approval:
        return filled.get("output", "")
    decision = "approved" if DECISIONS[filled["decision"]] else "refused"
    reason = filled.get("reason", "").strip()
    return f"{decision}: {reason}" if reason else decision
