"""Meal plans and shopping lists."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from playground.demo.answers import meal_plan
from playground.demo.corpus import Corpus
from playground.demo.requests import AskRequest as AskRecord
from tests.demo.conftest import Ask, Clock
from tests.demo.test_promises import checkin

pytestmark = pytest.mark.django_db(transaction=True)


class TestMealPlan:
    def plan(self, corpus: Corpus, text: str, **context: str) -> list[dict[str, Any]]:
        ask = AskRecord("0.55", text, {}, context, {})
        return meal_plan(corpus, ask, date(2026, 2, 25))

    def test_a_week_from_next_monday(self, corpus: Corpus) -> None:
        plan, _ = self.plan(corpus, "weekly meal plan")
        assert (plan["startDate"], plan["endDate"]) == ("2026-03-02", "2026-03-08")
        assert [day["day"][:3] for day in plan["meals"]] == [
            "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun",
        ]  # fmt: skip
        urls = {entry.document["url"]: entry for entry in corpus.entries}
        for day in plan["meals"]:
            for meal in ("breakfast", "lunch", "dinner"):
                assert meal in urls[day[meal]["url"]].keywords

    def test_dinners_differ(self, corpus: Corpus) -> None:
        plan, _ = self.plan(corpus, "weekly meal plan")
        assert len({day["dinner"]["name"] for day in plan["meals"]}) == 7

    def test_everything_is_on_the_list_once(self, corpus: Corpus) -> None:
        plan, shopping = self.plan(corpus, "weekly meal plan")
        urls = {entry.document["url"]: entry for entry in corpus.entries}
        needed = {
            ingredient
            for day in plan["meals"]
            for meal in ("breakfast", "lunch", "dinner")
            for ingredient in urls[day[meal]["url"]].document["recipeIngredient"]
        }
        bought = [text for shelf in shopping["items"] for text in shelf["items"]]
        assert sorted(bought) == sorted(needed)
        shelves = {shelf["category"]: shelf["items"] for shelf in shopping["items"]}
        assert all("egg" not in text.split() for text in shelves["Cupboard"])

    @pytest.mark.parametrize("diet", ["vegetarian", "vegan", "gluten-free"])
    def test_diets(self, corpus: Corpus, diet: str) -> None:
        urls = {entry.document["url"]: entry for entry in corpus.entries}
        for plan in (
            self.plan(corpus, f"{diet} meal plan")[0],
            self.plan(corpus, "meal plan", memory=diet)[0],
        ):
            meals = [day[meal] for day in plan["meals"] for meal in ("breakfast", "dinner")]
            assert all(diet.replace("-", "") in urls[meal["url"]].diets for meal in meals)

    def test_the_same_request_gets_the_same_plan(self, corpus: Corpus) -> None:
        assert self.plan(corpus, "meal plan") == self.plan(corpus, "meal plan")
        assert self.plan(corpus, "meal plan") != self.plan(corpus, "another meal plan")

    async def test_an_impossible_diet(self, post: Ask, clock: Clock) -> None:
        request = {"query": {"text": "meal plan", "diet": "fruitarian"}}
        token = (await post("ask?pace=0", request)).document["promise"]["token"]
        assert (await checkin(post, token)).code == "NO_RESULTS"
