"""Responses that break the protocol, and the findings about them."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo.agent_api.malformed import BROKEN
from tests.demo.agent_api.client import kinds, objects, post, response, user_message

pytestmark = pytest.mark.django_db(transaction=True)


class TestBroken:
    async def broken(self, name: str) -> list[dict[str, Any]]:
        return await objects(user_message(f"broken: {name}"))

    @pytest.mark.parametrize("name", BROKEN)
    async def test_every_way_is_played(self, name: str) -> None:
        found = await self.broken(name)
        last = found[-1]
        ends = last.get("object") == "response" and last["status"] == "completed"
        assert ends == BROKEN[name].ends
        assert (await post({"input": [user_message(f"broken: {name}")], "stream": False})).json()

    async def test_what_is_broken(self) -> None:
        found = await self.broken("unknown message")
        known = {each["id"] for each in found if each.get("object") == "message"}
        assert any(each.get("msg_id", "") not in known for each in found if "msg_id" in each)
        assert {each.get("index") for each in await self.broken("index gap")} == {None, 0, 3}
        assert await self.broken("bare error") == [
            {"error": "1 validation error for AgentRequest: the soup is cold"}
        ]
        assert not any("sequence_number" in each for each in await self.broken("no numbers"))
        late = await self.broken("late content")
        assert [each["status"] for each in late[-3:]] == ["completed", "in_progress", "completed"]
        summed = await self.broken("wrong sum")
        pieces = "".join(each["text"] for each in summed if each.get("delta"))
        assert pieces != "Tomato soup it is."

    async def test_other_names_are_questions(self) -> None:
        document = await response(user_message("broken: heart"))
        assert "function_call" in kinds(document)
