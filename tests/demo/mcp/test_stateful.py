"""The stateful generation on the wire: sessions, errors, elicitation in the stream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.test import AsyncClient

from playground.demo import jsonrpc, state_store
from playground.demo.mcp import stateful
from tests.demo.client import body_of
from tests.demo.conftest import Clock
from tests.demo.mcp.wire import BOTH, SURPRISE, call, messages, open_session, post

pytestmark = pytest.mark.django_db(transaction=True)


class TestStateful:
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
        assert (await post(call("initialize", {}))).json()["error"][
            "code"
        ] == jsonrpc.INVALID_PARAMS

    async def test_a_session_is_begun_used_and_ended(self) -> None:
        session = await open_session()
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
        monkeypatch.setattr(state_store, "now", clock)
        session = await open_session()
        clock.now += stateful.LIFETIME - 1
        assert (await post(call("ping"), Mcp_Session_Id=session)).status_code == 200
        clock.now += stateful.LIFETIME + 1
        assert (await post(call("ping"), Mcp_Session_Id=session)).status_code == 404

    async def test_sessions_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(state_store, "ROWS", 2)
        first, *others = [await open_session() for _ in range(3)]
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
            ("resources/list", {}, jsonrpc.METHOD_NOT_FOUND),
            ("logging/setLevel", {"level": "loud"}, jsonrpc.INVALID_PARAMS),
            ("tools/list", {"cursor": 1}, jsonrpc.INVALID_PARAMS),
            ("tools/call", {}, jsonrpc.INVALID_PARAMS),
            ("tools/call", {"name": "ask", "arguments": 1}, jsonrpc.INVALID_PARAMS),
            ("tools/call", {"name": "scale_recipe", "arguments": {"servings": 0}},
             jsonrpc.INVALID_PARAMS),
            ("tools/call", [], jsonrpc.INVALID_PARAMS),
        ],
    )  # fmt: skip
    async def test_errors(self, method: str, params: Any, code: int) -> None:
        reply = await post(call(method, params, "x"), Mcp_Session_Id=await open_session())
        assert reply.status_code == 200
        assert (reply.json()["error"]["code"], reply.json()["id"]) == (code, "x")

    async def test_the_level_of_the_log(self) -> None:
        session = await open_session()
        params = {
            "name": "ask",
            "arguments": {"query": {"text": "tiramisu"}, "prefer": {"streaming": True}},
            "_meta": {"progressToken": "t"},
        }

        async def methods() -> list[str | None]:
            reply = await post(call("tools/call", params), Mcp_Session_Id=session)
            return [each.get("method") for each in messages(await body_of(reply))]

        progress = ["notifications/progress"]
        assert (await methods())[:2] == ["notifications/message", *progress]
        level = call("logging/setLevel", {"level": "error"})
        assert (await post(level, Mcp_Session_Id=session)).json()["result"] == {}
        assert set(await methods()) == {*progress, None}

    async def test_without_a_token_nothing_streams(self) -> None:
        arguments = {"query": {"text": "tiramisu"}, "prefer": {"streaming": True}}
        params = {"name": "ask", "arguments": arguments}
        reply = await post(call("tools/call", params), Mcp_Session_Id=await open_session())
        assert reply.headers["Content-Type"] == "application/json"

    async def test_a_question_is_answered_by_another_request(self) -> None:
        session = await open_session(elicitation={})
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
        assert (await post(stranger, Mcp_Session_Id=await open_session())).status_code == 202
        response = {**answer, "result": {"action": "accept", "content": content}}
        assert (await post(response, Mcp_Session_Id=session)).status_code == 202
        (result,) = messages(await anext(chunks))
        assert result["id"] == 1
        assert result["result"]["structuredContent"]["_meta"]["response_type"] == "answer"

    async def test_an_error_for_an_answer_dismisses_the_question(self) -> None:
        session = await open_session(elicitation={})
        reply = await post(call("tools/call", SURPRISE), Mcp_Session_Id=session)
        chunks = aiter(reply)
        (asked,) = messages(await anext(chunks))
        response = {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -1, "message": "No."}}
        await post(response, Mcp_Session_Id=session)
        (result,) = messages(await anext(chunks))
        assert result["result"]["structuredContent"]["error"]["code"] == "NO_RESULTS"

    async def test_nobody_answers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stateful, "PATIENCE", 0.0)
        session = await open_session(elicitation={})
        reply = await post(call("tools/call", SURPRISE), Mcp_Session_Id=session)
        _, result = messages(await body_of(reply))
        assert result["result"]["isError"]
        assert "No answer" in result["result"]["content"][0]["text"]

    async def test_a_question_that_was_pruned_is_given_up(self) -> None:
        number = await stateful.ask_caller("key")
        waiting = asyncio.ensure_future(stateful.wait_for_answer("key", number))
        await state_store.delete("mcp-question", f"key:{number}")
        assert await waiting is None
