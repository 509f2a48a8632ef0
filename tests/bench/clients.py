"""The two clients that are compared: a bare one, and one that watches a playground."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field

import httpx
from httpx_sse import EventSource
from websockets.sync.client import connect

SENT = re.compile(r"sent@(\d+)@")
CURSOR = re.compile(r'id="run-cursor" data-first="(\d+)" data-last="(\d+)"([^>]*)>')


@dataclass
class Reading:
    """What a client saw."""

    seconds: float
    events: int
    #: Milliseconds from the source's write to this client, per result that carried its moment.
    latencies: list[float] = field(default_factory=list)
    messages: int = 0
    #: The run's id, "" without a playground.
    run: str = ""


def bare(url: str, n: int, pace: float = 0) -> Reading:
    """Read the source with httpx and httpx-sse and nothing else."""
    began, events, latencies = time.perf_counter(), 0, []
    document = {"query": {"text": "eggs", "n": n, "pace": pace}, "prefer": {"streaming": True}}
    with (
        httpx.Client(timeout=60, trust_env=False) as client,
        client.stream("POST", f"{url}/ask", json=document) as response,
    ):
        for message in EventSource(response).iter_sse():
            events += 1
            if pace and (sent := SENT.search(message.data)):
                latencies.append((time.monotonic_ns() - int(sent[1])) / 1e6)
    return Reading(time.perf_counter() - began, events, latencies)


class Viewer:
    """A browser's part without a browser: send the form, open the websocket, read on."""

    def __init__(self, playground: str, source: str) -> None:
        self._base = playground
        self._client = httpx.Client(base_url=playground, timeout=60, trust_env=False)
        self._client.get("/")
        form = {"name": "Source", "url": source, "version": "0.55", "auth": "none", "headers": "[]"}
        self._post("/agents/", form)

    def _post(self, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
        token = self._client.cookies["playground_csrf"]
        response = self._client.post(
            path, data=form, headers={"X-CSRFToken": token, "Origin": self._base, **headers}
        )
        assert response.status_code < 400, response.text
        return response

    def watch(self, n: int, pace: float = 0) -> Reading:
        """Send, and read the websocket to the end. Fails if a number is missing or repeated."""
        document = {"query": {"text": "eggs", "n": n, "pace": pace}, "prefer": {"streaming": True}}
        began = time.perf_counter()
        response = self._post(
            "/runs/",
            {"agent": "source", "document": json.dumps(document)},
            **{"HX-Request": "true"},
        )
        run = re.search(r'data-run="([^"]+)"', response.text)
        cursor = CURSOR.search(response.text)
        assert run
        assert cursor
        reading = Reading(0, 0)
        last = int(cursor[2])
        address = f"{self._base.replace('http', 'ws', 1)}/ws/runs/{run[1]}/?after={last}"
        # Seen from here a run can end before the socket opens: the cursor covers that too.
        with connect(address, origin=self._base, max_size=None) as socket:  # type: ignore[arg-type]
            for message in socket:
                now = time.monotonic_ns()
                reading.messages += 1
                found = CURSOR.search(str(message))
                assert found
                assert int(found[1]) == last + 1, f"expected {last + 1}, got {found[1]}"
                last = int(found[2])
                if pace:
                    sent = SENT.findall(str(message))
                    reading.latencies += [(now - int(moment)) / 1e6 for moment in sent]
                if "data-final" in found[3]:
                    break
        reading.seconds = time.perf_counter() - began
        reading.events = last
        reading.run = run[1]
        return reading

    def fetch(self, path: str) -> float:
        """Milliseconds until a page is there, whole."""
        began = time.perf_counter()
        self._client.get(path).raise_for_status()
        return (time.perf_counter() - began) * 1000
