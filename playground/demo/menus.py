"""Menus for an occasion: a recipe for each course, and a summary of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from playground.demo import criteria as filtering
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus, CorpusItem, strings
from playground.demo.criteria import contains
from playground.demo.failures import FailureError
from playground.demo.items import item, listed
from playground.demo.planning import categories
from playground.demo.responses import Document

_COURSES: Mapping[str, frozenset[str]] = {
    "starter": frozenset({"starter", "soup"}),
    "main": frozenset({"dinner"}),
    "side": frozenset({"side", "salad"}),
    "dessert": frozenset({"dessert"}),
}
_CAKES = {"chocolate": "chocolate", "fruit": "apple lemon berry"}


def menu_for_occasion(
    corpus: Corpus, answers: Mapping[str, Any], links: DemoUrls
) -> list[Document]:
    """A menu that suits the occasion in `answers`, checked before. Raises `FailureError`."""
    plans: Mapping[str, dict[str, Any]] = {
        "weeknight supper": {"guests": 2, "courses": ["main", "side"]},
        "picnic": {
            "guests": 4,
            "courses": ["side", "dessert"],
            "wishes": "salad" if answers.get("carried_far", True) else "cream",
        },
        "birthday": {
            "guests": 8,
            "courses": ["starter", "main", "dessert"],
            "wishes": _CAKES.get(answers.get("cake", "chocolate"), ""),
        },
    }
    plan = plans[answers["occasion"]]
    if answers.get("cake") == "no cake":
        plan["courses"].remove("dessert")
    summary, *courses = menu(corpus, {**plan, **answers}, links)
    whose = f" of {answers['honoured']}" if answers.get("honoured") else ""
    summary["text"] = f"For the {answers['occasion']}{whose}. {summary['text']}"
    return [summary, *courses]


def menu(corpus: Corpus, answers: Mapping[str, Any], links: DemoUrls) -> list[Document]:
    """A summary and a recipe for each course. The answers are checked. Raises `FailureError`."""
    guests = answers.get("guests", 6)
    wanted = strings(answers.get("courses"))
    filters = ("dietary_restrictions", "cooking_time")
    criteria = filtering.read({name: answers[name] for name in filters if name in answers})
    wishes = _understandable(answers.get("wishes"))
    chosen: list[CorpusItem] = []
    for course in wanted or ["starter", "main", "dessert"]:
        pool = [
            entry
            for entry in corpus.of_kind("Recipe")
            if criteria.admits(entry) and _COURSES[course] & categories(entry)
        ]
        if not pool:
            raise FailureError("NO_RESULTS", f"There is no {course} here for that diet and time.")
        # Nobody wants a dish twice, if there is another; then what was wished for counts,
        # then what others liked best.
        fresh = [entry for entry in pool if entry not in chosen] or pool
        chosen.append(max(fresh, key=lambda entry: (_fits(entry, wishes), entry.rating)))
    children = " It is mild enough for children." if answers.get("with_children") is True else ""
    names = listed([entry.name for entry in chosen])
    text = f"A menu for {guests:g} guests: {names}.{children}"
    return [{"@type": "SearchSummary", "text": text}, *(item(entry, links) for entry in chosen)]


def _understandable(wishes: Any) -> list[str]:
    """The words of a wish that can name an ingredient or a dish."""
    return [word for text in strings(wishes) for word in re.findall(r"\w{4,}", text.lower())]


def _fits(entry: CorpusItem, wishes: Sequence[str]) -> int:
    text = f"{entry.name.lower()}\n{entry.ingredients}"
    return sum(contains(text, word) for word in wishes)
