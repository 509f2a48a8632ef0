"""Documents of scenarios that are more than a row: generated ones, and responses to others."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from tests.demo.conftest import check
from tests.demo.scenarios.client import ELICITATION_SLUGS, ask, items, post


class TestQuestions:
    async def test_those_that_are_generated(self) -> None:
        many = (await ask("many-questions")).document["elicitation"]["questions"]
        assert len({question["id"] for question in many}) == 500
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


class TestActions:
    async def test_shapes(self) -> None:
        found = await items("actions-shapes")
        assert isinstance(found[0]["actions"], dict)
        assert "protocol" not in found[1]["actions"][0]
        assert found[2]["actions"][0]["method"] == "post"
        assert len(found[-1]["actions"]) == 60

    async def test_endpoints(self) -> None:
        found = [item["actions"][0].get("endpoint") for item in await items("actions-endpoints")]
        assert found[:3] == ["javascript:alert(1)", "../cart/", "http://localhost:9/cart"]
        assert None in found

    async def test_headers(self) -> None:
        found = [item["actions"][0]["headers"] for item in await items("actions-headers")]
        assert {"Host": "internal.example"} in found
        assert any("Cookie" in headers for headers in found)

    async def test_nested(self) -> None:
        (item,) = await items("actions-nested")
        main = item["hasPart"]["main"]
        for each in (item, main, main["hasPart"][0]):
            check("0.55", "action", each["actions"][0])

    async def test_replies(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("playground.demo.scenarios.actions._SLOW_SECONDS", 0)
        seen = []
        for item in await items("actions-replies"):
            (action,) = item["actions"]
            path = action["endpoint"].removeprefix("http://testserver")
            reply = await AsyncClient().get(path)
            kind = reply.headers.get("Content-Type", "").partition(";")[0]
            assert "sandbox" in reply.headers["Content-Security-Policy"]
            seen.append((reply.status_code, kind))
        assert seen == [
            (500, "application/json"), (200, "text/html"), (204, "text/html"),
            (200, "application/json"), (200, "text/event-stream"), (200, "text/plain"),
            (302, "text/html"),
        ]  # fmt: skip

    async def test_no_other_reply(self) -> None:
        assert (await AsyncClient().get("/demo/replies/other")).status_code == 404
