"""Follow-ups, completed from the previous queries (section 3.2)."""

from __future__ import annotations

import pytest

from tests.demo.conftest import Ask

RECIPES = {"itemType": "Recipe", "num_results": 100}


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
