"""A reply with at most one deviation, and the verdict that the text of the protocol asks for."""

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["must", "should", "info", ""]
Headers = tuple[tuple[str, str], ...]

# The id of the request that every reply in JSON-RPC answers.
RPC_ID = 1

JSON_HEADERS: Headers = (("Content-Type", "application/json"),)
STREAM_HEADERS: Headers = (("Content-Type", "text/event-stream"), ("Cache-Control", "no-cache"))


@dataclass(frozen=True)
class Place:
    """A JSON pointer into a reply; for a stream, into the data of the event with this index."""

    pointer: str
    event: int | None = None


@dataclass(frozen=True)
class Response:
    """An HTTP response as the agent sent it."""

    status: int
    headers: Headers
    body: bytes


@dataclass(frozen=True)
class Mutant:
    """A reply to a request, with what its specification says about it.

    `level` is "must" where the text defines or requires what is broken, "should" where it
    recommends it or shows it in examples only, "info" for what is legal and worth knowing, and ""
    for a reply that conforms. `sentence` names the section and the sentence that is broken, or the
    reason why nothing is. A finding counts at one of `pointers`, above it or below it; without
    pointers, anywhere.
    """

    name: str
    protocol: Literal["nlweb", "agent-api", "chat-completions"]
    binding: Literal["http", "mcp"]
    version: str
    operation: Literal["ask", "await"]
    request: Mapping[str, Any] = field(repr=False)
    response: Response = field(repr=False)
    level: Level
    sentence: str
    pointers: tuple[Place, ...] = ()


def tokens(pointer: str) -> list[str]:
    """Split a JSON pointer into its unescaped tokens."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def pointed(document: Any, pointer: str) -> Any:
    """Return the value at a pointer; raise LookupError where there is none."""
    for token in tokens(pointer):
        document = document[int(token) if isinstance(document, list) else token]
    return document


def parent(pointer: str) -> str:
    """Return the pointer of the object or array that holds this one."""
    return pointer.rpartition("/")[0]


def changed(document: Any, pointer: str, value: Any) -> Any:
    """Return a copy of a document with another value at a pointer; the holder must exist."""
    if not pointer:
        return copy.deepcopy(value)
    document = copy.deepcopy(document)
    holder = pointed(document, parent(pointer))
    last = tokens(pointer)[-1]
    if isinstance(holder, list):
        holder[int(last)] = copy.deepcopy(value)
    else:
        holder[last] = copy.deepcopy(value)
    return document


def without(document: Any, pointer: str) -> Any:
    """Return a copy of a document that lacks what is at a pointer."""
    document = copy.deepcopy(document)
    holder = pointed(document, parent(pointer))
    last = tokens(pointer)[-1]
    del holder[int(last) if isinstance(holder, list) else last]
    return document


def encoded(document: Any) -> bytes:
    """Return a document as the bytes of a JSON text."""
    return json.dumps(document, ensure_ascii=False).encode()


def json_response(document: Any, status: int = 200) -> Response:
    """Return a whole JSON reply."""
    return Response(status, JSON_HEADERS, encoded(document))


def stream_response(body: bytes, status: int = 200) -> Response:
    """Return a reply of Server-Sent Events."""
    return Response(status, STREAM_HEADERS, body)


def sse(events: Iterable[tuple[str, Any]], newline: str = "\n") -> bytes:
    """Return named events with JSON data as the text of a stream; no name, no `event` line."""
    text = ""
    for name, data in events:
        if name:
            text += f"event: {name}\n"
        text += f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
    return text.replace("\n", newline).encode()
