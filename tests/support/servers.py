"""Servers that follow a script of bytes, to show a client what no proper server would send.

    async with serve(STREAM_HEAD, chunk(b"data: 1\n\n"), RESET) as server:
        ...  # call server.url; then server.requests, server.gone

A script is a sequence of steps: bytes are sent, a number is a pause in seconds, an
`asyncio.Event` is waited for, `HOLD` waits until the client goes away, `RESET` breaks the
connection, `CLOSE` closes it properly, as the end of the script does.

For tests without an event loop, `serving` does the same in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from anyio.from_thread import start_blocking_portal


class Action(Enum):
    """Steps that send nothing."""

    HOLD = "hold"
    RESET = "reset"
    CLOSE = "close"


HOLD, RESET, CLOSE = Action.HOLD, Action.RESET, Action.CLOSE

#: The range of `free_port`. Browsers refuse port 10080.
_FIRST_PORT, _LAST_PORT = 11_000, 32_768

Step = bytes | float | asyncio.Event | Action
Script = Sequence[Step]


def head(status: str = "200 OK", **headers: str) -> bytes:
    """A response head; `content_type="x"` becomes `Content-Type: x`."""
    lines = [f"HTTP/1.1 {status}"]
    lines += [f"{name.replace('_', '-').title()}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def chunk(data: bytes) -> bytes:
    """One chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def reply(body: bytes, content_type: str = "application/json", status: str = "200 OK") -> bytes:
    """A whole response with a content length."""
    return head(status, content_type=content_type, content_length=str(len(body))) + body


def closing(response: bytes) -> bytes:
    """The response with the header of a server that closes the connection after it."""
    return response.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)


STREAM_HEAD = head(content_type="text/event-stream", transfer_encoding="chunked")
LAST_CHUNK = b"0\r\n\r\n"


@dataclass
class Server:
    """A running server: where it is and what it has seen."""

    url: str
    port: int
    #: Each request as it came, head and body.
    requests: list[bytes] = field(default_factory=list)
    #: Set when a client has gone away before the end of the script.
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    #: Set when a request has come in.
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    #: Connections so far, and those that are open.
    connections: int = 0
    open_connections: int = 0


@contextlib.asynccontextmanager
async def serve(
    *script: Step,
    answer: Callable[[bytes], Script] | None = None,
    tls: ssl.SSLContext | None = None,
    read: bool = True,
    keep: bool = False,
) -> AsyncIterator[Server]:
    """A server on a free port of 127.0.0.1 that follows `script` on every connection.

    `answer` chooses the script by the request; `read=False` starts without a request; `keep`
    follows the script for each request of a connection, which the client closes.
    """
    tasks: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        tasks.add(task)
        server.connections += 1
        server.open_connections += 1
        try:
            while True:
                request = await _request(reader) if read else b""
                if read:
                    server.requests.append(request)
                    server.asked.set()
                await _follow(answer(request) if answer else script, reader, writer)
                if not keep:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            server.gone.set()
        finally:
            server.open_connections -= 1
            tasks.discard(task)
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    server = Server(f"{'https' if tls else 'http'}://127.0.0.1:{port}", port)
    try:
        yield server
    finally:
        listening.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def serving(*script: Step, answer: Callable[[bytes], Script] | None = None) -> Iterator[Server]:
    """Run `serve` on an event loop in a thread; only that loop may wait for its events."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(*script, answer=answer)) as server,
    ):
        yield server


def free_port() -> int:
    """A port of 127.0.0.1 on which nothing listens.

    The system itself gives it to nobody: it is below the ports that it gives to connections and
    for port 0.
    """
    while True:
        port = _FIRST_PORT + secrets.randbelow(_LAST_PORT - _FIRST_PORT)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


async def _request(reader: asyncio.StreamReader) -> bytes:
    start = await reader.readuntil(b"\r\n\r\n")
    for line in start.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return start + await reader.readexactly(int(line.partition(b":")[2]))
    return start


async def _follow(
    script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    for step in script:
        if isinstance(step, bytes):
            writer.write(step)
            await writer.drain()
        elif isinstance(step, asyncio.Event):
            await step.wait()
        elif step is HOLD:
            while await reader.read(1024):
                pass
            raise ConnectionResetError
        elif step is RESET:
            # Lingering for no time turns the close into a reset (RST).
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        elif step is CLOSE:
            writer.close()
        elif isinstance(step, (int, float)):
            await asyncio.sleep(step)
