"""Lenient reader of Chat Completions: the messages of a response, whole or streamed, as events.

A choice is a message; its reasoning and each call of a function are messages of their own, as they
are in other protocols. Servers add members (`reasoning_content`, for one): those of a response and
of a choice are in the raw values of events, those of a message are contents. Total: any input
yields events, and nothing raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import error_documents, json_decoder, lenient, sse
from playground.protocols.agent_api.parts import canonical, join
from playground.protocols.events import (
    Completed,
    Content,
    EntryRef,
    Event,
    Failure,
    Message,
    Outcome,
    Status,
    ToolCall,
    Unknown,
)

#: Members of a message with its reasoning, as servers in use call them.
_REASONING = ("reasoning_content", "reasoning")
#: The kind of a content that is a piece of a call.
_CALL = "call"
#: Most messages of a response: choices, their reasoning and calls. Later ones are not read.
_MAX_MESSAGES = 1_000
#: Reasons to finish after which the message is not complete.
_CUT_OFF = frozenset({"length", "content_filter"})

Payload = Mapping[str, Any]
Events = list[Event]


@dataclass(slots=True)
class _Call:
    """A call of a function, whose arguments are received in pieces."""

    ref: EntryRef
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Choice:
    """A choice, as far as it was received."""

    index: int
    role: str
    #: Its members other than the message.
    members: dict[str, Any] = field(default_factory=dict)
    #: The entries of the message and of its reasoning, once they have contents.
    ref: EntryRef | None = None
    reasoning: EntryRef | None = None
    #: Calls by index, or by id where they have no index.
    calls: dict[Any, _Call] = field(default_factory=dict)
    #: The index of each content, by its kind: the order in which they began.
    contents: dict[str, int] = field(default_factory=dict)
    is_finished: bool = False


class ChatCompletionsReader:
    """Reads one response. See `playground.protocols.exchange.Reader`."""

    def __init__(self, version: str) -> None:
        del version
        self._response: dict[str, Any] = {}
        self._choices: dict[int, _Choice] = {}
        self._messages = 0
        self._outcome = Outcome.NONE
        self._assembler = ResponseAssembler()
        #: The latest frame and its events: messages are identified by their position in it.
        self._frame: tuple[int, list[Event]] = (0, [])

    @property
    def outcome(self) -> Outcome:
        return self._outcome

    @property
    def session_context(self) -> Mapping[str, Any] | None:
        """Return the message of the first choice, as a following request repeats it."""
        if not self._choices:
            return None
        said = self._assembler.message(min(self._choices))
        names = ("role", "content", "refusal", "tool_calls")
        if not any(said.get(name) for name in names[1:]):
            return None
        return {"messages": [{name: said[name] for name in names if name in said}]}

    def end(self) -> None:
        """Do nothing: a choice says that it is finished."""

    def document(self, seq: int, payload: Any) -> list[Event]:
        """Return the events of a whole response."""
        found, start = self._events_of(seq)
        self._read(found, seq, None, payload, is_streamed=False)
        if self._choices:
            self._finish_all(found, seq)
        return self._noted(found, start)

    def message(self, seq: int, name: str | None, data: str) -> list[Event]:
        """Return the events of one stream message: a chunk, an error, or the end."""
        found, start = self._events_of(seq)
        payload, reason = json_decoder.read_event(data)
        if data.strip() == sse.DONE:
            self._finish_all(found, seq)
        elif name in error_documents.EVENTS and data.strip():
            found.append(error_documents.failure(seq, data if reason else payload))
        elif reason:
            found.append(Unknown(seq, name or "message", data, reason))
        else:
            self._read(found, seq, name, payload, is_streamed=True)
        return self._noted(found, start)

    def _events_of(self, seq: int) -> tuple[Events, int]:
        """Return the events of this frame so far, and their number."""
        if self._frame[0] != seq:
            self._frame = seq, []
        return self._frame[1], len(self._frame[1])

    def _noted(self, found: Events, start: int) -> Events:
        """Return the new events, from which outcome and context are read."""
        new = found[start:]
        self._assembler.add(new, start)
        for event in new:
            if isinstance(event, Failure):
                self._outcome = Outcome.FAILURE
            elif self._outcome is not Outcome.FAILURE and isinstance(event, ToolCall):
                # A call that only the client can make: a question to the user.
                self._outcome = Outcome.ELICITATION
            elif self._outcome is Outcome.NONE and isinstance(event, Content | Completed):
                self._outcome = Outcome.ANSWER
        return new

    def _read(
        self, found: Events, seq: int, name: str | None, payload: Any, *, is_streamed: bool
    ) -> None:
        members = lenient.members(payload)
        choices = members.get("choices")
        says_error = members.get("error") is not None or members.get("object") == "error"
        if is_message(name, payload, is_streamed):
            self._read_response(found, seq, members)
            for position, choice in enumerate(lenient.items(choices)):
                self._read_choice(found, seq, position, lenient.members(choice))
            if choices is not None and not isinstance(choices, list):
                found.append(Unknown(seq, "choices", choices, "choices is not an array."))
        elif not says_error:
            reason = "This is neither a chat completion nor an error."
            found.append(Unknown(seq, name or "message", payload, reason))
        if says_error:
            found.append(error_documents.failure(seq, members.get("error") or members, payload))

    def _read_response(self, found: Events, seq: int, members: Payload) -> None:
        """Read the members of the response: an event at first, and when one changes."""
        own = {
            name: value
            for name, value in members.items()
            if name not in ("choices", "error") and value is not None
        }
        if any(name not in self._response or self._response[name] != own[name] for name in own):
            self._response |= own
            name = lenient.text(self._response.get("id"))
            found.append(Status(seq, "response", name, "", usage=own.get("usage"), raw=own))

    def _read_choice(self, found: Events, seq: int, position: int, members: Payload) -> None:
        index = members.get("index")
        index = index if type(index) is int and index >= 0 else position
        delta = members.get("delta")
        said = lenient.members(delta if isinstance(delta, Mapping) else members.get("message"))
        choice = self._choices.get(index)
        if choice is None:
            if len(self._choices) >= _MAX_MESSAGES:
                return
            choice = self._choices[index] = _Choice(index, lenient.text(said.get("role")))
        choice.members |= {
            name: value
            for name, value in members.items()
            if name not in ("delta", "message") and value is not None
        }
        for name, value in said.items():
            if name == "tool_calls" and isinstance(value, list):
                for number, call in enumerate(value):
                    self._read_call(found, seq, choice, number, lenient.members(call))
            elif name != "role" and value not in (None, "", []):
                self._read_member(found, seq, choice, name, value, members)
        if members.get("finish_reason") is not None:
            self._finish(found, seq, choice)

    def _begin(
        self, found: Events, seq: int, choice: _Choice, kind: str = "message", name: str = ""
    ) -> EntryRef | None:
        """Begin a message and return its entry, None beyond the limit."""
        if self._messages >= _MAX_MESSAGES:
            return None
        self._messages += 1
        raw = {"index": choice.index}
        found.append(Message(seq, name, kind, choice.role, "in_progress", raw))
        return seq, len(found) - 1

    def _read_member(
        self, found: Events, seq: int, choice: _Choice, name: str, value: Any, raw: Payload
    ) -> None:
        """Read a member of the message, or a piece of one."""
        if name == "content" and isinstance(value, list):
            for part in value:
                text = lenient.members(part).get("text")
                name, value = ("content", text) if isinstance(text, str) else ("parts", [part])
                self._read_member(found, seq, choice, name, value, raw)
            return
        if name in _REASONING and isinstance(value, str):
            choice.reasoning = choice.reasoning or self._begin(found, seq, choice, "reasoning")
            ref, kind = choice.reasoning, "text"
        elif name in ("content", "refusal") and isinstance(value, str):
            kind = "text" if name == "content" else name
        else:
            kind, value = "data", {name: value}
        if name not in _REASONING or kind == "data":
            ref = choice.ref = choice.ref or self._begin(found, seq, choice)
        if ref is not None:
            at = choice.contents.setdefault(kind, len(choice.contents))
            found.append(Content(seq, ref, "", at, kind, value, True, "in_progress", raw))

    def _read_call(
        self, found: Events, seq: int, choice: _Choice, number: int, members: Payload
    ) -> None:
        function = lenient.members(members.get("function"))
        name, key = lenient.text(members.get("id")), members.get("index")
        key = key if type(key) is int else name or number
        call = choice.calls.get(key)
        if call is None:
            ref = self._begin(found, seq, choice, "function_call", name)
            if ref is None:
                return
            call = choice.calls[key] = _Call(ref)
        call.id = call.id or name
        call.name = call.name or lenient.text(function.get("name"))
        if (arguments := function.get("arguments")) is not None:
            # Some servers send an object in place of its JSON.
            is_text = isinstance(arguments, str)
            call.arguments.append(arguments if is_text else canonical(arguments))
        value = dict(members)
        found.append(Content(seq, call.ref, call.id, 0, _CALL, value, True, "in_progress", members))

    def _finish_all(self, found: Events, seq: int) -> None:
        for choice in self._choices.values():
            self._finish(found, seq, choice)
        found.append(Completed(seq))

    def _finish(self, found: Events, seq: int, choice: _Choice) -> None:
        """Complete the messages of a choice, once: now the arguments of calls are complete."""
        if choice.is_finished:
            return
        choice.is_finished = True
        raw = dict(choice.members)
        is_cut_off = lenient.text(raw.get("finish_reason")) in _CUT_OFF
        status = "incomplete" if is_cut_off else "completed"
        if not choice.calls:
            choice.ref = choice.ref or self._begin(found, seq, choice)
        for ref in filter(None, (choice.reasoning, choice.ref)):
            found.append(Status(seq, "message", "", status, ref, raw=raw))
        for call in choice.calls.values():
            found.append(ToolCall(seq, call.ref, call.id, call.name, "".join(call.arguments)))
            found.append(Status(seq, "message", call.id, status, call.ref, raw=raw))


def is_message(name: str | None, payload: Any, is_streamed: bool) -> bool:
    """Return whether a message is a completion or a chunk of one, also if it does not say so."""
    members = lenient.members(payload)
    kind = members.get("object")
    if isinstance(kind, str):
        return kind.startswith("chat.completion")
    return name is None and isinstance(members.get("choices"), list)


# --- the response as one document -------------------------------------------------------------


class ResponseAssembler:
    """Puts the events of one response together into one document: the same for a stream.

    It is the object `chat.completion`: the members of the response, later values replace earlier
    ones, and in `choices` the message of each choice, complete. Members of a message that the
    protocol does not define are in it by their names. After a failure there is `error` as well. A
    response that is none of Chat Completions is the JSON or the text that it is.
    """

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
            case Content(kind=kind) if kind == _CALL:
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
            name = next((each for each in _REASONING if said.get(each)), _REASONING[0])
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
