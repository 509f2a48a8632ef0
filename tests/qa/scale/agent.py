"""An agent that promises, and sees whether anybody asks after a promise while somebody does."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class PromisingAgent:
    """Every question is answered with a promise of its own; checks take as long as `gate` is shut.

    `asked` counts the checks by token; `overlaps` are tokens that were asked after twice at once.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.overlaps: list[str] = []
        #: Open, checks are replied to; shut, they wait.
        self.gate = threading.Event()
        self.gate.set()
        #: Checks that bring progress before the one that brings the answer.
        self.patience = 3
        self._under_way: set[str] = set()
        self._promised = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> PromisingAgent:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self._server.shutdown()
        self._server.server_close()

    def reply(self, document: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and reply to a request."""
        token = document.get("promise_token")
        if token is None:
            with self._lock:
                self._promised += 1
                return 202, _promise(f"p{self._promised}", 0)
        with self._lock:
            self.asked[token] += 1
            count = self.asked[token]
            if token in self._under_way:
                self.overlaps.append(token)
            self._under_way.add(token)
        self.gate.wait(60)
        with self._lock:
            self._under_way.discard(token)
        if count <= self.patience:
            return 202, _promise(token, count / (self.patience + 1))
        return 200, _document("answer", results=[{"@type": "Recipe", "name": f"Kept {token}"}])

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        agent = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                status, document = agent.reply(json.loads(self.rfile.read(length)))
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


def _document(kind: str, **content: Any) -> dict[str, Any]:
    return {"_meta": {"response_type": kind, "version": "0.55"}, **content}


def _promise(token: str, progress: float) -> dict[str, Any]:
    block = {"token": token, "progress": progress, "estimated_time": 1, "message": "Soon."}
    return _document("promise", promise=block)
