"""`POST /demo/agent-api`: the lifecycle of a response, sessions and final statuses."""

from __future__ import annotations

import json
import re

import pytest

from playground.demo.agent_api.handlers import ROWS
from playground.protocols.agent_api import constants
from tests.demo.agent_api.client import (
    PANTRY,
    data_message,
    data_of,
    kinds,
    objects,
    post,
    response,
    text_of,
    user_message,
)

pytestmark = pytest.mark.django_db(transaction=True)


class TestLifecycle:
    async def test_of_a_stream(self) -> None:
        found = await objects(user_message("tomato soup"))
        assert [each["sequence_number"] for each in found] == [str(n) for n in range(len(found))]
        responses = [each for each in found if each["object"] == "response"]
        assert [each["status"] for each in responses] == ["created", "in_progress", "completed"]
        assert found[:2] == responses[:2]
        end = found[-1]
        assert end == responses[2]
        assert kinds(end) == ["function_call", "function_call_output", "message"]
        assert end["usage"]["total_tokens"] == sum(
            end["usage"][name] for name in ("input_tokens", "output_tokens")
        )
        assert end["completed_at"] >= end["created_at"]
        for message in end["output"]:
            messages = [each for each in found if each.get("id") == message["id"]]
            assert [each["status"] for each in messages] == ["created", "in_progress", "completed"]

    async def test_pieces_make_the_text(self) -> None:
        found = await objects(user_message("tomato soup"))
        for message in found[-1]["output"]:
            parts = [each for each in found if each.get("msg_id") == message["id"]]
            whole = [each for each in parts if each["status"] == "completed"]
            assert [each["index"] for each in whole] == list(range(len(whole)))
            for number, content in enumerate(message["content"]):
                assert {**content, "sequence_number": whole[number]["sequence_number"]} == whole[
                    number
                ]
                pieces = [each for each in parts if each["index"] == number and each["delta"]]
                if content["type"] == "text":
                    assert "".join(piece["text"] for piece in pieces) == content["text"]

    async def test_of_a_document(self) -> None:
        streamed = (await objects(user_message("tomato soup")))[-1]
        document = await response(user_message("tomato soup"))
        assert kinds(document) == kinds(streamed)
        assert text_of(document) == text_of(streamed)
        assert document["status"] == "completed"

    async def test_what_was_found_comes_as_picture_and_data(self) -> None:
        _, image, data = (await response(user_message("tomato soup")))["output"][-1]["content"]
        assert image["type"] == "image"
        assert image["image_url"].endswith("/static/demo/pot.png")
        items = data["data"]["results"]
        assert items[0]["image"] == image["image_url"]
        assert {item["@type"] for item in items} == {"Recipe"}

    async def test_the_call_is_paired_with_its_output(self) -> None:
        document = await response(user_message("tomato soup"))
        call = data_of(document, "function_call")
        output = data_of(document, "function_call_output")
        assert json.loads(call["arguments"]) == {"query": "tomato soup", "limit": 3}
        assert output["call_id"] == call["call_id"]
        assert json.loads(output["output"])[0]["name"].endswith("Grilled Cheese")

    async def test_nothing_found_is_an_answer(self) -> None:
        document = await response(user_message("zzzzz"))
        assert document["status"] == "completed"
        assert "No results match" in text_of(document)

    async def test_no_words(self) -> None:
        document = await response(user_message("???"))
        assert (document["status"], document["error"]["code"]) == ("failed", "INVALID_QUERY")


class TestSessions:
    async def test_one_is_named_and_kept(self) -> None:
        first = await response(user_message("pasta with cream"))
        session = first["session_id"]
        assert (await response(user_message("hello"), session_id=session))["session_id"] == session
        recalled = await response(user_message("what did I ask you?"), session_id=session)
        assert text_of(recalled) == "You asked “pasta with cream”; “hello”."
        other = await response(user_message("what did I ask you?"))
        assert text_of(other) == "This is your first question."

    async def test_a_question_refines_the_one_before(self) -> None:
        session = (await response(user_message("tomato soup")))["session_id"]
        document = await response(user_message("something lighter"), session_id=session)
        assert "Gazpacho" in text_of(document)


class TestEnds:
    async def test_every_handler_ends(self) -> None:
        for row in ROWS:
            assert re.search(row.pattern, row.text, re.I)
            found = await objects(user_message(row.text))
            assert found[-1]["object"] == "response"
            assert found[-1]["status"] in ("completed", "failed", "rejected", "canceled")
            assert all(message["status"] != "in_progress" for message in found[-1]["output"])

    async def test_an_error_in_mid_stream(self) -> None:
        found = await objects(user_message("break in the middle"))
        message, end = found[-2:]
        assert (message["status"], message["code"]) == ("failed", "AGENT_ERROR")
        assert (end["status"], end["error"]["code"]) == ("failed", "AGENT_ERROR")
        assert any(each.get("delta") for each in found)
        assert message["content"][0]["status"] == "failed"

    async def test_a_rejection_comes_before_any_work(self) -> None:
        found = await objects(user_message("reject me"))
        assert [each["status"] for each in found] == ["created", "rejected"]

    async def test_use_of_everything(self) -> None:
        document = await response(user_message("use everything you have"))
        assert set(kinds(document)) == {
            "plugin_call", "plugin_call_output", "component_call",
            "component_call_output", "function_call", "function_call_output", "mcp_list_tools",
            "heartbeat", "message", "error",
        }  # fmt: skip


class TestMessageTypes:
    """Types that the specification does not list are sent on request only (section 1)."""

    TEXTS = ("tomato soup", "What is in my pantry?", *(row.text for row in ROWS))

    async def sent(self, query: str) -> set[str]:
        session = {"session_id": f"s{query}"}
        kinds: set[str] = set()
        for text in self.TEXTS:
            body = {"input": [user_message(text)], "stream": False, "tools": [PANTRY], **session}
            document = (await post(body, query)).json()
            kinds |= {message["type"] for message in document["output"]}
        request = data_of(await response(user_message("order the ingredients"), **session),
                          "mcp_approval_request")  # fmt: skip
        yes = data_message("mcp_approval_response", approval_request_id=request["id"], approve=True)
        document = (await post({"input": [yes], "stream": False, **session}, query)).json()
        return kinds | {message["type"] for message in document["output"]}

    async def test_only_listed_ones_by_default(self) -> None:
        assert await self.sent("") <= set(constants.words("message", "type")[0])

    async def test_others_on_request(self) -> None:
        unlisted = await self.sent("&extensions=1") - set(constants.words("message", "type")[0])
        assert unlisted == {"reasoning", "mcp_call_output"}
