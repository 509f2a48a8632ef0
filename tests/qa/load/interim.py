"""Interim responses: how long a page takes beside ten agents that send 1xx without end.

A limit ends their runs; the pages are those that are requested before that, again and again with
new runs. `python -m tests.qa.load.interim` is the agent, and prints its port. The path of a URL is
the number of lines of each response head. `GET /held` is the number of responses that wait for
`POST /go`, `GET /sending` that of the others.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import httpx

from tests.qa.bench import clients
from tests.qa.bench.serving import request, serve, served
from tests.qa.bench.source import write_json
from tests.qa.bench.table import Row
from tests.support.playground_server import PlaygroundServer

#: Agents at once, and lines of a plain head and of one that is as long as is permitted.
AGENTS, PLAIN, LONG = 10, 1, 998
#: Seconds of a measurement, and the pages that are fetched one after another.
SECONDS = 30.0
PAGES = ("/", "/runs/", "/history/")
#: The most milliseconds that a page may take.
MOST = 100.0
held: list[asyncio.Future[None]] = []
sending = 0


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send interim responses, once released, until the connection is closed."""
    first, *_ = await request(reader)
    if first.startswith("GET"):
        await write_json(writer, len(held) if "/held" in first else sending)
    elif first.startswith("POST /go"):
        for future in held:
            future.set_result(None)
        await write_json(writer, len(held))
        held.clear()
    else:
        await _send(writer, int(first.split()[1].strip("/").split("/")[0]))


async def _send(writer: asyncio.StreamWriter, lines: int) -> None:
    global sending
    head = b"HTTP/1.1 103 Early Hints\r\n" + b"link: x\r\n" * (lines - 1) + b"\r\n"
    block = head * (64 * 1024 // len(head) + 1)
    released = asyncio.get_running_loop().create_future()
    held.append(released)
    await released
    sending += 1
    try:
        while True:
            writer.write(block)
            await writer.drain()
    finally:
        sending -= 1


def measure(server: tuple[str, ...], tree: Path, python: str, lines: int, seconds: float) -> Row:
    """Fetch pages without and beside the agents, whose heads have so many lines."""
    with (
        tempfile.TemporaryDirectory() as data,
        served("tests.qa.bench.source") as source,
        served("tests.qa.load.interim") as served_agent,
        PlaygroundServer(Path(data), tree=tree, python=python, options=server) as playground,
        httpx.Client(base_url=served_agent.url, timeout=60, trust_env=False) as agent,
    ):
        form = clients.Viewer(playground.url, source.url)
        form.watch(clients.results(5))
        form.add_agent("interim", f"{served_agent.url}/{lines}", clients.AGENTS["source"])
        end = time.monotonic() + seconds
        alone, beside = list[float](), list[float]()
        pages = itertools.cycle(PAGES)
        while time.monotonic() < end or not beside:
            for _ in range(AGENTS):
                form.start(clients.results(1), "interim")
            while agent.get("/held").json() < AGENTS:
                time.sleep(0.05)
            alone += [form.fetch(page) for page in PAGES]
            agent.post("/go").raise_for_status()
            while agent.get("/sending").json():
                beside.append(form.fetch(next(pages)))
        form.close()
    kind = "plain 1xx" if lines == PLAIN else f"1xx of {lines:,} lines"
    return Row(
        f"pages beside {AGENTS} agents that send {kind} without end",
        f"{_times(beside)}; before that {_times(alone)}",
        f"maximum ≤ {MOST:.0f} ms",
        max(beside) <= MOST,
    )


def _times(found: list[float]) -> str:
    middle, most = statistics.median(found), max(found)
    return f"median {middle:.0f} ms, maximum {most:.0f} ms of {len(found)} pages"


if __name__ == "__main__":
    serve(handle)
