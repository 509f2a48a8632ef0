"""Runs whose agent is silent until all of them have started, and then streams at a steady pace."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx

from tests.qa.bench import clients
from tests.qa.bench.clients import Started

#: Requests for new runs that are sent at once.
STARTING = 4


class Streams:
    """The form of a playground that starts runs, and their agent (`tests.qa.bench.source`)."""

    def __init__(self, playground: str, agent: str) -> None:
        self._agent = httpx.Client(base_url=agent, timeout=60, trust_env=False)
        self.form = clients.Viewer(playground, agent)
        # Templates are compiled with the first run.
        self.form.watch(clients.results(5))

    def start(self, runs: int, results: int, pace: float, **options: float) -> list[Started]:
        """Start runs whose agent is silent until `release`; `options` are those of the agent."""
        before = self._held()
        documents = [
            clients.results(results, pace, hold=True, key=uuid4().hex, **options)
            for _ in range(runs)
        ]
        with ThreadPoolExecutor(STARTING) as pool:
            started = list(pool.map(self.form.start, documents))
        deadline = time.monotonic() + 60
        while (held := self._held() - before) < runs:
            assert time.monotonic() < deadline, f"{held} of {runs} runs have called the agent"
            time.sleep(0.1)
        return started

    def requests(self) -> dict[str, int]:
        """Return the number of requests with each key that the agent has received."""
        return self._agent.get("/requests").json()

    def release(self) -> None:
        """Let the agent stream."""
        self._agent.post("/go").raise_for_status()

    def _held(self) -> int:
        return self._agent.get("/held").json()
