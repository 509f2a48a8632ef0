"""Checks of every request to `/demo/mcp`: headers, statuses, envelopes."""

from __future__ import annotations

from typing import Any

import pytest

from playground.demo import jsonrpc
from tests.demo.mcp.wire import call, post

pytestmark = pytest.mark.django_db(transaction=True)


class TestChecks:
    @pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "text/html"])
    async def test_both_kinds_of_reply_are_accepted(self, accept: str) -> None:
        reply = await post(call("ping"), Accept=accept)
        assert reply.status_code == 406
        assert reply.json()["error"]["code"] == jsonrpc.INVALID_REQUEST

    async def test_anything_is_accepted(self) -> None:
        assert (await post(call("initialize", {}), Accept="*/*")).status_code == 200

    @pytest.mark.parametrize(
        ("body", "code", "number"),
        [
            (b"{", jsonrpc.PARSE_ERROR, None),
            (b"[" * 10_000, jsonrpc.PARSE_ERROR, None),
            ([call("ping")], jsonrpc.INVALID_REQUEST, None),
            ({"id": 3, "method": "ping"}, jsonrpc.INVALID_REQUEST, 3),
            ({"jsonrpc": "2.0", "id": "a"}, jsonrpc.INVALID_REQUEST, "a"),
            ({"jsonrpc": "2.0", "id": True, "method": "ping"}, jsonrpc.INVALID_REQUEST, None),
            ({"jsonrpc": "2.0", "id": None, "method": "ping"}, jsonrpc.INVALID_REQUEST, None),
            ({"jsonrpc": "2.0", "id": 1, "method": 2}, jsonrpc.INVALID_REQUEST, 1),
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
