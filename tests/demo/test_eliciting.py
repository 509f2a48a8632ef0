"""Section 4.1.3: questions back, and their answers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.conftest import Ask, Reply, check

TYPES = {"single_select", "multi_select", "free_text", "number", "boolean"}


def ids(reply: Reply) -> list[str]:
    return [question["id"] for question in reply.document["elicitation"]["questions"]]


@pytest.mark.parametrize("version", ["0.54", "0.55"])
@pytest.mark.parametrize(
    "text", ["I need something for dinner", "What should I eat tonight?", "dinner ideas", "lunch?"]
)
async def test_a_vague_wish_for_a_meal(ask: Ask, version: str, text: str) -> None:
    reply = await ask(text, version=version)
    assert reply.status == 200
    assert reply.meta["response_type"] == "elicitation"
    check(version, "elicitation", reply.document)
    assert ids(reply) == ["dietary_restrictions", "protein_type", "cooking_time"]
    assert reply.meta["session_context"]["conversation_id"]


async def test_pasta(ask: Ask) -> None:
    reply = await ask("pasta recipe")
    check("0.55", "elicitation", reply.document)
    assert ids(reply) == ["sauce_type", "dietary_restrictions", "cooking_time"]


async def test_pasta_in_054_is_asked_in_words(ask: Ask) -> None:
    """Its examples, section 3."""
    reply = await ask("pasta recipe", version="0.54")
    check("0.54", "elicitation", reply.document)
    assert list(reply.document["elicitation"]) == ["text"]


async def test_every_type_of_question(ask: Ask) -> None:
    reply = await ask("help me plan a dinner party")
    check("0.55", "elicitation", reply.document)
    questions = reply.document["elicitation"]["questions"]
    assert {question["type"] for question in questions} == TYPES
    for question in questions:
        assert ("options" in question) == question["type"].endswith("select")


async def test_questions_are_not_streamed(ask: Ask) -> None:
    reply = await ask("pasta recipe", streaming=True)
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.meta["response_type"] == "elicitation"


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("pasta recipe", {"filters": {"sauce_type": "tomato"}}),
        ("pasta recipe", {"filters": {"dietary_restrictions": ["none"]}}),
        ("pasta recipe", {"filters": {"cooking_time": "20-40 minutes"}}),
        ("pasta recipe", {"filters": {"cuisine": "Italian"}}),
        ("pasta recipe", {"context": {"@type": "Answers", "sauce_type": "pesto"}}),
        ("pasta recipe. Sauce: pesto. Diet: vegan.", {}),
        ("vegan pasta", {}),
        ("pasta in under 20 minutes", {}),
        ("pasta with broccoli", {}),
        ("dinner with salmon", {}),
        ("dinner restaurants", {}),
        ("soup", {}),
    ],
)
async def test_enough_is_enough(ask: Ask, text: str, more: dict[str, Any]) -> None:
    reply = await ask(text, more.get("filters"), context=more.get("context"))
    assert reply.meta["response_type"] == "answer"
    assert reply.names


async def test_answers_are_honoured(ask: Ask) -> None:
    reply = await ask(
        "I need something for dinner",
        {
            "dietary_restrictions": ["vegan"],
            "protein_type": "tofu",
            "cooking_time": "20-40 minutes",
        },
    )
    assert reply.names
    for item in reply.document["results"]:
        assert any("tofu" in text for text in item["recipeIngredient"])
        assert "https://schema.org/VeganDiet" in item["suitableForDiet"]


class TestDinnerParty:
    async def test_a_menu(self, ask: Ask) -> None:
        reply = await ask(
            "plan a dinner party",
            {
                "guests": 8,
                "courses": ["starter", "side", "dessert"],
                "with_children": True,
                "wishes": "tiramisu, please",
                "dietary_restrictions": ["vegetarian"],
                "cooking_time": "40-60 minutes",
            },
        )
        summary, *courses = reply.document["results"]
        assert "8 guests" in summary["text"]
        assert "children" in summary["text"]
        categories = [{c.lower() for c in course["recipeCategory"]} for course in courses]
        assert categories[0] & {"starter", "soup"}
        assert categories[1] & {"side", "salad"}
        assert courses[2]["name"] == "Tiramisu"
        assert all("https://schema.org/VegetarianDiet" in c["suitableForDiet"] for c in courses)

    async def test_answers_may_be_few_or_in_the_context(self, ask: Ask) -> None:
        reply = await ask("a dinner party", context={"@type": "Answers", "guests": 4})
        assert len(reply.document["results"]) == 4
        assert "4 guests" in reply.document["results"][0]["text"]

    @pytest.mark.parametrize("guests", [0, -1, "many", True])
    async def test_impossible_guests(self, ask: Ask, guests: object) -> None:
        assert (await ask("dinner party", {"guests": guests})).code == "INVALID_PARAMETER"

    async def test_a_diet_without_a_dish(self, ask: Ask) -> None:
        reply = await ask("dinner party", {"dietary_restrictions": ["fruitarian"]})
        assert reply.code == "NO_RESULTS"
