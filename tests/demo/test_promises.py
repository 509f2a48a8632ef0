"""Sections 4.1.2 and 4.2: promises, await, cancel."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo import promises, state_store
from playground.demo.failures import FailureError
from playground.demo.models import StoredState
from playground.demo.promises import PromiseRequest
from playground.demo.requests import AskRequest as AskRecord
from tests.demo.client import Reply
from tests.demo.conftest import Ask, Clock, check

pytestmark = pytest.mark.django_db(transaction=True)
PLAN = {"query": {"text": "make a weekly meal plan with a shopping list"}}


async def checkin(post: Ask, token: str, action: str = "checkin", **meta: Any) -> Reply:
    request = {"promise_token": token, "action": action, "meta": {"version": "0.55", **meta}}
    check("0.55", "await-request", request)
    return await post("await", request)


@pytest.mark.parametrize("version", ["0.54", "0.55"])
async def test_from_promise_to_answer(post: Ask, clock: Clock, version: str) -> None:
    session: dict[str, Any] = {"conversation_id": "conv_plan"}
    meta = {"version": version, "session_context": session}
    reply = await post("ask", {**PLAN, "meta": meta})
    assert reply.status == 202
    check(version, "promise", reply.document)
    promise = reply.document["promise"]
    assert (promise["progress"], promise["estimated_time"]) == (0, 10)
    session |= {"turn": 1, "last_topic": PLAN["query"]["text"]}
    assert reply.meta["session_context"] == session

    seen = []
    for _ in range(3):
        clock.now += 3
        reply = await checkin(post, promise["token"])
        assert reply.status == 202
        check("0.55", "promise", reply.document)
        assert reply.document["promise"]["token"] == promise["token"]
        assert reply.meta["session_context"] == session
        seen.append(reply.document["promise"])
    assert [each["progress"] for each in seen] == [0.3, 0.6, 0.9]
    assert [each["estimated_time"] for each in seen] == [7, 4, 1]
    assert len({each["message"] for each in seen}) == 3

    clock.now += 1
    for _ in range(2):  # The answer stays.
        reply = await checkin(post, promise["token"])
        assert reply.status == 200
        check("0.55", "answer", reply.document)
        assert [item["@type"] for item in reply.document["results"]] == ["MealPlan", "ShoppingList"]


async def test_progress_stands_still_with_the_clock(post: Ask, clock: Clock) -> None:
    token = (await post("ask", PLAN)).document["promise"]["token"]
    clock.now += 4
    first, second = [(await checkin(post, token)).document["promise"] for _ in range(2)]
    assert first == second


async def test_pace(post: Ask, clock: Clock) -> None:
    token = (await post("ask?pace=0", PLAN)).document["promise"]["token"]
    assert (await checkin(post, token)).status == 200
    slow = (await post("ask?pace=3", PLAN)).document["promise"]
    assert slow["estimated_time"] == 30
    # Or as a header, over which the URL takes precedence.
    slow = (await post("ask", PLAN, **{"demo-pace": "3"})).document["promise"]
    assert slow["estimated_time"] == 30
    slow = (await post("ask?pace=2", PLAN, **{"demo-pace": "3"})).document["promise"]
    assert slow["estimated_time"] == 20


async def test_an_unknown_token(post: Ask, clock: Clock) -> None:
    reply = await checkin(post, "promise_of_nothing")
    assert reply.code == "INVALID_QUERY"
    assert "promise_token" in reply.document["error"]["message"]


async def test_a_promise_is_not_streamed(post: Ask, clock: Clock) -> None:
    reply = await post("ask", {**PLAN, "prefer": {"streaming": True}})
    assert (reply.status, reply.headers["Content-Type"]) == (202, "application/json")


async def test_an_answer_in_the_format_and_mode_that_was_asked_for(post: Ask, clock: Clock) -> None:
    prefer = {"response_format": "chatgpt_app", "mode": "list, summarize"}
    reply = await post("ask?pace=0", {**PLAN, "prefer": prefer})
    reply = await checkin(post, reply.document["promise"]["token"])
    check("0.55", "answer", reply.document)
    kinds = [item["@type"] for item in reply.document["structuredData"]]
    assert kinds == ["SearchSummary", "MealPlan", "ShoppingList"]
    assert "meal plan" in reply.document["content"][0]["text"]


async def test_a_plan_that_fails(post: Ask, clock: Clock) -> None:
    reply = await post("ask", {"query": {"text": "a meal plan that fails"}})
    token = reply.document["promise"]["token"]
    clock.now += 6
    reply = await checkin(post, token)
    assert reply.document["promise"]["progress"] == 0.6
    clock.now += 4
    for _ in range(2):
        reply = await checkin(post, token)
        assert (reply.status, reply.code) == (500, "INTERNAL_ERROR")


async def test_a_promise_outlives_the_process(post: Ask, clock: Clock) -> None:
    """Nothing of it is in memory: a row that another process wrote does as well."""
    await post("ask", PLAN)
    await StoredState.objects.filter(area="promise").aupdate(key="promise_of_before")
    clock.now += 10
    reply = await checkin(post, "promise_of_before")
    assert reply.meta["response_type"] == "answer"


async def test_a_clock_that_is_set_back(post: Ask, clock: Clock) -> None:
    token = (await post("ask", PLAN)).document["promise"]["token"]
    clock.now -= 1000
    assert (await checkin(post, token)).document["promise"]["progress"] == 0


@pytest.mark.parametrize("token", ["\ud800", "promise\x00", "p" * 1000, "' OR 1=1"])
async def test_odd_tokens(post: Ask, token: str) -> None:
    assert (await checkin(post, token)).code == "INVALID_QUERY"


async def test_a_lone_surrogate_can_be_promised(post: Ask, clock: Clock) -> None:
    request = {"query": {"text": "meal plan \ud800\x00"}}
    token = (await post("ask?pace=0", request)).document["promise"]["token"]
    assert (await checkin(post, token)).meta["response_type"] == "answer"


async def test_too_much_to_keep_in_mind(post: Ask) -> None:
    reply = await post("ask", {**PLAN, "context": {"memory": "x" * 30_000}})
    assert (reply.status, reply.code) == (200, "TOKEN_LIMIT")


async def test_old_tasks_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_store, "ROWS", 3)
    request = PromiseRequest(AskRecord("0.55", "meal plan", {}, {}, {}), "plan")
    tokens = [(await promises.save_task(request)).token for _ in range(5)]
    assert [row.key async for row in StoredState.objects.all()] == tokens[-3:]
    assert (await promises.task(tokens[-1])).ask.text == "meal plan"
    with pytest.raises(FailureError, match="promise_token"):
        await promises.task(tokens[0])
