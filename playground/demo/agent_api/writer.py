"""Writer of a response of the Agent API, object by object, in the order of its lifecycle.

Section "Content Streaming": a message is announced, its contents grow, it is completed. The
methods conform to the specification; to deviate from it, write with `emit`.
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
    """An announced message, with its completed contents."""

    id: str
    type: str
    role: str
    contents: list[Document] = field(default_factory=list)

    def describe(self, status: str, **more: Any) -> Document:
        known = {"id": self.id, "object": "message", "type": self.type, "role": self.role}
        return {**known, "status": status, **more}


class ResponseWriter:
    """A response, written before it is sent: `objects`, in order."""

    def __init__(self, session: str, *, extensions: bool = False) -> None:
        self.objects: list[Document] = []
        #: True if messages of types that the specification does not list are sent, too.
        self.extensions = extensions
        #: True if objects have sequence numbers, which are optional.
        self.numbered = True
        #: Words of the request and of the response: the usage.
        self.input_words = 0
        self.output_words = 0
        self._output: list[Document] = []
        self._response = {
            "id": f"response_{uuid4()}",
            "object": "response",
            "created_at": int(time.time()),
            "session_id": session,
        }

    def emit(self, value: Mapping[str, Any]) -> None:
        """Write an object unchanged, with its sequence number as a string, as specified."""
        number = {"sequence_number": str(len(self.objects))} if self.numbered else {}
        self.objects.append({**number, **value})

    def begin(self) -> None:
        """Write the response with the statuses created and in_progress."""
        for status in ("created", "in_progress"):
            self.emit({**self._response, "status": status})

    def end(self, status: str = "completed", error: Mapping[str, str] | None = None) -> None:
        """Write the response with a final status, its messages and usage, and an error if any."""
        usage = {
            "input_tokens": self.input_words,
            "output_tokens": self.output_words,
            "total_tokens": self.input_words + self.output_words,
        }
        whole: Document = {**self._response, "status": status, "output": self._output}
        whole |= {"completed_at": int(time.time()), "usage": usage}
        self.emit({**whole, "error": dict(error)} if error else whole)

    def announce(self, kind: str = "message", role: str = "assistant") -> Message:
        """Write a new message with the statuses created and in_progress, and return it."""
        message = Message(f"msg_{uuid4()}", kind, role)
        self.emit(message.describe("created"))
        self.emit(message.describe("in_progress"))
        return message

    def delta(self, message: Message, index: int, text: str) -> None:
        part = {"type": "text", "index": index, "delta": True, "text": text}
        self.emit({"object": "content", "status": "in_progress", "msg_id": message.id, **part})

    def write_content(
        self, message: Message, index: int, kind: str, value: Any, status: str = "completed"
    ) -> None:
        """Write a whole content with its final status, after its deltas or without any."""
        name = {"image": "image_url"}.get(kind, kind)
        part = {"object": "content", "type": kind, "index": index, "delta": False, name: value}
        part |= {"status": status, "msg_id": message.id}
        self.emit(part)
        message.contents.append(part)
        self.output_words += len(str(value).split())

    def close(self, message: Message, /, status: str = "completed", **more: Any) -> None:
        whole = message.describe(status, content=message.contents, **more)
        self.emit(whole)
        self._output.append(whole)

    def write_text(
        self, text: str, kind: str = "message", parts: Sequence[tuple[str, Any]] = ()
    ) -> None:
        """Write a message with a text word by word, then further parts (type, value)."""
        message = self.announce(kind)
        self.write_words(message, 0, text)
        for index, (part, value) in enumerate(parts, 1):
            self.write_content(message, index, part, value)
        self.close(message)

    def write_words(
        self, message: Message, index: int, text: str, status: str = "completed"
    ) -> None:
        """Write a text word by word, then the whole text with its final status."""
        for word in _WORDS.findall(text):
            self.delta(message, index, word)
        self.write_content(message, index, "text", text, status)

    def write_message(self, kind: str, data: Mapping[str, Any]) -> None:
        """Write a message with data only: a call, its output, an approval request."""
        message = self.announce(kind)
        self.write_content(message, 0, "data", dict(data))
        self.close(message)

    def call(self, kind: str, name: str, arguments: Mapping[str, Any], **more: Any) -> str:
        """Write a tool call and return its id."""
        call = f"call_{uuid4().hex[:12]}"
        encoded = json.dumps(dict(arguments), ensure_ascii=False)
        self.write_message(kind, {"call_id": call, "name": name, "arguments": encoded, **more})
        return call

    def reason(self, text: str) -> None:
        """Write a message of the unlisted type reasoning, if extensions are sent."""
        if self.extensions:
            self.write_text(text, "reasoning")

    def output(self, kind: str, call: str, value: Any) -> None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        self.write_message(kind, {"call_id": call, "output": text})

    def heartbeat(self) -> None:
        """Write a heartbeat: a message without contents."""
        self.close(self.announce("heartbeat"))
