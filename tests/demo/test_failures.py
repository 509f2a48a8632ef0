"""Every failure code (section 4.1.4) with its status (section 7.4), requested and provoked."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo import decide
from playground.demo.failures import CODES, LISTED, FailureError, listed_code
from tests.demo.conftest import Ask, check

OK = {"query": {"text": "soup"}}
#: Requests and versions, with the status and the code of their failure.
PROVOKED: list[tuple[str, dict[str, Any], int, str]] = [
    ("0.54", {"query": {"text": "recipes from planet Mars"}}, 200, "NO_RESULTS"),
    ("0.54", {"query": {"text": "soup " * 1000}}, 200, "NO_RESULTS"),
    ("0.54", {"query": {}}, 400, "INVALID_PARAMETER"),
    ("0.54", {**OK, "prefer": {"mode": "dance"}}, 400, "INVALID_PARAMETER"),
    ("0.54", {**OK, "prefer": {"response_format": "csv"}}, 400, "INVALID_PARAMETER"),
    ("0.55", {**OK, "prefer": {"response_format": "csv"}}, 200, "UNSUPPORTED_FORMAT"),
    ("0.55", {**OK, "prefer": {"mode": "generate"}}, 200, "UNSUPPORTED_MODE"),
    ("0.55", {**OK, "prefer": {"mode": "list, dance"}}, 200, "UNSUPPORTED_MODE"),
    ("0.55", {"query": {"text": "soup " * 1000}}, 200, "TOKEN_LIMIT"),
    ("0.55", {"query": {"text": "???"}}, 400, "INVALID_QUERY"),
    # Codes that the version lacks.
    ("0.55", {"query": {"text": "fail GLORIOUSLY"}}, 400, "INVALID_QUERY"),
    ("0.55", {"query": {"text": "fail INVALID_PARAMETER"}}, 400, "INVALID_QUERY"),
    ("0.55", {"query": {"text": "fail CANCELLED"}}, 400, "INVALID_QUERY"),
    ("0.54", {"query": {"text": "fail TIMEOUT"}}, 400, "INVALID_PARAMETER"),
    # What goes wrong before a stream, or where there is no event for it, is a document.
    ("0.55", {"query": {"text": "fail INTERNAL_ERROR"}, "prefer": {"streaming": True}}, 500,
     "INTERNAL_ERROR"),
    ("0.54", {"query": {"text": "soup that fails"}, "prefer": {"streaming": True}}, 200,
     "NO_RESULTS"),
    ("0.55", {"query": {"text": "soup that fails"}}, 200, "TIMEOUT"),
    ("0.55", {"query": {"text": "soup that fails"},
              "prefer": {"streaming": True, "response_format": "chatgpt_app"}}, 200, "TIMEOUT"),
]  # fmt: skip


@pytest.mark.parametrize(("version", "request_", "status", "code"), PROVOKED)
async def test_a_failure_is_a_document(
    post: Ask, version: str, request_: dict[str, Any], status: int, code: str
) -> None:
    reply = await post("ask", {**request_, "meta": {"version": version}})
    assert (reply.status, reply.code) == (status, code)


@pytest.mark.parametrize(
    ("version", "code"), [(version, code) for version in LISTED for code in LISTED[version]]
)
async def test_every_code_can_be_had(ask: Ask, code: str, version: str) -> None:
    reply = await ask(f"fail {code.lower()}", version=version)
    assert reply.code == code
    assert reply.status == CODES[code].status
    check(version, "failure", reply.document)
    assert ("timestamp" in reply.meta) == (version == "0.54")


async def test_rate_limited_says_when(ask: Ask) -> None:
    reply = await ask("fail RATE_LIMITED")
    assert (reply.status, reply.headers["Retry-After"]) == (429, "5")


@pytest.mark.parametrize(
    ("text", "code"),
    [("fail TIMEOUT", "TIMEOUT"), ("fail TOKEN_LIMIT", "TOKEN_LIMIT"),
     ("tomato soup that fails", "TIMEOUT")],
)  # fmt: skip
async def test_a_stream_breaks_off(ask: Ask, text: str, code: str) -> None:
    """It has its first results before the error (section 6.1)."""
    reply = await ask(text, streaming=True)
    names = [name for name, _ in reply.events]
    assert names == ["start", "result", "result", "result", "error", "complete"]
    for name, data in reply.events:
        check("0.55", f"event-{name}", data)
    error = reply.data_of("error")[0]
    check("0.55", "failure", error)
    assert error["error"]["code"] == code
    assert reply.data_of("complete")[0]["_meta"]["session_context"]
    if "that fails" in text:
        whole = await ask("tomato soup", streaming=True)
        assert reply.data_of("result") == whole.data_of("result")[:3]


def test_the_list_of_055_is_that_of_section_4_1_4() -> None:
    assert set(LISTED["0.55"]) == {
        "NO_RESULTS", "INVALID_QUERY", "UNSUPPORTED_FORMAT", "UNSUPPORTED_MODE",
        "RATE_LIMITED", "INTERNAL_ERROR", "TIMEOUT", "TOKEN_LIMIT",
    }  # fmt: skip


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("version", LISTED)
def test_codes_that_a_version_lacks_are_replaced(version: str, code: str) -> None:
    found = listed_code(code, version)
    assert found in LISTED[version] or (version, code) == ("0.55", "CANCELLED")
    failure = FailureError(code)
    assert failure.error(version)["code"] == found
    assert failure.status(version) >= CODES[code].status


async def test_invalid_parameter_as_in_the_054_examples(ask: Ask) -> None:
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


@pytest.mark.parametrize("pace", ["fast", "-1", "101", "1e9", "", "٣"])
async def test_an_impossible_pace(post: Ask, pace: str) -> None:
    assert (await post(f"ask?pace={pace}", OK)).code == "INVALID_QUERY"


async def test_a_lone_surrogate_survives_the_round_trip(post: Ask) -> None:
    reply = await post("ask", b'{"query": {"text": "zzz \\ud800"}}')
    assert reply.code == "NO_RESULTS"
    assert "\ud800" in reply.document["error"]["message"]


@pytest.mark.parametrize(("version", "code"), [("0.54", "NO_RESULTS"), ("0.55", "INTERNAL_ERROR")])
async def test_a_bug_is_an_internal_error(
    post: Ask, monkeypatch: pytest.MonkeyPatch, version: str, code: str
) -> None:
    monkeypatch.setattr(decide, "ask", lambda *_: 1 / 0)
    reply = await post("ask", {**OK, "meta": {"version": version}})
    assert (reply.status, reply.code) == (500, code)
