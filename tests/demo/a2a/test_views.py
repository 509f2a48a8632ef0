"""`/demo/a2a` on the wire: versions, errors, shapes, and what is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from playground.demo import jsonrpc, state_store
from tests.demo import client
from tests.demo.conftest import Clock

pytestmark = pytest.mark.django_db(transaction=True)


async def post(body: Any, version: str = "") -> Any:
    return await client.post("a2a?pace=0", body, **({"A2A-Version": version} if version else {}))


def call(method: str, params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}


def message_params(text: str, **more: Any) -> dict[str, Any]:
    message = {"messageId": "m-1", "role": "user", "parts": [{"kind": "text", "text": text}]}
    return {"message": {**message, **more}}


async def sent(text: str, version: str = "", **more: Any) -> dict[str, Any]:
    method = "SendMessage" if version == "1.0" else "message/send"
    reply = (await post(call(method, message_params(text, **more)), version)).json()
    assert (reply["jsonrpc"], reply["id"]) == ("2.0", 7)
    return reply["result"]


class TestVersions:
    @pytest.mark.parametrize(
        ("method", "version", "code"),
        [
            ("message/send", "", None), ("message/send", "0.3", None),
            ("message/send", "0.3.0", None), ("message/send", "1.0", -32009),
            ("SendMessage", "1.0", None), ("SendMessage", "1.0.1", None),
            ("SendMessage", "", -32009), ("SendMessage", "2.0", -32009),
            ("SendMessage", "new", -32009),
        ],
    )  # fmt: skip
    async def test_the_header_decides(self, method: str, version: str, code: int | None) -> None:
        reply = await post(call(method, message_params("soup")), version)
        assert reply.status_code == 200
        assert reply.json().get("error", {}).get("code") == code

    async def test_shapes_of_messages(self) -> None:
        older, newer = await sent("soup"), await sent("soup", "1.0")
        assert (older["kind"], older["role"]) == ("message", "agent")
        assert [part["kind"] for part in older["parts"]] == ["text", "data"]
        assert newer.keys() == {"message"}
        assert newer["message"]["role"] == "ROLE_AGENT"
        assert newer["message"]["parts"][1]["mediaType"] == "application/json"
        assert older["parts"][0]["text"] == newer["message"]["parts"][0]["text"]

    async def test_shapes_of_tasks(self) -> None:
        older, newer = await sent("A table for two"), await sent("A table for two", "1.0")
        assert (older["kind"], older["status"]["state"]) == ("task", "input-required")
        assert newer["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"

    async def test_details_of_errors(self) -> None:
        older = (await post(call("tasks/get", {"id": "x"}))).json()["error"]
        newer = (await post(call("GetTask", {"id": "x"}), "1.0")).json()["error"]
        assert older["code"] == newer["code"] == -32001
        assert "data" not in older
        assert newer["data"][0]["reason"] == "TASK_NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", jsonrpc.PARSE_ERROR),
        ([], jsonrpc.INVALID_REQUEST),
        ({"id": 1}, jsonrpc.INVALID_REQUEST),
        (call("message/dance"), jsonrpc.METHOD_NOT_FOUND),
        (call("tasks/pushNotificationConfig/set"), -32003),
        (call("tasks/resubscribe"), -32004),
        (call("message/send"), jsonrpc.INVALID_PARAMS),
        (call("message/send", {"message": {"messageId": 1}}), jsonrpc.INVALID_PARAMS),
        (call("message/send", {"message": {"messageId": "m", "parts": 1}}), -32005),
        (call("message/send", {"message": {"messageId": "m", "parts": [1, {"file": {}}]}}), -32005),
        (
            call("message/send", message_params("soup", metadata={"skill": "fly"})),
            jsonrpc.INVALID_PARAMS,
        ),
        (call("message/send", message_params("soup", taskId="nobody")), -32001),
        (call("tasks/get"), jsonrpc.INVALID_PARAMS),
        (call("tasks/cancel", {"id": "nobody"}), -32001),
    ],
)
async def test_errors(body: Any, code: int) -> None:
    reply = await post(body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (200, code)


async def test_streams_have_the_line_ends_of_others() -> None:
    reply = await post(call("message/stream", message_params("Plan the shopping for tiramisu")))
    body = await client.body_of(reply)
    assert reply.headers["Content-Type"] == "text/event-stream"
    frames = body.split(b"\r\n\r\n")
    assert frames.pop() == b""
    results = [json.loads(frame.removeprefix(b"data: "))["result"] for frame in frames]
    kinds = [result["kind"] for result in results]
    assert kinds == ["task", "status-update", *["artifact-update"] * 3, "status-update"]
    assert [r["final"] for r in results if "final" in r] == [False, True]


async def test_an_error_to_a_stream_is_json() -> None:
    reply = await post(call("message/stream", {}))
    assert reply.headers["Content-Type"] == "application/json"


async def test_data_are_read_too() -> None:
    message = {"messageId": "m", "role": "user", "parts": [{"kind": "data", "data": {"q": "soup"}}]}
    reply = (await post(call("message/send", {"message": message}))).json()
    assert "Soup" in reply["result"]["parts"][0]["text"]


async def test_failures_are_told() -> None:
    for text in ("???", "fail TIMEOUT", "soup " * 2000):
        result = await sent(text)
        assert result["parts"][1]["data"]["_meta"]["response_type"] == "failure"


@pytest.mark.parametrize("text", ["dinner", "a meal plan for a week"])
async def test_questions_and_promises_are_told(text: str) -> None:
    result = await sent(text)
    assert result["parts"][0]["text"]
    assert result["parts"][1]["data"]["_meta"]["response_type"] in ("elicitation", "promise")


async def test_a_task_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(state_store, "now", clock)
    task = (await sent("A table for two"))["id"]
    assert (await post(call("tasks/get", {"id": task}))).json()["result"]["id"] == task
    clock.now += 86_401
    assert (await post(call("tasks/get", {"id": task}))).json()["error"]["code"] == -32001
