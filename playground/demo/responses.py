"""The replies of the agent as data, and as JSON documents (section 4). No HTTP in here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from playground.demo.failures import FailureError
from playground.demo.requests import AskRequest

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StreamPart:
    """One step of a streamed answer: a result item, or 0.54's `content` beside the results."""

    item: Document | None = None
    content: Document | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Result items in order, with what a stream can deliver between and after them."""

    parts: Sequence[StreamPart]
    #: Attributes of `_meta` that are known only with the answer.
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: What goes wrong after the parts, if anything does.
    failure: FailureError | None = None
    #: What 0.54's `end` event says; "" for no such event.
    closing_failure: str = ""

    @classmethod
    def of(cls, items: Sequence[Document], meta: Mapping[str, Any] | None = None) -> Answer:
        """An answer of plain result items."""
        return cls([StreamPart(item=item) for item in items], meta or {})

    @property
    def items(self) -> list[Document]:
        """The result items alone."""
        return [part.item for part in self.parts if part.item is not None]


@dataclass(frozen=True, slots=True)
class SingleResponse:
    """A reply that comes in one piece, whether or not a stream was preferred.

    Elicitations and promises have no stream event (section 6.1), and the two parts of a
    ChatGPT app answer have none either.
    """

    kind: str
    body: Mapping[str, Any]
    status: int = 200
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: What the session context has to carry until the next request.
    remember: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListResponse:
    """A reply that shows one of the lists that actions change; it has to be looked up."""

    name: str
    ask: AskRequest


def meta(kind: str, version: str, session: Mapping[str, Any] | None, **more: Any) -> Document:
    """The `_meta` block: response type, version, session context and more (section 4)."""
    block: Document = {"response_type": kind, "version": version, **more}
    if session:
        block["session_context"] = dict(session)
    return block


def failure(error: FailureError, version: str, session: Mapping[str, Any] | None) -> Document:
    """A failure reply (section 4.1.4); 0.54 dates it (its examples, section 6)."""
    more = {"timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"} if version == "0.54" else {}
    return {"_meta": meta("failure", version, session, **more), "error": error.error}


def encode(document: Any) -> bytes:
    """A document as JSON. A lone surrogate, which UTF-8 cannot carry, leaves as its escape."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")


def event(name: str, document: Any) -> bytes:
    """One server-sent event. JSON has no line break in it, so that `data` is one line."""
    return b"event: " + name.encode() + b"\ndata: " + encode(document) + b"\n\n"
