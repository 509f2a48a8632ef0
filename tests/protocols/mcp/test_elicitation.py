"""MCP's own questions in both generations, and the answers to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols.events import Constraints, Elicitation, Failure, Outcome, Result
from playground.protocols.mcp import elicitation
from tests.protocols.mcp.talk import MODERN, OLDER, Talk, known, new_exchange, rpc
from tests.support.json_values import objects, values

SCHEMA = {
    "type": "object",
    "properties": {
        "diet": {"type": "string", "enum": ["vegan", "none"], "enumNames": ["Vegan", "No diet"]},
        "size": {"oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}], "default": "s"},
        "extras": {
            "type": "array", "title": "Extras", "minItems": 1, "maxItems": 2,
            "items": {"anyOf": [{"const": "nuts", "title": "Nuts"}, {"const": "salt"}]},
            "default": ["nuts"],
        },
        "guests": {"type": "integer", "minimum": 1, "maximum": 12, "default": 4},
        "budget": {"type": "number", "description": "In euros."},
        "mail": {"type": "string", "format": "email", "minLength": 3, "maxLength": 50},
        "dessert": {"type": "boolean", "default": True},
        "level": {"enum": [1, 2]},
    },
    "required": ["diet", "guests"],
}  # fmt: skip
PARAMS = {"mode": "form", "message": "Who is coming?", "requestedSchema": SCHEMA}
VALUES: dict[str, Any] = {
    "diet": "none", "size": "l", "extras": ["salt"], "guests": 3.0, "budget": 9.5,
    "mail": "a@b.de", "dessert": False, "level": "2",
}  # fmt: skip
CONTENT = {**VALUES, "guests": 3, "level": 2}


def asked_in_call(params: Any = PARAMS, **fields: Any) -> Elicitation:
    """The question of a server that asks in mid-call."""
    talk = known(handshake=OLDER, **fields).stream(
        rpc("q7", method="elicitation/create", params=params)
    )
    [event] = talk.of(Elicitation)
    assert isinstance(event, Elicitation)
    return event


def resumed(event: Elicitation, action: str = "accept", /, **values: Any) -> Any:
    assert event.resume is not None
    return elicitation.resume_of(event.resume, action, values)


def test_a_schema_becomes_questions() -> None:
    event = asked_in_call()
    assert event.text == "Who is coming?"
    found = {question.id: question for question in event.questions}
    assert {name: question.type for name, question in found.items()} == {
        "diet": "single_select", "size": "single_select", "extras": "multi_select",
        "guests": "number", "budget": "number", "mail": "free_text", "dessert": "boolean",
        "level": "single_select",
    }  # fmt: skip
    assert (found["diet"].options, found["diet"].labels) == (
        ("vegan", "none"), ("Vegan", "No diet"),
    )  # fmt: skip
    assert found["size"].labels == ("Small", "l")
    assert (found["extras"].labels, found["extras"].default) == (("Nuts", "salt"), ["nuts"])
    assert found["extras"].text == "Extras"
    assert found["level"].options == ("1", "2")
    assert found["budget"].hint == "In euros."
    assert (found["guests"].default, found["dessert"].default) == (4, True)
    assert found["guests"].constraints == Constraints(
        required=True, integer=True, minimum=1, maximum=12
    )
    assert found["extras"].constraints == Constraints(minimum=1, maximum=2)
    assert found["mail"].constraints == Constraints(min_length=3, max_length=50, format="email")


@pytest.mark.parametrize("length", [10**400, 2**60, -1, 3.5, True, "3", None])
def test_a_length_that_no_text_has_is_none(length: Any) -> None:
    # A number of hundreds of digits cannot be written as one of the page's.
    own = {"type": "string", "minLength": length, "maxLength": length}
    [question] = asked_in_call({"requestedSchema": {"properties": {"a": own}}}).questions
    assert question.constraints == Constraints()


@pytest.mark.parametrize(
    "params",
    [
        None, [], "x", {}, {"message": 5}, {"requestedSchema": []},
        {"requestedSchema": {"properties": []}}, {"requestedSchema": {"properties": {"a": 5}}},
        {"requestedSchema": {"properties": {"": {}}, "required": "x"}},
        {"requestedSchema": {"properties": {"a": {"enum": "x", "oneOf": [5, {}], "items": 7}}}},
        {"requestedSchema": {"properties": {"a": {"minimum": 10**400, "minLength": -1}}}},
        {"requestedSchema": {"properties": {"a": {"enum": [None, {}, [1], True]}}}},
    ],
)  # fmt: skip
def test_whatever_a_server_asks_can_be_answered(params: Any) -> None:
    event = asked_in_call(params)
    values = {question.id: "x" for question in event.questions}
    for action in elicitation.ACTIONS:
        resume = resumed(event, action, **values)
        assert resume["result"]["action"] == action


def test_too_many_questions_are_cut() -> None:
    properties: dict[str, Any] = {f"p{number}": {} for number in range(2000)}
    event = asked_in_call({"requestedSchema": {"properties": properties}})
    assert len(event.questions) == elicitation.MAX_QUESTIONS


def test_an_answer_into_the_call_is_a_response_in_its_session() -> None:
    resume = resumed(asked_in_call(), **VALUES)
    talk = Talk(new_exchange(resume=resume, handshake=MODERN)).json(b"", 202)
    assert talk.sent == [
        {"jsonrpc": "2.0", "id": "q7", "result": {"action": "accept", "content": CONTENT}}
    ]
    headers = dict(talk.calls[0].headers)
    assert (headers["Mcp-Session-Id"], headers["MCP-Protocol-Version"]) == ("s1", "2025-06-18")
    assert talk.exchange.next_call() is None
    assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.NONE, None)


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_declining_is_really_said(action: str) -> None:
    resume = resumed(asked_in_call(), action, **VALUES)
    talk = Talk(new_exchange(resume=resume)).json(b"", 202)
    assert talk.sent[0]["result"] == {"action": action}
    assert elicitation.action_of(resume) == action


@pytest.mark.parametrize(("body", "status"), [(b"", 404), (b"Gone", 410), (b"{}", 500)])
def test_an_answer_that_nobody_waits_for_has_failed(body: bytes, status: int) -> None:
    talk = Talk(new_exchange(resume=resumed(asked_in_call()))).json(body, status)
    assert talk.exchange.problem is not None
    assert talk.exchange.next_call() is None


def test_the_server_is_waited_for_while_it_waits() -> None:
    talk = known(handshake=OLDER).call()
    assert not talk.exchange.is_waiting_for_user
    question = rpc("q", method="elicitation/create", params=PARAMS)
    talk = known(handshake=OLDER).stream(question)
    # The stream has ended here without an answer: nobody waits any more.
    assert not talk.exchange.is_waiting_for_user
    assert talk.exchange.outcome is Outcome.ELICITATION
    talk = known(handshake=OLDER).stream(question, rpc(result={"results": [{}]}))
    assert talk.exchange.outcome is Outcome.ANSWER
    assert len(talk.of(Result)) == 1


class TestInputRequired:
    def asked(self, **members: Any) -> Talk:
        return known().result({"resultType": "input_required", **members})

    def test_the_answer_goes_with_the_same_call_again(self) -> None:
        requests = {"wishes": {"method": "elicitation/create", "params": PARAMS}}
        talk = self.asked(inputRequests=requests, requestState="opaque")
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ELICITATION, None)
        [event] = talk.of(Elicitation)
        assert [question.id for question in event.questions][:2] == ["diet", "size"]
        again = known(resume=resumed(event, **VALUES)).call()
        assert again.sent[0]["params"]["inputResponses"] == {
            "wishes": {"action": "accept", "content": CONTENT}
        }
        assert again.sent[0]["params"]["requestState"] == "opaque"
        assert again.sent[0]["params"]["arguments"] == talk.sent[0]["params"]["arguments"]

    def test_several_requests_are_one_form(self) -> None:
        schema = {"properties": {"name": {"type": "string"}}}
        one = {
            "method": "elicitation/create",
            "params": {"message": "A", "requestedSchema": schema},
        }
        visit = {"mode": "url", "message": "B", "url": "https://pay.example.com/"}
        requests = {
            "a": one, "b": one, "c": {"method": "elicitation/create", "params": visit},
            "r": {"method": "roots/list"},
        }  # fmt: skip
        [event] = self.asked(inputRequests=requests).of(Elicitation)
        assert [question.id for question in event.questions] == ["a.name", "b.name"]
        assert (event.text, event.links) == ("A\nB", ("https://pay.example.com/",))
        resume = resumed(event, **{"a.name": "x", "b.name": "y"})
        assert resume["inputResponses"] == {
            "a": {"action": "accept", "content": {"name": "x"}},
            "b": {"action": "accept", "content": {"name": "y"}},
            "c": {"action": "accept"},
            "r": {"roots": []},
        }
        assert "requestState" not in resume

    def test_a_state_alone_is_carried_back(self) -> None:
        [event] = self.asked(requestState="later").of(Elicitation)
        assert resumed(event)["requestState"] == "later"

    @pytest.mark.parametrize(
        "members",
        [{}, {"inputRequests": {"m": {"method": "sampling/createMessage"}}}, {"inputRequests": 5}],
    )
    def test_what_no_user_can_answer_is_a_failure(self, members: Any) -> None:
        talk = self.asked(**members)
        assert [event.code for event in talk.of(Failure)] == ["INPUT_REQUIRED"]
        assert talk.exchange.outcome is Outcome.FAILURE


def test_an_address_to_visit_is_accepted_without_content() -> None:
    event = asked_in_call({"mode": "url", "message": "Log in", "url": "https://login.example.com"})
    assert (event.links, event.questions) == (("https://login.example.com",), ())
    assert resumed(event)["result"] == {"action": "accept"}


def test_an_error_that_wants_an_address_visited_is_a_question() -> None:
    visits = [{"mode": "url", "message": "Log in", "url": "https://login.example.com"}]
    error = {"code": -32042, "message": "Elicitation required", "data": {"elicitations": visits}}
    talk = known().json(rpc(error=error))
    [event] = talk.of(Elicitation)
    assert event.links == ("https://login.example.com",)
    assert talk.exchange.outcome is Outcome.ELICITATION
    assert resumed(event) is None  # The same request again.
    bare = known().json(rpc(error={"code": -32042, "message": "Elicitation required"}))
    assert bare.exchange.outcome is Outcome.FAILURE


def test_there_are_three_ways_to_answer() -> None:
    event = asked_in_call()
    assert event.resume is not None
    with pytest.raises(ValueError, match="accept, decline, cancel"):
        elicitation.resume_of(event.resume, "shrug", {})


@pytest.mark.parametrize("resume", [None, {}, [], {"kind": "mcp-input"}, {"result": {"action": 5}}])
def test_what_is_no_answer_has_no_action(resume: Any) -> None:
    assert elicitation.action_of(resume) == ""


NAMES = (
    "requestedSchema", "properties", "enum", "oneOf", "const", "items", "inputRequests", "method",
    "params", "message", "mode", "url", "type", "requestState", "elicitations",
)  # fmt: skip
TEXTS = ("elicitation/create", "array", "integer", "form", "url", "https://a.example")


@given(values(NAMES, TEXTS), objects(NAMES, TEXTS), st.sampled_from(elicitation.ACTIONS))
def test_every_question_has_an_answer_that_can_be_sent(
    params: Any, answers: dict[str, Any], action: str
) -> None:
    asked: list[Elicitation | None] = [
        elicitation.elicitation_request(1, "x", params, "", ""),
        elicitation.url_elicitation(1, params),
    ]
    if isinstance(params, dict):
        asked.append(elicitation.input_requests(1, params))
    for event in asked:
        if event is None:
            continue
        assert event.resume is not None
        values = {
            question.id: answer
            for question, answer in zip(event.questions, answers.values(), strict=False)
        }
        resume = elicitation.resume_of(event.resume, action, values)
        assert new_exchange(resume=resume, handshake=MODERN).next_call() is not None
