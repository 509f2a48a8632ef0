from __future__ import annotations

from typing import Any

import pytest

from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from playground.demo.requests import AskRequest
from playground.demo.search import SearchResult, find


def search(
    corpus: Corpus, text: str, context: dict[str, Any] | None = None, **filters: Any
) -> SearchResult:
    return find(corpus, AskRequest("0.55", text, filters, context or {}, {}))


def names(found: SearchResult) -> list[str]:
    return [entry.name for entry in found.entries]


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


class TestFilters:
    def test_site(self, corpus: Corpus) -> None:
        found = search(corpus, "noodles", site="tables.example")
        assert {entry.site for entry in found.entries} == {"tables.example"}

    def test_unknown_site(self, corpus: Corpus) -> None:
        with pytest.raises(FailureError, match=r"tables\.example"):
            search(corpus, "noodles", site="nowhere.example")

    @pytest.mark.parametrize("value", ["Movie", "https://schema.org/Movie", ["Movie"]])
    def test_item_type(self, corpus: Corpus, value: object) -> None:
        found = search(corpus, "japanese noodles", itemType=value)
        assert {entry.kind for entry in found.entries} == {"Movie"}

    def test_item_type_is_exact(self, corpus: Corpus) -> None:
        with pytest.raises(FailureError) as caught:
            search(corpus, "noodles", itemType="movie")
        assert caught.value.code == "NO_RESULTS"

    @pytest.mark.parametrize("value", ["PT20M", "pt20m", 20, 20.0])
    def test_max_cooking_time(self, corpus: Corpus, value: object) -> None:
        found = search(corpus, "dinner", max_cooking_time=value, num_results=100)
        assert len(found.entries) > 3
        assert all(entry.minutes <= 20 for entry in found.entries if entry.minutes is not None)
        assert {entry.kind for entry in found.entries} == {"Recipe"}

    def test_a_time_said_in_words(self, corpus: Corpus) -> None:
        found = search(corpus, "dinner in under 20 minutes")
        assert all(entry.minutes is not None and entry.minutes <= 20 for entry in found.entries)

    def test_a_filter_wins_over_words(self, corpus: Corpus) -> None:
        found = search(corpus, "dinner under 20 minutes", max_cooking_time="PT3H", num_results=100)
        assert any(entry.minutes and entry.minutes > 60 for entry in found.entries)

    @pytest.mark.parametrize("name", ["diet", "suitableForDiet", "dietary_restrictions"])
    def test_diet(self, corpus: Corpus, name: str) -> None:
        found = search(corpus, "dinner", **{name: ["vegan", "https://schema.org/GlutenFreeDiet"]})
        assert all({"vegan", "glutenfree"} <= entry.diets for entry in found.entries)

    def test_no_diet_is_no_filter(self, corpus: Corpus) -> None:
        some = search(corpus, "dinner", dietary_restrictions=["none"]).total
        assert some == search(corpus, "dinner").total

    @pytest.mark.parametrize("name", ["cuisine", "servesCuisine"])
    def test_cuisine(self, corpus: Corpus, name: str) -> None:
        found = search(corpus, "spicy", **{name: "Thai"})
        assert {"Recipe", "Restaurant"} == {entry.kind for entry in found.entries}
        assert all("thai" in entry.cuisines for entry in found.entries)

    def test_ingredients(self, corpus: Corpus) -> None:
        found = search(corpus, "dinner", ingredient=["chickpeas", "Spinach"])
        assert names(found) == ["Chickpea and Spinach Curry"]

    def test_a_group_of_ingredients(self, corpus: Corpus) -> None:
        found = search(corpus, "recipes", ingredient="fish", num_results=100)
        assert {"Miso Glazed Salmon", "Cod Baked with Tomatoes and Olives"} <= set(names(found))

    def test_without(self, corpus: Corpus) -> None:
        assert any("coconut" in e.ingredients for e in search(corpus, "curry").entries)
        found = search(corpus, "curry without coconut")
        assert not any("coconut" in entry.ingredients for entry in found.entries)

    @pytest.mark.parametrize("price", ["less than $20", 20, "under 20 dollars", "$20", "max 20"])
    def test_price_at_most(self, corpus: Corpus, price: object) -> None:
        found = search(corpus, "restaurants", price=price, num_results=100)
        assert {entry.document["priceRange"] for entry in found.entries} == {"$"}

    def test_price_range(self, corpus: Corpus) -> None:
        found = search(corpus, "restaurants", price="$$$", num_results=100)
        assert {entry.document["priceRange"] for entry in found.entries} == {"$$$"}

    def test_price_at_least_and_between(self, corpus: Corpus) -> None:
        dear = search(corpus, "cookware", itemType="Product", price="more than $50")
        assert all(entry.price and entry.price >= 50 for entry in dear.entries)
        some = search(corpus, "cookware", itemType="Product", price="$20 - $40")
        assert all(entry.price and 20 <= entry.price <= 40 for entry in some.entries)

    def test_location_binds_what_has_a_place(self, corpus: Corpus) -> None:
        found = search(corpus, "something with pumpkin and cinnamon", location="Boise")
        assert "Idaho Pumpkin Place" in names(found)
        assert "Pumpkin Pie with Cinnamon Cream" in names(found)
        assert all("boise" in entry.location for entry in found.entries if entry.location)

    def test_num_results(self, corpus: Corpus) -> None:
        found = search(corpus, "dinner", num_results=2)
        assert len(found.entries) == 2
        assert found.total > 2

    def test_unknown_filters_are_named(self, corpus: Corpus) -> None:
        found = search(corpus, "dinner", personalized=True, colour="red")
        assert found.criteria.ignored == ("colour", "personalized")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("max_cooking_time", "soon"), ("max_cooking_time", True), ("max_cooking_time", -1),
            ("max_cooking_time", ["PT5M"]), ("max_cooking_time", "30"),
            ("num_results", 0), ("num_results", 101), ("num_results", "5"), ("num_results", True),
            ("num_results", 2.5), ("diet", 7), ("diet", ["vegan", 1]), ("cuisine", ""),
            ("cuisine", ["Thai"]), ("ingredient", {}), ("price", "cheap"), ("price", True),
            ("price", []), ("site", 1), ("itemType", 1), ("location", 0), ("cooking_time", 20),
            ("sauce_type", 3),
        ],
    )  # fmt: skip
    def test_impossible_values(self, corpus: Corpus, name: str, value: object) -> None:
        with pytest.raises(FailureError) as caught:
            search(corpus, "dinner", **{name: value})
        assert caught.value.code == "INVALID_PARAMETER"
        assert caught.value.details is not None
        assert caught.value.details["parameter"] == name
        assert caught.value.details["provided_value"] == value


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
