"""Functions of the caller and approvals."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient

from tests.demo.agent_api.client import (
    CALENDAR,
    PANTRY,
    data_message,
    data_of,
    kinds,
    response,
    text_of,
    user_message,
)

pytestmark = pytest.mark.django_db(transaction=True)


class TestCallsOfTheCaller:
    async def call(self) -> tuple[str, dict[str, Any]]:
        text = "What can I cook with what is in my pantry?"
        document = await response(user_message(text), tools=[PANTRY])
        assert kinds(document) == ["function_call"]
        assert document["status"] == "completed"
        return document["session_id"], data_of(document, "function_call")

    @pytest.mark.parametrize(
        ("output", "text"),
        [
            ('["eggs", "flour"]', "eggs, flour"),
            ("eggs, flour", "eggs, flour"),
            ('{"items": ["eggs", "flour"]}', "eggs, flour"),
            ({"items": ["eggs", "flour"]}, "eggs, flour"),
            (
                '{"shelves": [{"items": [{"name": "eggs"}, {"name": "flour"}]}], "note": null}',
                "eggs, flour",
            ),
            # Numbers and flags are said with their names.
            ("42", "42"),
            ('{"cups_of_flour": 3, "eggs": [4]}', "cups of flour 3, eggs 4"),
            ('{"vegan": true, "spicy": false, "name": "soup, hot"}', "vegan, soup, hot"),
            ('{"broken": "eggs"', '{"broken": "eggs"'),
            # At 900, whether Python parses it depends on the calls in progress.
            *(("[" * depth + '"eggs"' + "]" * depth, "") for depth in (900, 5000)),
            ("[]", ""),
        ],
    )
    async def test_the_answer_goes_on(self, output: Any, text: str) -> None:
        session, call = await self.call()
        assert call["name"] == "get_pantry"
        assert json.loads(call["arguments"]) == {"shelf": "top"}
        answer = data_message("function_call_output", call_id=call["call_id"], output=output)
        document = await response(answer, session_id=session, tools=[PANTRY])
        if text:
            assert text_of(document).startswith(f"get_pantry returned: {text}.")
        else:
            assert "returned no data" in text_of(document)
        if text == "eggs, flour":
            assert document["output"][-1]["content"][-1]["data"]["results"]

    async def test_an_answer_that_nobody_waits_for(self) -> None:
        session, call = await self.call()
        for other in ({"call_id": "x", "output": "y"}, {"call_id": call["call_id"], "output": "y"}):
            answer = data_message("function_call_output", **other)
            document = await response(answer, session_id=session)
            assert document["error"]["code"] == "UNKNOWN_CALL"

    async def call_two(self) -> tuple[str, list[dict[str, Any]]]:
        text = "Check my pantry and my calendar"
        document = await response(user_message(text), tools=[PANTRY, CALENDAR, CALENDAR])
        assert kinds(document) == ["function_call", "function_call"]
        calls = [message["content"][0]["data"] for message in document["output"]]
        assert [call["name"] for call in calls] == ["get_pantry", "get_calendar"]
        return document["session_id"], calls

    async def test_two_at_once(self) -> None:
        session, calls = await self.call_two()
        answers = [
            data_message("function_call_output", call_id=call["call_id"], output=output)
            for call, output in zip(calls, ('["eggs"]', "flour"), strict=True)
        ]
        document = await response(*answers, session_id=session)
        assert text_of(document).startswith(
            "get_pantry returned: eggs. get_calendar returned: flour. "
        )

    async def test_one_of_two_is_not_enough(self) -> None:
        session, calls = await self.call_two()
        both = [
            data_message("function_call_output", call_id=call["call_id"], output="")
            for call in calls
        ]
        document = await response(both[0], session_id=session)
        assert document["error"]["code"] == "MISSING_OUTPUT"
        assert "get_calendar is missing" in document["error"]["message"]
        document = await response(*both, session_id=session)
        assert text_of(document).startswith("get_pantry and get_calendar returned no data")

    async def test_a_function_that_does_not_fit_is_not_called(self) -> None:
        document = await response(user_message("tomato soup"), tools=[PANTRY])
        assert data_of(document, "function_call")["name"] == "search_recipes"


class TestApproval:
    async def ask(self) -> tuple[str, dict[str, Any]]:
        document = await response(user_message("order the ingredients"))
        assert kinds(document) == ["mcp_list_tools", "mcp_approval_request"]
        return document["session_id"], data_of(document, "mcp_approval_request")

    @pytest.mark.parametrize("approve", [True, False])
    async def test_decided(self, approve: bool) -> None:
        session, asked = await self.ask()
        decision = data_message(
            "mcp_approval_response", approval_request_id=asked["id"], approve=approve
        )
        document = await response(decision, session_id=session)
        cart = (await AsyncClient().get("/demo/cart/")).json()
        if approve:
            assert kinds(document) == ["mcp_call", "message"]
            assert data_of(document, "mcp_call")["output"] == "Added 3 items to the cart."
            assert cart["items"][0]["content"] == json.loads(asked["arguments"])
        else:
            assert text_of(document) == "Then I will not order anything."
            assert cart["count"] == 0
