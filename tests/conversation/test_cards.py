"""Result cards on the page: facts by schema.org type, nested items, sources and actions."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.markup import ENTRY_TAGS, Element, assert_inert
from tests.support.nlweb_values import VALUES
from tests.support.run_page import entries, offered, part
from tests.support.strategies import items

pytestmark = pytest.mark.django_db

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
    # Of alternatives the first counts that has a text.
    ({"@type": "Product", "offers": {"price": 9}, "price": "12 USD"}, {"Price": "9"}),
    ({"@type": "Product", "offers": {}, "price": "12 USD"}, {"Price": "12 USD"}),
    ({"@type": "Movie", "datePublished": "2001", "dateCreated": "1999"}, {"Released": "2001"}),
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


def cards(*shown: Any) -> list[Element]:
    """Return the cards of a response with these items."""
    return entries(part(offered(*shown)))


def facts(card: Element) -> dict[str, str]:
    """Return the facts of a card itself, without those of nested items."""
    own = [each for each in card.children if isinstance(each, Element)]
    return Element("", children=[e for e in own if e.attributes.get("class") == "card-facts"]).facts


def kind(card: Element) -> str:
    return card.select("p", class_="card-kind")[0].words


def title(card: Element) -> str:
    return card.select("h3", class_="card-title")[0].words


def folded(card: Element, name: str = "card-list") -> dict[str, list[str]]:
    """Return the folded lists of a card: their label and count, and their parts."""
    return {
        each.find("summary")[0].words: [li.words for li in each.find("li")]
        for each in card.select("details", class_=name)
    }


def nested(card: Element) -> dict[str, list[str]]:
    """Return the groups of nested items: their label and count, and their titles."""
    return {
        each.find("summary")[0].words: [p.words for p in each.select(class_="mini-title")]
        for each in card.select("details", class_="nested")
    }


def test_each_type_has_its_facts() -> None:
    found = cards(*(item for item, _ in FACTS))
    assert [facts(card) for card in found] == [wanted for _, wanted in FACTS]


def test_a_whole_card() -> None:
    (card,) = cards(RECIPE)
    assert card.attributes["data-type"] == "recipe"
    assert kind(card) == "Recipe recipes.example score 87"
    (link,) = card.find("a")
    assert (title(card), link.attributes["href"]) == ("Miso Soup", "https://recipes.example/miso")
    assert card.select(class_="card-body")[0].words == "Broth and tofu."
    assert card.find("agent-picture")
    assert folded(card) == {
        "Ingredients 2": ["miso", "tofu"],
        "Steps 4": ["Boil.", "Stir.", "Serve.", "Enjoy."],
    }


#: An item, its kind with all that stands beside it, and its title.
HEADS: list[tuple[Any, str, str]] = [
    ("just words", "text", "just words"),
    (42, "number", "42"),
    (1.5, "number", "1.5"),
    (True, "boolean", "yes"),
    (None, "null", "(nothing)"),
    ([], "list", "(nothing)"),
    (["a", {"name": "b"}], "list", "a, b"),
    ({}, "untyped", ""),
    ({"@type": [], "name": "N"}, "untyped", "N"),
    ({"@type": [7, "Recipe", "Thing"], "headline": "H"}, "Recipe Thing", "H"),
    ({"@type": "https://schema.org/Recipe", "title": "T"}, "Recipe", "T"),
    ({"@type": "schema:Recipe"}, "Recipe", ""),
    ({"@type": "http://schema.org#Thing"}, "Thing", ""),
    ({"@type": "a/b:c"}, "c", ""),
    ({"@type": {"a": 1}, "@id": "urn:x:1"}, "untyped", "urn:x:1"),
    ({"type": "Movie", "name": 12}, "Movie", "12"),
    ({"name": {"@value": "Deep"}}, "untyped", "Deep"),
    ({"name": ["One", "Two"]}, "untyped", "One, Two"),
    ({"name": "  "}, "untyped", ""),
    ({"@type": ["https://schema.org/NewThing", "schema:Movie"]}, "Movie NewThing", ""),
    ({"@type": ["A", "B", "A"]}, "A B", ""),
    ({"@type": [None, 3, {}, ""]}, "untyped", ""),
    ({"@context": "https://schema.org"}, "untyped", ""),
    ({"@context": "http://www.schema.org/"}, "untyped", ""),
    ({"@context": "https://schema.example"}, "untyped @context https://schema.example", ""),
    ({"@context": ["https://schema.org", {"x": "y"}]},
     'untyped @context https://schema.org, {"x": "y"}', ""),
    ({"@context": {"diet": "d"}}, 'untyped @context {"diet": "d"}', ""),
    # Without a name the URL is the title.
    ({"url": "https://a.example/" + "x" * 200}, "untyped", "https://a.example/" + "x" * 181 + "…"),
    # The object within an item fills in, and the item wins.
    ({"schema_object": '{"@type": "Recipe", "name": "Encoded twice"}'}, "Recipe", "Encoded twice"),
    ({"name": "A", "schema_object": "no object"}, "untyped", "A"),
    ({"name": "", "schema_object": {"@type": "Recipe", "name": "Inside"}}, "Recipe", "Inside"),
    *(({"@type": "Recipe", "name": "A", "schema_object": wrapped}, "Recipe", "A")
      for wrapped in (None, [], ["a"], 7, "text")),
]  # fmt: skip


def test_kinds_and_titles() -> None:
    found = cards(*(item for item, _, _ in HEADS))
    assert [(kind(card), title(card)) for card in found] == [row[1:] for row in HEADS]


PICTURE = "https://pictures.example/1"


@pytest.mark.parametrize(
    ("item", "is_shown"),
    [
        ({"image": {"url": PICTURE}}, True),
        ({"image": {"contentUrl": PICTURE}}, True),
        ({"thumbnailUrl": PICTURE}, True),
        ({"@type": "ImageObject", "contentUrl": PICTURE}, True),
        ({"@type": "ImageObject", "encodingFormat": "image/svg+xml", "contentUrl": PICTURE}, False),
        ({"encodingFormat": "IMAGE/png", "contentUrl": PICTURE}, True),
    ],
    ids=str,
)
def test_the_picture_of_a_card(item: dict[str, Any], is_shown: bool) -> None:
    (card,) = cards(item)
    assert bool(card.find("agent-picture")) is is_shown


def test_a_title_leads_to_the_url_else_to_the_id() -> None:
    one, other = "https://a.example", "https://b.example"
    found = cards({"url": one, "@id": other}, {"@id": other}, {"@id": "urn:b"})
    links = [[link.attributes["href"] for link in card.find("a")] for card in found]
    assert links == [[one], [other], []]


@pytest.mark.parametrize(
    ("types", "family"),
    [
        (["Thing", "Recipe"], "recipe"), ("recipe", "recipe"), (["A", "schema:Movie"], "movie"),
        ("HTTPS://SCHEMA.ORG/PRODUCT", "product"), (["A", "B"], "thing"), ([None, ""], "thing"),
    ],
)  # fmt: skip
def test_the_first_known_type_decides_the_family(types: Any, family: str) -> None:
    (card,) = cards({"@type": types})
    assert card.attributes["data-type"] == family


class TestTheObjectWithin:
    """A result of the older server, with `schema_object`."""

    INNER: ClassVar[dict[str, Any]] = {
        "@type": "Recipe", "name": "Inside", "url": "https://in.example", "cookTime": "PT5M",
    }  # fmt: skip

    @pytest.mark.parametrize("wrapped", [INNER, [INNER], ["no object", INNER]])
    def test_the_type_is_that_of_the_object(self, wrapped: Any) -> None:
        item = {"@type": "Item", "url": "https://out.example", "name": "Outside", "site": "out",
                "score": 85, "schema_object": wrapped}  # fmt: skip
        (card,) = cards(item)
        assert (kind(card), title(card)) == ("Recipe out score 85", "Outside")
        assert card.find("a")[0].attributes["href"] == "https://out.example"
        assert facts(card)["Cook time"] == "5 min"


def test_a_list_without_a_text_is_not_shown() -> None:
    item = {"@type": "Recipe", "recipeInstructions": " ", "recipeIngredient": ""}
    empty, other = cards(item, {**item, "ingredients": ["miso"]})
    assert folded(empty) == {}
    assert folded(other) == {"Ingredients 1": ["miso"]}


def test_a_list_of_objects_has_a_line_for_each() -> None:
    meals = [
        {"day": "Monday", "lunch": {"@type": "Recipe", "name": "Soup"}, "for": [1, 2]},
        {"name": "Tuesday", "lunch": None},
        {},
    ]
    (card,) = cards({"@type": "MealPlan", "meals": meals})
    assert folded(card) == {"Meals 2": ["day: Monday, lunch: Soup, for: 1, 2", "Tuesday"]}


def test_anything_where_something_else_belongs() -> None:
    names = (
        "name url image description site score prepTime nutrition aggregateRating offers address "
        "recipeIngredient recipeInstructions step supply video author director brand actor "
        "itemListElement hasPart other grounding actions"
    ).split()
    wrongs = [7, True, None, [], {}, [[[]]], {"a": {"b": 1}}, "text", [None]]
    for name in ("Recipe", "Restaurant", "Product", "Movie", "Article", "HowTo", "Other"):
        found = cards(*({"@type": name, **dict.fromkeys(names, wrong)} for wrong in wrongs))
        assert [kind(card).split()[0] for card in found] == [name] * len(wrongs)
        assert not [each for card in found for each in card.select("h3")[0].find("a")]
        assert all(value for card in found for value in facts(card).values())


def test_megabytes_are_cut() -> None:
    big = "x" * 100_000
    sections = [{"itemListElement": ["s"] * 100}] * 100
    one, many, deep, wide = cards(
        {"@type": big, "name": big, "description": big, "site": big, big: big},
        {"@type": "Recipe", "recipeIngredient": ["x" * 1000] * 1000},
        {"@type": "Recipe", "recipeInstructions": sections},
        {f"k{n}": n for n in range(100)} | {f"l{n}": ["a"] for n in range(100)},
    )
    assert len(kind(one)) == 60 + 1 + 80
    assert len(title(one)) == 200
    body = one.select(class_="card-body")[0].words
    assert (len(body), body[-1]) == (600, "…")
    assert [(len(name), len(value)) for name, value in facts(one).items()] == [(60, 160)]
    assert [len(parts) for card in (many, deep) for parts in folded(card).values()] == [40, 40]
    assert (len(facts(wide)), len(folded(wide))) == (12, 6)


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
            "schema_object": {"hasPart": [{"name": "B"}]},
        }
        card, wrapped = cards(item, {"name": "A", "schema_object": {"hasPart": [{"name": "B"}]}})
        assert nested(card) == {"Items 3": ["Soup", "Bread", "Butter"], "Parts 1": ["Part"],
                                "Offers 1": ["One"]}  # fmt: skip
        assert nested(wrapped) == {"Parts 1": ["B"]}

    def test_what_is_nested_is_no_fact(self) -> None:
        (card,) = cards({
            "@type": "Trip",
            "author": {"@type": "Person", "name": "Ann"},
            "stop": {"@type": "Place", "name": "Oslo", "latitude": 59.9, "longitude": 10.7},
            "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4, "ratingCount": 2},
        })  # fmt: skip
        assert facts(card) == {"Author": "Ann", "Rating": "4 (2)"}
        assert nested(card) == {"Stop 1": ["Oslo"]}
        (stop,) = card.select("details", class_="nested")
        assert stop.facts == {"Latitude": "59.9", "Longitude": "10.7"}

    def test_what_a_card_says_is_not_said_twice(self) -> None:
        offer = {"@type": "Offer", "price": 9}
        found = cards(
            {"@type": "Product", "offers": offer},
            {"@type": "Product", "offers": [offer, offer]},
            RECIPE,
            {"@type": "HowTo", "itemListElement": [{"text": "Stir"}]},
            {"@type": "X", "grounding": {"@type": "Y", "a": 1, "b": 2, "c": 3}},
            *(dict.fromkeys(("itemListElement", "hasPart", "offers", "other"), value)
              for value in (None, [], [[]], [None])),
        )  # fmt: skip
        assert [list(folded(card, "nested")) for card in found] == [
            [], ["Offers 2"], *[[]] * (len(found) - 2),
        ]  # fmt: skip

    def test_three_levels_and_no_more(self) -> None:
        item: Any = {"name": "deepest"}
        for depth in range(20):
            item = {"name": f"level {depth}", "hasPart": [item]}
        (card,) = cards(item)
        titles = [each.words for each in card.select(class_="mini-title")]
        assert titles == ["level 18", "level 17", "level 16"]

    def test_a_flood_of_parts_is_bounded(self) -> None:
        inner = {"@type": "Recipe", "name": "P"}
        item = {f"k{n}": [{"hasPart": [inner] * 15, "@type": "T", "n": n}] * 15 for n in range(9)}
        (card,) = cards(item)
        assert len(card.select("li", class_="mini")) == 60
        # All are counted, also those that are not shown.
        assert card.select("details", class_="nested")[0].find("summary")[0].words == "K0 15"
        assert "3 more in the JSON." in card.words


#: Grounding of a result, its links, and its facts. NLWeb 4.1.1 does not define the members.
GROUNDINGS: list[tuple[Any, list[str], dict[str, str]]] = [
    ({"source_urls": ["https://a.example/x/", "https://www.b.example"]},
     ["a.example/x", "b.example"], {}),
    ({"url": "https://a.example", "source": "https://a.example"}, ["a.example"], {}),
    ({"citations": [{"title": "T", "url": "https://a.example", "quote": "so"}, "Paper"]},
     ["T"], {"Citations": "Quote: so; Paper"}),
    ({"citations": [{"text": "So it is."}]}, [], {"Citations": "So it is."}),
    ({"schema_objects": [{"@type": "Recipe", "@id": "https://a.example/1", "name": "N"}]},
     ["N Recipe"], {}),
    ({"a": {"@type": "Book", "url": "https://b.example"}}, ["b.example Book"], {}),
    ({"source": "user-submitted", "author": "Chef Maria"}, [],
     {"Source": "user-submitted", "Author": "Chef Maria"}),
    ({"rating": {"@type": "Rating", "ratingValue": 4, "bestRating": 5,
                 "ratingExplanation": "of two"}}, [],
     {"Rating": "4 of 5; Rating explanation: of two"}),
    ({"confidence": 0.9, "verified": True}, [], {"Confidence": "0.9", "Verified": "yes"}),
    ({"source_urls": ["javascript:alert(1)"]}, [], {"Source URLs": "javascript:alert(1)"}),
    ({"span": {"from": 1, "to": 5}}, [], {"Span": "From: 1; To: 5"}),
    (["https://a.example", "elsewhere"], ["a.example"], {"Source": "elsewhere"}),
    ("https://a.example", ["a.example"], {}),
    ("the archive", [], {"Source": "the archive"}),
    (7, [], {"Source": "7"}),
    ({"@context": "https://schema.org", "empty": [], "none": None}, [], {}),
    (None, [], {}),
]  # fmt: skip


def grounding(card: Element) -> tuple[list[str], dict[str, str]]:
    sources = card.select("ul", class_="grounding-sources")
    details = card.select("dl", class_="grounding-facts")
    return [li.words for each in sources for li in each.find("li")], (
        details[0].facts if details else {}
    )


def test_sources_and_facts_of_grounding() -> None:
    found = cards(*({"name": "N", "grounding": value} for value, _, _ in GROUNDINGS))
    assert [grounding(card) for card in found] == [row[1:] for row in GROUNDINGS]


def test_a_flood_of_sources_is_bounded() -> None:
    urls = [f"https://a.example/{'x' * 500}{n}" for n in range(1000)]
    (card,) = cards({"grounding": {"urls": urls} | {f"k{n}": "v" * 9999 for n in range(99)}})
    sources, shown = grounding(card)
    assert (len(sources), len(shown)) == (12, 12)
    assert max(map(len, sources)) <= 60
    assert max(map(len, shown.values())) <= 300


SAVE = {"name": "save_recipe", "protocol": "HTTP", "method": "POST", "endpoint": "/save"}


def buttons(card: Element) -> list[tuple[str, str]]:
    """Return the buttons of actions: number and label."""
    found = [each for each in card.find("button") if "-action-" in str(each.attributes.get("id"))]
    return [(str(each.attributes["id"]).rpartition("-")[2], each.words) for each in found]


class TestActions:
    def test_a_button_for_every_action_at_any_depth(self) -> None:
        inner = {"actions": {"name": "Open", "endpoint": "/open"}}
        (card,) = cards({"actions": [SAVE, {**SAVE, "protocol": "mcp"}, "nonsense"],
                         "hasPart": [inner]})  # fmt: skip
        assert buttons(card) == [
            ("0", "Save recipe HTTP"), ("1", "Save recipe MCP"), ("2", "Action ?"),
            ("3", "Open HTTP"),
        ]  # fmt: skip

    def test_the_primary_action_is_the_first_marked_one_else_the_first(self) -> None:
        rows: list[tuple[list[Any], str]] = [
            ([None, None], "01"), ([None, True], "10"), ([None, True, True], "102"),
            (["yes", 1, None], "012"),
        ]  # fmt: skip
        found = cards(*({"actions": [{**SAVE, "primary": m} for m in marks]} for marks, _ in rows))
        assert ["".join(n for n, _ in buttons(card)) for card in found] == [r[1] for r in rows]

    def test_labels(self) -> None:
        rows: list[tuple[dict[str, Any], str]] = [
            ({"name": "save_recipe", "description": "Save it"}, "Save recipe"),
            ({"name": "addToCart"}, "Add to cart"),
            ({"name": "Add to cart, now"}, "Add to cart, now"),
            ({"name": "Поставить"}, "Поставить"),
            ({"name": "x" * 200}, "x" * 69 + "…"),
            ({"description": "Save it"}, "Save it"),
            ({"description": "d" * 71, "@type": "SaveAction"}, "Save action"),
            ({}, "Action"),
            ({"name": "___"}, "___"),
        ]
        (card,) = cards({"actions": [raw for raw, _ in rows]})
        assert [label.removesuffix(" HTTP") for _, label in buttons(card)] == [r[1] for r in rows]

    def test_a_card_without_them_has_no_place_for_what_comes_of_them(self) -> None:
        page = part(offered({"name": "A"}, {"actions": []}, {"actions": None}, {"actions": [SAVE]}))
        places = [each.attributes["id"] for each in page.select("div", class_="children")]
        assert places == ["children-entry-7-0"]
        assert page.by_id("action-panel-entry-7-0")


@given(st.lists(items | VALUES, min_size=1, max_size=6))
def test_any_item_is_text_and_inert(shown: list[Any]) -> None:
    for card in cards(*shown):
        assert_inert(Element("", children=[card]), ENTRY_TAGS | {"svg", "use"} | _OWN)


#: What the owner's page has beside the data of an agent.
_OWN = frozenset({"select", "output"})
