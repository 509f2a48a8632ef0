"""Assembler of a response as one document: the same for a stream.

It is the object `chat.completion`: the members of the response, later values replace earlier ones,
and in `choices` the message of each choice, complete. Members of a message that the protocol does
not define are in it by their names. After a failure there is `error` as well. A response that is
none of Chat Completions is the JSON or the text that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.protocols import lenient
from playground.protocols.agent_api.parts import join
from playground.protocols.events import (
    Content,
    EntryRef,
    Event,
    Failure,
    Message,
    Status,
    ToolCall,
    Unknown,
)

#: Members of a message with its reasoning, as servers in use call them.
REASONING = ("reasoning_content", "reasoning")
#: The kind of a content that is a piece of a call.
CALL = "call"


class ResponseAssembler:
    """Puts the events of one response together into one document."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._choices: dict[int, dict[str, Any]] = {}
        #: The pieces of each member of the message of a choice, by index and name.
        self._pieces: dict[tuple[int, str], list[Any]] = {}
        self._calls: dict[int, list[dict[str, Any]]] = {}
        #: The choice that a message belongs to.
        self._choice_of: dict[EntryRef, int] = {}
        self._reasoning: set[EntryRef] = set()
        self._error: dict[str, Any] = {}
        self._unknown: list[Any] = []

    def add(self, events: Iterable[Event], start: int = 0) -> None:
        """Add the events of one frame, or those from number `start` on: it identifies messages."""
        for part, event in enumerate(events, start):
            self._add(event, (event.seq, part))

    def _add(self, event: Event, ref: EntryRef) -> None:
        match event:
            case Content(kind=kind) if kind == CALL:
                pass  # Its pieces are joined in the event of the call.
            case Content(message_ref=owner):
                self._add_content(self._choice_of.get(owner, 0), event)
            case Message(raw=raw):
                index = lenient.members(raw).get("index", 0)
                self._choice_of[ref] = index
                if event.type == "reasoning":
                    self._reasoning.add(ref)
                self._choices.setdefault(index, {"index": index})
            case Status(object="response"):
                self._response |= lenient.members(event.raw)
            case Status(message_ref=owner, raw=raw) if owner in self._choice_of:
                own = {"index", "message", "delta"}
                members = lenient.members(raw).items()
                self._choices[self._choice_of[owner]].update(
                    (name, value) for name, value in members if name not in own
                )
            case ToolCall(message_ref=owner, call_id=name) if owner in self._choice_of:
                function = {"name": event.name, "arguments": event.arguments}
                call = {"id": name, "type": "function", "function": function}
                self._calls.setdefault(self._choice_of[owner], []).append(call)
            case Failure(code=code, message=text):
                self._error = {"code": code, "message": text}
            case Unknown(data=data):
                self._unknown.append(data)

    def _add_content(self, index: int, event: Content) -> None:
        name = "content" if event.kind == "text" else event.kind
        if event.message_ref in self._reasoning:
            raw = lenient.members(event.raw)
            said = lenient.members(raw.get("delta") or raw.get("message"))
            name = next((each for each in REASONING if said.get(each)), REASONING[0])
        is_data = event.kind == "data" and isinstance(event.value, Mapping)
        for each, piece in (event.value if is_data else {name: event.value}).items():
            self._pieces.setdefault((index, each), []).append(piece)

    def message(self, index: int) -> dict[str, Any]:
        """Return the message of a choice, as far as it was received."""
        made: dict[str, Any] = {"role": "assistant", "content": None}
        for (choice, name), pieces in self._pieces.items():
            if choice == index:
                made[name] = join(pieces)
                pieces[:] = [made[name]]
        calls = self._calls.get(index)
        return {**made, "tool_calls": calls} if calls else made

    def document(self, outcome: str, session_context: Mapping[str, Any] | None = None) -> Any:
        """Return the document of the events that were added, None if there were none."""
        if not (self._response or self._choices or self._error):
            return self._unknown[0] if self._unknown else None
        error = {name: value for name, value in self._error.items() if value}
        choices = [
            {**self._choices[index], "message": self.message(index)}
            for index in sorted(self._choices)
        ]
        whole = {"object": "chat.completion"} if self._response or choices else {}
        failed = {"error": error} if error else {}
        return {**failed, **self._response, **whole, "choices": choices}
