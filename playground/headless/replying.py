"""Answers to questions of the binding itself (MCP), for commands: nobody is there to be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.elicitation import Form, form_of, read_answers, to_data
from playground.protocols.events import Elicitation
from playground.protocols.mcp import questions


@dataclass(frozen=True, slots=True)
class Given:
    """What the answers at hand make of a question."""

    form: Form
    values: dict[str, Any]
    #: Why they do not fit, a sentence for each question; "" where they do.
    why: str = ""


def is_in_call(asked: Elicitation) -> bool:
    """Whether a call waits for the answer."""
    return (asked.reply or {}).get("kind") == questions.RESPONSE


def given_for(asked: Elicitation, answers: Mapping[str, Any] | None) -> Given:
    """The answers to what was asked, the agent's defaults where there are none."""
    form = form_of(asked)
    defaults = {each.id: each.default for each in form.fields if each.default is not None}
    read = read_answers(form, to_data(form, {**defaults, **(answers or {})}))
    labels = {each.name: each.id for each in form.fields}
    told = (f"{labels.get(name, name)}: {why}" for name, why in read.errors.items())
    return Given(form, read.values, " ".join(told))


def resume_of(
    asked: Elicitation, answers: Mapping[str, Any] | None
) -> tuple[dict[str, Any] | None, Given]:
    """What answers a question of the binding's own, and the answers that are in it.

    Without answers, or with such as do not fit, the agent is told that nobody has decided.
    """
    given = given_for(asked, answers)
    fits = answers is not None and not given.why
    action = questions.ACCEPT if fits else questions.CANCEL
    resume = questions.resume_of(asked.reply or {}, action, given.values)
    return resume, given if fits else Given(given.form, {}, given.why)
