"""What is said to a server: the specification's examples to the byte, and the headers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from playground.protocols import mcp
from playground.protocols.exchange import Target
from playground.protocols.http import encode
from playground.protocols.mcp import messages
from tests.protocols.mcp.talk import MODERN, OLDER, URL, new_exchange
from tests.support.playbook import EXAMPLES

REQUESTS = sorted(
    path
    for version in ("0.54", "0.55")
    for kind in ("ask", "await")
    for path in (EXAMPLES / f"mcp-{version}").glob(f"{kind}-*.json")
)


@pytest.mark.parametrize("path", REQUESTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_example_of_the_specification_comes_out_to_the_byte(path: Path) -> None:
    example = json.loads(path.read_text("utf-8"))
    params = example["params"]
    message = messages.call_tool(example["id"], params["name"], params["arguments"])
    assert encode(message) == encode(example)
    # The exchange says the same, and asks to be told of progress.
    operation = "await" if "promise_token" in params["arguments"] else "ask"
    call = new_exchange(params["arguments"], operation, handshake=OLDER).tool_call()
    sent = json.loads(call.body)
    assert sent["params"].pop("_meta") == {"progressToken": 1}
    assert encode({**sent, "id": example["id"]}) == encode(example)


def test_there_are_examples() -> None:
    assert len(REQUESTS) == 12


def headers_of(**fields: Any) -> dict[str, str]:
    call = new_exchange(**fields).tool_call()
    assert (call.method, call.url) == ("POST", URL)
    return dict(call.headers)


def test_the_newer_generation_says_in_headers_what_is_in_the_body() -> None:
    headers = headers_of(handshake=MODERN)
    assert headers["MCP-Protocol-Version"] == "2026-07-28"
    assert (headers["Mcp-Method"], headers["Mcp-Name"]) == ("tools/call", "ask")
    assert headers["Accept"] == "application/json, text/event-stream"
    assert "Mcp-Session-Id" not in headers
    meta = json.loads(new_exchange(handshake=MODERN).tool_call().body)["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"]["elicitation"] == {
        "form": {}, "url": {},
    }  # fmt: skip


def test_the_older_generation_has_a_session() -> None:
    headers = headers_of(handshake=OLDER, session=("2025-06-18", "s1"))
    assert headers["Mcp-Session-Id"] == "s1"
    assert headers["MCP-Protocol-Version"] == "2025-06-18"
    assert "Mcp-Method" not in headers


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", ""])
def test_versions_before_the_header_are_not_told_it(version: str) -> None:
    assert "MCP-Protocol-Version" not in headers_of(handshake={**OLDER, "version": version})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("find recipes", "find recipes"),
        ("Rezepte für alle", "=?base64?UmV6ZXB0ZSBmw7xyIGFsbGU=?="),
        (" ask", "=?base64?IGFzaw==?="),
        ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
    ],
)
def test_a_name_that_no_header_can_carry_is_encoded(name: str, value: str) -> None:
    assert headers_of(handshake=MODERN, tools=(name, ""))["Mcp-Name"] == value


def test_own_headers_take_the_place_of_the_defaults() -> None:
    headers = headers_of(handshake=MODERN, headers=(("accept", "*/*"), ("X-Key", "k")))
    assert headers["accept"] == "*/*"
    assert headers["X-Key"] == "k"
    assert "Accept" not in headers


def test_ids_are_marked_so_that_runs_of_one_session_do_not_share_them() -> None:
    first, second = (
        new_exchange(handshake=OLDER, request_id_prefix=mark).tool_call() for mark in ("a", "b")
    )
    assert json.loads(first.body)["id"] == "a-1"
    assert json.loads(second.body)["params"]["_meta"] == {"progressToken": "b-1"}


def test_any_tool_can_be_called() -> None:
    call = mcp.call_tool(Target(URL, handshake=OLDER), "add", {"a": 1}).tool_call()
    assert json.loads(call.body)["params"]["arguments"] == {"a": 1}
