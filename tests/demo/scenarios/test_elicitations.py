"""Scenarios about elicitations: their documents, and the answers to them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.conftest import check
from tests.demo.scenarios.client import ELICITATION_SLUGS, ask, post


class TestQuestions:
    async def questions(self, slug: str) -> list[Any]:
        reply = await ask(slug)
        assert reply.status == 200
        assert reply.meta["response_type"] == "elicitation"
        return reply.document["elicitation"]["questions"]

    @pytest.mark.parametrize("slug", ["defaults", "password", "many-questions", "long-question"])
    async def test_are_well_formed(self, slug: str) -> None:
        check("0.55", "elicitation", (await ask(slug)).document)

    async def test_defaults_are_of_every_type(self) -> None:
        questions = await self.questions("defaults")
        types = {"single_select", "multi_select", "free_text", "number", "boolean"}
        assert {question["type"] for question in questions} == types
        assert all("default" in question for question in questions)
        for question in await self.questions("bad-defaults"):
            assert question["default"] not in question.get("options", [])

    async def test_oddities_are_there(self) -> None:
        assert "password" in [q["id"] for q in await self.questions("password")]
        assert (await self.questions("unknown-question"))[0]["type"] == "date"
        assert [q.get("id") for q in await self.questions("duplicate-ids")] == [
            "size", "size", None,
        ]  # fmt: skip
        (question,) = await self.questions("object-options")
        assert {type(option) for option in question["options"]} == {dict, int, str, type(None)}
        assert "options" not in (await self.questions("no-options"))[0]
        assert "<script>" in (await self.questions("html-labels"))[0]["text"]
        assert isinstance(await self.questions("odd-questions"), dict)
        assert len(await self.questions("many-questions")) == 500
        text = (await ask("long-question")).document["elicitation"]["text"]
        assert 990_000 < len(text) < 1_010_000

    @pytest.mark.parametrize("slug", ELICITATION_SLUGS)
    @pytest.mark.parametrize(
        "sections",
        [
            {"query": {"text": "soup", "colour": "red"}},
            {"context": {"@type": "Answers", "colour": "red"}},
        ],
    )
    async def test_an_answer_ends_them(self, slug: str, sections: dict[str, Any]) -> None:
        reply = await ask(slug, **sections)
        assert reply.meta["response_type"] == "answer"
        assert len(reply.document["results"]) == 2

    async def test_an_answer_in_the_text_ends_them(self) -> None:
        reply = await ask("password", query={"text": "soup. Your password? hunter2."})
        assert reply.meta["response_type"] == "answer"

    @pytest.mark.parametrize("body", [{}, {"query": 7, "context": []}, {"query": {"text": 1}}])
    async def test_an_odd_request_is_no_answer(self, body: Any) -> None:
        reply = await post("odd-questions/ask", body)
        assert reply.meta["response_type"] == "elicitation"
