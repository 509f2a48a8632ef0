"""Writes a response of the Agent API, object by object, in the order of its lifecycle.

Section "Content Streaming": a message is announced, its contents grow, it is completed. What
is written here keeps to the specification; to depart from it, write with `emit`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from playground.demo.responses import Document

_WORDS = re.compile(r"\S+\s*|\s+")


@dataclass(slots=True)
class Message:
    """A message under way: what was announced of it, and its contents that are complete."""

    id: str
    type: str
    role: str
    contents: list[Document] = field(default_factory=list)

    def describe(self, status: str, **more: Any) -> Document:
        """It as an object of that status."""
        known = {"id": self.id, "object": "message", "type": self.type, "role": self.role}
        return {**known, "status": status, **more}


class ResponseWriter:
    """A response, written down before it is sent: `objects`, in order."""

    def __init__(self, session: str) -> None:
        self.objects: list[Document] = []
        #: Whether objects are numbered; the specification leaves it open.
        self.numbered = True
        #: Words that were read and written: the usage.
        self.read = 0
        self.written = 0
        self._output: list[Document] = []
        self._response = {
            "id": f"response_{uuid4()}",
            "object": "response",
            "created_at": int(time.time()),
            "session_id": session,
        }

    def emit(self, value: Mapping[str, Any]) -> None:
        """Send an object as it is, with its number, which the specification has as a string."""
        number = {"sequence_number": str(len(self.objects))} if self.numbered else {}
        self.objects.append({**number, **value})

    def begin(self) -> None:
        """The response is created, and work on it begins."""
        for status in ("created", "in_progress"):
            self.emit({**self._response, "status": status})

    def end(self, status: str = "completed", error: Mapping[str, str] | None = None) -> None:
        """The response has ended, with its messages and what it took, or with an error."""
        usage = {
            "input_tokens": self.read,
            "output_tokens": self.written,
            "total_tokens": self.read + self.written,
        }
        whole: Document = {**self._response, "status": status, "output": self._output}
        whole |= {"completed_at": int(time.time()), "usage": usage}
        self.emit({**whole, "error": dict(error)} if error else whole)

    def announce(self, kind: str = "message", role: str = "assistant") -> Message:
        """A message comes into being."""
        message = Message(f"msg_{uuid4()}", kind, role)
        self.emit(message.describe("created"))
        self.emit(message.describe("in_progress"))
        return message

    def piece(self, message: Message, index: int, text: str) -> None:
        """A piece of a text."""
        part = {"type": "text", "index": index, "delta": True, "text": text}
        self.emit({"object": "content", "status": "in_progress", "msg_id": message.id, **part})

    def write_content(
        self, message: Message, index: int, kind: str, value: Any, status: str = "completed"
    ) -> None:
        """A content at its end: complete at once or after its pieces, or as far as it came."""
        name = {"image": "image_url"}.get(kind, kind)
        part = {"object": "content", "type": kind, "index": index, "delta": False, name: value}
        part |= {"status": status, "msg_id": message.id}
        self.emit(part)
        message.contents.append(part)
        self.written += len(str(value).split())

    def close(self, message: Message, /, status: str = "completed", **more: Any) -> None:
        """A message has ended."""
        whole = message.describe(status, content=message.contents, **more)
        self.emit(whole)
        self._output.append(whole)

    def write_text(
        self, text: str, kind: str = "message", parts: Sequence[tuple[str, Any]] = ()
    ) -> None:
        """A message whose text comes word by word, with further parts (type, value) after it."""
        message = self.announce(kind)
        self.spell(message, 0, text)
        for index, (part, value) in enumerate(parts, 1):
            self.write_content(message, index, part, value)
        self.close(message)

    def spell(self, message: Message, index: int, text: str, status: str = "completed") -> None:
        """A text word by word, then all of it with the status that it ends in."""
        for word in _WORDS.findall(text):
            self.piece(message, index, word)
        self.write_content(message, index, "text", text, status)

    def write_message(self, kind: str, data: Mapping[str, Any]) -> None:
        """A message with nothing but data: a call, what it returned, a request for approval."""
        message = self.announce(kind)
        self.write_content(message, 0, "data", dict(data))
        self.close(message)

    def call(self, kind: str, name: str, arguments: Mapping[str, Any], **more: Any) -> str:
        """A call of a tool; its id."""
        call = f"call_{uuid4().hex[:12]}"
        written = json.dumps(dict(arguments), ensure_ascii=False)
        self.write_message(kind, {"call_id": call, "name": name, "arguments": written, **more})
        return call

    def output(self, kind: str, call: str, value: Any) -> None:
        """What a call returned."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.write_message(kind, {"call_id": call, "output": text})

    def heartbeat(self) -> None:
        """A sign of life: a message with nothing in it."""
        self.close(self.announce("heartbeat"))
