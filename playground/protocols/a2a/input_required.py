"""What an agent asks when its task waits for the user, as an elicitation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols import nlweb
from playground.protocols.a2a import parts
from playground.protocols.a2a.task_states import TaskState
from playground.protocols.events import Constraints, Elicitation, Question

#: The id of the one question that there is where the agent only says what it wants in words.
ANSWER = "answer"
KIND = "a2a"


def elicitation_of(
    seq: int, state: TaskState, message: Any, task: str, context: str
) -> Elicitation:
    """The question of a task in a state in which it waits.

    A2A has no form of its own: the agent asks in words, and is answered in words. Where it
    sends an elicitation of NLWeb as data, that is the form, and the answers go as data.
    """
    words = "\n\n".join(filter(None, (parts.message_text(message), _explained(state))))
    reply = {"kind": KIND, "taskId": task, "contextId": context}
    form = _form(seq, message)
    if form is not None:
        text = form.text or words
        return Elicitation(seq, text, form.questions, message, {**reply, "as": "data"})
    asked = Question(ANSWER, "Your answer", "free_text", constraints=Constraints(required=True))
    return Elicitation(seq, words or state.sentence, (asked,), message, {**reply, "as": "text"})


def resume_of(
    reply: Mapping[str, Any], answers: Mapping[str, Any], message_id: str
) -> dict[str, Any]:
    """How `answers` {question id: value} travel to the question that has this `reply`.

    What it gives is a `Target.resume`. `message_id` names the message, and no other.
    """
    asked = {name: reply.get(name, "") for name in ("taskId", "contextId")}
    answer: Any = dict(answers)
    if reply.get("as") == "text":
        answer = str(answers.get(ANSWER, ""))
    return {"kind": KIND, **asked, "messageId": message_id, "answer": answer}


def _explained(state: TaskState) -> str:
    return state.sentence if state.name == "auth-required" else ""


def _form(seq: int, message: Any) -> Elicitation | None:
    """The elicitation of NLWeb among the data of a message."""
    for part in parts.parts_of(message):
        value = parts.data_of(part)
        if isinstance(value, dict) and "elicitation" in value:
            for event in nlweb.NLWebReader("0.55").document(seq, value):
                if isinstance(event, Elicitation) and event.questions:
                    return event
    return None
