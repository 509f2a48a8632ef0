"""Assembler of a response as one document: the same for every binding, whole or streamed.

The shape is that of a whole response of the specification (0.55 section 4). A stream with the same
content, a response over MCP and a legacy response become the same document:

`_meta`        all metadata, later members replace earlier ones; `{}` if there was none
`results`      the items, in the order of their `index`, those without one last in stream order,
               including members that a format adds (`structuredData`); present, maybe empty,
               if there is a result or the outcome is an answer
`content`      texts beside the results: `[{"type": "text", "text": "…"}]`, pieces joined
`elicitation`  the agent's questions, verbatim
`promise`      the promise, verbatim
others         members that no version defines, if they are objects or arrays
`error`        the failure: `code`, `message`, `details`; the last one if there were several

Empty members are omitted. A response that is not NLWeb is the JSON or the text that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Note,
    Promise,
    Result,
    Started,
    Text,
    Unknown,
)

#: Members of a text with its type and value, and those of the message that holds it.
_NO_EXTRAS = frozenset(
    {"type", "Type", "text", "Text", "delta", "_meta", "content", "message_type", "query_id"}
)


class AnswerAssembler:
    """Puts the events of one response together into one document."""

    def __init__(self) -> None:
        self._meta: dict[str, Any] = {}
        self._results: list[Result] = []
        self._content: list[_PartialText] = []
        #: `elicitation`, `promise` and `error`, where there are any.
        self._parts: dict[str, Any] = {}
        self._unknown: list[Any] = []

    def add(self, events: Iterable[Event]) -> None:
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        match event:
            case Result():
                self._results.append(event)
            case Text():
                self._text(event)
            case Started() | Completed():
                self._meta.update(event.meta)
            case Note(name="_meta", data={"_meta": dict() as meta}):
                self._meta.update(meta)
            case Elicitation(text=text, raw=raw):
                self._parts["elicitation"] = _object(raw, {"text": text, "questions": raw})
            case Promise(token=token, raw=raw):
                self._parts["promise"] = _object(raw, {"token": token})
            case Failure():
                self._parts["error"] = _error(event)
            case Unknown(name=name, data=data, reason=""):
                self._parts[name] = data  # A member that no version defines.
            case Unknown(data=data):
                self._unknown.append(data)

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """Return the document of the events that were added, None if there were none.

        `session_context` is what the agent returned in any member.
        """
        meta = dict(self._meta)
        if session_context is not None:
            meta["session_context"] = session_context
        found: dict[str, Any] = {"_meta": meta}
        if self._results or outcome == "answer":
            ordered = sorted(self._results, key=lambda each: (each.index is None, each.index or 0))
            found["results"] = [each.item for each in ordered]
        if self._content:
            found["content"] = [text.to_json() for text in self._content]
        found |= self._parts
        if found == {"_meta": {}}:
            return self._unknown[0] if self._unknown else None
        return found

    def _text(self, event: Text) -> None:
        if isinstance(event.raw, str) and event.kind == "summary":
            return  # It is in the metadata (0.54 HTTP examples, section 2).
        last = self._content[-1] if self._content else None
        if event.delta and last is not None and last.kind == event.kind:
            last.pieces.append(event.text)
        else:
            self._content.append(_PartialText(event))


class _PartialText:
    """One text that is received in pieces."""

    def __init__(self, event: Text) -> None:
        self.kind = event.kind
        self.pieces = [event.text]
        raw = event.raw if isinstance(event.raw, Mapping) else {}
        left_out = {*_NO_EXTRAS, event.kind}
        self._extras = {name: value for name, value in raw.items() if name not in left_out}

    def to_json(self) -> dict[str, Any]:
        """Return the text as a part of `content`."""
        return {"type": self.kind, "text": "".join(self.pieces), **self._extras}


def _object(raw: Any, fallback: dict[str, Any]) -> Any:
    """Return what the agent sent if that is an object, otherwise what was read in it."""
    if not isinstance(raw, Mapping):
        return {name: value for name, value in fallback.items() if value}
    return {name: value for name, value in raw.items() if name != "_meta"}


def _error(event: Failure) -> Any:
    read = {"code": event.code, "message": event.message}
    kept = _object(event.raw, read)
    # An error may have other member names than those of the specification.
    return {**{name: value for name, value in read.items() if value}, **kept}
