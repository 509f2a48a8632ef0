"""Result cards by schema.org type, and nested items."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from playground.rendering.cards import MAX_ALL, NestedGroup, ResultCard, card_of, nested_of, type_of

RECIPE = {
    "@type": "Recipe",
    "name": "Miso Soup",
    "url": "https://recipes.example/miso",
    "image": ["https://recipes.example/miso.jpg", "https://recipes.example/2.jpg"],
    "description": "Broth and tofu.",
    "site": "recipes.example",
    "score": 87,
    "prepTime": "PT5M",
    "cookTime": "PT1H30M",
    "totalTime": "P1DT35M",
    "recipeYield": 4,
    "recipeCuisine": ["Japanese", "Fusion"],
    "estimatedCost": {"@type": "MonetaryAmount", "value": 4.5, "currency": "USD"},
    "nutrition": {"calories": "120 kcal", "proteinContent": "8 g"},
    "aggregateRating": {"ratingValue": 4.5, "reviewCount": 12},
    "recipeIngredient": ["miso", "tofu"],
    "recipeInstructions": [
        {"@type": "HowToStep", "text": "Boil."},
        {"@type": "HowToSection", "itemListElement": [{"text": "Stir."}, "Serve."]},
        "Enjoy.",
    ],
}

FACTS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        RECIPE,
        {
            "Prep time": "5 min", "Cook time": "1 h 30 min", "Total time": "1 d 35 min",
            "Servings": "4", "Estimated cost": "4.5 USD",
            "Cuisine": "Japanese, Fusion", "Energy": "120 kcal", "Protein": "8 g",
            "Rating": "4.5 (12)",
        },
    ),
    (
        {
            "@type": "Restaurant", "servesCuisine": "Thai", "priceRange": "$$",
            "address": {"streetAddress": "1 Main St", "addressLocality": "Springfield"},
            "telephone": "555-1", "openingHours": ["Mo 9-17", "Tu 9-17"],
            "aggregateRating": {"ratingValue": "4", "ratingCount": 0},
        },
        {
            "Cuisine": "Thai", "Price": "$$", "Rating": "4 (0)",
            "Address": "1 Main St, Springfield", "Phone": "555-1", "Hours": "Mo 9-17, Tu 9-17",
        },
    ),
    (
        {
            "@type": "Product", "brand": {"@type": "Brand", "name": "Acme"}, "sku": 17,
            "offers": [{"price": 9.5, "priceCurrency": "EUR"}, {"price": 1}], "material": "Steel",
        },
        {"Price": "9.5 EUR", "Brand": "Acme", "SKU": "17", "Material": "Steel"},
    ),
    ({"@type": "Product", "price": "12 USD", "aggregateRating": "good"},
     {"Price": "12 USD", "Rating": "good"}),
    (
        {
            "@type": "Movie", "dateCreated": "1999", "director": [{"name": "A"}, {"name": "B"}],
            "duration": "PT2H", "genre": "Drama", "actor": [{"name": "C"}],
        },
        {"Released": "1999", "Director": "A, B", "Duration": "2 h", "Genre": "Drama", "Cast": "C"},
    ),
    (
        {
            "@type": "NewsArticle", "author": {"name": "D"}, "datePublished": "2026-01-02",
            "publisher": {"name": "Daily"}, "wordCount": 900,
        },
        {
            "Author": "D", "Published": "2026-01-02", "Published in": "Daily",
            "Length": "900 words",
        },
    ),
    (
        {"@type": "HowToStep", "position": 3, "totalTime": "PT45S",
         "video": "https://v.example/1", "step": ["x"]},
        {"Total time": "45 s", "Position": "3", "Video": "https://v.example/1"},
    ),
    (
        {"@type": "Planet", "meanRadius": 5.97, "has_rings": False, "moons": ["Luna"],
         "deep": {"a": [1]}, "mass": {"@type": "QuantitativeValue", "value": 6, "unitText": "Yg"}},
        {"Mean radius": "5.97", "Has rings": "no", "Deep": '{"a": [1]}', "Mass": "6 Yg"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "facts"), FACTS, ids=[f"{item['@type']}-{n}" for n, (item, _) in enumerate(FACTS)]
)
def test_each_type_has_its_facts(item: dict[str, Any], facts: dict[str, str]) -> None:
    assert dict(card_of(item).facts) == facts


def test_a_whole_card() -> None:
    card = card_of(RECIPE)
    assert (card.kind, card.family, card.title) == ("Recipe", "recipe", "Miso Soup")
    assert card.url == "https://recipes.example/miso"
    assert card.image == "https://recipes.example/miso.jpg"
    assert (card.text, card.site, card.score) == ("Broth and tofu.", "recipes.example", "87")
    assert dict(card.lists) == {
        "Ingredients": ["miso", "tofu"],
        "Steps": ["Boil.", "Stir.", "Serve.", "Enjoy."],
    }


@pytest.mark.parametrize(
    ("item", "kind", "title"),
    [
        ("just words", "text", "just words"),
        (42, "number", "42"),
        (1.5, "number", "1.5"),
        (True, "boolean", "yes"),
        (None, "null", "(nothing)"),
        ([], "list", "(nothing)"),
        (["a", {"name": "b"}], "list", "a, b"),
        ({}, "untyped", ""),
        ({"@type": [], "name": "N"}, "untyped", "N"),
        ({"@type": [7, "Recipe", "Thing"], "headline": "H"}, "Recipe", "H"),
        ({"@type": "https://schema.org/Recipe", "title": "T"}, "Recipe", "T"),
        ({"@type": "schema:Recipe"}, "Recipe", ""),
        ({"@type": {"a": 1}, "@id": "urn:x:1"}, "untyped", "urn:x:1"),
        ({"type": "Movie", "name": 12}, "Movie", "12"),
        ({"name": {"@value": "Deep"}}, "untyped", "Deep"),
        ({"name": ["One", "Two"]}, "untyped", "One, Two"),
        ({"name": "  "}, "untyped", ""),
    ],
)
def test_odd_items(item: Any, kind: str, title: str) -> None:
    card = card_of(item)
    assert (card.kind, card.title) == (kind, title)


def test_the_schema_object_fills_in_and_the_item_wins() -> None:
    item = {
        "url": "https://a.example/1",
        "name": "Outside",
        "schema_object": {"@type": "Recipe", "name": "Inside", "cookTime": "PT1M"},
    }
    card = card_of(item)
    assert (card.kind, card.title, card.facts) == ("Recipe", "Outside", [("Cook time", "1 min")])
    assert card_of({"schema_object": "no object", "name": "A"}).title == "A"


def test_a_list_of_objects_has_a_line_for_each() -> None:
    meals = [
        {"day": "Monday", "lunch": {"@type": "Recipe", "name": "Soup"}, "for": [1, 2]},
        {"name": "Tuesday", "lunch": None},
        {},
    ]
    card = card_of({"@type": "MealPlan", "meals": meals})
    assert card.lists == [("Meals", ["day: Monday, lunch: Soup, for: 1, 2", "Tuesday"])]


@pytest.mark.parametrize("wrong", [7, True, None, [], {}, [[[]]], {"a": {"b": 1}}, "text", [None]])
def test_anything_where_something_else_belongs(wrong: Any) -> None:
    names = (
        "name url image description site score prepTime nutrition aggregateRating offers address "
        "recipeIngredient recipeInstructions step supply video author director brand actor"
    ).split()
    for kind in ("Recipe", "Restaurant", "Product", "Movie", "Article", "HowTo", "Other"):
        card = card_of({"@type": kind, **dict.fromkeys(names, wrong)})
        assert isinstance(card, ResultCard)
        assert card.kind == kind
        assert card.url is None
        assert all(value for _, value in card.facts)


def test_megabytes_are_cut() -> None:
    big = "x" * 1_000_000
    card = card_of({"@type": big, "name": big, "description": big, "site": big, big: big})
    assert len(card.kind) == 60
    assert len(card.title) == 200
    assert (len(card.text), card.text[-1]) == (600, "…")
    assert len(card.site) == 80
    assert [(len(label), len(value)) for label, value in card.facts] == [(60, 160)]
    many = card_of({"@type": "Recipe", "recipeIngredient": [big] * 1000})
    assert [len(parts) for _, parts in many.lists] == [40]
    sections = [{"itemListElement": ["s"] * 1000}] * 1000
    assert len(card_of({"@type": "Recipe", "recipeInstructions": sections}).lists[0][1]) == 40
    wide = card_of({f"k{n}": n for n in range(100)} | {f"l{n}": ["a"] for n in range(100)})
    assert (len(wide.facts), len(wide.lists)) == (12, 6)


def test_a_namespace_is_left_out_of_the_type() -> None:
    assert type_of({"@type": "http://schema.org#Thing"}) == "Thing"
    assert type_of({"@type": "a/b:c"}) == "c"
    assert type_of({}) == ""


@pytest.mark.parametrize(
    ("types", "kind", "others", "family"),
    [
        (["Thing", "Recipe"], "Recipe", ("Thing",), "recipe"),
        (["https://schema.org/NewThing", "schema:Movie"], "Movie", ("NewThing",), "movie"),
        (["A", "B", "A"], "A", ("B",), "thing"),
        ("recipe", "recipe", (), "recipe"),
        ("HTTPS://SCHEMA.ORG/PRODUCT", "PRODUCT", (), "product"),
        ([None, 3, {}, ""], "untyped", (), "thing"),
    ],
)
def test_all_types_are_shown_and_the_first_known_one_decides(
    types: Any, kind: str, others: tuple[str, ...], family: str
) -> None:
    card = card_of({"@type": types})
    assert (card.kind, card.types, card.family) == (kind, others, family)


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("https://schema.org", ""),
        ("http://www.schema.org/", ""),
        ("https://schema.example", "https://schema.example"),
        (["https://schema.org", {"x": "y"}], 'https://schema.org, {"x": "y"}'),
        ({"diet": "https://d.example"}, '{"diet": "https://d.example"}'),
        (None, ""),
    ],
)
def test_a_context_other_than_that_of_schema_org(context: Any, expected: str) -> None:
    assert card_of({"@context": context}).context == expected


def test_what_is_nested_is_no_fact() -> None:
    item = {
        "@type": "Trip",
        "author": {"@type": "Person", "name": "Ann"},
        "stop": {"@type": "Place", "name": "Oslo", "latitude": 59.9, "longitude": 10.7},
        "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4, "ratingCount": 2},
    }
    assert card_of(item).facts == [("Author", "Ann"), ("Rating", "4 (2)")]
    (group,) = nested_of(item)
    assert (group.label, group.total) == ("Stop", 1)
    assert dict(group.items[0].card.facts) == {"Latitude": "59.9", "Longitude": "10.7"}


def labels(groups: list[NestedGroup]) -> dict[str, list[str]]:
    return {group.label: [item.card.title for item in group.items] for group in groups}


class TestNested:
    def test_parts_offers_and_lists(self) -> None:
        item = {
            "@type": "ItemList",
            "itemListElement": [
                {"@type": "ListItem", "position": 1, "item": {"@type": "Recipe", "name": "Soup"}},
                {"name": "Bread"},
                "Butter",
            ],
            "hasPart": {"headline": "Part"},
            "offers": [{"name": "One", "price": 1}],
            "keywords": ["a", "b"],
        }
        assert labels(nested_of(item)) == {
            "Items": ["Soup", "Bread", "Butter"],
            "Parts": ["Part"],
            "Offers": ["One"],
        }

    def test_what_a_card_says_is_not_said_twice(self) -> None:
        offer = {"@type": "Offer", "price": 9}
        assert nested_of({"@type": "Product", "offers": offer}) == []
        (group,) = nested_of({"@type": "Product", "offers": [offer, offer]})
        assert (group.label, group.total) == ("Offers", 2)
        assert nested_of(RECIPE) == []
        assert nested_of({"@type": "HowTo", "itemListElement": [{"text": "Stir"}]}) == []
        assert nested_of({"@type": "X", "grounding": {"@type": "Y", "a": 1, "b": 2, "c": 3}}) == []

    def test_three_levels_and_no_more(self) -> None:
        item: Any = {"name": "deepest"}
        for depth in range(50):
            item = {"name": f"level {depth}", "hasPart": [item]}
        groups, depth = nested_of(item), 0
        while groups:
            groups, depth = groups[0].items[0].groups, depth + 1
        assert depth == 3

    def test_in_a_wrapped_schema_object(self) -> None:
        item = {"name": "A", "schema_object": {"hasPart": [{"name": "B"}]}}
        assert labels(nested_of(item)) == {"Parts": ["B"]}

    def test_a_flood_of_parts_is_bounded(self) -> None:
        part = {"@type": "Recipe", "name": "P"}
        item = {f"k{n}": [{"hasPart": [part] * 50, "@type": "T", "n": n}] * 50 for n in range(50)}
        groups = nested_of(item)
        assert all(len(group.items) <= 12 for group in groups)
        assert groups[0].total == 50

        def count(found: list[NestedGroup]) -> int:
            return sum(1 + count(item.groups) for group in found for item in group.items)

        assert count(groups) == MAX_ALL

    @pytest.mark.parametrize("value", [None, 3, "text", [], {}, [[]], [None], {"@type": 7}])
    def test_anything_else_holds_nothing(self, value: Any) -> None:
        assert nested_of(value) == []
        names = ("itemListElement", "hasPart", "offers", "other")
        found = nested_of(dict.fromkeys(names, value))
        assert all(group.total for group in found)


class TestTheOlderServersItems:
    """A result with `schema_object`."""

    INNER: ClassVar[dict[str, Any]] = {
        "@type": "Recipe", "name": "Inside", "url": "https://in.example", "cookTime": "PT5M",
    }  # fmt: skip

    @pytest.mark.parametrize("wrapped", [INNER, [INNER], ["no object", INNER]])
    def test_the_type_is_that_of_the_object(self, wrapped: Any) -> None:
        item = {
            "@type": "Item", "url": "https://out.example", "name": "Outside", "site": "out",
            "score": 85, "schema_object": wrapped,
        }  # fmt: skip
        card = card_of(item)
        assert (card.kind, card.title, card.url) == ("Recipe", "Outside", "https://out.example")
        assert (card.site, card.score) == ("out", "85")
        assert ("Cook time", "5 min") in card.facts

    def test_what_the_item_leaves_out_the_object_says(self) -> None:
        assert card_of({"name": "", "schema_object": self.INNER}).title == "Inside"

    @pytest.mark.parametrize("wrapped", [None, [], ["a"], 7, "text"])
    def test_what_is_no_object_changes_nothing(self, wrapped: Any) -> None:
        assert card_of({"@type": "Recipe", "name": "A", "schema_object": wrapped}).title == "A"
