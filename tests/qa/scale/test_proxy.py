"""Two web processes behind the reverse proxy of `deploy/nginx`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.qa.scale.services import Service, nginx
from tests.support.playground_server import PlaygroundServer
from tests.support.servers import free_port


@pytest.fixture
def proxy(tmp_path: Path, shared: dict[str, str]) -> Iterator[Service]:
    ports = [free_port(), free_port()]
    with (
        nginx(ports) as proxy,
        PlaygroundServer(
            tmp_path / "shared", ports[0], options=["--public-url", proxy.url], **shared
        ),
        PlaygroundServer(
            tmp_path / "shared", ports[1], options=["--public-url", proxy.url], **shared
        ),
    ):
        yield proxy


@pytest.mark.process
class TestProxy:
    def test_pages_forms_and_websockets_pass(self, proxy: Service) -> None:
        with httpx.Client(base_url=proxy.url, timeout=20) as client:
            client.get("/").raise_for_status()
            headers = {"X-CSRFToken": client.cookies["playground_csrf"], "Origin": proxy.url}
            form = {"agent": "demo", "document": '{"query": {"text": "soup"}}'}
            runs = [client.post("/runs/", data=form, headers=headers) for _ in range(4)]
        for run in runs:
            assert run.status_code == 302, run.text
            url = f"{proxy.url.replace('http', 'ws', 1)}/ws{run.headers['Location']}"
            with connect(url, origin=proxy.url) as socket:  # type: ignore[arg-type]
                assert "run-cursor" in str(socket.recv(20))
            with pytest.raises(InvalidStatus):
                connect(url, origin="http://elsewhere.example")  # type: ignore[arg-type]
        # The last field of a line is the web process.
        lines = proxy.logs[1].read_text().splitlines()
        assert len({line.split()[-1] for line in lines}) == 2

    def test_a_stream_is_not_buffered(self, proxy: Service) -> None:
        document = {"query": {"text": "soup"}, "prefer": {"streaming": True}}
        accept = {"Accept": "text/event-stream", "Demo-Pace": "3"}
        with httpx.stream(
            "POST", f"{proxy.url}/demo/ask", json=document, headers=accept, timeout=20
        ) as response:
            times = [time.monotonic() for _ in response.iter_bytes()]
        assert len(times) > 3
        assert times[-1] - times[0] > 0.5

    def test_a_body_that_is_too_large_is_refused(self, proxy: Service) -> None:
        response = httpx.post(f"{proxy.url}/runs/", content=bytes(41 * 1024**2), timeout=20)
        assert response.status_code == 413
