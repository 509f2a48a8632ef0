"""Messages to `/demo/mcp` and from it, on the wire."""

from __future__ import annotations

import json
from typing import Any

from tests.demo import client

BOTH = "application/json, text/event-stream"
KEY = "io.modelcontextprotocol/"
SURPRISE = {"name": "ask", "arguments": {"query": {"text": "surprise me, but ask first"}}}


async def post(body: Any, path: str = "mcp?pace=0", **headers: str) -> Any:
    return await client.post(path, body, **{"Accept": BOTH, **headers})


def call(method: str, params: Any = None, number: Any = 1) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else {**message, "params": params}


async def call_stateless(method: str, params: dict[str, Any] | None = None, **meta: Any) -> Any:
    """Make a call of the stateless generation."""
    known = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    envelope = {KEY + name: value for name, value in {**known, **meta}.items()}
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method}
    if params and "name" in params:
        headers["Mcp_Name"] = params["name"]
    return await post(call(method, {**(params or {}), "_meta": envelope}), **headers)


async def open_session(**capabilities: Any) -> str:
    """Open a session and return its id."""
    params = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {}}
    reply = await post(call("initialize", params))
    assert reply.json()["result"]["protocolVersion"] == "2025-06-18"
    return reply.headers["Mcp-Session-Id"]


def messages(block: bytes) -> list[dict[str, Any]]:
    """Return the messages of a stream."""
    frames = block.decode().split("\r\n\r\n")
    assert frames.pop() == ""
    return [json.loads(frame.removeprefix("event: message\r\ndata: ")) for frame in frames]
