"""Runs that ended with an elicitation, and answers to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from playground.models import Agent, Conversation, Run
from tests.support.run_page import offered, streamed

SAUCE = {
    "id": "sauce",
    "text": "Which sauce?",
    "type": "single_select",
    "options": ["red", "white"],
}
DIETS = {"id": "diets", "text": "Any diets?", "type": "multi_select", "options": ["vegan", "none"]}
GUESTS = {"id": "guests", "text": "How many?", "type": "number", "default": 4}
CHILDREN = {"id": "children", "text": "Children?", "type": "boolean", "default": False}
WISHES = {"id": "wishes", "text": "Any wishes?", "type": "free_text"}
QUESTIONS = [SAUCE, DIETS, GUESTS, CHILDREN, WISHES]

#: The entry of the elicitation in a run of `elicitation_run`.
ENTRY = {"seq": "4", "part": "0"}
#: A complete set of answers to QUESTIONS, as a form sends them.
FILLED = {
    **ENTRY, "q0": "red", "q1": ["vegan", "none"], "q2": "6", "q3": "true", "q4": "olives",
    "strategy": "filters",
}  # fmt: skip


def elicitation_run(
    agent: Agent | None,
    questions: Sequence[Any] = QUESTIONS,
    text: str = "Tell me more.",
    **fields: Any,
) -> Run:
    """Return a run that ended with an elicitation, the first turn of a conversation."""
    elicitation = json.dumps({"text": text, "questions": list(questions)})
    own = {"agent": agent, "agent_name": "Recipes", "url": "http://agent.example/api/ask"}
    if not {"conversation", "conversation_id"} & set(fields):
        own["conversation"] = Conversation.objects.create(owner=fields.get("owner"))
    return streamed(f"event: elicitation\ndata: {elicitation}", **{**own, **fields})


def turn(agent: Agent | None, parent: Run | None = None, **fields: Any) -> Run:
    """Return a run that ended with an answer, the next turn after `parent`."""
    conversation = parent.conversation if parent else Conversation.objects.create()
    own = {"agent": agent, "agent_name": "Recipes", "parent": parent, "conversation": conversation}
    return offered({"name": "Soup"}, **{**own, **fields})
