"""What was filled in for the calls of one reply: checked, and made into one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.forms import ValidationError

from playground.forms import read_value
from playground.protocols.agent_api.turns import approval_message, output_message
from playground.rendering.tool_calls import ToolCallForm

#: What is written to the agent for each of the two decisions about an approval.
DECISIONS = {"approve": True, "refuse": False}
_CONTROLS = ("output", "format", "reason", "decision")


@dataclass(frozen=True, slots=True)
class ToolCallAnswer:
    """Everything that goes into one request, and the form from which it was sent."""

    selected: ToolCallForm
    #: Every call that is open, in the order of the calls; `chosen` is one of them.
    forms: Sequence[ToolCallForm]

    @property
    def is_joint(self) -> bool:
        """Whether more than one call is answered."""
        return len(self.forms) > 1

    @property
    def shown(self) -> list[ToolCallForm]:
        """The calls whose forms are on the page, with what is wrong with each.

        A call whose form is not there is told of at the form from which it was sent.
        """
        marked = [replace(each, error=each.error or _wrong(each)) for each in self.forms]
        known = [
            each for each in marked if each.filled or each.entry_ref == self.selected.entry_ref
        ]
        if len(known) == len(marked):
            return known
        missing = [each.waiting.label[:80] for each in marked if each not in known]
        error = f"Not on the page, so not answered: {', '.join(missing[:3])}. Show more first."
        return [_at(each, self.selected, error) for each in known]

    @property
    def errors(self) -> list[ToolCallForm]:
        """The calls that cannot be answered like that; `error` says why."""
        return [each for each in self.shown if each.error]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """One message per call, in the order of the calls. Only where nothing is `wrong`."""
        return [_message(each) for each in self.forms]

    @property
    def history(self) -> dict[str, str]:
        """What the history says of the answer, by what was asked for."""
        return {each.waiting.label: _said(each) for each in self.forms}

    def with_decision(self, decision: str) -> ToolCallAnswer:
        """The same with a decision where there is none."""
        made = replace(self.selected, filled={"decision": decision, **self.selected.filled})
        return ToolCallAnswer(
            made, [made if each is self.selected else each for each in self.forms]
        )

    def is_denied(self, error: str) -> ToolCallAnswer:
        """The same, refused at the form from which it was sent."""
        marked = [_at(each, self.selected, error) for each in self.forms]
        return ToolCallAnswer(self.selected, marked)


def bind_form(calling: ToolCallForm, form: Mapping[str, Any]) -> ToolCallForm:
    """The call with what a form says of it; without, where the form does not have it."""
    names = {name: f"{calling.name}-{name}" for name in _CONTROLS}
    return replace(
        calling, filled={name: str(form[key]) for name, key in names.items() if key in form}
    )


def _at(calling: ToolCallForm, chosen: ToolCallForm, error: str) -> ToolCallForm:
    return replace(calling, error=error) if calling.entry_ref == chosen.entry_ref else calling


def _wrong(calling: ToolCallForm) -> str:
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


def _message(calling: ToolCallForm) -> dict[str, Any]:
    filled = calling.filled
    if not calling.is_approval:
        return output_message(calling.event, filled.get("output", ""))
    decision, reason = DECISIONS[filled["decision"]], filled.get("reason", "").strip()
    return approval_message(calling.event, decision, reason)


def _said(calling: ToolCallForm) -> str:
    filled = calling.filled
    if not calling.is_approval:
        return filled.get("output", "")
    decision = "approved" if DECISIONS[filled["decision"]] else "refused"
    reason = filled.get("reason", "").strip()
    return f"{decision}: {reason}" if reason else decision
