"""Requests: section 3 of both versions."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from playground.protocols import nlweb, schemas
from playground.protocols.exchange import RequestProblem

VERSIONS = ("0.54", "0.55")


def found(document: Any, version: str = "0.55") -> list[tuple[str, str]]:
    return [
        (problem.pointer, problem.level) for problem in nlweb.validate_request(document, version)
    ]


def ask(**sections: Any) -> dict[str, Any]:
    return {"query": {"text": "eggs"}, **sections}


class TestNewRequest:
    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize("streaming", [True, False])
    def test_is_what_check_and_schema_ask_for(self, version: str, streaming: bool) -> None:
        request = nlweb.new_request(version, "pasta", streaming=streaming)
        assert request == {
            "query": {"text": "pasta"},
            "prefer": {"streaming": streaming},
            "meta": {"version": version},
        }
        assert nlweb.validate_request(request, version) == []
        jsonschema.validate(request, schemas.load("nlweb", version, "ask-request"))

    def test_of_an_unknown_version(self) -> None:
        with pytest.raises(ValueError, match=r"'0\.56'\. Supported: legacy, 0\.54, 0\.55"):
            nlweb.new_request("0.56", "pasta")


class TestQuery:
    """Section 3.1."""

    @pytest.mark.parametrize("document", [None, [], "eggs", 7, True])
    def test_a_request_is_an_object(self, document: Any) -> None:
        assert found(document) == [("", "error")]

    @pytest.mark.parametrize("query", [None, [], "eggs", 7])
    def test_the_query_is_an_object(self, query: Any) -> None:
        assert found({"query": query}) == [("/query", "error")]

    def test_the_query_is_required(self) -> None:
        assert found({}) == [("/query", "error")]

    @pytest.mark.parametrize("query", [{}, {"text": None}, {"text": ""}, {"text": " \n"}])
    def test_the_text_is_required(self, query: Any) -> None:
        (problem,) = nlweb.validate_request({"query": query}, "0.55")
        assert problem == RequestProblem("/query/text", "The query requires text.", "error")

    @pytest.mark.parametrize("text", [7, ["eggs"], {"text": "eggs"}, False])
    def test_the_text_is_a_string(self, text: Any) -> None:
        assert found({"query": {"text": text}}) == [("/query/text", "error")]

    @pytest.mark.parametrize("value", ["Idaho", 7, 1.5, True, None, ["a", {"b": 1}], {"max": 20}])
    def test_filters_may_be_of_any_type(self, value: Any) -> None:
        query = {"text": "eggs", "itemType": value, "location": value, "price": value, "x": value}
        assert found({"query": query}) == []

    def test_site_is_a_string(self) -> None:
        assert found({"query": {"text": "eggs", "site": ["a"]}}) == [("/query/site", "warning")]


class TestContext:
    """Section 3.2."""

    @pytest.mark.parametrize("kind", [{}, {"@type": "ConversationalContext"}])
    def test_conversational(self, kind: Any) -> None:
        good = {"prev": ["a"], "text": "t", "memory": "m", "@context": {"any": "thing"}, **kind}
        assert found(ask(context=good)) == []
        bad = {"prev": ["a", 1], "text": 1, "memory": ["m"], **kind}
        pointers = ["/context/prev", "/context/text", "/context/memory"]
        assert found(ask(context=bad)) == [(pointer, "warning") for pointer in pointers]

    def test_a_type_of_its_own_has_attributes_of_its_own(self) -> None:
        context = {"@type": "UserDiet", "@context": "https://example.com/diet", "memory": ["m"]}
        assert found(ask(context=context)) == []

    def test_the_type_is_a_string(self) -> None:
        assert found(ask(context={"@type": 7})) == [("/context/@type", "warning")]

    @pytest.mark.parametrize("section", ["context", "prefer", "meta"])
    def test_sections_are_objects(self, section: str) -> None:
        assert found(ask(**{section: "x"})) == [(f"/{section}", "warning")]
        assert found(ask(**{section: None})) == [(f"/{section}", "warning")]


class TestPrefer:
    """Section 3.3."""

    def test_types(self) -> None:
        names = ["streaming", "response_format", "mode", "accept-language", "user-agent"]
        assert found(ask(prefer=dict.fromkeys(names, 1))) == [
            (f"/prefer/{name}", "warning") for name in names
        ]

    @pytest.mark.parametrize(
        ("document", "wanted"),
        [
            (ask(prefer={"streaming": True}), True),
            (ask(prefer={"streaming": False}), False),
            (ask(prefer={"streaming": None}), False),
            (ask(prefer={"streaming": "true"}), False),
            (ask(prefer={}), False),
            (ask(prefer=[]), False),
            (ask(), False),
        ],
    )
    def test_a_stream_is_wanted_only_by_true(self, document: Any, wanted: bool) -> None:
        assert nlweb.wants_stream(document) is wanted


class TestMeta:
    """Section 3.4."""

    @pytest.mark.parametrize("user", ["user_1", {"@type": "Person", "name": "Jane"}])
    def test_user_is_a_string_or_an_object(self, user: Any) -> None:
        assert found(ask(meta={"user": user, "remember": True, "session_context": {}})) == []

    def test_types(self) -> None:
        names = ["version", "session_context", "user", "remember"]
        assert found(ask(meta=dict.fromkeys(names, 7))) == [
            (f"/meta/{name}", "warning") for name in names
        ]

    def test_a_version_that_is_not_the_targets(self) -> None:
        assert found(ask(meta={"version": "0.54"})) == [("/meta/version", "warning")]
        assert found(ask(meta={"version": "0.54"}), "0.54") == []

    def test_api_version_is_a_name_of_0_54_only(self) -> None:
        assert found(ask(meta={"api_version": "0.54"}), "0.54") == []
        assert found(ask(meta={"api_version": "0.55"}), "0.55") == [
            ("/meta/api_version", "warning")
        ]

    def test_unknown_sections(self) -> None:
        assert found(ask(**{"a/b~c": 1})) == [("/a~1b~0c", "warning")]

    def test_errors_come_first(self) -> None:
        document = {"extra": 1, "query": {"text": ""}, "prefer": {"streaming": "yes"}}
        assert [level for _, level in found(document)] == ["error", "warning", "warning"]

    def test_an_unknown_version_is_our_own_mistake(self) -> None:
        with pytest.raises(ValueError, match="Supported:"):
            nlweb.validate_request(ask(), "1.0")


class TestAwait:
    """Section 4.2."""

    def test_is_told_by_its_token(self) -> None:
        assert nlweb.operation({"promise_token": "p", "action": "checkin"}) == "await"
        assert nlweb.operation(ask()) == "ask"
        assert nlweb.operation(ask(promise_token="p")) == "ask"

    @pytest.mark.parametrize("action", ["checkin", "cancel"])
    def test_is_fine(self, action: str) -> None:
        assert found({"promise_token": "p", "action": action, "meta": {"version": "0.55"}}) == []

    def test_what_is_missing(self) -> None:
        assert found({"promise_token": " "}) == [("/promise_token", "error"), ("/action", "error")]

    def test_what_departs(self) -> None:
        document = {"promise_token": "p", "action": "poke", "prefer": {}}
        assert found(document) == [("/action", "warning"), ("/prefer", "warning")]
