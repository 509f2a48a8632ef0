"""An Agent API agent that says what a test tells it to, when the test tells it to."""

from __future__ import annotations

import contextlib
import json
import queue
from collections.abc import Iterator
from typing import Any, BinaryIO

from tests.support.replay import answering

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class ScriptedAgent:
    """What the next reply says, object by object."""

    def __init__(self) -> None:
        self.url = self.slug = ""
        self._said: queue.Queue[bytes | None] = queue.Queue()

    def say(self, **payload: Any) -> None:
        """Send one object of a stream."""
        self._said.put(f"data: {json.dumps(payload)}\n\n".encode())

    def begin(self) -> None:
        """The reply begins, and with it a message."""
        self.say(object="response", id="response_1", status="created", session_id="s1")
        self.say(object="message", id="m1", type="message", role="assistant", status="in_progress")

    def piece(self, text: str) -> None:
        """A piece of the message's text."""
        about = {"msg_id": "m1", "type": "text", "index": 0, "delta": True, "text": text}
        self.say(object="content", status="in_progress", **about)

    def end(self, text: str) -> None:
        """The message is complete, and the reply is."""
        part = {"msg_id": "m1", "type": "text", "index": 0, "delta": False, "text": text}
        self.say(object="content", status="completed", **part)
        about = {"id": "m1", "type": "message", "role": "assistant", "status": "completed"}
        self.say(object="message", **about, content=[part])
        self.say(object="response", id="response_1", status="completed", usage={"tokens": 5})
        self._said.put(None)

    def follow(self) -> Iterator[bytes]:
        """What is said, until the end."""
        while (said := self._said.get(timeout=60)) is not None:
            yield said


@contextlib.contextmanager
def scripted_agent() -> Iterator[ScriptedAgent]:
    """The agent on a free port of 127.0.0.1."""
    agent = ScriptedAgent()

    def respond(out: BinaryIO) -> None:
        out.write(HEAD)
        with contextlib.suppress(queue.Empty, ConnectionError):
            for said in agent.follow():
                out.write(said)

    with answering(respond) as url:
        agent.url = f"{url}/process"
        yield agent
