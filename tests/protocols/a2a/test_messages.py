from __future__ import annotations

import json
from typing import Any

import pytest

from playground.protocols.a2a import VERSIONS, messages
from tests.support.playbook import CAPTURES

OLD, NEW = VERSIONS["0.3"], VERSIONS["1.0"]


def sent(version: Any, message: Any, **options: Any) -> Any:
    return messages.send_message(version, message, message_id="m", **options)["params"]["message"]


@pytest.mark.parametrize(
    ("name", "version", "text"),
    [
        ("v03_send_message", OLD, "hello"),
        ("v03_stream_task", OLD, "a task"),
        ("v1_send_message", NEW, "hello"),
        ("v1_stream_task", NEW, "a task"),
    ],
)
def test_what_real_clients_send(name: str, version: Any, text: str) -> None:
    request = (CAPTURES / "a2a" / f"{name}.req.txt").read_text()
    recorded = json.loads(request[request.index('{"jsonrpc"') :])
    own_id = recorded["params"]["message"]["messageId"]
    made = messages.send_message(version, text, message_id=own_id, streaming="stream" in name)
    assert made == recorded


@pytest.mark.parametrize(
    ("message", "old", "new"),
    [
        ("eggs", [{"kind": "text", "text": "eggs"}], [{"text": "eggs"}]),
        ({"text": "eggs"}, [{"kind": "text", "text": "eggs"}], [{"text": "eggs"}]),
        (
            {"dish": "eggs"},
            [{"kind": "data", "data": {"dish": "eggs"}}],
            [{"data": {"dish": "eggs"}, "mediaType": "application/json"}],
        ),
        (
            [1],
            [{"kind": "data", "data": {"value": [1]}}],
            [{"data": [1], "mediaType": "application/json"}],
        ),
        (
            {"role": "user", "parts": [{"type": "text", "text": "eggs"}, "salt", 7]},
            [{"kind": "text", "text": "eggs"}, {"kind": "text", "text": "salt"}, 7],
            [{"text": "eggs"}, {"text": "salt"}, 7],
        ),
        (
            {"parts": [{"kind": "data", "data": {"n": 1}, "metadata": {"a": 1}}]},
            [{"kind": "data", "data": {"n": 1}, "metadata": {"a": 1}}],
            [{"data": {"n": 1}, "mediaType": "application/json", "metadata": {"a": 1}}],
        ),
        ({"parts": [{"url": "http://x/"}]}, [{"url": "http://x/"}], [{"url": "http://x/"}]),
        (None, [], []),
    ],
)
def test_a_message_in_the_words_of_each_version(message: Any, old: Any, new: Any) -> None:
    assert sent(OLD, message) == {
        "kind": "message", "messageId": "m", "role": "user", "parts": old,
    }  # fmt: skip
    assert sent(NEW, message) == {"messageId": "m", "role": "ROLE_USER", "parts": new}


def test_what_a_message_has_besides_its_parts_is_kept() -> None:
    message = {"messageId": "own", "contextId": "c", "role": "agent", "kind": "x", "parts": []}
    assert sent(NEW, message) == {
        "messageId": "own", "contextId": "c", "role": "ROLE_USER", "parts": [],
    }  # fmt: skip


def test_an_answer_belongs_to_its_task() -> None:
    resume = {"taskId": "t", "contextId": "c", "answer": "yes"}
    assert sent(NEW, "eggs", resume=resume) == {
        "messageId": "m", "role": "ROLE_USER", "parts": [{"text": "yes"}],
        "taskId": "t", "contextId": "c",
    }  # fmt: skip
    assert "contextId" not in sent(NEW, "eggs", resume={"taskId": "t", "answer": {"a": 1}})
