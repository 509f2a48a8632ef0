"""Large responses: the memory of a playground that receives twenty of them at once.

`python -m tests.qa.load.large` is their agent, and prints its port. The path of a URL is the size
of the response in bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from tests.qa.bench import clients
from tests.qa.bench.clients import Started
from tests.qa.bench.memory import MIB, PeakMemory
from tests.qa.bench.serving import request, serve, served
from tests.qa.bench.table import Row
from tests.support.playground_server import DATABASE, PlaygroundServer

#: Responses at once, and seconds after the last one at which the memory is measured.
RESPONSES, AFTER = 20, 15.0
#: Megabytes of a response, and the limit of bytes; None is the default.
CASES: tuple[tuple[int, int | None], ...] = ((30, None), (40, None), (80, 64 * MIB))
#: The most that may be in flight, and that may remain, in MB.
MOST, MOST_LEFT = 256, 50

_UNFINISHED = "SELECT count(*) FROM playground_run WHERE ended_us IS NULL"
_ITEM = json.dumps({"@type": "Recipe", "name": "Soup", "description": "x" * 900}).encode()
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
_START = b'{"_meta": {"response_type": "answer", "version": "0.55"}, "results": ['


async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send one document."""
    first, *_ = await request(reader)
    size = int(first.split()[1].strip("/").split("/")[0])
    writer.write(_HEAD + _START)
    block = (_ITEM + b", ") * 64
    for _ in range(size // len(block)):
        writer.write(block)
        await writer.drain()
    writer.write(_ITEM + b"]}")
    await writer.drain()


async def _watch(pages: list[Started]) -> None:
    """Read what each page gets, until its run has ended."""

    async def read(page: Started) -> None:
        last = page.last
        for _ in range(100):
            url = f"{page.url}?after={last}"
            async with connect(url, origin=page.origin, max_size=None) as socket:
                with contextlib.suppress(ConnectionClosed):
                    async for message in socket:
                        if cursor := clients.CURSOR.search(str(message)):
                            last = int(cursor[2])
                if socket.close_code == 1000:
                    return

    async with asyncio.TaskGroup() as group:
        for page in pages:
            group.create_task(read(page))


def measure(options: tuple[str, ...], tree: Path, python: str) -> Iterator[Row]:
    """Yield a row for each size, without and with the page of each run open."""
    for megabytes, limit in CASES:
        for is_open in (False, True):
            yield _measure(options, tree, python, megabytes, limit, is_open=is_open)


def _measure(
    options: tuple[str, ...],
    tree: Path,
    python: str,
    megabytes: int,
    limit: int | None,
    *,
    is_open: bool,
) -> Row:
    settings = {"PLAYGROUND_MAX_BYTES": str(limit)} if limit else {}
    with (
        tempfile.TemporaryDirectory() as data,
        served("tests.qa.load.large") as agent,
        PlaygroundServer(
            Path(data),
            tree=tree,
            python=python,
            options=options,
            PLAYGROUND_MAX_RUNS="100",
            **settings,
        ) as server,
    ):
        form = clients.Viewer(server.url, agent.url)
        for name, size in (("small", 1000), ("large", megabytes * 1_000_000)):
            form.add_agent(name, f"{agent.url}/{size}", {"protocol": "nlweb", "version": "0.55"})
        # Templates are compiled with the first run.
        asyncio.run(_watch([form.start(clients.results(1), "small")]))
        time.sleep(3)
        process = psutil.Process(server.pid)
        with PeakMemory(server.pid) as memory:
            began = time.monotonic()
            pages = [form.start(clients.results(1), "large") for _ in range(RESPONSES)]
            if is_open:
                asyncio.run(_watch(pages))
            _wait_for_the_end(Path(data) / DATABASE)
            seconds = time.monotonic() - began
        time.sleep(AFTER)
        left = process.memory_info().rss
    mb = [size / MIB for size in (memory.before, memory.peak, left)]
    of = f"at {limit // MIB} MiB" if limit else "at the default limit"
    return Row(
        f"{RESPONSES} responses of {megabytes} MB {of}, {'with' if is_open else 'without'} pages",
        f"{mb[0]:.0f} MB before, {mb[1]:.0f} at most, {mb[2]:.0f} after {AFTER:.0f} s; "
        f"{seconds:.0f} s",
        f"+{MOST} MB, then +{MOST_LEFT}",
        mb[1] - mb[0] <= MOST and mb[2] - mb[0] <= MOST_LEFT,
    )


def _wait_for_the_end(database: Path) -> None:
    # From the database: the page of a run would decode its response again.
    deadline = time.monotonic() + 600
    with contextlib.closing(sqlite3.connect(database)) as connection:
        while connection.execute(_UNFINISHED).fetchone()[0]:
            assert time.monotonic() < deadline, "runs have not ended"
            time.sleep(0.5)


if __name__ == "__main__":
    serve(handle)
