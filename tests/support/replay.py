"""What real agents sent, sent again: captured replies served over a socket, byte for byte."""

from __future__ import annotations

import contextlib
import re
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from tests.support.servers import LAST_CHUNK, chunk

CAPTURES = Path(__file__).parent.parent / "captures"
#: Every captured reply of an NLWeb agent; the requests beside them are not served.
REPLIES = sorted(
    path
    for folder in ("ask_agent", "nlweb")
    for path in (CAPTURES / folder).glob("*.txt")
    if not path.name.endswith(".req.txt")
)


def reply_bytes(path: Path) -> bytes:
    """The reply as it crossed the wire.

    Most captures were taken above the framing: their head announces chunks that the tool had
    put together already. Those are cut into chunks again, one per event.
    """
    data = path.read_bytes()
    head, _, body = data.partition(b"\r\n\r\n")
    if b"chunked" not in head.lower() or re.match(rb"[0-9a-fA-F]+\r\n", body):
        return data
    events = [part + b"\n\n" for part in body.split(b"\n\n") if part]
    return head + b"\r\n\r\n" + b"".join(map(chunk, events)) + LAST_CHUNK


@contextlib.contextmanager
def answering(respond: Callable[[BinaryIO], object]) -> Iterator[str]:
    """A server in a thread; once a request was read, `respond` writes. Gives its URL."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                if not (line := self.rfile.readline()):
                    return
                head += line
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            self.rfile.read(int(length[1]) if length else 0)
            respond(self.wfile)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        # Looked after often: `shutdown` waits for the next look.
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def replaying(data: bytes) -> contextlib.AbstractContextManager[str]:
    """A server that answers every request with these bytes; gives its URL."""
    return answering(lambda out: out.write(data))
