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
        "output",
        [
            '["eggs", "flour"]',
            "eggs, flour",
            '{"items": ["eggs", "flour"]}',
            {"items": ["eggs", "flour"]},
            '{"shelves": [{"items": [{"name": "eggs"}, {"name": "flour"}]}], "note": null}',
        ],
    )
    async def test_the_answer_goes_on(self, output: Any) -> None:
        session, call = await self.call()
        assert call["name"] == "get_pantry"
        assert json.loads(call["arguments"]) == {"shelf": "top"}
        answer = data_message("function_call_output", call_id=call["call_id"], output=output)
        document = await response(answer, session_id=session, tools=[PANTRY])
        assert text_of(document).startswith("get_pantry returned: eggs, flour. ")
        assert document["output"][-1]["content"][-1]["data"]["results"]

    @pytest.mark.parametrize(
        ("output", "text"),
        [
            ("42", "42"),
            ('{"cups_of_flour": 3, "eggs": [4]}', "cups of flour 3, eggs 4"),
            ('{"vegan": true, "spicy": false, "name": "soup, hot"}', "vegan, soup, hot"),
            ('{"broken": "eggs"', '{"broken": "eggs"'),
        ],
    )
    async def test_numbers_and_flags_are_said_with_their_names(
        self, output: str, text: str
    ) -> None:
        session, call = await self.call()
        answer = data_message("function_call_output", call_id=call["call_id"], output=output)
        document = await response(answer, session_id=session, tools=[PANTRY])
        assert text_of(document).startswith(f"get_pantry returned: {text}.")

    @pytest.mark.parametrize("depth", [900, 5000])
    async def test_a_deep_answer(self, depth: int) -> None:
        """At 900, whether Python parses it depends on the calls in progress."""
        session, call = await self.call()
        output = "[" * depth + '"eggs"' + "]" * depth
        answer = data_message("function_call_output", call_id=call["call_id"], output=output)
        assert "returned no data" in text_of(await response(answer, session_id=session))

    async def test_an_empty_answer(self) -> None:
        session, call = await self.call()
        answer = data_message("function_call_output", call_id=call["call_id"], output="[]")
        assert "returned no data" in text_of(await response(answer, session_id=session))

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

    async def test_approved(self) -> None:
        session, asked = await self.ask()
        yes = data_message("mcp_approval_response", approval_request_id=asked["id"], approve=True)
        document = await response(yes, session_id=session)
        assert kinds(document) == ["mcp_call", "message"]
        assert data_of(document, "mcp_call")["output"] == "Added 3 items to the cart."
        cart = (await AsyncClient().get("/demo/cart/")).json()
        assert cart["items"][0]["content"] == json.loads(asked["arguments"])

    async def test_refused(self) -> None:
        session, asked = await self.ask()
        no = data_message("mcp_approval_response", approval_request_id=asked["id"], approve=False)
        document = await response(no, session_id=session)
        assert text_of(document) == "Then I will not order anything."
        assert (await AsyncClient().get("/demo/cart/")).json()["count"] == 0
