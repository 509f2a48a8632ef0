"""Example requests of NLWeb on the demo page; a test sends every one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """A request to copy, and the type of its response."""

    title: str
    request: Mapping[str, Any]
    #: The expected response type.
    answer: str = "answer"

    @property
    def text(self) -> str:
        """Return the request as JSON, with a line for each of its sections."""
        sections = (f"  {_json(name)}: {_json(value)}" for name, value in self.request.items())
        return "{\n" + ",\n".join(sections) + "\n}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one topic."""

    title: str
    lead: str
    examples: Sequence[Example]


GROUPS: Sequence[Group] = (
    Group(
        "Search",
        "Ranked full-text search over recipes, restaurants, cookware, films and articles. Times,"
        " diets and “without …” in the question are applied as constraints. prefer.accept-language"
        " chooses English or German for the texts of the agent. A query with “that fails” times"
        " out after its first results.",
        (
            Example(
                "Streaming results",
                {
                    "query": {"text": "healthy breakfast recipes with eggs"},
                    "prefer": {"streaming": True},
                },
            ),
            Example(
                "Natural-language constraints",
                {"query": {"text": "vegan curry in under 45 minutes"}},
            ),
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
                "User memory",
                {
                    "query": {"text": "something protein rich for lunch"},
                    "context": {"memory": "vegetarian, allergic to nuts"},
                },
            ),
            Example(
                "Tutorial stream (0.54)",
                {
                    "query": {"text": "a detailed tutorial on making homemade pasta"},
                    "prefer": {"streaming": True, "mode": "detailed"},
                    "meta": {"version": "0.54"},
                },
            ),
            Example(
                "Summary in German",
                {
                    "query": {"text": "something sweet with cinnamon"},
                    "prefer": {
                        "mode": "list, summarize",
                        "accept-language": "de-AT, en;q=0.5",
                    },
                },
            ),
            Example(
                "Failure mid-stream",
                {
                    "query": {"text": "healthy breakfast recipes with eggs that fails"},
                    "prefer": {"streaming": True},
                },
            ),
        ),
    ),
    Group(
        "Filters",
        "Supported filters: site, itemType, max_cooking_time, diet, cuisine, ingredient, price,"
        " location and num_results. Unknown filters are listed in _meta.ignored_filters.",
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
        "Conversations",
        "A follow-up is interpreted with the previous queries in context.prev; the interpreted"
        " query is in _meta.decontextualized_query. The session context counts the turns.",
        (
            Example(
                "Something lighter",
                {
                    "query": {"text": "something lighter"},
                    "context": {"prev": ["chicken curry"]},
                },
            ),
            Example(
                "Without nuts",
                {
                    "query": {"text": "without nuts"},
                    "context": {"prev": ["dessert or cake", "something quicker"]},
                },
            ),
            Example(
                "Third turn",
                {
                    "query": {"text": "what about vegan?"},
                    "context": {"prev": ["soup", "cheaper"]},
                    "meta": {
                        "version": "0.55",
                        "session_context": {
                            "conversation_id": "conv_supper",
                            "turn": 2,
                            "last_topic": "cheaper",
                        },
                    },
                },
            ),
        ),
    ),
    Group(
        "Elicitation",
        "Vague requests are answered with questions. Answers are accepted as filters named after"
        " the questions, in a context object of any type, or as sentences after the text. An"
        " invalid answer fails with INVALID_QUERY, or INVALID_PARAMETER in 0.54.",
        (
            Example(
                "Dinner", {"query": {"text": "I need something for dinner"}}, answer="elicitation"
            ),
            Example("Pasta", {"query": {"text": "pasta recipe"}}, answer="elicitation"),
            Example(
                "Every question type",
                {"query": {"text": "plan a dinner party"}},
                answer="elicitation",
            ),
            Example(
                "Two rounds of questions",
                {"query": {"text": "plan a menu"}},
                answer="elicitation",
            ),
            Example(
                "Second round",
                {"query": {"text": "plan a menu", "occasion": "dinner party"}},
                answer="elicitation",
            ),
            Example(
                "Questions as text (0.54)",
                {"query": {"text": "pasta recipe"}, "meta": {"version": "0.54"}},
                answer="elicitation",
            ),
            Example(
                "Answers as filters",
                {
                    "query": {
                        "text": "pasta recipe",
                        "sauce_type": "tomato",
                        "dietary_restrictions": ["vegan"],
                        "cooking_time": "20-40 minutes",
                    }
                },
            ),
            Example(
                "Answers in the context",
                {
                    "query": {"text": "plan a menu"},
                    "context": {
                        "@type": "Answers",
                        "occasion": "weeknight supper",
                        "cooking_time": "20-40 minutes",
                    },
                },
            ),
            Example(
                "Answers in the text",
                {
                    "query": {
                        "text": "plan a dinner party. How many guests do you expect? 8."
                        " Do you have any dietary restrictions? vegetarian, gluten-free."
                    }
                },
            ),
            Example(
                "Invalid answer",
                {"query": {"text": "pasta recipe", "sauce_type": "ketchup"}},
                answer="failure",
            ),
        ),
    ),
    Group(
        "Promises",
        "A meal plan takes ten seconds: check on it or cancel it with await. It continues even if"
        " the site is restarted.",
        (
            Example(
                "Weekly meal plan",
                {"query": {"text": "make a weekly meal plan with a shopping list"}},
                answer="promise",
            ),
            Example(
                "Vegetarian meal plan",
                {"query": {"text": "vegetarian meal plan for the week"}},
                answer="promise",
            ),
            Example(
                "Failing meal plan",
                {"query": {"text": "a meal plan that fails"}},
                answer="promise",
            ),
        ),
    ),
    Group(
        "Actions",
        "Results can be saved to a cookbook and added to a cart, which all users of this site"
        " share: with POST, GET and DELETE. Recipes also have actions over MCP and A2A,"
        " restaurants one over A2A.",
        (
            Example("Recipes to save", {"query": {"text": "tiramisu"}}),
            Example(
                "Products to buy",
                {"query": {"text": "a good chef's knife", "itemType": "Product"}},
            ),
            Example("Tables to reserve", {"query": {"text": "sushi restaurants"}}),
            Example("View the cart", {"query": {"text": "what is in my cart?"}}),
            Example("View the cookbook", {"query": {"text": "show my cookbook"}}),
        ),
    ),
)
