"""Every failure code (section 4.1.4) with its status (section 7.4), requested and provoked."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo import decide
from playground.demo.failures import CODES
from tests.demo.conftest import Ask, check

OK = {"query": {"text": "soup"}}


class TestOnRequest:
    @pytest.mark.parametrize("code", CODES)
    @pytest.mark.parametrize("version", ["0.54", "0.55"])
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
        reply = await ask("fail TIMEOUT", version="0.54", streaming=True)
        assert reply.code == "TIMEOUT"

    async def test_what_goes_wrong_before_a_stream_is_a_document(self, ask: Ask) -> None:
        reply = await ask("fail INTERNAL_ERROR", streaming=True)
        assert (reply.status, reply.code) == (500, "INTERNAL_ERROR")

    async def test_rate_limited_says_when(self, ask: Ask) -> None:
        reply = await ask("fail RATE_LIMITED")
        assert (reply.status, reply.headers["Retry-After"]) == (429, "5")

    async def test_an_unknown_code(self, ask: Ask) -> None:
        assert (await ask("fail GLORIOUSLY")).code == "INVALID_QUERY"


class TestProvoked:
    @pytest.mark.parametrize(
        "body",
        [
            b"", b"{", b"null", b"[]", b'"x"', b"\xff\xfe\x00", b"[" * 100_000,
            b'{"query": {"text": "soup", "x": NaN}}', b'{"query": {"text": "soup", "x": 1e999}}',
            b'{"query": {"text": "soup", "x": ' + b"9" * 5000 + b"}}",
        ],
    )  # fmt: skip
    async def test_malformed_json(self, post: Ask, body: bytes) -> None:
        reply = await post("ask", body)
        assert (reply.status, reply.code) == (400, "INVALID_QUERY")

    @pytest.mark.parametrize(
        "request_",
        [
            {}, {"query": None}, {"query": "soup"}, {"query": {}}, {"query": {"text": ""}},
            {"query": {"text": "  "}}, {"query": {"text": 7}}, {"query": {"text": "???"}},
            {**OK, "context": []}, {**OK, "prefer": "json"}, {**OK, "meta": 1},
            {**OK, "meta": {"session_context": "x"}},
        ],
    )  # fmt: skip
    async def test_malformed_requests(self, post: Ask, request_: dict[str, Any]) -> None:
        reply = await post("ask", request_)
        assert (reply.status, reply.code) == (400, "INVALID_QUERY")
        check("0.55", "failure", reply.document)

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
            ({"mode": ["list"]}, "INVALID_PARAMETER"),
            ({"streaming": "false"}, "INVALID_PARAMETER"),
            ({"response_format": 1}, "INVALID_PARAMETER"),
        ],
    )
    async def test_preferences(self, post: Ask, prefer: dict[str, Any], code: str) -> None:
        reply = await post("ask", {**OK, "prefer": prefer})
        assert (reply.code, reply.status) == (code, CODES[code].status)

    @pytest.mark.parametrize("pace", ["fast", "-1", "101", "1e9", "", "٣"])
    async def test_an_impossible_pace(self, post: Ask, pace: str) -> None:
        assert (await post(f"ask?pace={pace}", OK)).code == "INVALID_PARAMETER"

    async def test_too_long_a_question(self, post: Ask) -> None:
        reply = await post("ask", {"query": {"text": "soup " * 1000}})
        assert (reply.status, reply.code) == (200, "TOKEN_LIMIT")

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

    @pytest.mark.parametrize("path", ["ask", "await", "scenarios/slow/ask"])
    async def test_only_post(self, path: str) -> None:
        reply = await AsyncClient().get(f"/demo/{path}")
        assert (reply.status_code, reply.headers["Allow"]) == (405, "POST")
        assert reply.json()["error"]["code"] == "INVALID_QUERY"
