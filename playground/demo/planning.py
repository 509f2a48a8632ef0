"""A week's meal plan and its shopping list, put together from many recipes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from playground.demo import criteria as filtering
from playground.demo.corpus import Corpus, CorpusItem, strings
from playground.demo.criteria import contains
from playground.demo.failures import FailureError
from playground.demo.items import short
from playground.demo.requests import AskRequest
from playground.demo.responses import Document
from playground.demo.search import answers, diets_in_text

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MEALS = ("breakfast", "lunch", "dinner")
_SHELVES: Mapping[str, tuple[str, ...]] = {
    "Dairy and eggs": ("egg", "milk", "butter", "cream", "cheese", "yogurt", "feta", "parmesan",
                       "mozzarella", "ricotta", "halloumi", "gruyère"),
    "Fish and meat": ("fish", "seafood", "meat"),
    "Grains and pulses": ("rice", "pasta", "spaghetti", "linguine", "penne", "orzo", "bread",
                          "oat", "quinoa", "lentil", "chickpea", "bean", "couscous", "noodle",
                          "tortilla", "flour", "bulgur", "polenta", "tofu"),
    "Vegetables and fruit": ("onion", "garlic", "tomato", "potato", "carrot", "spinach", "lemon",
                             "lime", "pepper", "courgette", "aubergine", "mushroom", "apple",
                             "banana", "berry", "blueberries", "cabbage", "leek", "cucumber",
                             "avocado", "ginger", "basil", "parsley", "coriander", "mint", "dill",
                             "squash", "kale", "broccoli", "pumpkin", "peas", "celery"),
}  # fmt: skip


def meal_plan(corpus: Corpus, ask: AskRequest, today: date) -> list[Document]:
    """A MealPlan for the week that begins next Monday, and its ShoppingList.

    The same request gets the same plan: choices follow from the text. Raises `FailureError`
    NO_RESULTS when the corpus lacks a meal for the diet.
    """
    monday = today + timedelta(days=7 - today.weekday())
    meals = {name: _choose(corpus, ask, name) for name in _MEALS}
    used: list[CorpusItem] = []
    days: list[Document] = []
    for number, day in enumerate(_DAYS):
        chosen = {name: pool[number % len(pool)] for name, pool in meals.items()}
        used += chosen.values()
        days.append({"day": day, **{name: short(entry) for name, entry in chosen.items()}})
    context = "https://schema.org"
    period = {
        "startDate": monday.isoformat(),
        "endDate": (monday + timedelta(days=6)).isoformat(),
    }
    return [
        {
            "@type": "MealPlan",
            "@context": context,
            "name": f"Your meal plan for the week of {monday:%-d %B}",
            "description": "Three meals a day, chosen from the recipes of this agent.",
            **period,
            "meals": days,
        },
        {
            "@type": "ShoppingList",
            "@context": context,
            "name": f"Shopping list for the week of {monday:%-d %B}",
            "description": "Everything that the meal plan needs, by shelf.",
            "items": _shopping(used),
        },
    ]


def categories(entry: CorpusItem) -> frozenset[str]:
    """The courses and meals that a recipe is for, in lower case."""
    return frozenset(c.lower() for c in strings(entry.document.get("recipeCategory")))


def _choose(corpus: Corpus, ask: AskRequest, meal: str) -> list[CorpusItem]:
    """The recipes for one meal of each day, in an order that follows from the request."""
    diets = diets_in_text(ask) | filtering.read({**ask.filters, **answers(ask)}).diets
    pool = [
        entry
        for entry in corpus.of_kind("Recipe")
        if meal in categories(entry) and diets <= entry.diets
    ]
    if not pool:
        raise FailureError("NO_RESULTS", f"There is no {meal} here for that diet.")

    def order(entry: CorpusItem) -> str:
        return hashlib.sha256(f"{ask.text}\n{entry.name}".encode(errors="replace")).hexdigest()

    return sorted(pool, key=order)[: len(_DAYS)]


def _shopping(entries: Sequence[CorpusItem]) -> list[Document]:
    """All ingredients by shelf, each once, in the order of the week."""
    needed = dict.fromkeys(
        text for entry in entries for text in strings(entry.document.get("recipeIngredient"))
    )
    shelves: dict[str, list[str]] = {name: [] for name in (*_SHELVES, "Cupboard")}
    for text in needed:
        shelves[_shelf(text.lower())].append(text)
    return [{"category": name, "items": texts} for name, texts in shelves.items() if texts]


def _shelf(text: str) -> str:
    for name, words in _SHELVES.items():
        if any(contains(text, word) for word in words):
            return name
    return "Cupboard"
