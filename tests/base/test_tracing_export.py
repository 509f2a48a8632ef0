"""Spans of a playground as a process of its own, as a collector receives them over OTLP/HTTP."""

from __future__ import annotations

import http.server
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.playground_server import PlaygroundServer

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
pytestmark = pytest.mark.process


class Collector(http.server.ThreadingHTTPServer):
    """A receiver of OTLP over HTTP, which keeps what it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: list[tuple[str, str, bytes]] = []


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers["Content-Type"], body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_command_exports_the_spans_of_its_run_before_it_ends(
    tmp_path: Path, collector: Collector
) -> None:
    endpoint = f"http://127.0.0.1:{collector.server_port}"
    with PlaygroundServer(
        tmp_path,
        OTEL_EXPORTER_OTLP_ENDPOINT=endpoint,
        PLAYGROUND_TRACEPARENT="on",
        PLAYGROUND_LOG_FORMAT="json",
    ) as server:
        assert httpx.get(f"{server.url}/metrics").status_code == 200
        assert httpx.get(f"{server.url}/ready/").status_code == 200
        done = server.manage("send", "demo", "--text", "soup with lentils")
        assert done.returncode == 0, done.stderr
        (path, content_type, _), *_ = collector.requests
        assert (path, content_type) == ("/v1/traces", "application/x-protobuf")
        sent = b"".join(body for _, _, body in collector.requests)
        assert (sent.count(b"ask nlweb"), sent.count(b"nlweb-playground") > 0) == (1, True)
        assert b"soup" not in sent
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 10


@pytest.mark.parametrize("variable", ["", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_what_is_imported_and_how_long_the_end_waits(variable: str) -> None:
    """Without configuration nothing of the SDK; with it, an exporter that hangs is left."""
    code = f"""
import os, sys, socket
hanging = socket.create_server(("127.0.0.1", 0))  # Accepts, and never responds.
if {variable!r}:
    os.environ[{variable!r}] = f"http://127.0.0.1:{{hanging.getsockname()[1]}}"
from uuid import uuid4
from playground.base import tracing
tracing.prepare()
assert ("opentelemetry.sdk" in sys.modules) is bool({variable!r})
trace = tracing.RunTrace(uuid4(), sends_header=False, redact=str)
with trace.active("ask", "http://agent.example", {{}}):
    pass
print("ended", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ended\n"
        assert process.wait(9) == 0  # The exporter alone would wait for ten seconds.
