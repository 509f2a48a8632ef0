"""Sockets that wait or fail, and what may be logged of those that a test has fail."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

#: What Chromium logs of a socket that fails, and htmx: the bare event.
_LOST = re.compile(r"^WebSocket connection|^\[object Event\]$")


@contextlib.contextmanager
def lost_socket(complaints: list[str]) -> Iterator[None]:
    """Expect that a socket fails inside: what is logged of it is no complaint."""
    yield
    complaints[:] = [text for text in complaints if not _LOST.search(text)]


class Gateway:
    """A way to the playground on which the handshake of a socket waits."""

    def __init__(self, url: str) -> None:
        self._target = (urlsplit(url).hostname, urlsplit(url).port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        #: Set when a handshake waits.
        self.waiting = threading.Event()
        #: Set, handshakes go through.
        self.open = threading.Event()
        #: How many of them get no answer.
        self.refusals = 0
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and end those that there are."""
        self.open.set()
        self._listening.close()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                threading.Thread(target=self._connect, args=[near], daemon=True).start()

    def _connect(self, near: socket.socket) -> None:
        with contextlib.suppress(OSError):
            head = near.recv(65536)
            if b"\r\nupgrade: websocket" in head.lower():
                self.waiting.set()
                self.open.wait(60)
                if self.refusals:
                    self.refusals -= 1
                    near.close()
                    return
            far = socket.create_connection(self._target)
            self._ends += [near, far]
            far.sendall(head)
            threading.Thread(target=self._pipe, args=[far, near], daemon=True).start()
            self._pipe(near, far)

    def _pipe(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
