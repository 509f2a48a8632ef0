"""Answers to questions of the binding itself (MCP), for commands: nobody is there to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.elicitation import ElicitationForm, build_form, read_answers, to_data
from playground.protocols.events import Elicitation
from playground.protocols.mcp import elicitation


@dataclass(frozen=True, slots=True)
class PreparedAnswers:
    """What the answers at hand make of a question."""

    form: ElicitationForm
    values: dict[str, Any]
    #: Why they do not fit, a sentence for each question; "" where they do.
    why: str = ""


def is_server_request(asked: Elicitation) -> bool:
    """Whether a call waits for the answer."""
    return (asked.resume or {}).get("kind") == elicitation.RESPONSE


def answers_for(asked: Elicitation, answers: Mapping[str, Any] | None) -> PreparedAnswers:
    """The answers to what was asked, the agent's defaults where there are none."""
    form = build_form(asked)
    defaults = {each.id: each.default for each in form.fields if each.default is not None}
    read = read_answers(form, to_data(form, {**defaults, **(answers or {})}))
    labels = {each.name: each.id for each in form.fields}
    told = (f"{labels.get(name, name)}: {why}" for name, why in read.errors.items())
    return PreparedAnswers(form, read.values, " ".join(told))


def resume_of(
    asked: Elicitation, answers: Mapping[str, Any] | None
) -> tuple[dict[str, Any] | None, PreparedAnswers]:
    """What answers a question of the binding's own, and the answers that are in it.

    Without answers, or with such as do not fit, the agent is told that nobody has decided.
    """
    given = answers_for(asked, answers)
    fits = answers is not None and not given.why
    action = elicitation.ACCEPT if fits else elicitation.CANCEL
    resume = elicitation.resume_of(asked.resume or {}, action, given.values)
    return resume, given if fits else PreparedAnswers(given.form, {}, given.why)
