"""Scenarios that ask, promise, offer actions or say no: their documents, and what follows."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo.scenarios import SCENARIOS, elicitations, promises
from tests.demo.conftest import Reply, check, read_events

ASKING = [row.slug for row in elicitations.ROWS]
PROMISING = [row.slug for row in promises.ROWS]


async def post(path: str, body: Any, **headers: str) -> Reply:
    """Post to a scenario; `path` is its slug and operation."""
    reply = await AsyncClient().post(
        f"/demo/scenarios/{path}", json.dumps(body), content_type="application/json",
        headers=headers,
    )  # fmt: skip
    if not reply.streaming:
        return Reply(reply.status_code, dict(reply.headers), reply.content)
    data = b"".join([chunk async for chunk in reply])
    return Reply(reply.status_code, dict(reply.headers), data, read_events(data))


async def ask(slug: str, knobs: str = "", **sections: Any) -> Reply:
    request = {"query": {"text": "soup"}, "prefer": {"streaming": False}, **sections}
    return await post(f"{slug}/ask{knobs}", request)


async def items(slug: str) -> list[Any]:
    reply = await ask(slug)
    results: list[Any] = reply.document["results"]
    return results


class TestQuestions:
    async def questions(self, slug: str) -> list[Any]:
        reply = await ask(slug)
        assert reply.status == 200
        assert reply.meta["response_type"] == "elicitation"
        found: list[Any] = reply.document["elicitation"]["questions"]
        return found

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

    @pytest.mark.parametrize("slug", ASKING)
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

    @pytest.mark.parametrize("body", [[], {"query": 7, "context": []}, {"query": {"text": 1}}])
    async def test_an_odd_request_is_no_answer(self, body: Any) -> None:
        reply = await post("odd-questions/ask", body)
        assert reply.meta["response_type"] == "elicitation"


class TestPromises:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        clock = [1_000_000.0]
        monkeypatch.setattr(promises, "now", lambda: clock[0])
        return clock

    async def follow(self, slug: str, token: str, action: str = "checkin") -> Reply:
        return await post(f"{slug}/await", {"promise_token": token, "action": action})

    async def promise(self, slug: str) -> dict[str, Any]:
        reply = await ask(slug, "?every=8")
        assert reply.status == (200 if slug == "promise-200" else 202)
        assert reply.meta["response_type"] == "promise"
        promise: dict[str, Any] = reply.document["promise"]
        assert promise["message"]
        return promise

    @pytest.mark.parametrize(
        ("slug", "end"),
        [(slug, "answer") for slug in PROMISING if slug not in {
            "promise-fails", "promise-asks", "promise-no-token"}]
        + [("promise-fails", "failure"), ("promise-asks", "elicitation")],
    )  # fmt: skip
    async def test_to_its_end(self, clock: list[float], slug: str, end: str) -> None:
        token = (await self.promise(slug))["token"]
        for _ in range(3):
            clock[0] += 2
            reply = await self.follow(slug, token)
            assert reply.meta["response_type"] == "promise"
            assert reply.document["promise"]["token"] == token
        clock[0] += 2
        for _ in range(2):
            reply = await self.follow(slug, token)
            assert reply.meta["response_type"] == end
            check("0.55", end, reply.document)

    async def progress(self, clock: list[float], slug: str) -> list[Any]:
        promise = await self.promise(slug)
        seen = [promise["progress"]]
        for _ in range(3):
            clock[0] += 2
            reply = await self.follow(slug, promise["token"])
            seen.append(reply.document["promise"]["progress"])
        return seen

    async def test_progress(self, clock: list[float]) -> None:
        assert await self.progress(clock, "promise-fails") == [0, 0.25, 0.5, 0.75]
        assert await self.progress(clock, "promise-back") == [0.3, 0.6, 0.2, 0.8]
        assert await self.progress(clock, "promise-progress-7") == [7] * 4
        assert await self.progress(clock, "promise-half") == ["half"] * 4

    async def test_a_year(self, clock: list[float]) -> None:
        assert (await self.promise("promise-year"))["estimated_time"] == 365 * 24 * 3600

    async def test_without_token(self, clock: list[float]) -> None:
        assert "token" not in await self.promise("promise-no-token")

    @pytest.mark.parametrize("slug", [s for s in PROMISING if s != "promise-no-token"])
    async def test_cancelled_or_not(self, clock: list[float], slug: str) -> None:
        token = (await self.promise(slug))["token"]
        reply = await self.follow(slug, token, "cancel")
        if slug == "promise-stubborn":
            assert reply.meta["response_type"] == "promise"
        else:
            assert reply.code == "CANCELLED"

    async def test_the_question_that_it_became_is_answered(self) -> None:
        reply = await ask("promise-asks", query={"text": "soup", "salty": True})
        assert reply.meta["response_type"] == "answer"

    async def test_at_once(self) -> None:
        reply = await ask("promise-200", "?every=0")
        token = reply.document["promise"]["token"]
        assert (await self.follow("promise-200", token)).meta["response_type"] == "answer"

    @pytest.mark.parametrize("slug", SCENARIOS)
    async def test_every_scenario_has_an_await(self, slug: str) -> None:
        reply = await self.follow(slug, "promise_of_nothing")
        assert (reply.status, reply.code) == (400, "INVALID_QUERY")

    async def test_an_unknown_action(self) -> None:
        reply = await self.follow("promise-back", "promise_1_1", "hurry")
        assert reply.code == "INVALID_PARAMETER"


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
        monkeypatch.setattr("playground.demo.scenarios.actions._SLOWLY", 0)
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


class TestAnswers:
    @pytest.mark.parametrize(("slug", "place"), [("first", 0), ("middle", 2), ("last", 4)])
    async def test_the_summary(self, slug: str, place: int) -> None:
        whole = await items(f"summary-{slug}")
        assert [item["@type"] for item in whole].index("SearchSummary") == place
        stream = await ask(f"summary-{slug}", "?every=0", prefer={"streaming": True})
        assert [data["item"] for data in stream.data_of("result")] == whole

    async def test_odd_results(self) -> None:
        assert isinstance(await items("results-object"), dict)
        assert await items("results-null") is None
        assert (await items("results-strings"))[0] == "Soup"
        assert isinstance((await ask("meta-list")).document["_meta"], list)


class TestRefusals:
    async def test_members(self) -> None:
        reply = await ask("members")
        assert (reply.status, reply.code) == (401, "UNAUTHORIZED")
        assert reply.headers["WWW-Authenticate"].startswith("Bearer ")
        request = {"query": {"text": "soup"}, "prefer": {"streaming": False}}
        reply = await post("members/ask", request, authorization="Bearer demo-token")
        assert len(reply.document["results"]) == 2

    async def test_a_date_to_wait_for(self) -> None:
        reply = await ask("rate-limited-date")
        assert (reply.status, reply.code) == (429, "RATE_LIMITED")
        assert parsedate_to_datetime(reply.headers["Retry-After"]).tzinfo

    async def test_details(self) -> None:
        reply = await ask("failure-details")
        assert (reply.status, reply.code) == (400, "INVALID_PARAMETER")
        assert reply.document["error"]["details"]["parameter"] == "max_cooking_time"

    async def test_not_nlweb(self) -> None:
        reply = await ask("foreign-error")
        assert reply.status == 500
        assert not {"_meta", "error"} & set(reply.document)
        reply = await ask("empty-error")
        assert (reply.status, reply.body) == (503, b"")
