"""Chat Completions: the request that is sent, and what `send` prints of the response."""

from __future__ import annotations

import json

import pytest

from tests.cases import ask
from tests.support.servers import reply

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize(
    ("media_type", "body", "texts"),
    [
        ("application/json", b'{"text": "Hello"}', ["Hello"]),
        (
            "text/event-stream",
            b'data: {"text": "Hel"}\n\ndata: {"text": "lo"}\n\n',
            ["Hel", "lo"],
        ),
        ("application/json", b"{}", []),
    ],
)
def test_a_response(media_type: str, body: bytes, texts: list[str]) -> None:
    answer = ask(
        reply(body, media_type), arguments=("--protocol", "chat-completions", "--text", "Say hello")
    )
    assert [line["text"] for line in answer.of("text")] == texts
    sent = json.loads(answer.requests[0].partition(b"\r\n\r\n")[2])
    assert sent == {"text": "Say hello", "stream": True}
