"""Example requests on the demo page; a test sends every one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Example:
    """A request to copy, and its response."""

    title: str
    #: Empty if the workbench cannot send it.
    request: Mapping[str, Any] = field(default_factory=dict)
    #: The expected response type of NLWeb.
    answer: str = "answer"
    #: What the response is like.
    happens: str = ""

    @property
    def text(self) -> str:
        """Return the request as JSON, with a line for each of its sections."""
        sections = (
            f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in self.request.items()
        )
        return "{\n" + ",\n".join(sections) + "\n}"

    @property
    def indented(self) -> str:
        """Return the request as JSON, with a line for each value."""
        return json.dumps(self.request, ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one topic."""

    title: str
    lead: str
    examples: Sequence[Example]


def ask(
    title: str,
    text: str,
    *,
    filters: Mapping[str, Any] | None = None,
    answer: str = "answer",
    happens: str = "",
    **sections: Any,
) -> Example:
    """Return an example of NLWeb: query and further sections of the request."""
    request = {"query": {"text": text, **(filters or {})}, **sections}
    return Example(title, request, answer, happens)


GROUPS: Sequence[Group] = (
    Group(
        "Search",
        "Ranked full-text search over recipes, restaurants, cookware, films and articles."
        " Times, diets and “without …” in the question are applied as constraints."
        " prefer.accept-language chooses English or German for the texts of the agent. A query"
        " with “that fails” times out after its first results.",
        (
            ask(
                "Streaming results",
                "healthy breakfast recipes with eggs",
                prefer={"streaming": True},
            ),
            ask("Natural-language constraints", "vegan curry in under 45 minutes"),
            ask(
                "With a summary",
                "something sweet with cinnamon",
                prefer={"mode": "list, summarize"},
            ),
            ask(
                "For a ChatGPT app",
                "quick lunch ideas with avocado",
                prefer={"response_format": "chatgpt_app"},
            ),
            ask(
                "User memory",
                "something protein rich for lunch",
                context={"memory": "vegetarian, allergic to nuts"},
            ),
            ask(
                "Tutorial stream (0.54)",
                "a detailed tutorial on making homemade pasta",
                prefer={"streaming": True, "mode": "detailed"},
                meta={"version": "0.54"},
            ),
            ask(
                "Summary in German",
                "something sweet with cinnamon",
                prefer={"mode": "list, summarize", "accept-language": "de-AT, en;q=0.5"},
            ),
            ask(
                "Failure mid-stream",
                "healthy breakfast recipes with eggs that fails",
                prefer={"streaming": True},
            ),
        ),
    ),
    Group(
        "Filters",
        "Supported filters: site, itemType, max_cooking_time, diet, cuisine, ingredient, price,"
        " location and num_results. Unknown filters are listed in _meta.ignored_filters.",
        (
            ask(
                "Time and diet",
                "dinner",
                filters={"max_cooking_time": "PT30M", "diet": ["vegan", "gluten-free"]},
            ),
            ask(
                "Restaurants by price",
                "noodles or tacos",
                filters={"itemType": "Restaurant", "price": "less than $20"},
            ),
            ask(
                "One site, one cuisine, three results",
                "recipes",
                filters={"site": "recipes.example", "cuisine": "Indian", "num_results": 3},
            ),
        ),
    ),
    Group(
        "Conversations",
        "A follow-up is interpreted with the previous queries in context.prev; the interpreted"
        " query is in _meta.decontextualized_query. The session context counts the turns.",
        (
            ask("Something lighter", "something lighter", context={"prev": ["chicken curry"]}),
            ask(
                "Without nuts",
                "without nuts",
                context={"prev": ["dessert or cake", "something quicker"]},
            ),
            ask(
                "Third turn",
                "what about vegan?",
                context={"prev": ["soup", "cheaper"]},
                meta={
                    "version": "0.55",
                    "session_context": {
                        "conversation_id": "conv_supper",
                        "turn": 2,
                        "last_topic": "cheaper",
                    },
                },
            ),
        ),
    ),
    Group(
        "Elicitation",
        "Vague requests are answered with questions. Answers are accepted as filters named"
        " after the questions, in a context object of any type, or as sentences after the text."
        " An invalid answer fails with INVALID_QUERY, or INVALID_PARAMETER in 0.54.",
        (
            ask("Dinner", "I need something for dinner", answer="elicitation"),
            ask("Pasta", "pasta recipe", answer="elicitation"),
            ask("Every question type", "plan a dinner party", answer="elicitation"),
            ask("Two rounds of questions", "plan a menu", answer="elicitation"),
            ask(
                "Second round",
                "plan a menu",
                filters={"occasion": "dinner party"},
                answer="elicitation",
            ),
            ask(
                "Questions as text (0.54)",
                "pasta recipe",
                meta={"version": "0.54"},
                answer="elicitation",
            ),
            ask(
                "Answers as filters",
                "pasta recipe",
                filters={
                    "sauce_type": "tomato",
                    "dietary_restrictions": ["vegan"],
                    "cooking_time": "20-40 minutes",
                },
            ),
            ask(
                "Answers in the context",
                "plan a menu",
                context={
                    "@type": "Answers",
                    "occasion": "weeknight supper",
                    "cooking_time": "20-40 minutes",
                },
            ),
            ask(
                "Answers in the text",
                "plan a dinner party. How many guests do you expect? 8."
                " Do you have any dietary restrictions? vegetarian, gluten-free.",
            ),
            ask(
                "Invalid answer",
                "pasta recipe",
                filters={"sauce_type": "ketchup"},
                answer="failure",
            ),
        ),
    ),
    Group(
        "Promises",
        "A meal plan takes ten seconds: check on it or cancel it with await. It continues even"
        " if the site is restarted.",
        (
            ask(
                "Weekly meal plan", "make a weekly meal plan with a shopping list", answer="promise"
            ),
            ask("Vegetarian meal plan", "vegetarian meal plan for the week", answer="promise"),
            ask("Failing meal plan", "a meal plan that fails", answer="promise"),
        ),
    ),
    Group(
        "Actions",
        "Results can be saved to a cookbook and added to a cart, which all users of this site"
        " share: with POST, GET and DELETE. Recipes also have actions over MCP and A2A,"
        " restaurants one over A2A.",
        (
            ask("Recipes to save", "tiramisu"),
            ask("Products to buy", "a good chef's knife", filters={"itemType": "Product"}),
            ask("Tables to reserve", "sushi restaurants"),
            ask("View the cart", "what is in my cart?"),
            ask("View the cookbook", "show my cookbook"),
        ),
    ),
)
