"""Answers that are assembled from several items: menus, meal plans for a week, tutorials."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from playground.demo import languages, search
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus, CorpusItem, strings
from playground.demo.failures import FailureError
from playground.demo.filters import contains, read_filters
from playground.demo.items import item, listed, minutes_text, short
from playground.demo.languages import ENGLISH, Language
from playground.demo.requests import AskRequest
from playground.demo.responses import Answer, Document, StreamPart
from playground.demo.vocabulary import SHELVES

_COURSES: Mapping[str, frozenset[str]] = {
    "starter": frozenset({"starter", "soup"}),
    "main": frozenset({"dinner"}),
    "side": frozenset({"side", "salad"}),
    "dessert": frozenset({"dessert"}),
}
#: What a menu for an occasion has unless the answers say otherwise.
_FOR_OCCASION: Mapping[str, Mapping[str, Any]] = {
    "weeknight supper": {"guests": 2, "courses": ["main", "side"]}
}


def menu(
    corpus: Corpus, answers: Mapping[str, Any], links: DemoUrls, language: Language = ENGLISH
) -> list[Document]:
    """Return a summary and a recipe for each course, from checked answers.

    Raise `FailureError` NO_RESULTS when the corpus lacks a course for the diet and time.
    """
    answers = {**_FOR_OCCASION.get(answers.get("occasion", ""), {}), **answers}
    guests = answers.get("guests", 6)
    courses = strings(answers.get("courses"))
    filter_names = ("dietary_restrictions", "cooking_time")
    criteria = read_filters({name: answers[name] for name in filter_names if name in answers})
    wishes = _words(answers.get("wishes"))
    chosen: list[CorpusItem] = []
    for course in courses or ["starter", "main", "dessert"]:
        pool = [
            entry
            for entry in corpus.of_kind("Recipe")
            if criteria.admits(entry) and _COURSES[course] & entry.categories
        ]
        if not pool:
            raise FailureError(
                "NO_RESULTS",
                "No {course} matches that diet and time.",
                course=languages.say(language, course),
            )
        # A dish is repeated only if there is no other; wishes are preferred first, then ratings.
        fresh = [entry for entry in pool if entry not in chosen] or pool
        chosen.append(max(fresh, key=lambda entry: (_matches(entry, wishes), entry.rating)))
    names = listed([entry.name for entry in chosen], language)
    template = "A menu for {guests} guests: {names}."
    text = languages.say(language, template, guests=f"{guests:g}", names=names)
    if answers.get("with_children") is True:
        text = f"{text} {languages.say(language, 'It is mild enough for children.')}"
    return [{"@type": "SearchSummary", "text": text}, *(item(entry, links) for entry in chosen)]


def _words(wishes: Any) -> list[str]:
    """Return the words of a wish that can name an ingredient or a dish."""
    return [word for text in strings(wishes) for word in re.findall(r"\w{4,}", text.lower())]


def _matches(entry: CorpusItem, wishes: Sequence[str]) -> int:
    text = f"{entry.name.lower()}\n{entry.ingredients}"
    return sum(contains(text, word) for word in wishes)


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MEALS = ("breakfast", "lunch", "dinner")


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
    diets = search.diets_in_text(ask) | read_filters({**ask.filters, **search.answers(ask)}).diets
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
    shelves: dict[str, list[str]] = {name: [] for name in (*SHELVES, "Cupboard")}
    for text in needed:
        shelves[_shelf_of(text.lower())].append(text)
    return [{"category": name, "items": texts} for name, texts in shelves.items() if texts]


def _shelf_of(ingredient: str) -> str:
    for name, words in SHELVES.items():
        if any(contains(ingredient, word) for word in words):
            return name
    return "Cupboard"


def tutorial(entries: list[CorpusItem], links: DemoUrls) -> Answer:
    """Return the best recipe with steps, its steps as sections, with text between them."""
    with_steps = [entry for entry in entries if _steps(entry)]
    if not with_steps:
        return Answer.of([item(entry, links) for entry in entries])
    recipe = with_steps[0]
    steps = _steps(recipe)
    time = f" and {minutes_text(recipe.minutes)}" if recipe.minutes is not None else ""
    opening = f"{recipe.name} takes {len(steps)} steps{time}. Let us start."
    parts = [
        StreamPart(item=item(recipe, links)),
        StreamPart(content={"type": "text", "text": opening}),
    ]
    for number, step in enumerate(steps, 1):
        parts.append(StreamPart(item=_section(number, step)))
        parts.append(StreamPart(content={"type": "instruction", "step": number, "text": step}))
    closing = "Read all the steps once before you begin, and have everything measured out."
    parts.append(StreamPart(item={"@type": "HowToTip", "text": closing}))
    return Answer(parts, closing_failure="Tutorial complete")


def _steps(entry: CorpusItem) -> list[str]:
    instructions = entry.document.get("recipeInstructions")
    if not isinstance(instructions, list):
        return []
    return [str(step["text"]) for step in instructions]


def _section(number: int, step: str) -> Document:
    """Return a step as a section, named after its first clause."""
    title = step.partition(",")[0].partition(".")[0]
    return {"@type": "HowToSection", "name": f"Step {number}: {title}", "description": step}
