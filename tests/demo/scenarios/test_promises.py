"""Scenarios about promises: their documents, and their `await`."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo.scenarios import SCENARIOS, promises
from tests.demo.client import Reply
from tests.demo.conftest import check
from tests.demo.scenarios.client import PROMISE_SLUGS, ask, post


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
        [(slug, "answer") for slug in PROMISE_SLUGS if slug not in {
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

    @pytest.mark.parametrize("slug", [s for s in PROMISE_SLUGS if s != "promise-no-token"])
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
        assert reply.code == "INVALID_QUERY"
