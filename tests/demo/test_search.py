"""Ranking, answers and context of a search."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from tests.demo.searches import names, search


class TestRanking:
    @pytest.mark.parametrize(
        ("text", "first"),
        [
            ("miso salmon", "Miso Glazed Salmon"),
            ("how do I make carbonara?", "Spaghetti alla Carbonara"),
            ("cinnamon overnight oats", "Cinnamon Overnight Oats"),
            ("pumpkin pie for thanksgiving", "Pumpkin Pie with Cinnamon Cream"),
            ("homemade pasta from scratch", "Classic Homemade Pasta Dough"),
            ("a film about ramen", "Tampopo"),
            ("a good chef's knife", "Rivet 20 cm Chef's Knife"),
            ("sushi restaurants", "Sushi Minato"),
            ("creme brulee or tiramisu", "Tiramisu"),
        ],
    )
    def test_the_best_comes_first(self, corpus: Corpus, text: str, first: str) -> None:
        assert names(search(corpus, text))[0] == first

    def test_breakfast_with_eggs(self, corpus: Corpus) -> None:
        found = search(corpus, "healthy breakfast recipes with eggs")
        top = found.entries[:5]
        assert all("egg" in entry.ingredients for entry in top[:2])
        assert sum("egg" in entry.ingredients for entry in top) >= 4
        assert all("breakfast" in entry.keywords for entry in top)

    def test_several_words_beat_one(self, corpus: Corpus) -> None:
        top = search(corpus, "spicy chicken curry").entries[:2]
        assert all("chicken" in e.ingredients and "curry" in e.keywords for e in top)

    def test_synonyms_count(self, corpus: Corpus) -> None:
        assert "Aubergine Parmigiana" in names(search(corpus, "eggplant bake"))

    def test_only_a_type_lists_the_best_rated(self, corpus: Corpus) -> None:
        found = search(corpus, "show me restaurants", num_results=3)
        assert [entry.rating for entry in found.entries] == [4.9, 4.7, 4.7]

    def test_noise_is_cut(self, corpus: Corpus) -> None:
        assert search(corpus, "miso glazed salmon").total < 10

    def test_nothing_is_found_on_mars(self, corpus: Corpus) -> None:
        with pytest.raises(FailureError) as caught:
            search(corpus, "recipes from planet Mars")
        assert caught.value.code == "NO_RESULTS"


class TestAnswers:
    @pytest.mark.parametrize(
        ("answer", "most"),
        [("under 20 minutes", 20), ("20-40 minutes", 40), ("40-60 minutes", 60), ("an hour", None),
         ("over an hour", None), ("2 hours", 120)],
    )  # fmt: skip
    def test_cooking_time(self, corpus: Corpus, answer: str, most: float | None) -> None:
        assert search(corpus, "dinner", cooking_time=answer).criteria.max_minutes == most

    def test_sauce(self, corpus: Corpus) -> None:
        found = search(corpus, "pasta recipe", sauce_type="pesto", num_results=100)
        assert len(found.entries) > 1
        assert all("pesto" in entry.keywords for entry in found.entries)

    @pytest.mark.parametrize("protein", ["chicken", "beef", "fish", "pork", "tofu", "beans"])
    def test_every_protein_has_a_dinner(self, corpus: Corpus, protein: str) -> None:
        found = search(corpus, "I need something for dinner", protein_type=protein)
        assert any(found.criteria.prefers(entry) for entry in found.entries)
        assert all(found.criteria.prefers(entry) for entry in found.entries)

    def test_a_preference_yields_to_a_diet(self, corpus: Corpus) -> None:
        found = search(corpus, "dinner", protein_type="beef", dietary_restrictions=["vegan"])
        assert all("vegan" in entry.diets for entry in found.entries)

    def test_no_preference(self, corpus: Corpus) -> None:
        assert search(corpus, "dinner", protein_type="no preference").criteria.soft == ()

    def test_answers_may_come_in_a_context(self, corpus: Corpus) -> None:
        context = {"@type": "Answers", "dietary_restrictions": ["vegan"], "sauce_type": "tomato"}
        found = search(corpus, "pasta recipe", context)
        assert all("vegan" in e.diets and "tomato" in e.keywords for e in found.entries)


class TestContext:
    def test_memory_keeps_meat_away(self, corpus: Corpus) -> None:
        plain = search(corpus, "dinner with beans", num_results=100)
        assert any("beef" in entry.ingredients for entry in plain.entries)
        found = search(corpus, "dinner with beans", {"memory": "vegetarian"}, num_results=100)
        assert all("vegetarian" in e.diets for e in found.entries if e.ingredients)

    def test_memory_keeps_restaurants(self, corpus: Corpus) -> None:
        assert search(corpus, "sushi restaurants", {"memory": "vegan"}).entries

    def test_allergies(self, corpus: Corpus) -> None:
        plain = search(corpus, "dessert or cake", num_results=100)
        assert any("almond" in entry.ingredients for entry in plain.entries)
        allergic = {"memory": "allergic to nuts"}
        found = search(corpus, "dessert or cake", allergic, num_results=100)
        assert not any(
            nut in entry.ingredients for entry in found.entries for nut in ("almond", "walnut")
        )

    def test_earlier_queries_move_results_up(self, corpus: Corpus) -> None:
        plain = names(search(corpus, "soup", num_results=100))
        moved = names(search(corpus, "soup", {"prev": ["gazpacho for summer"]}, num_results=100))
        assert sorted(plain) == sorted(moved)
        assert moved.index("Gazpacho") < plain.index("Gazpacho")

    @pytest.mark.parametrize("context", [{"prev": 7}, {"memory": {"a": 1}}, {"text": None}])
    def test_odd_contexts_do_no_harm(self, corpus: Corpus, context: dict[str, Any]) -> None:
        assert names(search(corpus, "soup", context)) == names(search(corpus, "soup"))
