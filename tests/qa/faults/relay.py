"""A TCP relay between a process and the servers that it needs: suspended, it is a broken network.

`python -m tests.qa.faults.relay 5432 6379` prints a port for each port of 127.0.0.1 that it relays
to. While it is suspended, connections are accepted, bytes are taken, and nothing arrives; after
that everything arrives, as with packets that are sent again.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from urllib.parse import urlsplit

#: Bytes that are read at once.
SIZE = 64 * 1024


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(SIZE):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def _relay(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        to_server = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        writer.close()
        return
    await asyncio.gather(_copy(reader, to_server[1]), _copy(to_server[0], writer))


async def _serve(ports: list[int]) -> None:
    servers = [await asyncio.start_server(partial(_relay, port), "127.0.0.1", 0) for port in ports]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


class Relay:
    """A running relay; `urls` are those of the servers with the ports of the relay."""

    def __init__(self, process: subprocess.Popen[str], urls: list[str]) -> None:
        self._process = process
        self.urls = urls

    @contextlib.contextmanager
    def cut(self) -> Iterator[None]:
        """Relay nothing during the block."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def relay(*urls: str) -> Iterator[Relay]:
    """Relay to the servers of these URLs."""
    ports = [str(urlsplit(url).port) for url in urls]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.qa.faults.relay", *ports], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    try:
        listening = process.stdout.readline().split()
        pairs = zip(urls, ports, listening, strict=True)
        yield Relay(process, [url.replace(f":{old}/", f":{new}/") for url, old, new in pairs])
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    asyncio.run(_serve([int(argument) for argument in sys.argv[1:]]))
