"""Steps of one run: its calls and what was received, grouped so that their number is bounded.

Events of one kind in a row are one step ("12 result events"), kinds that alternate are one step of
several kinds, a call that is repeated is one step from its third time on, and after `MAX_STEPS`
everything is one step. The counts stay exact.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from playground.conversation.entries import element_of
from playground.models import Run
from playground.protocols import jsonrpc
from playground.protocols.events import Completed, Event, Note, Started, event_label
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.http import REASON_PHRASES
from playground.protocols.mcp import messages
from playground.protocols.problems import Problem
from playground.protocols.response import read_head
from playground.stored_runs import RunReaders, once_per_run
from playground.ui.formatting import kind_label, milliseconds
from playground.wire.sequence.diagram import one_line

#: Runs in progress that are read on, and runs that have ended whose steps are in memory.
MAX_READERS, MAX_STORED = 8, 256
#: Steps of one run; further ones are counted in the last.
MAX_STEPS = 40
#: Groups of events of one kind in a response; further ones are one step of several kinds.
MAX_GROUPS = 8
#: Time without data that is a step of its own, in µs, and the most of these.
GAP_US, MAX_GAPS = 2_000_000, 5
#: Calls of one method in a row that are steps of their own.
REPEATS = 2
#: Characters of a label and of a detail.
MAX_LABEL, MAX_DETAIL = 120, 300
#: Kinds that are listed in the detail of a step with several.
_MAX_KINDS = 6
#: Ends of labels that have a plural of their own.
_COUNTABLE = ("comment", "event", "error", "request", "call", "output")

#: Events that a step is named after, before all others; and after all others.
_OWN = frozenset({"elicitation", "promise", "failure", "tool call", "tool output"})
_FRAMING = frozenset({"started", "completed"})
#: Events that are steps of their own, however many groups there are.
_SEPARATE = _OWN | {"completed"}
#: Frames of a stream, with their labels.
_STREAMED = {
    kind: kind.name.lower() for kind in (FrameKind.EVENT, FrameKind.COMMENT, FrameKind.TAIL)
}
#: Calls that a binding makes before the request of the user.
_HANDSHAKE = frozenset(
    {messages.DISCOVER, messages.INITIALIZE, messages.INITIALIZED, messages.LIST}
)
#: Events of a response that add nothing to an earlier response to the same call.
_REPEATABLE = frozenset({"status", "progress", "log", "note", "handshake", "tools", "head"})


class StepKind(enum.StrEnum):
    """What a step is."""

    SENT = "sent"
    RECEIVED = "received"
    GAP = "gap"


@dataclass(slots=True)
class Step:
    """A call, something that was received, or time without data; relative to its run."""

    type: StepKind
    #: Event kind or frame kind, which chooses the colour.
    kind: str
    #: Numbers of its first and last frame, and their times in µs since the first call.
    first: int
    last: int
    at_us: int
    until_us: int
    #: A call, or the status of a response; "" for the kinds alone.
    name: str = ""
    #: Text of a single event.
    text: str = ""
    #: Number of calls.
    calls: int = 1
    #: Number of events, or of frames without any, by kind.
    kinds: Counter[str] = field(default_factory=Counter)
    #: Whether it has events of several kinds, for which there were too many steps.
    is_rest: bool = False
    is_lost: bool = False
    #: Whether the server has opened a session of MCP with it.
    opens_session: bool = False

    @property
    def label(self) -> str:
        """Return what was sent or received, with exact counts."""
        if self.type is StepKind.SENT:
            return self.name if self.calls == 1 else f"{self.calls:,} more: {self.name}"
        if self.is_rest:
            return f"{self.kinds.total():,} more events"
        return ": ".join(filter(None, (self.name, self._listed)))

    @property
    def detail(self) -> str:
        """Return the text of a single event, or kinds and duration of several."""
        if self.text or self.first == self.last:
            return self.text
        duration = milliseconds((self.until_us - self.at_us) / 1000)
        return f"{self._listed}, {duration}" if self.is_rest else duration

    @property
    def _listed(self) -> str:
        hidden = () if self.is_rest else _FRAMING
        others = [pair for pair in self.kinds.most_common() if pair[0] not in hidden]
        return ", ".join(
            f"{count:,} {_plural(kind)}" if count > 1 else kind_label(kind)
            for kind, count in (others or self.kinds.most_common())[:_MAX_KINDS]
        )


class RunSteps:
    """Collects the steps of a run from its frames, one after another."""

    def __init__(self, text: str = "") -> None:
        """Collect the steps of a run whose request has this text."""
        self._steps: list[Step] = []
        self._text = text
        self._last_us = self._gaps = 0
        #: Groups of events since the last call.
        self._groups = 0
        #: The latest calls, and the step with the repetitions of one.
        self._calls: list[str] = []
        self._repeated: Step | None = None
        #: The response head of the call in progress, until something else is received.
        self._head: Step | None = None

    def snapshot(self) -> tuple[Step, ...]:
        """Return the steps so far, which do not change any more."""
        return tuple(replace(step, kinds=Counter(step.kinds)) for step in self._steps)

    def add(self, frame: Frame, events: Sequence[Event]) -> None:
        kind = frame.kind
        if kind in _STREAMED:
            self._add_events(frame, events)
        elif kind is FrameKind.CALL:
            self._add_call(frame)
        elif kind is FrameKind.HEAD:
            self._add_head(frame, events)
        elif events:
            self._add_document(frame, events)
        if kind is FrameKind.ERROR:
            self._add_error(frame)
        self._last_us = max(self._last_us, frame.at_us)

    def _add_call(self, frame: Frame) -> None:
        name, text = call_label(frame.data)
        self._head, self._groups = None, 0
        step = _new_step(StepKind.SENT, "call", frame)
        step.name = name
        if self._calls == [name] * REPEATS:
            if self._repeated is None or self._repeated.is_rest:
                self._repeated = self._put(step)
            else:
                self._repeated.calls += 1
                self._repeated.last, self._repeated.until_us = frame.seq, frame.at_us
            return
        self._repeated = None
        self._calls = [*self._calls, name][-REPEATS:]
        if not text and name not in _HANDSHAKE and not name.startswith("GET "):
            text, self._text = self._text, ""
            # The name of a tool can be that of the action.
            text = "" if name.endswith(f" {text}") else text
        step.text = text
        self._put(step)

    def _add_head(self, frame: Frame, events: Sequence[Event]) -> None:
        status, headers = read_head(frame.data)
        step = _new_step(StepKind.RECEIVED, "head", frame)
        step.name = f"{status} {REASON_PHRASES.get(status, '')}".strip()
        if headers.get("content-type", "").lower().startswith("text/event-stream"):
            step.name += ", event stream"
        if self._calls[-1:] == [messages.INITIALIZE]:
            step.opens_session = messages.SESSION_HEADER.lower() in headers
        if step.opens_session:
            step.text = "MCP session opened"
        elif events:
            step.text = _event_line(events[0])
        if self._repeated is None:
            head = self._put(step)
            self._head = None if head.is_rest else head

    def _add_document(self, frame: Frame, events: Sequence[Event]) -> None:
        """Add the events of a body that is no stream to the step of its response head."""
        main = _main_event(events)
        kinds = Counter(map(event_label, events))
        if self._repeated and _REPEATABLE.issuperset(kinds):
            return
        step, self._head = self._head, None
        if step is None:
            step = _new_step(StepKind.RECEIVED, "", frame)
        step.kind, step.kinds = event_label(main), kinds
        if kinds[step.kind] == 1 and not step.text:
            step.text = _event_line(main)
        # The event list has the events at the end of the body.
        step.first = step.last = frame.seq
        step.until_us = frame.at_us
        if not step.name:
            self._put(step)

    def _add_events(self, frame: Frame, events: Sequence[Event]) -> None:
        """Add a block of a stream to the last step, or as a step of its own."""
        self._head = None
        main = _main_event(events) if events else None
        kind = event_label(main) if main else _STREAMED[frame.kind]
        last = self._steps[-1] if self._steps else None
        if last and self._continues(last, kind) and not self._is_gap(frame.at_us, kind):
            last.last, last.until_us, last.text = frame.seq, frame.at_us, ""
            if len(events) > 1:
                last.kinds.update(map(event_label, events))
            else:
                last.kinds[kind] += 1
            return
        step = _new_step(StepKind.RECEIVED, kind, frame)
        step.kinds = Counter(map(event_label, events) if events else [kind])
        step.is_lost = frame.kind is FrameKind.TAIL
        step.is_rest = self._groups >= MAX_GROUPS and kind not in _SEPARATE
        if step.is_rest:
            step.kind = "event"
        elif main and step.kinds[kind] == 1 and len(self._steps) < MAX_STEPS:
            step.text = _event_line(main)
        self._groups += 1
        self._put(step)

    def _continues(self, last: Step, kind: str) -> bool:
        if last.is_lost or not last.kinds:
            return False
        if last.is_rest:
            return len(self._steps) >= MAX_STEPS or kind not in _SEPARATE
        return last.kind == kind

    def _add_error(self, frame: Frame) -> None:
        step = _new_step(StepKind.RECEIVED, "error", frame)
        step.kinds["error"] = 1
        step.text = one_line(Problem.from_bytes(frame.data).cause, MAX_DETAIL)
        step.is_lost = True
        self._put(step)

    def _put(self, step: Step) -> Step:
        """Append a step, with the time without data before it; return it.

        If there are too many already, the last one counts it, and is returned.
        """
        if self._steps and self._is_gap(step.at_us, step.kind):
            self._gaps += 1
            gap = Step(StepKind.GAP, "gap", step.first, step.first, self._last_us, step.at_us)
            self._steps.append(gap)
        if len(self._steps) < MAX_STEPS:
            self._steps.append(step)
            return step
        rest = self._steps[-1]
        if not rest.is_rest:
            rest = Step(StepKind.RECEIVED, "event", step.first, 0, step.at_us, 0, is_rest=True)
            self._steps.append(rest)
        rest.kinds.update(step.kinds or [step.kind])
        rest.text, rest.last, rest.until_us = "", step.last, step.until_us
        rest.is_lost = rest.is_lost or step.is_lost
        return rest

    def _is_gap(self, at_us: int, kind: str) -> bool:
        """Return whether the time before something is a step of its own: not before heartbeats."""
        is_free = self._gaps < MAX_GAPS and len(self._steps) < MAX_STEPS
        return is_free and kind != "comment" and at_us - self._last_us >= GAP_US


def _new_step(kind: StepKind, name: str, frame: Frame) -> Step:
    return Step(kind, name, frame.seq, frame.seq, frame.at_us, frame.at_us)


def _main_event(events: Sequence[Event]) -> Event:
    """Return the event that a step with several is named after."""
    if len(events) == 1:
        return events[0]
    own = next((event for event in events if event_label(event) in _OWN), None)
    if own:
        return own
    others = [event for event in events if event_label(event) not in _FRAMING] or events
    return others[0]


def _event_line(event: Event) -> str:
    """Return the text of an event, without the JSON of metadata."""
    text = element_of(event).line(event)
    if isinstance(event, Started | Completed | Note):
        text = text.partition("{")[0].rstrip(" ·")
    return one_line(text, MAX_DETAIL)


def _plural(kind: str) -> str:
    label = kind_label(kind)
    if label.endswith("s"):
        return label
    return f"{label}s" if label.endswith(_COUNTABLE) else f"{label} events"


def call_label(data: bytes) -> tuple[str, str]:
    """Return a call as its JSON-RPC method, or its HTTP method and path, and a detail.

    The detail of a tool call is the name of the tool. Never raises on an agent's URL.
    """
    sent = messages.read_call(data)
    message = sent.message
    if message.method and not sent.is_get:
        name = sent.params.get("name") if message.method == messages.CALL else None
        label = f"{message.method} {name}" if isinstance(name, str) else message.method
        return one_line(label, MAX_LABEL), ""
    if message.kind in (jsonrpc.MessageKind.RESULT, jsonrpc.MessageKind.ERROR):
        return "JSON-RPC response", ""
    words = data.partition(b"\r\n")[0].decode("utf-8", "replace").split(" ")
    path = words[1].partition("?")[0] if len(words) > 1 else ""
    text = f"resume after {sent.last_event_id}" if sent.last_event_id else ""
    return one_line(f"{words[0]} {path}".strip(), MAX_LABEL), one_line(text, MAX_DETAIL)


_READERS = RunReaders(lambda run: RunSteps(one_line(run.text, MAX_DETAIL)), MAX_READERS)
_steps_of_ended = once_per_run(MAX_STORED)(_READERS.read)


def steps_of(run: Run) -> tuple[Step, ...]:
    """Return the steps of a run as far as it is stored.

    A run that cannot be read, because its protocol is unknown, has none.
    """
    try:
        return _steps_of_ended(run) if run.is_final else _READERS.read(run)
    except ValueError:
        return ()
