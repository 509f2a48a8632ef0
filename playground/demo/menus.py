"""Menus for a dinner party or another occasion: a recipe for each course, and a summary."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from playground.demo import languages
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus, CorpusItem, strings
from playground.demo.failures import FailureError
from playground.demo.filters import contains, read_filters
from playground.demo.items import item, listed
from playground.demo.languages import ENGLISH, Language
from playground.demo.responses import Document

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
