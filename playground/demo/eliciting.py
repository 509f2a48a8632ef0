"""Questions that the agent asks back when a request is too vague (section 4.1.3).

NLWeb says how to ask and not how the answers come back. This agent takes them as filters
named after the questions, from a context object, or said in the text itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.demo.asking import Ask
from playground.demo.criteria import ANSWERS
from playground.demo.index import words_of
from playground.demo.wishes import understand

_PARTY = ("guests", "courses", "with_children", "wishes", "dietary_restrictions", "cooking_time")
_MEALS = frozenset({"dinner", "supper", "lunch", "hungry", "tonight", "evening"})

_DIET = {
    "id": "dietary_restrictions",
    "text": "Do you have any dietary restrictions?",
    "type": "multi_select",
    "options": ["vegetarian", "vegan", "gluten-free", "dairy-free", "none"],
}
_TIME = {
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
_DINNER = {
    "text": "Happy to help you find a dinner! A few questions first, so that it suits you:",
    "questions": [_DIET, _PROTEIN, _TIME],
}
_PASTA = {
    "text": "There is a lot of pasta here. Which kind would you like?",
    "questions": [_SAUCE, _DIET, _TIME],
}
#: The 0.54 examples (section 3) ask this in words alone.
_PASTA_IN_WORDS = {
    "text": "There is a lot of pasta here, so tell me more about what you would like. Which"
    " sauce: tomato, cream, pesto, or just oil? Any dietary restrictions? And how much time do"
    " you have for cooking?"
}
_DINNER_PARTY = {
    "text": "A dinner party! Tell me about it and I will put a menu together.",
    "questions": [
        {"id": "guests", "text": "How many guests do you expect?", "type": "number", "default": 6},
        {
            "id": "courses",
            "text": "Which courses shall there be?",
            "type": "multi_select",
            "options": ["starter", "main", "side", "dessert"],
            "default": ["starter", "main", "dessert"],
        },
        {
            "id": "with_children",
            "text": "Will there be children at the table?",
            "type": "boolean",
            "default": False,
        },
        {"id": "wishes", "text": "Anything you would love to serve?", "type": "free_text"},
        _DIET,
        {**_TIME, "text": "How long may a dish take?"},
    ],
}


def is_party(ask: Ask) -> bool:
    """Whether a menu for guests is asked for."""
    return "dinner party" in ask.text.lower()


def party_answers(ask: Ask) -> dict[str, Any]:
    """Answers to the questions about a dinner party, from the query or the context."""
    return {
        name: source[name]
        for source in (ask.context, ask.filters)
        for name in _PARTY
        if source.get(name) is not None
    }


def questions_for(ask: Ask) -> Mapping[str, Any] | None:
    """What to ask before answering, None where the request says enough."""
    if is_party(ask):
        return None if party_answers(ask) else _DINNER_PARTY
    if _says_enough(ask):
        return None
    words = set(understand(ask.text).words)
    if words == {"pasta"}:
        return _PASTA_IN_WORDS if ask.version == "0.54" else _PASTA
    if words <= _MEALS and _is_about_a_meal(ask.text):
        return _DINNER
    return None


def _is_about_a_meal(text: str) -> bool:
    return bool(set(words_of(text)) & (_MEALS | {"eat", "cook", "meal"}))


def _says_enough(ask: Ask) -> bool:
    """Whether anything narrows the request: an answer, or any filter but site and type."""
    narrowing = set(ask.filters) - {"site", "itemType", "num_results"}
    wish = understand(ask.text)
    said = wish.diets or wish.max_minutes is not None or wish.kinds - {"Recipe"}
    return bool(narrowing or said or set(ask.context) & set(ANSWERS))
