"""Requests worth trying, for the demo's page; a test sends every one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """A request to copy, and what comes of it."""

    title: str
    request: Mapping[str, Any]
    #: The response type to expect.
    answer: str = "answer"

    @property
    def text(self) -> str:
        """The request as JSON, a line for each of its sections."""
        sections = (f"  {_json(name)}: {_json(value)}" for name, value in self.request.items())
        return "{\n" + ",\n".join(sections) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one kind."""

    title: str
    lead: str
    examples: Sequence[Example]


GROUPS: Sequence[Group] = (
    Group(
        "Search",
        "Ranked full-text search over recipes, restaurants, cookware, films and articles. Times,"
        " diets and “without …” in the question count as constraints.",
        (
            Example(
                "Results one by one",
                {
                    "query": {"text": "healthy breakfast recipes with eggs"},
                    "prefer": {"streaming": True},
                },
            ),
            Example("Said in plain words", {"query": {"text": "vegan curry in under 45 minutes"}}),
            Example(
                "With a summary",
                {
                    "query": {"text": "something sweet with cinnamon"},
                    "prefer": {"mode": "list, summarize"},
                },
            ),
            Example(
                "For a ChatGPT app",
                {
                    "query": {"text": "quick lunch ideas with avocado"},
                    "prefer": {"response_format": "chatgpt_app"},
                },
            ),
            Example(
                "With what is known about the person",
                {
                    "query": {"text": "something protein rich for lunch"},
                    "context": {"memory": "vegetarian, allergic to nuts"},
                },
            ),
            Example(
                "A tutorial, as 0.54 streams it",
                {
                    "query": {"text": "a detailed tutorial on making homemade pasta"},
                    "prefer": {"streaming": True, "mode": "detailed"},
                    "meta": {"version": "0.54"},
                },
            ),
        ),
    ),
    Group(
        "Filters",
        "site, itemType, max_cooking_time, diet, cuisine, ingredient, price, location and"
        " num_results. A filter that is not known is named in _meta.ignored_filters.",
        (
            Example(
                "Time and diet",
                {
                    "query": {
                        "text": "dinner",
                        "max_cooking_time": "PT30M",
                        "diet": ["vegan", "gluten-free"],
                    }
                },
            ),
            Example(
                "Restaurants by price",
                {
                    "query": {
                        "text": "noodles or tacos",
                        "itemType": "Restaurant",
                        "price": "less than $20",
                    }
                },
            ),
            Example(
                "One site, one cuisine, three results",
                {
                    "query": {
                        "text": "recipes",
                        "site": "recipes.example",
                        "cuisine": "Indian",
                        "num_results": 3,
                    }
                },
            ),
        ),
    ),
    Group(
        "Questions back",
        "Vague requests are answered with questions. Answers come back as filters named after"
        " the questions, in a context object, or simply in the text.",
        (
            Example(
                "Dinner", {"query": {"text": "I need something for dinner"}}, answer="elicitation"
            ),
            Example("Pasta", {"query": {"text": "pasta recipe"}}, answer="elicitation"),
            Example(
                "Every type of question",
                {"query": {"text": "plan a dinner party"}},
                answer="elicitation",
            ),
            Example(
                "The same, with answers",
                {
                    "query": {
                        "text": "pasta recipe",
                        "sauce_type": "tomato",
                        "dietary_restrictions": ["vegan"],
                        "cooking_time": "20-40 minutes",
                    }
                },
            ),
        ),
    ),
    Group(
        "Promises and actions",
        "A meal plan takes ten seconds: check on it with await, or cancel it. Recipes can be saved"
        " to a cookbook and their ingredients put into a cart, which forget everything when the"
        " site is restarted.",
        (
            Example(
                "A week of meals",
                {"query": {"text": "make a weekly meal plan with a shopping list"}},
                answer="promise",
            ),
            Example(
                "A vegetarian one",
                {"query": {"text": "vegetarian meal plan for the week"}},
                answer="promise",
            ),
        ),
    ),
)
