"""Requests: section 3 of both versions. A document goes in, problems with pointers come out."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from playground.protocols import registry, schemas
from playground.protocols.exchange import RequestProblem
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
    request = registry.new_request("nlweb", version, "pasta", streaming=streaming)
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
META = ["version", "session_context", "user", "remember"]
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
             ["/context/prev", "/context/text", "/context/memory"]),
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
    # `api_version` is a name of 0.54 only.
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
        assert registry.operation("nlweb", document) == operation
