"""What goes over the wire of `/demo/mcp`: headers, statuses, envelopes, sessions."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo import remembering, rpc
from playground.demo.corpus import Corpus
from playground.demo.mcp import sessions
from playground.demo.mcp.headers import plain
from tests.demo.conftest import Clock

pytestmark = pytest.mark.django_db(transaction=True)

BOTH = "application/json, text/event-stream"
KEY = "io.modelcontextprotocol/"
SURPRISE = {"name": "ask", "arguments": {"query": {"text": "surprise me, but ask first"}}}


@pytest.fixture(autouse=True)
def known(corpus: Corpus) -> Corpus:
    return corpus


async def post(body: Any, path: str = "mcp?pace=0", **headers: str) -> Any:
    data = body if isinstance(body, bytes) else json.dumps(body)
    named = {"Accept": BOTH, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await AsyncClient().post(
        f"/demo/{path}", data, content_type="application/json", headers=named
    )


def call(method: str, params: Any = None, number: Any = 1) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else {**message, "params": params}


async def newer(method: str, params: dict[str, Any] | None = None, **meta: Any) -> Any:
    """A call of the newer generation."""
    known = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    envelope = {KEY + name: value for name, value in {**known, **meta}.items()}
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method}
    if params and "name" in params:
        headers["Mcp_Name"] = params["name"]
    return await post(call(method, {**(params or {}), "_meta": envelope}), **headers)


async def opened(**capabilities: Any) -> str:
    """The id of a new session."""
    params = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {}}
    reply = await post(call("initialize", params))
    assert reply.json()["result"]["protocolVersion"] == "2025-06-18"
    session: str = reply.headers["Mcp-Session-Id"]
    return session


def messages(block: bytes) -> list[dict[str, Any]]:
    """The messages of a stream."""
    frames = block.decode().split("\r\n\r\n")
    assert frames.pop() == ""
    return [json.loads(frame.removeprefix("event: message\r\ndata: ")) for frame in frames]


class TestRules:
    @pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "text/html"])
    async def test_both_kinds_of_reply_are_accepted(self, accept: str) -> None:
        reply = await post(call("ping"), Accept=accept)
        assert reply.status_code == 406
        assert reply.json()["error"]["code"] == rpc.INVALID_REQUEST

    async def test_anything_is_accepted(self) -> None:
        assert (await post(call("initialize", {}), Accept="*/*")).status_code == 200

    @pytest.mark.parametrize(
        ("origin", "status"),
        [
            ("http://evil.example", 403), ("null", 403), ("http://[", 403),
            ("http://testserver", 200), ("", 200),
        ],
    )  # fmt: skip
    async def test_pages_of_other_sites_are_refused(self, origin: str, status: int) -> None:
        assert (await post(call("initialize", {}), Origin=origin)).status_code == status

    @pytest.mark.parametrize("method", ["get", "put"])
    async def test_other_methods(self, method: str) -> None:
        reply = await getattr(AsyncClient(), method)("/demo/mcp", headers={"Accept": BOTH})
        assert (reply.status_code, reply.headers["Allow"]) == (405, "POST, DELETE")

    async def test_other_content_types(self) -> None:
        reply = await AsyncClient().post(
            "/demo/mcp", "{}", content_type="text/plain", headers={"Accept": BOTH}
        )
        assert reply.status_code == 415

    @pytest.mark.parametrize(
        ("body", "code", "number"),
        [
            (b"{", rpc.PARSE_ERROR, None),
            (b"[" * 10_000, rpc.PARSE_ERROR, None),
            ([call("ping")], rpc.INVALID_REQUEST, None),
            ({"id": 3, "method": "ping"}, rpc.INVALID_REQUEST, 3),
            ({"jsonrpc": "2.0", "id": "a"}, rpc.INVALID_REQUEST, "a"),
            ({"jsonrpc": "2.0", "id": True, "method": "ping"}, rpc.INVALID_REQUEST, None),
            ({"jsonrpc": "2.0", "id": None, "method": "ping"}, rpc.INVALID_REQUEST, None),
            ({"jsonrpc": "2.0", "id": 1, "method": 2}, rpc.INVALID_REQUEST, 1),
            (b'"' + b"x" * rpc.MAX_BODY + b'"', rpc.INVALID_REQUEST, None),
        ],
    )
    @pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
    async def test_what_is_no_message(
        self, body: Any, code: int, number: Any, version: str
    ) -> None:
        reply = await post(body, MCP_Protocol_Version=version)
        assert reply.status_code == 400
        assert (reply.json()["error"]["code"], reply.json()["id"]) == (code, number)

    @pytest.mark.parametrize(
        ("path", "version", "status"),
        [
            ("older", "2026-07-28", 400), ("older", "2025-03-26", 200), ("older", "", 200),
            ("newer", "2025-03-26", 400), ("newer", "", 400), ("newer", "2026-07-28", 400),
        ],
    )  # fmt: skip
    async def test_addresses_of_one_generation(self, path: str, version: str, status: int) -> None:
        headers = {"MCP_Protocol_Version": version} if version else {}
        reply = await post(call("initialize", {"protocolVersion": "1"}), f"mcp/{path}", **headers)
        assert reply.status_code == status


class TestOlder:
    @pytest.mark.parametrize(
        ("wanted", "got"),
        [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("1999", "2025-11-25")],
    )
    async def test_a_version_is_agreed_on(self, wanted: str, got: str) -> None:
        reply = await post(call("initialize", {"protocolVersion": wanted}))
        result = reply.json()["result"]
        assert result["protocolVersion"] == got
        assert result["capabilities"].keys() == {"logging", "tools"}

    async def test_a_handshake_without_version(self) -> None:
        assert (await post(call("initialize", {}))).json()["error"]["code"] == rpc.INVALID_PARAMS

    async def test_a_session_is_begun_used_and_ended(self) -> None:
        session = await opened()
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        acknowledged = await post(note, Mcp_Session_Id=session)
        assert (acknowledged.status_code, acknowledged.content) == (202, b"")
        reply = await post(call("ping"), Mcp_Session_Id=session)
        assert reply.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert reply.headers["Mcp-Session-Id"] == session
        headers = {"Mcp-Session-Id": session, "Accept": BOTH}
        assert (await AsyncClient().delete("/demo/mcp", headers=headers)).status_code == 200
        assert (await AsyncClient().delete("/demo/mcp", headers=headers)).status_code == 404
        assert (await post(call("ping"), Mcp_Session_Id=session)).status_code == 404
        assert (await AsyncClient().delete("/demo/mcp")).status_code == 400

    async def test_a_session_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = Clock()
        monkeypatch.setattr(remembering, "now", clock)
        session = await opened()
        clock.now += sessions.LIFETIME - 1
        assert (await post(call("ping"), Mcp_Session_Id=session)).status_code == 200
        clock.now += sessions.LIFETIME + 1
        assert (await post(call("ping"), Mcp_Session_Id=session)).status_code == 404

    async def test_sessions_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(remembering, "ROWS", 2)
        first, *others = [await opened() for _ in range(3)]
        assert (await post(call("ping"), Mcp_Session_Id=first)).status_code == 404
        for session in others:
            assert (await post(call("ping"), Mcp_Session_Id=session)).status_code == 200

    @pytest.mark.parametrize("key", ["nobody", "x" * 300, "né", "a\x01"])
    async def test_sessions_that_never_were(self, key: str) -> None:
        assert (await post(call("ping"), Mcp_Session_Id=key)).status_code == 404

    async def test_calls_need_a_session(self) -> None:
        assert (await post(call("tools/list"))).status_code == 400

    @pytest.mark.parametrize(
        ("method", "params", "code"),
        [
            ("resources/list", {}, rpc.METHOD_NOT_FOUND),
            ("logging/setLevel", {"level": "loud"}, rpc.INVALID_PARAMS),
            ("tools/list", {"cursor": 1}, rpc.INVALID_PARAMS),
            ("tools/call", {}, rpc.INVALID_PARAMS),
            ("tools/call", {"name": "ask", "arguments": 1}, rpc.INVALID_PARAMS),
            ("tools/call", {"name": "scale_recipe", "arguments": {"servings": 0}},
             rpc.INVALID_PARAMS),
            ("tools/call", [], rpc.INVALID_PARAMS),
        ],
    )  # fmt: skip
    async def test_errors(self, method: str, params: Any, code: int) -> None:
        reply = await post(call(method, params, "x"), Mcp_Session_Id=await opened())
        assert reply.status_code == 200
        assert (reply.json()["error"]["code"], reply.json()["id"]) == (code, "x")

    async def test_the_level_of_the_log(self) -> None:
        session = await opened()
        params = {
            "name": "ask",
            "arguments": {"query": {"text": "tiramisu"}, "prefer": {"streaming": True}},
            "_meta": {"progressToken": "t"},
        }

        async def methods() -> list[str | None]:
            reply = await post(call("tools/call", params), Mcp_Session_Id=session)
            return [each.get("method") for each in messages(b"".join([c async for c in reply]))]

        progress = ["notifications/progress"]
        assert (await methods())[:2] == ["notifications/message", *progress]
        level = call("logging/setLevel", {"level": "error"})
        assert (await post(level, Mcp_Session_Id=session)).json()["result"] == {}
        assert set(await methods()) == {*progress, None}

    async def test_without_a_token_nothing_streams(self) -> None:
        arguments = {"query": {"text": "tiramisu"}, "prefer": {"streaming": True}}
        params = {"name": "ask", "arguments": arguments}
        reply = await post(call("tools/call", params), Mcp_Session_Id=await opened())
        assert reply.headers["Content-Type"] == "application/json"

    async def test_a_question_is_answered_by_another_request(self) -> None:
        session = await opened(elicitation={})
        reply = await post(call("tools/call", SURPRISE), Mcp_Session_Id=session)
        chunks = aiter(reply)
        (asked,) = messages(await anext(chunks))
        assert asked["method"] == "elicitation/create"
        schema = asked["params"]["requestedSchema"]
        # Before 2025-11-25, answers were no lists.
        assert {each["type"] for each in schema["properties"].values()} == {"string"}
        content = {"dietary_restrictions": "vegan", "cooking_time": "over an hour"}
        answer = {"jsonrpc": "2.0", "id": asked["id"]}
        stranger = {**answer, "result": {"action": "cancel"}}
        assert (await post(stranger, Mcp_Session_Id=await opened())).status_code == 202
        told = {**answer, "result": {"action": "accept", "content": content}}
        assert (await post(told, Mcp_Session_Id=session)).status_code == 202
        (result,) = messages(await anext(chunks))
        assert result["id"] == 1
        assert result["result"]["structuredContent"]["_meta"]["response_type"] == "answer"

    async def test_an_error_for_an_answer_dismisses_the_question(self) -> None:
        session = await opened(elicitation={})
        reply = await post(call("tools/call", SURPRISE), Mcp_Session_Id=session)
        chunks = aiter(reply)
        (asked,) = messages(await anext(chunks))
        told = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "No."}}
        await post(told, Mcp_Session_Id=session)
        (result,) = messages(await anext(chunks))
        assert result["result"]["structuredContent"]["error"]["code"] == "CANCELLED"

    async def test_nobody_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sessions, "PATIENCE", 0.0)
        session = await opened(elicitation={})
        reply = await post(call("tools/call", SURPRISE), Mcp_Session_Id=session)
        _, result = messages(b"".join([chunk async for chunk in reply]))
        assert result["result"]["isError"]
        assert "Nobody answered" in result["result"]["content"][0]["text"]

    async def test_a_question_that_was_pruned_is_given_up(self) -> None:
        number = await sessions.ask("key")
        waiting = asyncio.ensure_future(sessions.answer("key", number))
        await remembering.forget("mcp-question", f"key:{number}")
        assert await waiting is None


class TestNewer:
    async def test_discovery(self) -> None:
        reply = await newer("server/discover")
        result = reply.json()["result"]
        assert result["supportedVersions"] == ["2026-07-28"]
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{KEY}serverInfo"]["name"] == "nlweb-demo"
        assert "Mcp-Session-Id" not in reply.headers

    @pytest.mark.parametrize(
        ("method", "params", "status", "code"),
        [
            ("resources/list", {}, 404, rpc.METHOD_NOT_FOUND),
            ("tools/list", {"cursor": "x"}, 400, rpc.INVALID_PARAMS),
            ("tools/call", {"name": "fly"}, 400, rpc.INVALID_PARAMS),
            ("tools/call", {"name": "ask"}, 400, rpc.INVALID_PARAMS),
        ],
    )
    async def test_errors(self, method: str, params: Any, status: int, code: int) -> None:
        reply = await newer(method, params)
        assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)

    @pytest.mark.parametrize(
        ("headers", "code"),
        [
            ({}, -32020),
            ({"Mcp_Method": "tools/list"}, -32020),
            ({"Mcp_Method": "tools/call", "Mcp_Name": "await"}, -32020),
            ({"Mcp_Method": "tools/call", "Mcp_Name": "=?base64?%%?="}, -32020),
            ({"Mcp_Method": "tools/call", "Mcp_Name": "=?base64?YXNr?="}, None),
        ],
    )
    async def test_headers_say_what_the_body_says(
        self, headers: dict[str, str], code: int | None
    ) -> None:
        meta = {f"{KEY}protocolVersion": "2026-07-28", f"{KEY}clientCapabilities": {}}
        params = {"name": "ask", "arguments": {"query": {"text": "soup"}}, "_meta": meta}
        reply = await post(call("tools/call", params), MCP_Protocol_Version="2026-07-28", **headers)
        assert reply.json().get("error", {}).get("code") == code

    async def test_other_versions(self) -> None:
        meta = {f"{KEY}protocolVersion": "2030-01-01", f"{KEY}clientCapabilities": {}}
        headers = {"MCP_Protocol_Version": "2030-01-01", "Mcp_Method": "ping"}
        reply = await post(call("ping", {"_meta": meta}), **headers)
        assert reply.status_code == 400
        error = reply.json()["error"]
        assert error["code"] == -32022
        assert error["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}

    async def test_without_an_envelope(self) -> None:
        headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "ping"}
        reply = await post(call("ping", {}), **headers)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, rpc.INVALID_PARAMS)

    async def test_notifications_and_responses(self) -> None:
        version = {"MCP_Protocol_Version": "2026-07-28"}
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        assert (await post(note, **version)).status_code == 202
        response = {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert (await post(response, **version)).status_code == 400

    async def asked(self) -> dict[str, Any]:
        reply = await newer("tools/call", SURPRISE, clientCapabilities={"elicitation": {}})
        result: dict[str, Any] = reply.json()["result"]
        assert result["resultType"] == "input_required"
        return result

    async def retry(self, state: Any, answers: Any, **other: Any) -> Any:
        params = {**SURPRISE, "requestState": state, "inputResponses": answers, **other}
        return await newer("tools/call", params, clientCapabilities={"elicitation": {}})

    async def test_a_retry_goes_on(self) -> None:
        asked = await self.asked()
        (name, question) = next(iter(asked["inputRequests"].items()))
        assert question["method"] == "elicitation/create"
        answers = {name: {"action": "accept", "content": {"cooking_time": "over an hour"}}}
        reply = await self.retry(asked["requestState"], answers)
        assert reply.json()["result"]["structuredContent"]["results"]

    async def test_states_are_checked(self) -> None:
        asked = await self.asked()
        answers = {name: {"action": "decline"} for name in asked["inputRequests"]}
        other = {"arguments": {"query": {"text": "surprise me again, but ask first"}}}
        for reply in (
            await self.retry("forged", answers),
            await self.retry(None, answers),
            await self.retry(asked["requestState"], answers, **other),
            await self.retry(asked["requestState"], {}),
            await self.retry(asked["requestState"], {"preferences": 1}),
        ):
            assert reply.json()["error"]["code"] == rpc.INVALID_PARAMS

    async def test_an_answer_without_content(self) -> None:
        asked = await self.asked()
        answers = {name: {"action": "accept"} for name in asked["inputRequests"]}
        error = (await self.retry(asked["requestState"], answers)).json()["error"]
        assert error["data"]["error"]["code"] == "INVALID_QUERY"


@pytest.mark.parametrize(
    ("value", "meant"),
    [(None, None), ("ask", "ask"), ("=?base64?YXNr?=", "ask"), ("=?base64?Y?=", None),
     ("=?base64?/w==?=", None)],
)  # fmt: skip
def test_headers_may_be_encoded(value: str | None, meant: str | None) -> None:
    assert plain(value) == meant


async def test_odd_characters_come_through(corpus: Corpus) -> None:
    params = {"name": "ask", "arguments": {"query": {"text": "soup \ud800"}}}
    reply = await newer("tools/call", params)
    result = reply.json()["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
