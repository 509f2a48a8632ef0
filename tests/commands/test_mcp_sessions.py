"""MCP sessions of commands: one for each conversation, used by all its runs, and ended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from playground.models import McpSession
from tests.commands.test_run_collection import fixture
from tests.support.commands import run_command
from tests.support.servers import Script, closing, reply, serving

pytestmark = pytest.mark.django_db(transaction=True)


def promising(request: bytes) -> Script:
    """A server with sessions, whose tool `ask` promises what `await` has in the end."""
    head, _, body = request.partition(b"\r\n\r\n")
    if head.startswith(b"DELETE "):
        return [closing(reply(b""))]
    message = json.loads(body)
    method = message["method"]
    if "id" not in message:
        return [closing(reply(b"", status="202 Accepted"))]
    answer: dict[str, Any] = {"error": {"code": -32601, "message": "No."}}
    if method == "initialize":
        answer = {"result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "soup"}}}
    elif method == "tools/list":
        answer = {"result": {"tools": [{"name": "ask"}, {"name": "await"}]}}
    elif method == "tools/call":
        meta: dict[str, Any] = {"response_type": "promise", "version": "0.55"}
        promise = {"token": "p", "expected_time": 1}
        nlweb: dict[str, Any] = {"_meta": meta, "promise": promise}
        if message["params"]["name"] == "await":
            nlweb = {"_meta": {**meta, "response_type": "answer"}, "results": []}
        answer = {"result": {"content": [{"type": "text", "text": json.dumps(nlweb)}]}}
    response = reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())
    if method == "initialize":
        response = response.replace(
            b"\r\n\r\n", b"\r\nMcp-Session-Id: %s\r\n\r\n" % uuid4().hex.encode(), 1
        )
    return [closing(response)]


def calls_of(requests: list[bytes]) -> dict[str, list[str]]:
    """The methods of the calls of each session, "" for those without one."""
    found: dict[str, list[str]] = {}
    for request in requests:
        head, _, body = request.partition(b"\r\n\r\n")
        lines = [line.partition(b": ") for line in head.split(b"\r\n")]
        session = next(
            (value.decode() for name, _, value in lines if name == b"Mcp-Session-Id"), ""
        )
        found.setdefault(session, []).append(json.loads(body)["method"] if body else "DELETE")
    return found


@pytest.mark.slow
def test_a_promise_is_followed_in_the_session_of_its_request() -> None:
    with serving(answer=promising) as server:
        done = run_command(
            "send", server.url, "--binding", "mcp", "--text", "eggs", "--output", "jsonl",
            "--follow",
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.json_lines[-1]["outcome"] == "answer"
    found = calls_of(server.requests)
    assert found.pop("") == ["server/discover", "initialize"]
    (calls,) = found.values()
    assert calls == [
        "notifications/initialized", "tools/list", "tools/call", "tools/list", "tools/call",
        "DELETE",
    ]  # fmt: skip
    assert not McpSession.objects.exists()


def test_both_sides_of_a_twin_end_theirs() -> None:
    with serving(answer=promising) as server:
        done = run_command("twin", server.url, server.url, "--text", "a", "--binding", "mcp")
    assert done.returncode == 0, done.stdout + done.stderr
    found = calls_of(server.requests)
    assert found.pop("").count("initialize") == 2
    assert [calls[-1] for calls in found.values()] == ["DELETE", "DELETE"]
    assert not McpSession.objects.exists()


def test_a_collection_run_ends_those_of_all_its_requests(tmp_path: Path) -> None:
    with serving(answer=promising) as server:
        requests = [{"address": server.url, "binding": "mcp"} for _ in range(3)]
        done = run_command("run_collection", fixture(tmp_path, *requests))
    assert done.returncode == 0, done.stdout + done.stderr
    found = calls_of(server.requests)
    assert found.pop("").count("initialize") == 3
    assert [calls[-1] for calls in found.values()] == ["DELETE"] * 3
    assert not McpSession.objects.exists()
