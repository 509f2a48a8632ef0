"""Requests: section 3 of both versions, and their problems; the next request of a conversation."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import registry, schemas
from playground.protocols.exchange import RequestProblem
from tests.support.json_values import objects, values
from tests.support.playbook import target

VERSIONS = ("0.54", "0.55")


def problems(document: Any, version: str = "0.55") -> list[RequestProblem]:
    return registry.validate_request(target(version), document)


def found(document: Any, version: str = "0.55") -> tuple[list[str], list[str]]:
    """Pointers of the errors and of the warnings; errors come first."""
    listed = problems(document, version)
    errors = [problem.pointer for problem in listed if problem.level == "error"]
    warnings = [problem.pointer for problem in listed if problem.level == "warning"]
    assert [problem.pointer for problem in listed] == errors + warnings
    return errors, warnings


def ask(**sections: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs"}, **sections}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("streaming", [True, False])
def test_a_new_request_is_what_check_and_schema_ask_for(version: str, streaming: bool) -> None:
    request = registry.of("nlweb").new_request(version, "pasta", streaming=streaming)
    assert request == {
        "query": {"text": "pasta"},
        "prefer": {"streaming": streaming},
        "meta": {"version": version},
    }
    assert problems(request, version) == []
    jsonschema.validate(request, schemas.load("nlweb", version, "ask-request"))


#: Requests that cannot be sent, and where.
ERRORS: list[tuple[Any, list[str]]] = [
    *((document, [""]) for document in (None, [], "eggs", 7, True)),
    *(({"query": query}, ["/query"]) for query in (None, [], "eggs", 7)),
    ({}, ["/query"]),
    *(({"query": query}, ["/query/text"]) for query in (
        {}, {"text": None}, {"text": ""}, {"text": " \n"}, {"text": 7}, {"text": ["eggs"]},
        {"text": {"text": "eggs"}}, {"text": False},
    )),
    ({"promise_token": " "}, ["/promise_token", "/action"]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "pointers"), ERRORS, ids=range(len(ERRORS)))
def test_what_cannot_be_sent(document: Any, pointers: list[str]) -> None:
    assert found(document) == (pointers, [])


def test_what_is_missing_is_said() -> None:
    assert problems({"query": {}}) == [
        RequestProblem("/query/text", "The query requires text.", "error")
    ]


CONTEXT = {"prev": ["a"], "text": "t", "memory": "m", "@context": {"any": "thing"}}
PREFER = ["streaming", "response_format", "mode", "accept-language", "user-agent"]
META = ["version", "session_context", "user", "remember", "request_id"]
AWAIT = {"promise_token": "p", "action": "checkin"}

#: Requests that depart from the specification, and where; none for those that do not.
WARNINGS: list[tuple[Any, str, list[str]]] = [
    # 3.1: filters may be of any type.
    *(
        ({"query": {"text": "a", "itemType": v, "location": v, "price": v, "x": v}}, "0.55", [])
        for v in ("Idaho", 7, 1.5, True, None, ["a", {"b": 1}], {"max": 20})
    ),
    ({"query": {"text": "eggs", "site": ["a"]}}, "0.55", ["/query/site"]),
    # 3.2: a context with a type of its own has attributes of its own.
    *(
        (ask(context={**context, **kind}), "0.55", pointers)
        for kind in ({}, {"@type": "ConversationalContext"})
        for context, pointers in (
            (CONTEXT, []),
            ({"prev": ["a", 1], "text": 1, "memory": ["m"]},
             ["/context/prev/1", "/context/text", "/context/memory"]),
        )
    ),
    (ask(context={"@type": "UserDiet", "@context": "https://a.example", "memory": ["m"]}),
     "0.55", []),
    (ask(context={"@type": 7}), "0.55", ["/context/@type"]),
    *((ask(**{name: value}), "0.55", [f"/{name}"])
      for name in ("context", "prefer", "meta") for value in ("x", None)),
    # 3.3
    (ask(prefer=dict.fromkeys(PREFER, 1)), "0.55", [f"/prefer/{name}" for name in PREFER]),
    # 3.4
    *((ask(meta={"user": user, "remember": True, "session_context": {}}), "0.55", [])
      for user in ("user_1", {"@type": "Person", "name": "Jane"})),
    (ask(meta=dict.fromkeys(META, 7)), "0.55", [f"/meta/{name}" for name in META]),
    (ask(meta={"version": "0.54"}), "0.55", ["/meta/version"]),
    (ask(meta={"version": "0.54"}), "0.54", []),
    # `api_version` is a name of 0.54 only, which says its type.
    (ask(meta={"api_version": 7}), "0.54", ["/meta/api_version"]),
    (ask(meta={"api_version": 7}), "0.55", ["/meta/api_version"]),
    (ask(meta={"api_version": "0.54"}), "0.54", []),
    (ask(meta={"api_version": "0.55"}), "0.55", ["/meta/api_version"]),
    (ask(**{"a/b~c": 1}), "0.55", ["/a~1b~0c"]),
    # 4.2
    *(({**AWAIT, "action": action, "meta": {"version": "0.55"}}, "0.55", [])
      for action in ("checkin", "cancel")),
    ({"promise_token": "p", "action": "poke", "prefer": {}}, "0.55", ["/action", "/prefer"]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "version", "pointers"), WARNINGS, ids=range(len(WARNINGS)))
def test_what_departs(document: Any, version: str, pointers: list[str]) -> None:
    assert found(document, version) == ([], pointers)


def test_errors_come_first() -> None:
    document = {"extra": 1, "query": {"text": ""}, "prefer": {"streaming": "yes"}}
    errors, warnings = found(document)
    assert (len(errors), len(warnings)) == (1, 2)


@pytest.mark.parametrize(
    ("document", "wanted"),
    [
        (ask(prefer={"streaming": True}), True),
        *((ask(prefer={"streaming": value}), False) for value in (False, None, "true")),
        *((ask(prefer=prefer), False) for prefer in ({}, [])),
        (ask(), False),
    ],
)
def test_a_stream_is_wanted_only_by_true(document: Any, wanted: bool) -> None:
    call = registry.preview(target(), document)
    assert call
    assert call.streaming is wanted


def test_an_await_request_is_told_by_its_token() -> None:
    for document, operation in ((AWAIT, "await"), (ask(), "ask"), (ask(promise_token="p"), "ask")):
        assert registry.of("nlweb").operation(document) == operation


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
    return registry.of("nlweb").follow_up_document(request, **given)


SITE = "meals.example.com"
CONVERSATION = {"@type": "ConversationalContext"}
CHECKIN = {"promise_token": "t", "action": "checkin", "meta": {"version": "0.55"}}

#: Requests, what is given for the next one, and that.
FOLLOWED: list[tuple[Any, dict[str, Any], dict[str, Any]]] = [
    (REQUEST, {"prev": ["eggs"], "session_context": {"id": "new"}, "text": "and ham"},
     {"query": {"text": "and ham", "site": SITE},
      "context": {**CONVERSATION, "prev": ["eggs"], "text": "no nuts"},
      "prefer": {"streaming": True, "mode": "list"},
      "meta": {"version": "0.55", "user": "ada", "session_context": {"id": "new"}}}),
    # What there is not to take along is taken out.
    (REQUEST, {"text": "ham"},
     {"query": {"text": "ham", "site": SITE}, "context": {**CONVERSATION, "text": "no nuts"},
      "prefer": {"streaming": True, "mode": "list"}, "meta": {"version": "0.55", "user": "ada"}}),
    ({"query": {"text": "a"}}, {"text": "b"}, {"query": {"text": "b"}}),
    ({"meta": {}, "query": {"text": "a"}}, {}, {"query": {"text": ""}, "meta": {}}),
    ({}, {"session_context": {}}, {"query": {"text": ""}, "meta": {"session_context": {}}}),
    # Previous queries, by the type of the context.
    *(({"context": context}, {"prev": ["eggs"]}, {"query": {"text": ""}, "context": expected})
      for context, expected in (
          (None, {**CONVERSATION, "prev": ["eggs"]}),
          ("words", {**CONVERSATION, "prev": ["eggs"]}),
          ({"memory": "m"}, {"memory": "m", "prev": ["eggs"]}),
          ({"@type": "UserDiet", "prev": 1}, {"@type": "UserDiet", "prev": 1}),
          ({"@type": ["a"]}, {"@type": ["a"]}),
          ({"@type": None}, {"@type": None, "prev": ["eggs"]}))),
    *(({"context": context}, {}, {"query": {"text": ""}, "context": context})
      for context in ("words", [1], {"@type": "UserDiet"})),
    # After a promise comes a query again; `action` is part of a promise only.
    (CHECKIN, {"text": "ham"}, {"query": {"text": "ham"}, "meta": {"version": "0.55"}}),
    ({"query": {}, "action": "x"}, {"text": "a"}, {"query": {"text": "a"}, "action": "x"}),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "given_", "expected"), FOLLOWED, ids=range(len(FOLLOWED)))
def test_the_next_request(request_: Any, given_: dict[str, Any], expected: dict[str, Any]) -> None:
    made = follow(request_, **given_)
    assert made == expected
    assert next(iter(made)) == "query"
    if request_ is CHECKIN:
        assert registry.validate_request(target(), made) == []


def test_previous_queries_are_listed_once_in_a_row_and_not_for_ever() -> None:
    given = ["a", "a", "", "b", " ", "a", None, 5, ["x"], "a"]
    assert follow({}, prev=given)["context"]["prev"] == ["a", "b", "a"]
    many = [str(number) for number in range(70)]
    assert follow({}, prev=many)["context"]["prev"] == many[20:]


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
    made = registry.of("nlweb").with_version({"query": {"text": "a"}, "meta": meta}, version)
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
    assert registry.of("nlweb").with_request_id({"meta": meta}, "req_2") == {"meta": expected}


def test_an_await_request_has_an_id_of_its_own() -> None:
    made = registry.of("nlweb").await_request(
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
