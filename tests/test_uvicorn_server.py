"""Slow clients under uvicorn."""

from __future__ import annotations

import threading
from typing import Any

import httpx
from websockets.sync.client import connect

from playground.uvicorn_server import WebSocketProtocol
from tests.support.flooding_app import MESSAGES, UNREAD, FloodingApp, slow_connection
from tests.support.servers import free_port
from tests.support.uvicorn_server import serving_asgi


class Flood(FloodingApp):
    """The application, which tells when a connection has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            if scope["type"] == "websocket":
                self.ended.set()


def test_send_waits_for_a_slow_client() -> None:
    app, port = Flood(), free_port()
    with serving_asgi(app, port, ws=WebSocketProtocol):
        url = f"ws://127.0.0.1:{port}/"
        with connect(url, sock=slow_connection(port), **UNREAD) as client:
            state = httpx.get(f"http://127.0.0.1:{port}/").json()
            assert state["sent"] < MESSAGES
            assert state["unsent"] is None
            for _ in range(MESSAGES):
                client.recv(timeout=20)


def test_a_client_that_responds_to_no_ping_is_disconnected() -> None:
    app, port = Flood(), free_port()
    pings = {"ws_ping_interval": 0.05, "ws_ping_timeout": 0.05}
    with serving_asgi(app, port, ws=WebSocketProtocol, **pings):
        url = f"ws://127.0.0.1:{port}/"
        with connect(url, sock=slow_connection(port), **UNREAD):
            assert app.ended.wait(20)
            assert app.sent < MESSAGES
