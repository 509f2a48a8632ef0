"""The two clients that are compared: a bare one, and one that watches a playground."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from typing import Any

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


@dataclass(frozen=True)
class Started:
    """A run that was sent, and how to watch it."""

    run: str
    #: The URL of the websocket, and its origin.
    url: str
    origin: str
    #: The last frame that the page has.
    last: int
    #: Results that the page shows.
    shown: int = 0
    #: The key of its request, with which the agent counts.
    key: str = ""

    @property
    def address(self) -> str:
        """The URL with the cursor."""
        return f"{self.url}?after={self.last}"


#: What an agent of the benchmarks is called, and the rest of its form. The source takes both
#: protocols at its addresses.
AGENTS: dict[str, dict[str, str]] = {
    "source": {"protocol": "nlweb", "version": "0.55", "path": ""},
    "pieces": {"protocol": "agent-api", "version": "1", "path": "/process"},
}


def results(n: int, pace: float = 0, **options: float | str) -> dict[str, Any]:
    """A request of NLWeb for `n` results."""
    query = {"text": "eggs", "n": n, "pace": pace, **options}
    return {"query": query, "prefer": {"streaming": True}}


def promise(seconds: float) -> dict[str, Any]:
    """A request of NLWeb for a promise that is fulfilled after some seconds."""
    return {"query": {"text": "eggs", "promise": seconds}}


def pieces(n: int) -> dict[str, Any]:
    """A request of the Agent API for a text in `n` pieces."""
    text = {"type": "text", "text": f"{n} pieces"}
    return {"input": [{"role": "user", "type": "message", "content": [text]}], "stream": True}


def bare(url: str, document: dict[str, Any], pace: float = 0) -> Reading:
    """Read the source with httpx and httpx-sse and nothing else."""
    began, events, latencies = time.perf_counter(), 0, []
    with (
        httpx.Client(timeout=60, trust_env=False) as client,
        client.stream("POST", url, json=document) as response,
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
        for name, agent in AGENTS.items():
            self.add_agent(name, source + agent["path"], agent)

    def add_agent(self, name: str, url: str, form: dict[str, str]) -> None:
        """Add an agent; `form` is its protocol and version."""
        options = {"binding": "http", "auth": "none", "headers": "[]"}
        self.post("/agents/", {**form, "name": name.title(), "url": url, **options})

    def post(self, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
        """Send a form. Can be called from several threads."""
        response = self._post(path, form, **headers)
        assert response.status_code < 400, response.text
        return response

    def _post(self, path: str, form: dict[str, str], **headers: str) -> httpx.Response:
        token = self._client.cookies["playground_csrf"]
        return self._client.post(
            path, data=form, headers={"X-CSRFToken": token, "Origin": self._base, **headers}
        )

    def request(self, document: dict[str, Any], **headers: str) -> httpx.Response:
        """Send a request to the agent, and return the response even if it is an error."""
        form = {"agent": "source", "document": json.dumps(document)}
        return self._post("/runs/", form, **headers)

    def start(self, document: dict[str, Any], agent: str = "source") -> Started:
        """Send the form. Can be called from several threads."""
        response = self.post(
            "/runs/",
            {"agent": agent, "document": json.dumps(document)},
            **{"HX-Request": "true"},
        )
        return self.started(response, document)

    def started(self, response: httpx.Response, document: dict[str, Any]) -> Started:
        """Return the run of a response to the form."""
        run = re.search(r'data-run="([^"]+)"', response.text)
        cursor = CURSOR.search(response.text)
        assert run, response.text
        assert cursor
        url = f"{self._base.replace('http', 'ws', 1)}/ws/runs/{run[1]}/"
        shown = len(set(SENT.findall(response.text)))
        key = document.get("query", {}).get("key", "")
        return Started(run[1], url, self._base, int(cursor[2]), shown, key)

    def watch(self, document: dict[str, Any], pace: float = 0, agent: str = "source") -> Reading:
        """Send, and read the websocket to the end. Fails if a number is missing or repeated."""
        began = time.perf_counter()
        started = self.start(document, agent)
        reading = Reading(0, 0)
        last = started.last
        # Seen from here a run can end before the socket opens: the cursor covers that too.
        origin: Any = started.origin
        with connect(started.address, origin=origin, max_size=None) as socket:
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
        reading.run = started.run
        return reading

    def get(self, path: str) -> str:
        """Return a page. Can be called from several threads."""
        return self._client.get(path).raise_for_status().text

    def fetch(self, path: str) -> float:
        """Milliseconds until a page is there, whole."""
        began = time.perf_counter()
        self.get(path)
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
