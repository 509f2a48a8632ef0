"""The demo over the Agent API: its lifecycle, its scenes, and its ways to break."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from playground.demo.corpus import Corpus

pytestmark = pytest.mark.django_db(transaction=True)

PANTRY = {
    "type": "function",
    "function": {
        "name": "get_pantry",
        "description": "What is in the pantry.",
        "parameters": {
            "type": "object",
            "properties": {"shelf": {"type": "string", "enum": ["top", "bottom"]}},
            "required": ["shelf"],
        },
    },
}

CALENDAR = {"type": "function", "function": {"name": "get_calendar"}}


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "type": "message", "content": [{"type": "text", "text": text}]}


def told(kind: str, **data: Any) -> dict[str, Any]:
    return {"role": "user", "type": kind, "content": [{"type": "data", "data": data}]}


async def post(body: Any) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body)
    return await AsyncClient().post("/demo/agent-api?pace=0", data, content_type="application/json")


async def objects(*messages: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """The objects of a stream."""
    reply = await post({"input": list(messages), **more})
    assert reply.headers["Content-Type"] == "text/event-stream"
    frames = b"".join([chunk async for chunk in reply]).decode().split("\n\n")
    assert frames.pop() == ""
    return [json.loads(frame.removeprefix("data: ")) for frame in frames]


async def response(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The response in one piece."""
    reply = await post({"input": list(messages), "stream": False, **more})
    assert reply.status_code == 200
    document: dict[str, Any] = reply.json()
    return document


def kinds(document: dict[str, Any]) -> list[str]:
    return [message["type"] for message in document["output"]]


def data_of(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """The data of the only message of a type."""
    (message,) = [each for each in document["output"] if each["type"] == kind]
    data: dict[str, Any] = message["content"][0]["data"]
    return data


def text_of(document: dict[str, Any]) -> str:
    """What the last message says."""
    return str(document["output"][-1]["content"][0]["text"])


@pytest.fixture(autouse=True)
def known(corpus: Corpus) -> Corpus:
    return corpus


class TestLifecycle:
    async def test_of_a_stream(self) -> None:
        found = await objects(said("tomato soup"))
        assert [each["sequence_number"] for each in found] == [str(n) for n in range(len(found))]
        responses = [each for each in found if each["object"] == "response"]
        assert [each["status"] for each in responses] == ["created", "in_progress", "completed"]
        assert found[:2] == responses[:2]
        end = found[-1]
        assert end == responses[2]
        assert kinds(end) == ["reasoning", "function_call", "function_call_output", "message"]
        assert end["usage"]["total_tokens"] == sum(
            end["usage"][name] for name in ("input_tokens", "output_tokens")
        )
        assert end["completed_at"] >= end["created_at"]
        for message in end["output"]:
            told = [each for each in found if each.get("id") == message["id"]]
            assert [each["status"] for each in told] == ["created", "in_progress", "completed"]

    async def test_pieces_make_the_text(self) -> None:
        found = await objects(said("tomato soup"))
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
        streamed = (await objects(said("tomato soup")))[-1]
        document = await response(said("tomato soup"))
        assert kinds(document) == kinds(streamed)
        assert text_of(document) == text_of(streamed)
        assert document["status"] == "completed"

    async def test_what_was_found_comes_as_picture_and_data(self) -> None:
        _, image, data = (await response(said("tomato soup")))["output"][-1]["content"]
        assert image["type"] == "image"
        assert image["image_url"].endswith("/static/demo/pot.svg")
        items = data["data"]["results"]
        assert items[0]["image"] == image["image_url"]
        assert {item["@type"] for item in items} == {"Recipe"}

    async def test_the_call_is_paired_with_its_output(self) -> None:
        document = await response(said("tomato soup"))
        call = data_of(document, "function_call")
        output = data_of(document, "function_call_output")
        assert json.loads(call["arguments"]) == {"query": "tomato soup", "limit": 3}
        assert output["call_id"] == call["call_id"]
        assert json.loads(output["output"])[0]["name"].endswith("Grilled Cheese")

    async def test_nothing_found_is_an_answer(self) -> None:
        document = await response(said("zzzzz"))
        assert document["status"] == "completed"
        assert "Nothing here fits" in text_of(document)

    async def test_no_words(self) -> None:
        document = await response(said("???"))
        assert (document["status"], document["error"]["code"]) == ("failed", "INVALID_QUERY")


class TestSessions:
    async def test_one_is_named_and_kept(self) -> None:
        first = await response(said("pasta with cream"))
        session = first["session_id"]
        assert (await response(said("hello"), session_id=session))["session_id"] == session
        recalled = await response(said("what did I ask you?"), session_id=session)
        assert text_of(recalled) == "You asked “pasta with cream”; “hello”."
        other = await response(said("what did I ask you?"))
        assert text_of(other) == "This is your first question."

    async def test_a_question_refines_the_one_before(self) -> None:
        session = (await response(said("tomato soup")))["session_id"]
        document = await response(said("something lighter"), session_id=session)
        assert "Gazpacho" in text_of(document)


class TestCallsOfTheCaller:
    async def call(self) -> tuple[str, dict[str, Any]]:
        text = "What can I cook with what is in my pantry?"
        document = await response(said(text), tools=[PANTRY])
        assert kinds(document) == ["reasoning", "function_call"]
        assert document["status"] == "completed"
        return document["session_id"], data_of(document, "function_call")

    @pytest.mark.parametrize(
        "output", ['["eggs", "flour"]', "eggs, flour", '{"items": ["eggs", "flour"]}']
    )
    async def test_the_answer_goes_on(self, output: str) -> None:
        session, call = await self.call()
        assert call["name"] == "get_pantry"
        assert json.loads(call["arguments"]) == {"shelf": "top"}
        answer = told("function_call_output", call_id=call["call_id"], output=output)
        document = await response(answer, session_id=session, tools=[PANTRY])
        assert text_of(document).startswith("get_pantry says: eggs, flour. ")
        assert document["output"][-1]["content"][-1]["data"]["results"]

    async def test_an_empty_answer(self) -> None:
        session, call = await self.call()
        answer = told("function_call_output", call_id=call["call_id"], output="[]")
        assert "nothing to say" in text_of(await response(answer, session_id=session))

    async def test_an_answer_that_nobody_waits_for(self) -> None:
        session, call = await self.call()
        for other in ({"call_id": "x", "output": "y"}, {"call_id": call["call_id"], "output": "y"}):
            answer = told("function_call_output", **other)
            document = await response(answer, session_id=session)
            assert document["error"]["code"] == "UNKNOWN_CALL"

    async def call_two(self) -> tuple[str, list[dict[str, Any]]]:
        text = "Check my pantry and my calendar"
        document = await response(said(text), tools=[PANTRY, CALENDAR, CALENDAR])
        assert kinds(document) == ["reasoning", "function_call", "function_call"]
        calls = [message["content"][0]["data"] for message in document["output"][1:]]
        assert [call["name"] for call in calls] == ["get_pantry", "get_calendar"]
        return document["session_id"], calls

    async def test_two_at_once(self) -> None:
        session, calls = await self.call_two()
        answers = [
            told("function_call_output", call_id=call["call_id"], output=output)
            for call, output in zip(calls, ('["eggs"]', "flour"), strict=True)
        ]
        document = await response(*answers, session_id=session)
        assert text_of(document).startswith("get_pantry says: eggs. get_calendar says: flour. ")

    async def test_one_of_two_is_not_enough(self) -> None:
        session, calls = await self.call_two()
        both = [told("function_call_output", call_id=call["call_id"], output="") for call in calls]
        document = await response(both[0], session_id=session)
        assert document["error"]["code"] == "MISSING_OUTPUT"
        assert "get_calendar is missing" in document["error"]["message"]
        document = await response(*both, session_id=session)
        assert text_of(document).startswith("get_pantry and get_calendar have nothing to say")

    async def test_a_function_that_does_not_fit_is_not_called(self) -> None:
        document = await response(said("tomato soup"), tools=[PANTRY])
        assert data_of(document, "function_call")["name"] == "search_recipes"


class TestApproval:
    async def ask(self) -> tuple[str, dict[str, Any]]:
        document = await response(said("order the ingredients"))
        assert kinds(document) == ["mcp_list_tools", "mcp_approval_request"]
        return document["session_id"], data_of(document, "mcp_approval_request")

    async def test_approved(self) -> None:
        session, asked = await self.ask()
        yes = told("mcp_approval_response", approval_request_id=asked["id"], approve=True)
        document = await response(yes, session_id=session)
        assert kinds(document) == ["mcp_call", "mcp_call_output", "message"]
        cart = (await AsyncClient().get("/demo/cart/")).json()
        assert cart["items"][0]["content"] == json.loads(asked["arguments"])

    async def test_refused(self) -> None:
        session, asked = await self.ask()
        no = told("mcp_approval_response", approval_request_id=asked["id"], approve=False)
        document = await response(no, session_id=session)
        assert text_of(document) == "Then I will not order anything."
        assert (await AsyncClient().get("/demo/cart/")).json()["count"] == 0


class TestEnds:
    async def test_every_scene_ends(self) -> None:
        for row in ROWS:
            assert row.pattern.search(row.text)
            found = await objects(said(row.text))
            assert found[-1]["object"] == "response"
            assert found[-1]["status"] in ("completed", "failed", "rejected", "canceled")
            assert all(message["status"] != "in_progress" for message in found[-1]["output"])

    async def test_an_error_in_mid_stream(self) -> None:
        found = await objects(said("break in the middle"))
        message, end = found[-2:]
        assert (message["status"], message["code"]) == ("failed", "AGENT_ERROR")
        assert (end["status"], end["error"]["code"]) == ("failed", "AGENT_ERROR")
        assert any(each.get("delta") for each in found)
        assert message["content"][0]["status"] == "failed"

    async def test_a_rejection_comes_before_any_work(self) -> None:
        found = await objects(said("reject me"))
        assert [each["status"] for each in found] == ["created", "rejected"]

    async def test_use_of_everything(self) -> None:
        document = await response(said("use everything you have"))
        assert set(kinds(document)) == {
            "reasoning", "plugin_call", "plugin_call_output", "component_call",
            "component_call_output", "function_call", "function_call_output", "mcp_list_tools",
            "heartbeat", "message", "error",
        }  # fmt: skip


class TestBroken:
    async def broken(self, name: str) -> list[dict[str, Any]]:
        return await objects(said(f"broken: {name}"))

    @pytest.mark.parametrize("name", BROKEN)
    async def test_every_way_is_played(self, name: str) -> None:
        found = await self.broken(name)
        last = found[-1]
        ends = last.get("object") == "response" and last["status"] == "completed"
        assert ends == BROKEN[name].ends
        assert (await post({"input": [said(f"broken: {name}")], "stream": False})).json()

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
        document = await response(said("broken: heart"))
        assert "reasoning" in kinds(document)
