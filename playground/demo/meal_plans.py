"""Meal plans for a week with their shopping lists, the answers of promised tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from playground.demo import languages
from playground.demo.corpus import Corpus, CorpusItem, strings
from playground.demo.failures import FailureError
from playground.demo.filters import contains, read_filters
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
    """Return a MealPlan for the week that begins next Monday, and its ShoppingList.

    The same request gets the same plan: choices are derived from the text. Raise `FailureError`
    NO_RESULTS when the corpus lacks a meal for the diet.
    """
    monday = today + timedelta(days=7 - today.weekday())
    meals = {name: _recipes_for(corpus, ask, name) for name in _MEALS}
    used: list[CorpusItem] = []
    days: list[Document] = []
    for number, day in enumerate(_DAYS):
        chosen = {name: pool[number % len(pool)] for name, pool in meals.items()}
        used += chosen.values()
        days.append({"day": day, **{name: short(entry) for name, entry in chosen.items()}})
    context = "https://schema.org"
    week = monday.strftime(languages.say(ask.language, "%-d %B"))

    def say(template: str) -> str:
        return languages.say(ask.language, template, date=week)

    period = {
        "startDate": monday.isoformat(),
        "endDate": (monday + timedelta(days=6)).isoformat(),
    }
    return [
        {
            "@type": "MealPlan",
            "@context": context,
            "name": say("Your meal plan for the week of {date}"),
            "description": say("Three meals a day, chosen from this agent's recipes."),
            **period,
            "meals": days,
        },
        {
            "@type": "ShoppingList",
            "@context": context,
            "name": say("Shopping list for the week of {date}"),
            "description": say("All ingredients of the meal plan, by category."),
            "items": _shopping_list(used),
        },
    ]


def _recipes_for(corpus: Corpus, ask: AskRequest, meal: str) -> list[CorpusItem]:
    """Return the recipes for one meal of each day, in an order derived from the request."""
    diets = diets_in_text(ask) | read_filters({**ask.filters, **answers(ask)}).diets
    pool = [
        entry
        for entry in corpus.of_kind("Recipe")
        if meal in entry.categories and diets <= entry.diets
    ]
    if not pool:
        raise FailureError("NO_RESULTS", "No {meal} matches that diet.", meal=meal)

    def order(entry: CorpusItem) -> str:
        return hashlib.sha256(f"{ask.text}\n{entry.name}".encode(errors="replace")).hexdigest()

    return sorted(pool, key=order)[: len(_DAYS)]


def _shopping_list(entries: Sequence[CorpusItem]) -> list[Document]:
    """Return all ingredients by shelf, without duplicates, in the order of the week."""
    needed = dict.fromkeys(
        text for entry in entries for text in strings(entry.document.get("recipeIngredient"))
    )
    shelves: dict[str, list[str]] = {name: [] for name in (*_SHELVES, "Cupboard")}
    for text in needed:
        shelves[_shelf_of(text.lower())].append(text)
    return [{"category": name, "items": texts} for name, texts in shelves.items() if texts]


def _shelf_of(ingredient: str) -> str:
    for name, words in _SHELVES.items():
        if any(contains(ingredient, word) for word in words):
            return name
    return "Cupboard"
