"""Events: the meaning of frames, in one vocabulary for every protocol and binding.

Frozen and without behaviour. `seq` is the number of the frame that an event was read from;
several events can come from one frame, and a response that is one JSON document yields the same
events as the stream of the same response.

The placement of an event, as an entry of the thread, above the entries or not shown, is assigned
here and not in the rendering, because the engine counts events by placement: with the counts a
viewer skips the part of a flood that is not shown without reading it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import lenient


class Outcome(enum.StrEnum):
    """The type of the agent's response. How the transfer went is a run's state, not its outcome."""

    ANSWER = "answer"
    ELICITATION = "elicitation"
    PROMISE = "promise"
    FAILURE = "failure"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    #: Number of the frame that the event was read from.
    seq: int
    #: JSON pointer from the document or message that the event was read from to its item or `raw`
    #: (an item that is the message itself is without the `_meta` in it); None if it is of no single
    #: value there. Over HTTP that is the JSON of the frame, over MCP the NLWeb response in it.
    pointer: str | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The start of a response: the first `_meta` block."""

    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result(Event):
    """One result item."""

    item: Any
    #: Position in the final list as the agent gave it, None if it gave none.
    index: int | None = None


@dataclass(frozen=True, slots=True)
class Text(Event):
    """Text beside the results: content parts, a summary in `_meta`, a progress note."""

    text: str
    #: Whether it continues the previous text.
    delta: bool = False
    #: The type that the agent gives: `text`, `instruction`, `summary`, ...
    kind: str = "text"
    #: The object that held the text.
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraints on the answer to a question; each may be unset."""

    required: bool = False
    #: Whether a number must be an integer.
    integer: bool = False
    #: Limits of a number, or of how many options are selected.
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
    #: Labels of the options, one for each; empty if the options are their own labels.
    labels: tuple[str, ...] = ()
    #: Help text of the question.
    hint: str = ""
    #: None where the protocol has no constraints (NLWeb).
    constraints: Constraints | None = None


@dataclass(frozen=True, slots=True)
class Elicitation(Event):
    """Questions that the agent asks before it answers (NLWeb 4.1.3)."""

    text: str
    questions: tuple[Question, ...] = ()
    raw: Any = None
    #: How to send the answer to an elicitation of the binding itself (MCP, A2A): a JSON object
    #: that its exchange understands. None where the protocol leaves it open (NLWeb).
    resume: Mapping[str, Any] | None = None
    #: URLs that the agent asks its user to open, verbatim.
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Promise(Event):
    """A promise: the answer follows later; `token` is needed to poll for it (NLWeb 4.1.2)."""

    token: str
    estimated_time: float | None = None
    message: str = ""
    progress: float | None = None
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Failure(Event):
    """An error that the agent returned (NLWeb 4.1.4)."""

    code: str
    message: str = ""
    details: Any = None
    raw: Any = None
    #: Code and message of the JSON-RPC error that has it in its data; "" without one.
    json_rpc: str = ""


@dataclass(frozen=True, slots=True)
class Completed(Event):
    """The end of a response as the agent declared it."""

    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note(Event):
    """A part of the protocol that carries no answer (0.54's `end` event)."""

    name: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class Handshake(Note):
    """A response to a call that a binding makes before the request: MCP's opening, A2A's card."""


@dataclass(frozen=True, slots=True)
class Unknown(Event):
    """Data that could not be read as any other event, verbatim."""

    #: The event's name, or the media type of a body.
    name: str
    data: Any
    #: Why it could not be read, as a sentence for the user.
    reason: str = ""


#: Number of a frame, and of an event among those of the frame: names an entry of a thread.
EntryRef = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Message(Event):
    """A new message of an Agent API response: announced, or created by its first content."""

    id: str
    #: The type that the agent gives: `message`, `function_call`, `reasoning`, ...
    type: str = ""
    role: str = ""
    status: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Content(Event):
    """A part of a message, or a piece of one (`delta`) that is appended to the previous pieces.

    A part that is not a piece replaces the previous ones. Parts are told apart by `index` and
    `kind`.
    """

    #: The entry of the message that it belongs to.
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
    """A new status of a response, a message or a content of the Agent API."""

    #: `response`, `message`, or `content` for one that has nothing but a status.
    object: str
    #: Id of the response or the message; for a content that of its message.
    id: str
    status: str
    #: The entry of the message; None for a response.
    message_ref: EntryRef | None = None
    usage: Any = None
    raw: Any = None
    #: Index of a content in its message; None for the others.
    index: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall(Event):
    """A call of a tool that the agent requests or makes; `message_ref` names its message."""

    message_ref: EntryRef
    call_id: str
    name: str
    #: Verbatim: JSON in a string, or any value that the agent sent.
    arguments: Any
    #: The message's type: `function_call`, `plugin_call`, `mcp_call`, `mcp_approval_request`, ...
    kind: str = "function_call"


@dataclass(frozen=True, slots=True)
class ToolOutput(Event):
    """The output of a tool; paired with its call by `call_id`."""

    message_ref: EntryRef
    call_id: str
    name: str
    output: Any
    kind: str = "function_call_output"


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """Progress of the call that is in progress (MCP's progress notification)."""

    progress: float | None
    total: float | None = None
    message: str = ""
    raw: Any = None


@dataclass(frozen=True, slots=True)
class Log(Event):
    """A line of the agent's log, sent beside its response (MCP's message notification)."""

    level: str
    data: Any
    logger: str = ""


@dataclass(frozen=True, slots=True)
class Tools(Event):
    """The tools that a server offers, as the server describes them."""

    tools: tuple[Any, ...]
    #: Whether there are more than were read.
    more: bool = False


_BEFORE_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _label(kind: type) -> str:
    return _BEFORE_WORD.sub(" ", kind.__name__).lower()


#: The labels of all events, in the order of their classes.
EVENT_LABELS = tuple(
    _label(kind)
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
)
_labels: dict[type[Event], str] = {}


def event_label(event: Event) -> str:
    """Return the name of an event's class in words: "tool call".

    Lists of events and expectations of order use it; JSON lines have it with underscores.
    """
    kind = type(event)
    if kind not in _labels:
        _labels[kind] = _label(kind)
    return _labels[kind]


# Placement

#: Most summaries of a run that are pinned; later ones are entries.
MAX_PINNED = 10
#: Most changes of the format of a run that are shown.
MAX_ASIDES = 5


class Placement(enum.IntEnum):
    """Place at which an event is shown. A number, because every event is counted by it."""

    #: Not in the thread: marks progress, for status lines and lists of all events.
    NONE = 0
    #: An entry of the thread.
    ENTRY = 1
    #: Summarizes the others, and is above them wherever it was in the stream
    #: (NLWeb 0.55 section 4.1.1).
    PINNED = 2
    #: Describes the format of the entries, and is above them without being one of them.
    ASIDE = 3


class PlacementAssigner:
    """Assigns the events of one run their placements, in order."""

    def __init__(self) -> None:
        self._pinned = self._asides = 0
        self._has_server_log = False
        self._format: Mapping[str, Any] = {}

    def assign(self, event: Event) -> Placement:
        """Return the placement of `event`, which follows the events of earlier calls."""
        kind = type(event)
        if kind is Started or kind is Completed:
            return self._metadata(event.meta)  # type: ignore[attr-defined]
        if kind is Note:
            return self._note(event)  # type: ignore[arg-type]
        if kind is Log:
            return self._server_log()
        if kind is Tools:
            return self._aside()
        if kind in _NO_ENTRY or (kind is Message and event.type == _HEARTBEAT):  # type: ignore[attr-defined]
            return Placement.NONE
        if self._pinned < MAX_PINNED and is_summary(event):
            self._pinned += 1
            return Placement.PINNED
        return Placement.ENTRY

    def _note(self, note: Note) -> Placement:
        """Return the placement of a note: all lines of the server log share one entry."""
        if note.name == "redirect":
            return Placement.ENTRY
        if meta := late_meta(note):
            return self._metadata(meta)
        return self._server_log() if is_server_log(note) else Placement.NONE

    def _server_log(self) -> Placement:
        if self._has_server_log:
            return Placement.NONE
        self._has_server_log = True
        return Placement.ASIDE

    def _aside(self) -> Placement:
        if self._asides == MAX_ASIDES:
            return Placement.NONE
        self._asides += 1
        return Placement.ASIDE

    def _metadata(self, meta: Mapping[str, Any]) -> Placement:
        """Return the placement of metadata, which is shown if it has unusual members."""
        facts = meta_facts(meta)
        if not facts or facts == self._format:
            return Placement.NONE
        self._format = facts
        return self._aside()


def is_server_log(event: Event) -> bool:
    """Return whether the event is a line of the server's log.

    Either an MCP log notification or a note of the legacy NLWeb server.
    """
    if type(event) is Log:
        return True
    if type(event) is not Note:
        return False
    data = event.data
    return isinstance(data, Mapping) and data.get("message_type") == event.name


def late_meta(event: Event) -> Mapping[str, Any]:
    """Return the metadata of a note that is about them; empty for any other event."""
    data = event.data if type(event) is Note and event.name in _META_NOTES else None
    meta = (data.get("_meta") or data.get("meta")) if isinstance(data, Mapping) else None
    return lenient.members(meta)


def format_facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a meta block has about a format other than the default (NLWeb 0.55 section 4)."""
    facts = {name: value for name, value in meta.items() if name.startswith(_FORMAT_PREFIX)}
    named = meta.get("response_format")
    if named is not None and named != _DEFAULT_FORMAT:
        facts["response_format"] = named
    return facts


def meta_facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a meta block that are not shown elsewhere."""
    facts = {name: value for name, value in meta.items() if name not in _SHOWN_ELSEWHERE}
    return facts | format_facts(meta)


#: Members of metadata with a place of their own on the page (the count and the time of a response
#: are in its header), and those of legacy messages.
_SHOWN_ELSEWHERE = frozenset(
    "response_type response_format version api_version session_context streaming summary "
    "total_items processing_time_ms message_type query_id".split()
)
#: Events that change the entry of a message, and progress and handshakes, which have no entry.
_NO_ENTRY = frozenset({Content, Status, ToolCall, ToolOutput, Progress, Handshake})
_HEARTBEAT = "heartbeat"
#: Names of notes that can have metadata: of a stream message without content, and 0.54's `end`.
_META_NOTES = frozenset({"_meta", "end"})
_FORMAT_PREFIX, _DEFAULT_FORMAT = "openai/", "conversational_search"
_SUMMARIES = frozenset({"searchsummary", "summary"})
_SUMMARY_TYPES = frozenset({"SearchSummary", "Summary"})
#: Most types of one item that are examined.
_MAX_TYPES = 10


def is_summary(event: Event) -> bool:
    kind = type(event)
    if kind is Result:
        return _is_summary_item(event.item)  # type: ignore[attr-defined]
    return kind is Text and event.kind == "summary"  # type: ignore[attr-defined]


def _is_summary_item(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("@type")
    if type(kind) is list:
        return any(_is_summary_type(part) for part in kind[:_MAX_TYPES])
    return _is_summary_type(kind)


def _is_summary_type(kind: Any) -> bool:
    """Return whether a type's name means summary, in any namespace and capitalisation."""
    if type(kind) is not str:
        return False
    # Nearly every item of a flood has another type, which its last characters show.
    return kind in _SUMMARY_TYPES or (
        kind[-7:].lower() == "summary" and _NAMESPACE.split(kind)[-1].lower() in _SUMMARIES
    )


_NAMESPACE = re.compile(r"[/#:]")
