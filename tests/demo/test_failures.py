"""Every failure code (section 4.1.4) with its status (section 7.4), requested and provoked."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo import decide
from playground.demo.failures import CODES, LISTED, FailureError, listed_code
from tests.demo.conftest import Ask, check

OK = {"query": {"text": "soup"}}


class TestOnRequest:
    @pytest.mark.parametrize(
        ("version", "code"), [(version, code) for version in LISTED for code in LISTED[version]]
    )
    async def test_every_code_can_be_had(self, ask: Ask, code: str, version: str) -> None:
        reply = await ask(f"fail {code.lower()}", version=version)
        assert reply.code == code
        assert reply.status == CODES[code].status
        check(version, "failure", reply.document)
        assert ("timestamp" in reply.meta) == (version == "0.54")

    @pytest.mark.parametrize("code", ["TIMEOUT", "TOKEN_LIMIT"])
    async def test_a_stream_breaks_off(self, ask: Ask, code: str) -> None:
        reply = await ask(f"fail {code}", streaming=True)
        assert [name for name, _ in reply.events] == [
            "start", "result", "result", "result", "error", "complete",
        ]  # fmt: skip
        error = reply.data_of("error")[0]
        check("0.55", "failure", error)
        assert error["error"]["code"] == code

    async def test_054_has_no_event_for_an_error(self, ask: Ask) -> None:
        reply = await ask("soup that fails", version="0.54", streaming=True)
        assert (reply.status, reply.code) == (200, "NO_RESULTS")

    async def test_what_goes_wrong_before_a_stream_is_a_document(self, ask: Ask) -> None:
        reply = await ask("fail INTERNAL_ERROR", streaming=True)
        assert (reply.status, reply.code) == (500, "INTERNAL_ERROR")

    async def test_rate_limited_says_when(self, ask: Ask) -> None:
        reply = await ask("fail RATE_LIMITED")
        assert (reply.status, reply.headers["Retry-After"]) == (429, "5")

    @pytest.mark.parametrize(
        ("version", "code", "answered"),
        [
            ("0.55", "GLORIOUSLY", "INVALID_QUERY"),
            ("0.55", "INVALID_PARAMETER", "INVALID_QUERY"),
            ("0.55", "CANCELLED", "INVALID_QUERY"),
            ("0.54", "TIMEOUT", "INVALID_PARAMETER"),
        ],
    )
    async def test_a_code_that_the_version_lacks(
        self, ask: Ask, version: str, code: str, answered: str
    ) -> None:
        reply = await ask(f"fail {code}", version=version)
        assert (reply.status, reply.code) == (400, answered)


class TestOfAVersion:
    """Codes are those of the version that was asked for."""

    def test_the_list_of_055_is_that_of_section_4_1_4(self) -> None:
        assert set(LISTED["0.55"]) == {
            "NO_RESULTS", "INVALID_QUERY", "UNSUPPORTED_FORMAT", "UNSUPPORTED_MODE",
            "RATE_LIMITED", "INTERNAL_ERROR", "TIMEOUT", "TOKEN_LIMIT",
        }  # fmt: skip

    @pytest.mark.parametrize("code", CODES)
    @pytest.mark.parametrize("version", LISTED)
    def test_others_are_replaced(self, version: str, code: str) -> None:
        found = listed_code(code, version)
        assert found in LISTED[version] or (version, code) == ("0.55", "CANCELLED")
        failure = FailureError(code)
        assert failure.error(version)["code"] == found
        assert failure.status(version) >= CODES[code].status

    @pytest.mark.parametrize(
        ("request_", "status", "code"),
        [
            ({"query": {"text": "recipes from planet Mars"}}, 200, "NO_RESULTS"),
            ({"query": {"text": "soup " * 1000}}, 200, "NO_RESULTS"),
            ({"query": {}}, 400, "INVALID_PARAMETER"),
            ({**OK, "prefer": {"mode": "dance"}}, 400, "INVALID_PARAMETER"),
            ({**OK, "prefer": {"response_format": "csv"}}, 400, "INVALID_PARAMETER"),
        ],
    )
    async def test_of_054(
        self, post: Ask, request_: dict[str, Any], status: int, code: str
    ) -> None:
        reply = await post("ask", {**request_, "meta": {"version": "0.54"}})
        assert (reply.status, reply.code) == (status, code)

    async def test_a_bug_in_054(self, post: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(decide, "ask", lambda *_: 1 / 0)
        reply = await post("ask", {**OK, "meta": {"version": "0.54"}})
        assert (reply.status, reply.code) == (500, "NO_RESULTS")


class TestMidStream:
    """A search that fails after its first results (section 6.1)."""

    async def test_a_stream(self, ask: Ask) -> None:
        reply = await ask("tomato soup that fails", streaming=True)
        whole = await ask("tomato soup", streaming=True)
        names = [name for name, _ in reply.events]
        assert names == ["start", "result", "result", "result", "error", "complete"]
        for name, data in reply.events:
            check("0.55", f"event-{name}", data)
        assert reply.data_of("result") == whole.data_of("result")[:3]
        assert reply.data_of("error")[0]["error"]["code"] == "TIMEOUT"
        assert reply.data_of("complete")[0]["_meta"]["session_context"]

    @pytest.mark.parametrize("prefer", [{}, {"streaming": True, "response_format": "chatgpt_app"}])
    async def test_a_document(self, ask: Ask, prefer: dict[str, Any]) -> None:
        assert (await ask("tomato soup that fails", **prefer)).code == "TIMEOUT"


class TestProvoked:
    async def test_invalid_parameter_as_in_the_054_examples(self, ask: Ask) -> None:
        reply = await ask("recipes with", {"max_cooking_time": "invalid_number"}, version="0.54")
        assert reply.status == 400
        assert reply.document["error"] == {
            "code": "INVALID_PARAMETER",
            "message": "The parameter 'max_cooking_time' must be a valid duration in ISO 8601 "
            "format (e.g., 'PT30M' for 30 minutes)",
            "details": {
                "parameter": "max_cooking_time",
                "provided_value": "invalid_number",
                "expected_format": "ISO 8601 Duration",
            },
        }

    @pytest.mark.parametrize(
        ("prefer", "code"),
        [
            ({"response_format": "csv"}, "UNSUPPORTED_FORMAT"),
            ({"mode": "generate"}, "UNSUPPORTED_MODE"),
            ({"mode": "list, dance"}, "UNSUPPORTED_MODE"),
        ],
    )
    async def test_preferences(self, post: Ask, prefer: dict[str, Any], code: str) -> None:
        reply = await post("ask", {**OK, "prefer": prefer})
        assert (reply.code, reply.status) == (code, CODES[code].status)

    @pytest.mark.parametrize("pace", ["fast", "-1", "101", "1e9", "", "٣"])
    async def test_an_impossible_pace(self, post: Ask, pace: str) -> None:
        assert (await post(f"ask?pace={pace}", OK)).code == "INVALID_QUERY"

    @pytest.mark.parametrize(
        ("text", "status", "code"),
        [("soup " * 1000, 200, "TOKEN_LIMIT"), ("???", 400, "INVALID_QUERY")],
    )
    async def test_questions_without_an_answer(
        self, post: Ask, text: str, status: int, code: str
    ) -> None:
        reply = await post("ask", {"query": {"text": text}})
        assert (reply.status, reply.code) == (status, code)

    async def test_a_lone_surrogate_survives_the_round_trip(self, post: Ask) -> None:
        reply = await post("ask", b'{"query": {"text": "zzz \\ud800"}}')
        assert reply.code == "NO_RESULTS"
        assert "\ud800" in reply.document["error"]["message"]

    async def test_a_bug_is_an_internal_error(
        self, post: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr(decide, "ask", broken)
        reply = await post("ask", OK)
        assert (reply.status, reply.code) == (500, "INTERNAL_ERROR")
