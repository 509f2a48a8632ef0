"""Answers to the agent's questions, by each answer strategy of the playground."""

from __future__ import annotations

from typing import Any

import pytest

from playground.elicitation.form import ElicitationForm, build_form
from playground.elicitation.strategies import default_template, next_request
from playground.protocols.events import Elicitation, Question
from tests.demo.client import Reply
from tests.demo.conftest import Ask

#: What is answered where a question has no default.
SAID: dict[str, Any] = {
    "dietary_restrictions": ["vegetarian", "gluten-free"],
    "cooking_time": "40-60 minutes",
    "sauce_type": "tomato",
    "protein_type": "no preference",
    "wishes": "salad and soup",
    "courses": ["starter", "main"],
    "with_children": "yes",
    "answer": "tomato, vegetarian, under 40 minutes",
}


def form(reply: Reply) -> ElicitationForm:
    """The form that the playground makes of a reply."""
    asked = reply.document["elicitation"]
    questions = tuple(
        Question(q["id"], q["text"], q["type"], tuple(q.get("options", ())), q.get("default"))
        for q in asked.get("questions", ())
    )
    elicitation = Elicitation(1, asked["text"], questions, asked)
    return build_form(elicitation)


@pytest.mark.parametrize("strategy", ["filters", "text", "context", "template"])
@pytest.mark.parametrize("occasion", ["weeknight supper", "dinner party"])
@pytest.mark.parametrize("version", ["0.54", "0.55"])
@pytest.mark.parametrize(
    ("text", "rounds"),
    [("I need something for dinner", 1), ("pasta recipe", 1), ("plan a dinner party", 1),
     ("plan a menu", 2)],
)  # fmt: skip
async def test_every_strategy(
    post: Ask, text: str, rounds: int, version: str, occasion: str, strategy: str
) -> None:
    request: dict[str, Any] = {"query": {"text": text}, "meta": {"version": version}}
    prev: list[str] = []
    for _ in range(rounds):
        reply = await post("ask", request)
        assert reply.meta["response_type"] == "elicitation", reply.document
        asked = form(reply)
        known = {**SAID, "occasion": occasion}
        values = {
            field.id: field.default if field.default is not None else known[field.id]
            for field in asked.fields
        }
        request = next_request(
            request, asked, values, strategy,
            prev=prev, session_context=reply.meta["session_context"],
            template=default_template(request, True),
        )  # fmt: skip
        prev.append(text)
    reply = await post("ask", request)
    assert reply.meta["response_type"] == "answer", (request, reply.document)
    assert reply.document["results"]
