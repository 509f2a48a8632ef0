"""Result items to cards."""

from __future__ import annotations

from typing import Any

import pytest

from playground.rendering.cards import Card, card_of, duration, type_of, words

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
            "Prep": "5 min", "Cook": "1 h 30 min", "Total": "1 d 35 min", "Serves": "4",
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
        {"Released": "1999", "Director": "A, B", "Length": "2 h", "Genre": "Drama", "Cast": "C"},
    ),
    (
        {
            "@type": "NewsArticle", "author": {"name": "D"}, "datePublished": "2026-01-02",
            "publisher": {"name": "Daily"}, "wordCount": 900,
        },
        {"By": "D", "Published": "2026-01-02", "In": "Daily", "Length": "900 words"},
    ),
    (
        {"@type": "HowToStep", "position": 3, "totalTime": "PT45S",
         "video": "https://v.example/1", "step": ["x"]},
        {"Time": "45 s", "Position": "3", "Video": "https://v.example/1"},
    ),
    (
        {"@type": "Planet", "mass": 5.97, "rings": False, "moons": ["Luna"], "deep": {"a": [1]}},
        {"mass": "5.97", "rings": "no", "deep": '{"a": [1]}'},
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
    assert (card.kind, card.title, card.facts) == ("Recipe", "Outside", [("Cook", "1 min")])
    assert card_of({"schema_object": "no object", "name": "A"}).title == "A"


@pytest.mark.parametrize("wrong", [7, True, None, [], {}, [[[]]], {"a": {"b": 1}}, "text", [None]])
def test_anything_where_something_else_belongs(wrong: Any) -> None:
    names = (
        "name url image description site score prepTime nutrition aggregateRating offers address "
        "recipeIngredient recipeInstructions step supply video author director brand actor"
    ).split()
    for kind in ("Recipe", "Restaurant", "Product", "Movie", "Article", "HowTo", "Other"):
        card = card_of({"@type": kind, **dict.fromkeys(names, wrong)})
        assert isinstance(card, Card)
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


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("PT30M", "30 min"),
        ("PT1H5M10S", "1 h 5 min 10 s"),
        ("P2D", "2 d"),
        ("PT0S", "none"),
        ("PT1.5S", "1 s"),
        ("PT1M trailing", "PT1M trailing"),
        ("half an hour", "half an hour"),
        ("PT-5M", "PT-5M"),
        ("P" + "9" * 5000 + "D", "P" + "9" * 58 + "…"),
        (90, "90"),
        (None, ""),
        (["PT1M"], "PT1M"),
    ],
)
def test_durations(value: Any, said: str) -> None:
    assert duration(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, ""), ([], ""), ({}, ""), (0, "0"), (False, "no"), (True, "yes"), (2.0, "2.0"),
        ("  a  ", "a"), ([1, None, "", "b"], "1, b"), ({"name": "n", "text": "t"}, "n"),
        ({"text": "t"}, "t"), ({"name": 5}, '{"name": 5}'), ([["a"], ["b", ["c"]]], "a, b, c"),
    ],
)  # fmt: skip
def test_words(value: Any, said: str) -> None:
    assert words(value) == said


def test_a_namespace_is_left_out_of_the_type() -> None:
    assert type_of({"@type": "http://schema.org#Thing"}) == "Thing"
    assert type_of({"@type": "a/b:c"}) == "c"
    assert type_of({}) == ""
