"""Requests: built, checked, put into words, and followed by the next one."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from playground.protocols import registry, schemas
from playground.protocols.agent_api import requests
from playground.protocols.agent_api.requests import new_request
from playground.protocols.events import ToolCall
from playground.protocols.exchange import RequestProblem, Target
from tests.support.agent_api_examples import REQUEST

ASKED = {"role": "user", "type": "message", "content": [{"type": "text", "text": "eggs?"}]}
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {}, "required": ["city"]},
    },
}
CALL = ToolCall(3, (2, 0), "call_1", "get_weather", "{}")
TARGET = Target("https://a.example.com/process", protocol="agent-api", version="1")


def follow(request: Any, session_context: Any, text: str = "") -> dict[str, Any]:
    return registry.of("agent-api").follow_up_document(
        request, prev=[], session_context=session_context, text=text
    )


def problems(document: Any) -> list[RequestProblem]:
    return registry.validate_request(TARGET, document)


class TestNew:
    def test_a_request(self) -> None:
        assert new_request("1", "eggs?") == {"input": [ASKED], "stream": True}
        assert new_request("1", "eggs?", streaming=False)["stream"] is False

    def test_of_no_version(self) -> None:
        with pytest.raises(ValueError, match="Unknown Agent API version '0"):
            new_request("0.55", "eggs?")

    def test_it_is_fine(self) -> None:
        assert problems(new_request("1", "eggs?")) == []
        assert problems(REQUEST) == []

    @pytest.mark.parametrize(
        ("document", "wanted"),
        [
            ({}, True),
            ({"stream": True}, True),
            ({"stream": None}, True),
            ({"stream": False}, False),
        ],
    )
    def test_a_stream_is_the_default(self, document: dict[str, Any], wanted: bool) -> None:
        call = registry.preview(TARGET, document)
        assert call
        assert call.streaming is wanted


def request_with(**members: Any) -> dict[str, Any]:
    """The request with other members."""
    return {**REQUEST, **members}


def message(**members: Any) -> dict[str, Any]:
    """The request with another message."""
    return {"input": [{**ASKED, **members}]}


def function(**members: Any) -> dict[str, Any]:
    """The request with a tool whose function is another."""
    return request_with(tools=[{**TOOL, "function": {**TOOL["function"], **members}}])  # type: ignore[dict-item]


#: A request, where something is wrong with it, whether it can be sent, and a word of why.
WRONG: list[tuple[Any, str, str, str]] = [
    ([], "", "error", "The request must be a JSON object."),
    ({}, "/input", "error", "requires a message"),
    ({"input": "eggs?"}, "/input", "error", "array"),
    ({"input": []}, "/input", "error", "requires a message"),
    ({"input": [ASKED, "eggs?"]}, "/input/1", "error",
     "Each entry of input must be a JSON object."),
    ({"input": [{}] * 30_000 + ["eggs?"]}, "/input/30000", "error", "JSON object"),
    (new_request("1", "  "), "/input/0/content", "error", "requires text"),
    (message(content=[]), "/input/0/content", "error", "requires text"),
    (message(role=None), "/input/0/role", "warning", "has no role"),
    (message(role="robot"), "/input/0/role", "warning", "roles"),
    (message(type="dream"), "/input/0/type", "warning", "type"),
    (message(content="eggs?"), "/input/0/content", "warning", "array of parts"),
    (message(content=[*ASKED["content"], 5]), "/input/0/content/1", "warning",  # type: ignore[misc]
     "Each entry of content must be a JSON object."),
    (message(content=[*ASKED["content"], {"type": "hologram"}]), "/input/0/content/1/type",  # type: ignore[misc]
     "warning", "types"),
    (message(content=[{"type": "text", "text": 5, "x": 1}, *ASKED["content"]]),  # type: ignore[misc]
     "/input/0/content/0/text", "warning", "a string"),
    (message(content=[{"type": "text"}, *ASKED["content"]]),  # type: ignore[misc]
     "/input/0/content/0/text", "warning", "text is required"),
    (message(content=[{"type": "image", "image_url": ""}]), "/input/0/content/0/image_url",
     "warning", "image_url"),
    (message(content=[{"type": "data", "data": 1}]), "/input/0/content/0/data", "warning", "data"),
    (message(type="function_call_output", content=[{"type": "data", "data": {"output": "1"}}]),
     "/input/0/content/0/data/call_id", "warning",
     "A function_call_output requires call_id: the id of the call."),
    (message(type="function_call_output", content=[
        {"type": "data", "data": {"call_id": " ", "output": "1"}}]),
     "/input/0/content/0/data/call_id", "warning",
     "A function_call_output requires call_id: the id of the call."),
    (message(type="mcp_approval_response", content=[{"type": "data", "data": {"approve": True}}]),
     "/input/0/content/0/data/approval_request_id", "warning",
     "An mcp_approval_response requires approval_request_id: the id of the request."),
    (message(type="function_call", content=[
        {"type": "data", "data": {"call_id": None, "name": "f", "arguments": ""}}]),
     "/input/0/content/0/data/call_id", "warning", "call_id must be a string."),
    (message(type="function_call_output", content=[{"type": "text", "text": "1"}]),
     "/input/0/content/0/type", "warning", "type data"),
    (message(type="mcp_approval_response", content=[
        {"type": "data", "data": {"approval_request_id": "a", "approve": "yes"}}]),
     "/input/0/content/0/data/approve", "warning", "true or false"),
    (request_with(stream="no"), "/stream", "warning", "true or false"),
    (request_with(temperature=2.1), "/temperature", "warning", "from 0 to 2"),
    (request_with(top_p=-0.1), "/top_p", "warning", "from 0 to 1"),
    (request_with(frequency_penalty=3), "/frequency_penalty", "warning", "from -2 to 2"),
    (request_with(presence_penalty="1"), "/presence_penalty", "warning", "from -2 to 2"),
    (request_with(max_tokens=0), "/max_tokens", "warning", "at least 1"),
    (request_with(max_tokens=1.5), "/max_tokens", "warning", "integer"),
    (request_with(n=6), "/n", "warning", "from 1 to 5"),
    (request_with(n=True), "/n", "warning", "from 1 to 5"),
    (request_with(seed="x"), "/seed", "warning", "integer"),
    (request_with(stop=1), "/stop", "warning", "array of strings"),
    (request_with(stop=["a", 1]), "/stop/1", "warning",
     "Each entry of stop must be a string."),
    (request_with(stop=["a"] * 2_000 + [1]), "/stop/2000", "warning", "a string"),
    ({"input": [{**ASKED, "content": ASKED["content"] * 1_000}] * 1_000, "stream": "no"},
     "/stream", "warning", "true or false"),
    (request_with(session_id=5), "/session_id", "warning", "a string"),
    (request_with(tools={}), "/tools", "warning", "array"),
    (request_with(tools=[5]), "/tools/0", "warning", "JSON object"),
    (request_with(tools=[{"type": "robot"}]), "/tools/0/type", "warning", "function"),
    (request_with(tools=[{"type": "function"}]), "/tools/0/function", "warning", "function"),
    (function(name=" "), "/tools/0/function/name", "warning", "name"),
    (function(description=None), "/tools/0/function/description", "warning", "description"),
    (function(parameters=[]), "/tools/0/function/parameters", "warning", "JSON Schema"),
    (function(parameters={"type": "array"}), "/tools/0/function/parameters/type", "warning",
     "object"),
    (function(parameters={"type": "object", "properties": []}),
     "/tools/0/function/parameters/properties", "warning", "object"),
    (function(parameters={"type": "object", "required": "city"}),
     "/tools/0/function/parameters/required", "warning", "array"),
    (request_with(**{"a/b~c": 1}), "/a~1b~0c", "warning", "a/b~c"),
]  # fmt: skip


class TestCheck:
    @pytest.mark.parametrize(("document", "pointer", "level", "word"), WRONG)
    def test_what_is_wrong(self, document: Any, pointer: str, level: str, word: str) -> None:
        (problem, *others) = problems(document)
        assert (problem.pointer, problem.level) == (pointer, level)
        assert word in problem.message
        # Nothing else stands in the way of sending.
        assert level == "error" or not [each for each in others if each.level == "error"]
        if word.startswith(("from ", "at least ", "integer")):
            schema = schemas.load("agent-api", "1", "request")
            found = jsonschema.Draft202012Validator(schema).iter_errors(document)
            assert [f"$.{pointer[1:]}"] == [error.json_path for error in found]

    @pytest.mark.parametrize(
        "members",
        [
            {"temperature": 0}, {"temperature": 2}, {"top_p": 1}, {"n": 5}, {"seed": -1},
            {"stop": "a"}, {"stop": ["a"]}, {"tools": [TOOL]}, {"tools": None}, {"n": None},
            {"session_id": "s", "response_id": "r", "user_id": "u"}, {"max_tokens": 1.0},
        ],
    )  # fmt: skip
    def test_what_is_fine(self, members: dict[str, Any]) -> None:
        assert problems(request_with(**members)) == []

    @pytest.mark.parametrize(
        "part",
        [
            {"type": "file", "file_id": "a"},
            {"type": "audio", "data": "UklG", "format": "wav"},
            {"type": "video", "video_url": "u", "text": None, "data": None, "image_url": None},
            {"type": "text", "text": "eggs?", "data": None, "image_url": None},
        ],
        ids=["file", "audio with data", "video with null members", "text with null members"],
    )
    def test_a_role_types_and_parts_of_running_agents_are_fine(self, part: dict[str, Any]) -> None:
        assert problems(message(role="tool", type="reasoning", content=[part])) == []


TEXTS: list[tuple[Any, str]] = [
    (REQUEST, "Describe this image"),
    ({"input": "eggs?"}, "eggs?"),
    ({"input": [{"role": "user", "content": " eggs? "}]}, "eggs?"),
    ({"input": [ASKED, {"role": "assistant", "content": "Yes"}]}, "eggs?"),
    ({"input": [{**ASKED, "content": [*ASKED["content"], {"text": "more"}]}]}, "eggs? more"),  # type: ignore[misc]
    ({"input": [ASKED, {"role": "user", "content": []}]}, "eggs?"),
    ({"input": [requests.output_message(CALL, "21 C")]}, "21 C"),
    ({"input": [requests.approval_message(CALL, True)]}, "Approved"),
    ({"input": [requests.approval_message(CALL, False, "Too late")]}, "Denied"),
    ({"input": [{"role": "user", "type": ["x"], "content": [{"data": {"output": 5}}]}]}, ""),
    ({"input": [{"role": "assistant", "type": ["x"], "content": "Yes"}]}, ""),
    ({}, ""),
    (None, ""),
]


@pytest.mark.parametrize(("document", "text"), TEXTS)
def test_what_a_request_says_in_words(document: Any, text: str) -> None:
    assert registry.query_text("agent-api", document) == text


BEFORE = {**REQUEST, "tools": [TOOL], "session_id": "old", "response_id": "r_1", "top_p": 0.5}
APPROVAL = ToolCall(3, (2, 0), "mcpr_1", "drop", "{}", "mcp_approval_request")


class TestTurns:
    def test_the_next_question(self) -> None:
        document = follow(BEFORE, {"session_id": "s", "response_id": "r_2"}, text="eggs?")
        assert document == {
            "input": [ASKED], "stream": True, "model": "gpt-4-vision", "tools": [TOOL],
            "top_p": 0.5, "session_id": "s", "response_id": "r_2",
        }  # fmt: skip
        assert problems(document) == []

    def test_without_a_session_and_with_other_members_of_one(self) -> None:
        document = follow(BEFORE, None, text="eggs?")
        assert not {"session_id", "response_id"} & document.keys()
        assert follow({}, {"a": 1, "session_id": "s"}).keys() == {"input", "session_id"}

    def test_what_a_conversation_is_called(self) -> None:
        came = {"response_id": "r_2"}
        named = {"session_id": "old", "response_id": "r_2"}
        for request, returned, context in (
            (BEFORE, came, named), (REQUEST, came, came), (REQUEST, None, None),
        ):  # fmt: skip
            assert registry.of("agent-api").session_context(request, returned) == context

    @pytest.mark.parametrize(
        ("said", "kind", "answer"),
        [
            (
                requests.output_message(CALL, "21 C"),
                "function_call_output",
                {"call_id": "call_1", "output": "21 C"},
            ),
            (
                requests.approval_message(APPROVAL, True),
                "mcp_approval_response",
                {"approval_request_id": "mcpr_1", "approve": True},
            ),
            (
                requests.approval_message(APPROVAL, False, "Not today"),
                "mcp_approval_response",
                {"approval_request_id": "mcpr_1", "approve": False, "reason": "Not today"},
            ),
        ],
        ids=["output", "approval", "refusal"],
    )
    def test_the_answer_to_a_call(self, said: Any, kind: str, answer: dict[str, Any]) -> None:
        document = requests.with_input(BEFORE, [said], {"session_id": "s"})
        content = [{"type": "data", "data": answer}]
        assert document["input"] == [{"role": "user", "type": kind, "content": content}]
        assert (document["session_id"], document["tools"]) == ("s", [TOOL])
        assert problems(document) == []

    def test_several_calls_are_answered_with_one_document(self) -> None:
        said = [requests.output_message(CALL, ""), requests.approval_message(APPROVAL, True)]
        document = requests.with_input(BEFORE, said, {"session_id": "s"})
        assert document["input"] == said
        assert problems(document) == []

    def test_nothing_that_was_passed_in_changes(self) -> None:
        kept = {**BEFORE, "input": [dict(ASKED)]}
        before = repr(kept)
        requests.with_input(kept, [requests.output_message(CALL, "21 C")], {"session_id": "s"})
        follow(kept, {"session_id": "s"}, text="x")
        assert repr(kept) == before


class TestOverHttp:
    def call(self, url: str, **members: Any) -> Any:
        target = Target(url, protocol="agent-api", version="1")
        call = registry.exchange(target, request_with(**members)).next_call()
        assert call
        return call

    @pytest.mark.parametrize(
        ("url", "sent"),
        [
            ("https://a.example.com/process", "https://a.example.com/process"),
            ("https://a.example.com/process/", "https://a.example.com/process/"),
            ("https://a.example.com/ask?k=1#top", "https://a.example.com/ask?k=1"),
            ("https://a.example.com", "https://a.example.com"),
        ],
    )
    def test_the_address_stays_as_it_is(self, url: str, sent: str) -> None:
        assert self.call(url).url == sent

    def test_what_is_accepted(self) -> None:
        url = "https://a.example.com/process"
        assert ("Accept", "text/event-stream") in self.call(url).headers
        assert ("Accept", "application/json") in self.call(url, stream=False).headers

    def test_there_are_no_promises(self) -> None:
        with pytest.raises(ValueError, match="no promises"):
            registry.of("agent-api").await_request("1", REQUEST, token="t", action="checkin")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, {"session_id": "ours", "user_id": "ours"}),
        ({"user_id": "ada"}, {"session_id": "ours", "user_id": "ada"}),
        ({"user_id": None}, {"session_id": "ours", "user_id": None}),
        ({"session_id": "s"}, {"session_id": "s"}),
        ({"session_id": None}, {"session_id": None}),
        ({"response_id": "r"}, {"response_id": "r"}),
    ],
)
def test_ids_of_a_first_request(document: dict[str, Any], expected: dict[str, Any]) -> None:
    assert requests.with_own_ids(document, "ours", with_user=True) == expected
    with_session = requests.with_own_ids(document, "ours", with_user=False)
    assert with_session == {
        **document,
        **({"session_id": "ours"} if expected.get("session_id") == "ours" else {}),
    }
