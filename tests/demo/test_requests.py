"""Validation of requests: the same in `ask`, in `await` and over every binding."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo.requests import VERSIONS
from tests.demo.conftest import Ask, check
from tests.demo.mcp.wire import call, call_stateless, open_session
from tests.demo.mcp.wire import post as post_mcp

pytestmark = pytest.mark.django_db(transaction=True)

ASK: dict[str, Any] = {"query": {"text": "soup"}}
AWAIT: dict[str, Any] = {"promise_token": "promise_x", "action": "checkin"}
#: Values of `meta`, with the member that is wrong in them (section 3.4).
META: list[tuple[Any, str]] = [
    ("x", "meta"),
    ([], "meta"),
    *(({"version": value}, "meta.version") for value in ("0.53", "1", "", 0.55, ["0.55"])),
    ({"api_version": "9.99"}, "meta.api_version"),
    ({"version": None, "api_version": "9.99"}, "meta.api_version"),
    *(({"user": value}, "meta.user") for value in (7, True, ["user_1"])),
    *(({"remember": value}, "meta.remember") for value in ("yes", 1, {})),
    *(({"session_context": value}, "meta.session_context") for value in ("conv_1", [])),
]
#: Other sections of an ask request, with the member that is wrong in them.
SECTIONS: list[tuple[dict[str, Any], str]] = [
    ({"query": None}, "query"),
    ({"query": "soup"}, "query"),
    ({"query": {"text": 7}}, "query.text"),
    ({"query": {"text": " "}}, "query.text"),
    ({"query": {"text": "soup", "max_cooking_time": "soon"}}, "max_cooking_time"),
    ({"context": []}, "context"),
    ({"context": {"@type": 7}}, "context.@type"),
    *(({"context": {"prev": value}}, "context.prev") for value in ("soup", {}, [1], ["a", None])),
    ({"context": {"@type": "ConversationalContext", "prev": [1]}}, "context.prev"),
    ({"context": {"text": 7}}, "context.text"),
    ({"context": {"memory": {"diet": "vegan"}}}, "context.memory"),
    ({"prefer": "json"}, "prefer"),
    ({"prefer": {"streaming": "true"}}, "prefer.streaming"),
    ({"prefer": {"mode": ["list"]}}, "prefer.mode"),
    ({"prefer": {"response_format": 1}}, "prefer.response_format"),
    ({"prefer": {"user-agent": 1}}, "prefer.user-agent"),
    ({"prefer": {"accept-language": 1}}, "prefer.accept-language"),
    ({"prefer": {"accept-language": "german please"}}, "prefer.accept-language"),
]
INVALID = [
    *(("ask", {**ASK, "meta": meta}, name) for meta, name in META),
    *(("await", {**AWAIT, "meta": meta}, name) for meta, name in META),
    *(("ask", {**ASK, **sections}, name) for sections, name in SECTIONS),
    ("await", {"action": "checkin"}, "promise_token"),
    ("await", {**AWAIT, "promise_token": 7}, "promise_token"),
    ("await", {"promise_token": "x"}, "action"),
    ("await", {**AWAIT, "action": "hurry"}, "action"),
]
#: The code of an invalid request in each version.
CODES = {"0.54": "INVALID_PARAMETER", "0.55": "INVALID_QUERY"}


def in_version(request: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a request of a version, unless its `meta` names one or is no object."""
    meta = request.get("meta", {})
    if not isinstance(meta, dict) or {"version", "api_version"} & set(meta):
        return request
    return {**request, "meta": {**meta, "version": version}}


def check_failure(document: dict[str, Any], request: dict[str, Any], name: str) -> None:
    """Check that a failure names the member, in the version of the request or the newest."""
    meta = request["meta"]
    asked = meta.get("version") if isinstance(meta, dict) else None
    version = asked if asked in VERSIONS else "0.55"
    check(version, "failure", document)
    assert document["_meta"]["version"] == version
    assert document["error"]["code"] == CODES[version]
    assert document["error"]["message"].startswith(f"The parameter '{name}' must be ")
    assert document["error"]["details"]["parameter"] == name


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("operation", "request_", "name"), INVALID)
async def test_over_http(
    post: Ask, operation: str, request_: dict[str, Any], name: str, version: str
) -> None:
    request = in_version(request_, version)
    reply = await post(operation, request)
    assert reply.status == 400
    check_failure(reply.document, request, name)


@pytest.mark.parametrize("generation", ["stateful", "stateless"])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("operation", "request_", "name"), INVALID)
async def test_over_mcp(
    post: Ask, operation: str, request_: dict[str, Any], name: str, version: str, generation: str
) -> None:
    request = in_version(request_, version)
    params = {"name": operation, "arguments": request}
    if generation == "stateless":
        reply = await call_stateless("tools/call", params)
    else:
        reply = await post_mcp(call("tools/call", params), Mcp_Session_Id=await open_session())
    error = reply.json()["error"]
    assert error["code"] == -32602
    check_failure(error["data"], request, name)


async def test_over_mcp_nothing_is_asked_for_an_invalid_request(post: Ask) -> None:
    arguments = {"query": {"text": "surprise me, but ask first"}, "meta": {"user": 7}}
    params = {"name": "ask", "arguments": arguments}
    reply = await call_stateless("tools/call", params, clientCapabilities={"elicitation": {}})
    assert reply.json()["error"]["data"]["error"]["details"]["parameter"] == "meta.user"


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "sections",
    [
        {"meta": {"user": "user_1", "remember": True, "session_context": {}, "request_id": "r"}},
        {"meta": {"user": {"@type": "Person", "name": "Jane"}, "unknown": [1]}},
        {"meta": {"user": None, "remember": None, "session_context": None}},
        {"context": {"prev": [], "text": "a party", "memory": "vegetarian"}},
        {"context": {"prev": None, "text": None, "memory": None, "@type": None}},
        {"context": {"@type": "UserDiet", "restrictions": ["vegan"], "prev": 7}},
        {"prefer": {"user-agent": "mobile", "streaming": None, "mode": None, "unknown": 1}},
        {"prefer": None, "context": None},
    ],
)
async def test_valid_requests(post: Ask, sections: dict[str, Any], version: str) -> None:
    request = in_version({**ASK, **sections}, version)
    reply = await post("ask?pace=0", request)
    assert (reply.status, reply.meta["response_type"]) == (200, "answer"), reply.document
    assert reply.meta["version"] == version


async def test_memory_may_be_a_list_in_054_which_gives_no_type(post: Ask) -> None:
    request = {**ASK, "context": {"memory": ["vegetarian"]}}
    assert (await post("ask", in_version(request, "0.54"))).status == 200
    assert (await post("ask", in_version(request, "0.55"))).status == 400
