"""The questions that this agent asks back (section 4.1.3), and when each set is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Question = Mapping[str, Any]
#: Text and questions, as they go into the reply.
Elicitation = Mapping[str, Any]

#: The id under which a question that came in words alone is answered.
IN_WORDS = "answer"

DIET = {
    "id": "dietary_restrictions",
    "text": "Do you have any dietary restrictions?",
    "type": "multi_select",
    "options": ["vegetarian", "vegan", "gluten-free", "dairy-free", "none"],
}
TIME = {
    "id": "cooking_time",
    "text": "How much time do you have for cooking?",
    "type": "single_select",
    "options": ["under 20 minutes", "20-40 minutes", "40-60 minutes", "over an hour"],
}
_SAUCE = {
    "id": "sauce_type",
    "text": "What type of sauce do you prefer?",
    "type": "single_select",
    "options": ["tomato", "cream", "pesto", "oil-based", "no preference"],
}
_PROTEIN = {
    "id": "protein_type",
    "text": "What type of protein would you like?",
    "type": "single_select",
    "options": ["chicken", "beef", "fish", "pork", "tofu", "beans", "no preference"],
}
_GUESTS = {
    "id": "guests",
    "text": "How many guests do you expect?",
    "type": "number",
    "default": 6,
}
_COURSES = {
    "id": "courses",
    "text": "Which courses shall there be?",
    "type": "multi_select",
    "options": ["starter", "main", "side", "dessert"],
    "default": ["starter", "main", "dessert"],
}
_CHILDREN = {
    "id": "with_children",
    "text": "Will there be children at the table?",
    "type": "boolean",
    "default": False,
}
_WISHES = {"id": "wishes", "text": "Anything you would love to serve?", "type": "free_text"}
_OCCASION = {
    "id": "occasion",
    "text": "What is the occasion?",
    "type": "single_select",
    "options": ["weeknight supper", "picnic", "birthday"],
}

DINNER: Elicitation = {
    "text": "Happy to help you find a dinner! A few questions first, so that it suits you:",
    "questions": [DIET, _PROTEIN, TIME],
}
PASTA: Elicitation = {
    "text": "There is a lot of pasta here. Which kind would you like?",
    "questions": [_SAUCE, DIET, TIME],
}
#: The 0.54 examples (section 3) ask this in words alone.
PASTA_IN_WORDS: Elicitation = {
    "text": "There is a lot of pasta here, so tell me more about what you would like. Which"
    " sauce: tomato, cream, pesto, or just oil? Any dietary restrictions? And how much time do"
    " you have for cooking?"
}
DINNER_PARTY: Elicitation = {
    "text": "A dinner party! Tell me about it and I will put a menu together.",
    "questions": [
        _GUESTS,
        _COURSES,
        _CHILDREN,
        _WISHES,
        DIET,
        {**TIME, "text": "How long may a dish take?"},
    ],
}
#: The first of two rounds: what is asked in the second depends on the occasion.
MENU: Elicitation = {
    "text": "Gladly. What the menu should be like depends on what it is for.",
    "questions": [_OCCASION],
}
MENU_FOR: Mapping[str, Elicitation] = {
    "weeknight supper": {
        "text": "A weeknight: then it had better be quick.",
        "questions": [{**TIME, "default": "20-40 minutes"}, DIET],
    },
    "picnic": {
        "text": "A picnic: everything has to travel.",
        "questions": [
            {
                "id": "carried_far",
                "text": "Will it be carried for longer than an hour?",
                "type": "boolean",
                "default": True,
            },
            {**_GUESTS, "text": "How many people will eat?", "default": 4},
        ],
    },
    "birthday": {
        "text": "A birthday: congratulations! Two things to know about the party.",
        "questions": [
            {
                "id": "cake",
                "text": "Which cake shall it be?",
                "type": "single_select",
                "options": ["chocolate", "fruit", "no cake"],
                "default": "chocolate",
            },
            _CHILDREN,
            {
                "id": "honoured",
                "text": "Whose birthday is it?",
                "type": "free_text",
                "default": "a friend",
            },
        ],
    },
}

#: What comes before a surprise; over MCP, MCP asks it itself.
SURPRISE: Elicitation = {
    "text": "A surprise it shall be! Only so that you can eat it, and in time:",
    "questions": [DIET, TIME],
}

ELICITATIONS: Sequence[Elicitation] = (
    DINNER, PASTA, PASTA_IN_WORDS, DINNER_PARTY, MENU, SURPRISE, *MENU_FOR.values(),
)  # fmt: skip


def ids_of(elicitation: Elicitation) -> list[str]:
    """The ids of its questions; one that is asked in words alone is answered as a whole."""
    return [str(q["id"]) for q in elicitation.get("questions", [])] or [IN_WORDS]


def labels() -> dict[str, str]:
    """What may stand before an answer in a text: each wording of each question, and its id."""
    found: dict[str, str] = {}
    for elicitation in ELICITATIONS:
        for question in elicitation.get("questions", []):
            found[str(question["text"])] = str(question["id"])
        if "questions" not in elicitation:
            found[str(elicitation["text"])] = IN_WORDS
    return found


#: Every id that an answer of this agent's users can have.
IDS = frozenset(name for elicitation in ELICITATIONS for name in ids_of(elicitation))
