"""Elicitation of a task that waits for the user (`input-required`), and the answers to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import nlweb
from playground.protocols.a2a import parts
from playground.protocols.a2a.task_states import TaskState
from playground.protocols.events import Constraints, Elicitation, Question

#: The id of the one question if the agent states in words what it needs.
ANSWER = "answer"
KIND = "a2a"


def elicitation_of(
    seq: int, state: TaskState, message: Any, task: str, context: str
) -> Elicitation:
    """Return the elicitation of a task in a state in which it waits.

    A2A has no forms: question and answer are text. If the agent sends an elicitation of NLWeb
    as data, that is the form, and the answers are sent as data.
    """
    text = "\n\n".join(filter(None, (parts.message_text(message), _explained(state))))
    resume = {"kind": KIND, "taskId": task, "contextId": context}
    form = _form(seq, message)
    if form is not None:
        return Elicitation(
            seq, form.text or text, form.questions, message, {**resume, "as": "data"}
        )
    question = Question(ANSWER, "Your answer", "free_text", constraints=Constraints(required=True))
    return Elicitation(seq, text or state.sentence, (question,), message, {**resume, "as": "text"})


def resume_of(
    pending: Mapping[str, Any], answers: Mapping[str, Any], message_id: str
) -> dict[str, Any]:
    """Return the `Target.resume` of `answers` by question id.

    `pending` is the `resume` of the elicitation; `message_id` is unique to the message.
    """
    ids = {name: pending.get(name, "") for name in ("taskId", "contextId")}
    answer: Any = dict(answers)
    if pending.get("as") == "text":
        answer = str(answers.get(ANSWER, ""))
    return {"kind": KIND, **ids, "messageId": message_id, "answer": answer}


def _explained(state: TaskState) -> str:
    return state.sentence if state.name == "auth-required" else ""


def _form(seq: int, message: Any) -> Elicitation | None:
    """Return the NLWeb elicitation in the data of a message, None without one."""
    for part in parts.parts_of(message):
        value = part.get("data") if isinstance(part, Mapping) else None
        if isinstance(value, dict) and "elicitation" in value:
            for event in nlweb.NLWebReader("0.55").document(seq, value):
                if isinstance(event, Elicitation) and event.questions:
                    return event
    return None
