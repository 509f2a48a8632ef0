"""The stateless generation on the wire: envelopes, headers, elicitation with a retry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.demo import jsonrpc
from playground.demo.corpus import Corpus
from playground.demo.mcp.stateless import decode_header
from tests.demo.mcp.wire import KEY, SURPRISE, call, call_stateless, post

pytestmark = pytest.mark.django_db(transaction=True)


class TestStateless:
    async def test_discovery(self) -> None:
        reply = await call_stateless("server/discover")
        result = reply.json()["result"]
        assert result["supportedVersions"] == ["2026-07-28"]
        assert result["resultType"] == "complete"
        assert result["_meta"][f"{KEY}serverInfo"]["name"] == "nlweb-demo"
        assert "Mcp-Session-Id" not in reply.headers

    @pytest.mark.parametrize(
        ("method", "params", "status", "code"),
        [
            ("resources/list", {}, 404, jsonrpc.METHOD_NOT_FOUND),
            ("tools/list", {"cursor": "x"}, 400, jsonrpc.INVALID_PARAMS),
            ("tools/call", {"name": "fly"}, 400, jsonrpc.INVALID_PARAMS),
            ("tools/call", {"name": "ask"}, 400, jsonrpc.INVALID_PARAMS),
        ],
    )
    async def test_errors(self, method: str, params: Any, status: int, code: int) -> None:
        reply = await call_stateless(method, params)
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
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, jsonrpc.INVALID_PARAMS)

    async def test_notifications_and_responses(self) -> None:
        version = {"MCP_Protocol_Version": "2026-07-28"}
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        assert (await post(note, **version)).status_code == 202
        response = {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert (await post(response, **version)).status_code == 400

    async def asked(self) -> dict[str, Any]:
        reply = await call_stateless("tools/call", SURPRISE, clientCapabilities={"elicitation": {}})
        result: dict[str, Any] = reply.json()["result"]
        assert result["resultType"] == "input_required"
        return result

    async def retry(self, state: Any, answers: Any, **other: Any) -> Any:
        params = {**SURPRISE, "requestState": state, "inputResponses": answers, **other}
        return await call_stateless("tools/call", params, clientCapabilities={"elicitation": {}})

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
            assert reply.json()["error"]["code"] == jsonrpc.INVALID_PARAMS

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
    assert decode_header(value) == meant


async def test_odd_characters_come_through(corpus: Corpus) -> None:
    params = {"name": "ask", "arguments": {"query": {"text": "soup \ud800"}}}
    reply = await call_stateless("tools/call", params)
    result = reply.json()["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
