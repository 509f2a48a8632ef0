"""Searches (section 3.1): filters, words, context, ranking, and follow-ups (section 3.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.demo.corpus import Corpus, CorpusItem, Index, IndexRow
from playground.demo.query_parser import parse_query
from tests.demo.client import Reply
from tests.demo.conftest import Ask

Search = Callable[..., Awaitable[list[CorpusItem]]]
ALL = {"num_results": 100}
RECIPES = {"itemType": "Recipe", **ALL}


@pytest.fixture
def search(ask: Ask, corpus: Corpus) -> Search:
    """Return what is found by a text and filters, as entries of the corpus; none for NO_RESULTS."""
    entries = {entry.document["url"]: entry for entry in corpus.entries}

    async def search(
        text: str, filters: dict[str, Any] | None = None, **context: Any
    ) -> list[CorpusItem]:
        reply: Reply = await ask(text, filters, context=context)
        if reply.meta["response_type"] == "failure":
            assert reply.code == "NO_RESULTS"
            return []
        found = [entries[item["url"]] for item in reply.document["results"]]
        assert found
        return found

    return search


def has(*words: str) -> Callable[[CorpusItem], bool]:
    return lambda entry: all(word in entry.ingredients for word in words)


def suits(*diets: str) -> Callable[[CorpusItem], bool]:
    return lambda entry: set(diets) <= entry.diets


def within(minutes: float) -> Callable[[CorpusItem], bool]:
    return lambda entry: entry.minutes is None or entry.minutes <= minutes


def costs(low: float, high: float) -> Callable[[CorpusItem], bool]:
    return lambda entry: bool(entry.price and low <= entry.price <= high)


def is_kind(*kinds: str) -> Callable[[CorpusItem], bool]:
    return lambda entry: entry.kind in kinds


#: What is asked for, and what all that is found has in common.
FOUND: list[tuple[str, dict[str, Any], Callable[[CorpusItem], bool]]] = [
    ("noodles", {"site": "tables.example"}, lambda entry: entry.site == "tables.example"),
    *(("japanese noodles", {"itemType": value}, is_kind("Movie"))
      for value in ("Movie", "https://schema.org/Movie", ["Movie"])),
    *(("recipes", {**ALL, "max_cooking_time": value}, within(20))
      for value in ("PT20M", "pt20m", 20, 20.0)),
    ("recipes", {"max_cooking_time": "PT20M"}, is_kind("Recipe")),
    ("recipes in under 20 minutes", {}, within(20)),
    *(("recipes", {name: ["vegan", "https://schema.org/GlutenFreeDiet"]},
       suits("vegan", "glutenfree")) for name in ("diet", "suitableForDiet")),
    ("recipes", {"dietary_restrictions": ["Gluten Free", "VeganDiet"]},
     suits("vegan", "vegetarian", "dairyfree", "glutenfree")),
    *(("spicy", {name: "Thai"}, lambda entry: "thai" in entry.cuisines)
      for name in ("cuisine", "servesCuisine")),
    ("recipes", {"ingredient": ["chickpeas", "Spinach"]}, has("chickpeas", "spinach")),
    ("curry without coconut", {}, lambda entry: "coconut" not in entry.ingredients),
    *(("restaurants", {**ALL, "price": price}, lambda e: e.document["priceRange"] == "$")
      for price in ("less than $20", 20, "under 20 dollars", "$20", "max 20")),
    ("restaurants", {**ALL, "price": "$$$"}, lambda e: e.document["priceRange"] == "$$$"),
    ("cookware", {"itemType": "Product", "price": "more than $50"}, costs(50, 1e9)),
    ("cookware", {"itemType": "Product", "price": "$20 - $40"}, costs(20, 40)),
    # Answers to the agent's questions are filters, too.
    ("pasta recipe", {**ALL, "sauce_type": "pesto"}, lambda entry: "pesto" in entry.keywords),
    *(("I need something for dinner", {"protein_type": protein}, lambda entry: bool(entry.name))
      for protein in ("chicken", "beef", "fish", "pork", "tofu", "beans")),
    ("recipes", {"protein_type": "beef", "dietary_restrictions": ["vegan"]}, suits("vegan")),
    ("recipes", {"cooking_time": "20-40 minutes"}, within(40)),
    ("recipes", {"cooking_time": "2 hours"}, within(120)),
    ("recipes ready in half an hour", {}, within(30)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "filters", "holds"), FOUND, ids=range(len(FOUND)))
async def test_filters(
    search: Search, text: str, filters: dict[str, Any], holds: Callable[[CorpusItem], bool]
) -> None:
    assert all(holds(entry) for entry in await search(text, filters))


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        # A filter takes precedence over words; an answer of none is no filter.
        (("recipes", ALL), ("recipes under 20 minutes", {**ALL, "max_cooking_time": "PT9H"})),
        (("recipes", ALL), ("recipes", {**ALL, "dietary_restrictions": ["none"]})),
        (("recipes", ALL), ("recipes", {**ALL, "protein_type": "no preference"})),
        (("recipes", ALL), ("recipes", {**ALL, "cooking_time": "over an hour"})),
    ],
)
async def test_what_filters_nothing(search: Search, wide: Any, narrow: Any) -> None:
    found = {entry.name for entry in await search(*narrow)}
    assert len(found) > 3
    assert found <= {entry.name for entry in await search(*wide)}


async def test_a_place_binds_what_has_one(search: Search) -> None:
    found = await search("something with pumpkin and cinnamon", {"location": "Boise"})
    assert {"Idaho Pumpkin Place", "Pumpkin Pie with Cinnamon Cream"} <= {e.name for e in found}
    assert all("boise" in entry.location for entry in found if entry.location)


async def test_a_group_of_ingredients(search: Search) -> None:
    found = {entry.name for entry in await search("recipes", {**ALL, "ingredient": "fish"})}
    assert {"Miso Glazed Salmon", "Cod Baked with Tomatoes and Olives"} <= found


async def test_the_number_of_results(ask: Ask) -> None:
    reply = await ask("recipes", {"num_results": 2})
    assert len(reply.document["results"]) == 2


async def test_unknown_filters_are_named(ask: Ask) -> None:
    reply = await ask("recipes", {"personalized": True, "colour": "red"})
    assert reply.meta["ignored_filters"] == ["colour", "personalized"]


@pytest.mark.parametrize(
    ("text", "filters"),
    [
        ("recipes from planet Mars", {}),
        ("noodles", {"itemType": "movie"}),
        ("noodles", {"site": "nowhere.example"}),
    ],
)
async def test_nothing_is_found(ask: Ask, text: str, filters: dict[str, Any]) -> None:
    reply = await ask(text, filters)
    assert reply.code == "NO_RESULTS"
    assert ("tables.example" in reply.document["error"]["message"]) is ("site" in filters)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_cooking_time", "soon"), ("max_cooking_time", True), ("max_cooking_time", -1),
        ("max_cooking_time", ["PT5M"]), ("max_cooking_time", "30"), ("max_cooking_time", "PT"),
        ("max_cooking_time", "PT-5M"), ("max_cooking_time", "PT٣M"),
        ("num_results", 0), ("num_results", 101), ("num_results", "5"), ("num_results", True),
        ("num_results", 2.5), ("diet", 7), ("diet", ["vegan", 1]), ("cuisine", ""),
        ("cuisine", ["Thai"]), ("ingredient", {}), ("price", "cheap"), ("price", True),
        ("price", []), ("site", 1), ("itemType", 1), ("location", 0), ("cooking_time", 20),
        ("sauce_type", 3),
    ],
)  # fmt: skip
async def test_impossible_values(post: Ask, name: str, value: object) -> None:
    request = {"query": {"text": "recipes", name: value}, "meta": {"version": "0.54"}}
    reply = await post("ask", request)
    assert reply.code == "INVALID_PARAMETER"
    details = reply.document["error"]["details"]
    assert (details["parameter"], details["provided_value"]) == (name, value)


#: Questions with the best result of each.
BEST = [
    ("miso salmon", "Miso Glazed Salmon"),
    ("how do I make carbonara?", "Spaghetti alla Carbonara"),
    ("Could you find me something with cinnamon oats in it?", "Cinnamon Overnight Oats"),
    ("pumpkin pie for thanksgiving", "Pumpkin Pie with Cinnamon Cream"),
    ("homemade pasta from scratch", "Classic Homemade Pasta Dough"),
    ("a film about ramen", "Tampopo"),
    ("a good chef's knife", "Rivet 20 cm Chef's Knife"),
    ("sushi restaurants", "Sushi Minato"),
    ("creme brulee or tiramisu", "Tiramisu"),
]


@pytest.mark.parametrize(("text", "first"), BEST)
async def test_the_best_comes_first(search: Search, text: str, first: str) -> None:
    assert (await search(text))[0].name == first


async def test_ranking(search: Search) -> None:
    breakfasts = (await search("healthy breakfast recipes with eggs"))[:5]
    assert all("egg" in entry.ingredients for entry in breakfasts[:2])
    assert sum("egg" in entry.ingredients for entry in breakfasts) >= 4
    assert all("breakfast" in entry.keywords for entry in breakfasts)
    # Several words count more than one; synonyms count; noise is cut.
    curries = (await search("spicy chicken curry"))[:2]
    assert all("chicken" in e.ingredients and "curry" in e.keywords for e in curries)
    assert "Aubergine Parmigiana" in [e.name for e in await search("eggplant bake")]
    assert len(await search("miso glazed salmon", ALL)) < 10
    # Where only a type is asked for, it is the best rated.
    rated = await search("show me restaurants", {"num_results": 3})
    assert [entry.rating for entry in rated] == [4.9, 4.7, 4.7]


class TestContext:
    async def test_memory_keeps_meat_away_and_restaurants_in(self, search: Search) -> None:
        assert any(map(has("beef"), await search("dinner with beans", ALL)))
        found = await search("dinner with beans", ALL, memory="vegetarian")
        assert all("vegetarian" in entry.diets for entry in found if entry.ingredients)
        assert await search("sushi restaurants", memory="vegan")

    async def test_allergies(self, search: Search) -> None:
        assert any(map(has("almond"), await search("dessert or cake", ALL)))
        for entry in await search("dessert or cake", ALL, memory="allergic to nuts"):
            assert "almond" not in entry.ingredients
            assert "walnut" not in entry.ingredients

    async def test_answers_may_come_in_a_context(self, search: Search) -> None:
        answers = {"@type": "Answers", "dietary_restrictions": ["vegan"], "sauce_type": "tomato"}
        found = await search("pasta recipe", **answers)
        assert all("vegan" in e.diets and "tomato" in e.keywords for e in found)

    async def test_earlier_queries_move_results_up(self, search: Search) -> None:
        plain = [entry.name for entry in await search("soup", ALL)]
        moved = [entry.name for entry in await search("soup", ALL, prev=["gazpacho for summer"])]
        assert sorted(plain) == sorted(moved)
        assert moved.index("Gazpacho") < plain.index("Gazpacho")


ROWS = [
    IndexRow("Tomato soup", "soup; winter", "tomatoes\nonion", "Warm and smooth."),
    IndexRow("Onion tart", "baking", "onions\npastry", "Good with tomato salad."),
    IndexRow("Crème brûlée", "dessert", "cream\neggs", "Crack the top."),
]


@pytest.mark.parametrize(
    ("words", "best"),
    [
        # A name weighs more than a description; words are stemmed; accents do not matter.
        (["tomato"], [0, 1]), (["onions"], [1, 0]), (["cracking"], [2]), (["creme"], [2]),
        (["crème"], [2]), (["soup"], [0]), ([], []), (["", "—", "???"], []), (["spaceship"], []),
    ],
)  # fmt: skip
def test_the_index(words: list[str], best: list[int]) -> None:
    scores = Index(ROWS).scores(words)
    assert sorted(scores, key=lambda at: -scores[at]) == best
    assert all(score > 0 for score in scores.values())


@given(st.text(max_size=60))
def test_any_text_can_be_searched(text: str) -> None:
    assert set(Index(ROWS).scores([text])) <= {0, 1, 2}
    assert all(word == word.lower() for word in parse_query(text).search_terms)


class TestFollowUps:
    async def test_lighter(self, ask: Ask) -> None:
        reply = await ask("something lighter", RECIPES, context={"prev": ["chicken curry"]})
        assert reply.meta["decontextualized_query"] == "chicken curry, something lighter"
        whole = await ask("chicken curry", RECIPES)
        assert set(whole.names[:3]) <= set(reply.names)
        counted = [item["nutrition"]["calories"] for item in reply.document["results"]]
        calories = [int(text.split()[0]) for text in counted]
        assert calories == sorted(calories)

    async def test_quicker_and_cheaper(self, ask: Ask) -> None:
        reply = await ask("quicker", context={"prev": ["soup"]})
        assert reply.names[0] != (await ask("soup")).names[0]
        reply = await ask("anything cheaper?", RECIPES, context={"prev": ["soup"]})
        costs = [item["estimatedCost"]["value"] for item in reply.document["results"]]
        assert costs == sorted(costs)

    async def test_without(self, ask: Ask) -> None:
        reply = await ask("without nuts", context={"prev": ["cake or dessert"]})
        text = " ".join(t for item in reply.document["results"] for t in item["recipeIngredient"])
        assert "almond" not in text
        assert "walnut" not in text

    async def test_a_chain_goes_back_to_what_stands_alone(self, ask: Ask) -> None:
        reply = await ask(
            "what about vegan?",
            RECIPES,
            context={"prev": ["tea", "curry", "something lighter"]},
        )
        assert reply.meta["decontextualized_query"] == "curry, something lighter, what about vegan?"
        assert all(
            "https://schema.org/VeganDiet" in item["suitableForDiet"]
            for item in reply.document["results"]
        )

    @pytest.mark.parametrize("prev", [[], None, "soup", [7], ["curry"]])
    async def test_what_stands_alone_stays_alone(self, post: Ask, prev: object) -> None:
        reply = await post("ask", {"query": {"text": "tomato soup"}, "context": {"prev": prev}})
        assert "decontextualized_query" not in reply.meta

    async def test_a_vague_wish_made_lighter_is_no_longer_vague(self, ask: Ask) -> None:
        reply = await ask("something lighter", context={"prev": ["I need something for dinner"]})
        assert reply.names
