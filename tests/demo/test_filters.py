"""Filters of a query (section 3.1)."""

from __future__ import annotations

import pytest

from playground.demo.corpus import Corpus
from playground.demo.failures import FailureError
from tests.demo.searches import names, search


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
