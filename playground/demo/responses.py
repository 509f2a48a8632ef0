"""Responses of the agent as data and as JSON documents (section 4), without HTTP."""

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
    """A part of a streamed answer: a result item, or the `content` event of 0.54."""

    item: Document | None = None
    content: Document | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: result items in order, with other events of its stream."""

    parts: Sequence[StreamPart]
    #: Attributes of `_meta` of the complete answer.
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: The failure after the parts, if any.
    failure: FailureError | None = None
    #: The message of the `end` event of 0.54; "" for no such event.
    closing_failure: str = ""

    @classmethod
    def of(cls, items: Sequence[Document], meta: Mapping[str, Any] | None = None) -> Answer:
        """Return an answer of result items only."""
        return cls([StreamPart(item=item) for item in items], meta or {})

    @property
    def items(self) -> list[Document]:
        return [part.item for part in self.parts if part.item is not None]


@dataclass(frozen=True, slots=True)
class SingleResponse:
    """A response as one JSON document, whether or not a stream was preferred.

    Elicitations and promises have no stream event (section 6.1), and the two parts of a
    ChatGPT App answer have none either.
    """

    kind: str
    body: Mapping[str, Any]
    status: int = 200
    meta: Mapping[str, Any] = field(default_factory=dict)
    #: Additions to the session context, for the next request.
    session_update: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ListResponse:
    """A response that shows the cart or the cookbook, which the caller has to look up."""

    name: str
    ask: AskRequest


def meta(kind: str, version: str, session: Mapping[str, Any] | None, **more: Any) -> Document:
    """Return the `_meta` block: response type, version, session context and more (section 4)."""
    block: Document = {"response_type": kind, "version": version, **more}
    if session:
        block["session_context"] = dict(session)
    return block


def failure(error: FailureError, version: str, session: Mapping[str, Any] | None) -> Document:
    """Return a failure response (section 4.1.4); 0.54 has a timestamp (examples, section 6)."""
    more = {"timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"} if version == "0.54" else {}
    block = meta("failure", version, session, **more, **error.language.meta)
    return {"_meta": block, "error": error.error(version)}


def encode(document: Any) -> bytes:
    """Encode a document as JSON; a lone surrogate, which UTF-8 cannot encode, is escaped."""
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "backslashreplace")


def event(name: str, document: Any, line_end: str = "\n") -> bytes:
    """Encode a server-sent event; JSON has no line break, so that `data` is one line.

    Without a name it has only data.
    """
    end = line_end.encode()
    named = b"event: " + name.encode() + end if name else b""
    return named + b"data: " + encode(document) + end + end
