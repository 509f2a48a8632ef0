from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import registry
from tests.support.json_values import objects, values
from tests.support.playbook import target

REQUEST = {
    "query": {"text": "eggs", "site": "meals.example.com", "itemType": "Recipe"},
    "context": {"@type": "ConversationalContext", "prev": ["stale"], "text": "no nuts"},
    "prefer": {"streaming": True, "mode": "list"},
    "meta": {"version": "0.55", "user": "ada", "session_context": {"id": "old"}},
}
NAMES = ["query", "context", "meta", "prefer", "promise_token", "action", "@type", "prev", "text"]
REQUESTS = values(NAMES) | objects(NAMES)


def follow(request: Any, **given_: Any) -> dict[str, Any]:
    given = {"prev": [], "session_context": None, **given_}
    return registry.follow_up_document("nlweb", request, **given)


def test_the_next_request_of_a_conversation() -> None:
    assert follow(REQUEST, prev=["eggs"], session_context={"id": "new"}, text="and ham") == {
        "query": {"text": "and ham", "site": "meals.example.com"},
        "context": {"@type": "ConversationalContext", "prev": ["eggs"], "text": "no nuts"},
        "prefer": {"streaming": True, "mode": "list"},
        "meta": {"version": "0.55", "user": "ada", "session_context": {"id": "new"}},
    }


def test_it_begins_with_the_query() -> None:
    assert next(iter(follow({"meta": {}, "query": {"text": "a"}}))) == "query"


def test_what_there_is_not_to_take_along_is_taken_out() -> None:
    made = follow(REQUEST, text="ham")
    assert made["context"] == {"@type": "ConversationalContext", "text": "no nuts"}
    assert made["meta"] == {"version": "0.55", "user": "ada"}
    assert follow({"query": {"text": "a"}}, text="b") == {"query": {"text": "b"}}


def test_a_session_context_may_be_empty() -> None:
    assert follow({}, session_context={})["meta"] == {"session_context": {}}


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        (None, {"@type": "ConversationalContext", "prev": ["eggs"]}),
        ("words", {"@type": "ConversationalContext", "prev": ["eggs"]}),
        ({"memory": "m"}, {"memory": "m", "prev": ["eggs"]}),
        ({"@type": "UserDiet", "prev": 1}, {"@type": "UserDiet", "prev": 1}),
        ({"@type": ["a"]}, {"@type": ["a"]}),
        ({"@type": None}, {"@type": None, "prev": ["eggs"]}),
    ],
)
def test_previous_queries_by_kind_of_context(context: Any, expected: Any) -> None:
    assert follow({"context": context}, prev=["eggs"])["context"] == expected


@pytest.mark.parametrize("context", ["words", [1], {"@type": "UserDiet"}])
def test_a_context_without_queries_to_add_is_left_alone(context: Any) -> None:
    assert follow({"context": context})["context"] == context


def test_previous_queries_are_listed_once_in_a_row_and_not_for_ever() -> None:
    given = ["a", "a", "", "b", " ", "a", None, 5, ["x"], "a"]
    assert follow({}, prev=given)["context"]["prev"] == ["a", "b", "a"]
    many = [str(number) for number in range(70)]
    assert follow({}, prev=many)["context"]["prev"] == many[20:]


def test_after_a_promise_comes_a_query_again() -> None:
    request = {"promise_token": "t", "action": "checkin", "meta": {"version": "0.55"}}
    made = follow(request, text="ham")
    assert made == {"query": {"text": "ham"}, "meta": {"version": "0.55"}}
    assert registry.validate_request(target(), made) == []


def test_an_attribute_named_action_is_only_part_of_a_promise() -> None:
    assert follow({"query": {}, "action": "x"}, text="a") == {"query": {"text": "a"}, "action": "x"}


@pytest.mark.parametrize(
    ("request_", "text"),
    [(REQUEST, "eggs"), ({"query": "eggs"}, ""), ({"query": {"text": 5}}, ""), (None, "")],
)
def test_the_text_of_a_request(request_: Any, text: str) -> None:
    assert registry.query_text("nlweb", request_) == text


def test_nothing_is_changed_that_was_passed_in() -> None:
    request, prev, session = copy.deepcopy(REQUEST), ["eggs"], {"id": "new"}
    made = follow(request, prev=prev, session_context=session, text="ham")
    for name in ("query", "context", "meta"):
        made[name]["added"] = 1
    made["context"]["prev"].append("x")
    assert (request, prev, session) == (REQUEST, ["eggs"], {"id": "new"})


@given(REQUESTS, st.lists(values(["a"]), max_size=4), st.none() | objects(NAMES), st.text())
def test_any_request_is_followed(request: Any, prev: list[Any], session: Any, text: str) -> None:
    made = follow(request, prev=prev, session_context=session, text=text)
    assert made["query"]["text"] == text
    meta = made.get("meta")
    assert (meta.get("session_context") if isinstance(meta, dict) else None) == session
    assert json.dumps(made)
    again = follow(made, prev=prev, session_context=session, text=text)
    assert again == made


@pytest.mark.parametrize(
    ("meta", "version", "expected"),
    [
        ({"version": "0.55", "user": "ada"}, "0.54", {"version": "0.54", "user": "ada"}),
        ({"api_version": "0.54"}, "0.54", {"api_version": "0.54"}),
        ({"api_version": "0.54"}, "0.55", {"version": "0.55"}),
        ({"version": "0.54", "api_version": "0.54"}, "0.55", {"version": "0.55"}),
        ({}, "0.54", {"version": "0.54"}),
        (None, "0.55", {"version": "0.55"}),
    ],
)
def test_another_version(meta: Any, version: str, expected: Any) -> None:
    made = registry.with_version("nlweb", {"query": {"text": "a"}, "meta": meta}, version)
    assert made == {"query": {"text": "a"}, "meta": expected}
    assert registry.validate_request(target(version), made) == []


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"request_id": "req_1", "user": "ada"}, {"request_id": "req_2", "user": "ada"}),
        ({"user": "ada"}, {"user": "ada"}),
        ({}, {}),
        (None, None),
    ],
)
def test_another_request_id(meta: Any, expected: Any) -> None:
    assert registry.with_request_id("nlweb", {"meta": meta}, "req_2") == {"meta": expected}


def test_an_await_request_has_an_id_of_its_own() -> None:
    made = registry.await_request(
        "nlweb",
        "0.54",
        {"query": {"text": "a"}, "meta": {"version": "0.54", "request_id": "req_1"}},
        token="t",
        action="checkin",
        session_context=None,
        request_id="req_2",
    )
    assert made == {
        "promise_token": "t",
        "action": "checkin",
        "meta": {"version": "0.54", "request_id": "req_2"},
    }
