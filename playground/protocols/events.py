"""Events: what frames mean, in one vocabulary for every protocol and binding.

Frozen and without behaviour. `seq` is the number of the frame that an event was read from;
several events can come from one frame, and a whole JSON reply yields the same events as the
stream of the same answer.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class Outcome(enum.StrEnum):
    """What the agent answered. How the transfer went is a run's state, not its outcome."""

    ANSWER = "answer"
    ELICITATION = "elicitation"
    PROMISE = "promise"
    FAILURE = "failure"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    #: Number of the frame that this was read from.
    seq: int


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The agent began to answer and said so: the `_meta` block that came first."""

    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result(Event):
    """One result item."""

    item: Any
    #: Position in the final list as the agent gave it; None where it gave none.
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Text(Event):
    """Text beside the results: content parts, a summary in `_meta`, a progress note."""

    text: str
    #: True for a piece that continues the text before it.
    delta: bool = False
    #: What the agent calls it: `text`, `instruction`, `summary`, ...
    kind: str = "text"
    #: The object the text came in.
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Constraints:
    """What an answer has to be, where the question says so; each part may be left open."""

    required: bool = False
    #: Whether a number has to be whole.
    integer: bool = False
    #: Of a number, or of how many options are chosen.
    minimum: float | None = None
    maximum: float | None = None
    #: Characters of a text.
    min_length: int | None = None
    max_length: int | None = None
    #: `email`, `uri`, `date` or `date-time`; "" for any text.
    format: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of an elicitation, read leniently."""

    id: str
    text: str
    type: str
    options: tuple[str, ...] = ()
    default: Any = None
    #: What the options are called, one for each; none where they speak for themselves.
    labels: tuple[str, ...] = ()
    #: What is said about the question beside its text.
    hint: str = ""
    #: None where the protocol knows no such thing (NLWeb).
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class Elicitation(Event):
    """The agent asks before it answers."""

    text: str
    questions: tuple[Question, ...] = ()
    raw: Any = None
    #: How an answer travels where the binding says so (a question of MCP or A2A itself): a JSON
    #: object that its exchange understands. None where the protocol leaves it open (NLWeb).
    resume: Mapping[str, Any] | None = None
    #: Addresses that the agent sends its user to, as they came.
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Promise(Event):
    """The answer will come later; `token` is what to ask for it with."""

    token: str
    estimated_time: float | None = None
    message: str = ""
    progress: float | None = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Failure(Event):
    """The agent says no."""

    code: str
    message: str = ""
    details: Any = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Completed(Event):
    """The agent said that its answer is complete."""

    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note(Event):
    """Something that is part of the protocol and carries no answer (0.54's `end` event)."""

    name: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Unknown(Event):
    """Something that could not be read as anything else, kept as it came."""

    #: The event's name, or the media type of a body.
    name: str
    data: Any
    #: Why it could not be read, in words for the reader.
    reason: str = ""


#: Number of a frame and of the event among those of the frame: where an entry has its place.
EntryRef = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Message(Event):
    """A message of an Agent API response came into being: announced, or by its first content."""

    id: str
    #: What the agent calls it: `message`, `function_call`, `reasoning`, ...
    type: str = ""
    role: str = ""
    status: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Content(Event):
    """A part of a message, or a piece of one (`delta`) that is appended to what came before.

    A part that is no piece replaces what came of it. Parts are told apart by `index` and `kind`.
    """

    #: Where the message that it belongs to has its entry.
    message_ref: EntryRef
    msg_id: str
    index: int
    #: `text`, `image`, `data`, `refusal`, ...
    kind: str
    value: Any
    delta: bool = False
    status: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Status(Event):
    """A response, a message or a content of the Agent API came to another status."""

    #: `response`, `message`, or `content` for one that says no more than its status.
    object: str
    #: Of the response or the message; for a content that of its message.
    id: str
    status: str
    #: Where the message has its entry; None for a response.
    message_ref: EntryRef | None = None
    usage: Any = None
    raw: Any = None
    #: Place of a content in its message; None for the others.
    index: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall(Event):
    """The agent wants a tool to be called, or calls it; `home` is the message that says so."""

    message_ref: EntryRef
    call_id: str
    name: str
    #: As they came: JSON in a string, or whatever the agent sent.
    arguments: Any
    #: The message's type: `function_call`, `plugin_call`, `mcp_call`, `mcp_approval_request`, ...
    kind: str = "function_call"


@dataclass(frozen=True, slots=True)
class ToolOutput(Event):
    """What a tool returned; paired with its call by `call_id`."""

    message_ref: EntryRef
    call_id: str
    name: str
    output: Any
    kind: str = "function_call_output"


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """How far the agent is with the call that is under way (MCP's progress notification)."""

    progress: float | None
    total: float | None = None
    message: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Log(Event):
    """A line of the agent's log, sent along with its answer (MCP's message notification)."""

    level: str
    data: Any
    logger: str = ""


@dataclass(frozen=True, slots=True)
class Tools(Event):
    """The tools that a server offers, each as it describes it."""

    tools: tuple[Any, ...]
    #: Whether there are more than were read.
    more: bool = False
