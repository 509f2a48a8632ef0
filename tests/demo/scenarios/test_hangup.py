"""Connections that the client or a scenario closes."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.demo.scenarios.wire import BODY


class TestGoneClients:
    """Streams stop when nobody listens: the generator is closed, not left to run for ever."""

    @pytest.mark.parametrize("slug", ["endless", "heartbeats", "slow", "silent"])
    async def test_a_stream_is_cancelled(self, slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The ASGI server says that the client has left; the application must return."""
        from django.core.handlers.asgi import ASGIHandler

        begun, left = asyncio.Event(), asyncio.Event()
        sent: list[dict[str, Any]] = []
        data = json.dumps(BODY).encode()
        messages = [{"type": "http.request", "body": data, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)
            begun.set()

        scope = {
            "type": "http", "method": "POST", "path": f"/demo/scenarios/{slug}/ask",
            "query_string": b"",
            "headers": [(b"host", b"testserver"), (b"content-type", b"application/json")],
        }  # fmt: skip
        running = asyncio.create_task(ASGIHandler()(scope, receive, send))
        if slug != "silent":
            await asyncio.wait_for(begun.wait(), 10)
        left.set()
        await asyncio.wait_for(running, 10)
        assert all(message.get("more_body", True) for message in sent)
