"""Messages as text that grows: pieces are printed as they come, on the line they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from playground.headless import lines
from playground.protocols import events as ev
from playground.protocols.agent_api import constants
from playground.rendering.words import value_text

#: What a message is called by its type; another one as the agent calls it.
_NAMES = {"": "message", "assistant": "message"}

#: The part that a piece of text belongs to: its message's home, its index and its kind.
_Place = tuple[ev.EntryRef, int, str]


class MessagePrinter:
    """Events as text for people, in pieces that already hold their line breaks."""

    def __init__(self) -> None:
        self._names: dict[ev.EntryRef, str] = {}
        #: Homes of the messages that think aloud.
        self.reasoning: set[ev.EntryRef] = set()
        #: The part that the last line shows and that may go on; None at the start of a line.
        self._place: _Place | None = None

    @property
    def is_open(self) -> bool:
        """Whether the last line has no end yet."""
        return self._place is not None

    def listen(self, events: Sequence[ev.Event]) -> None:
        """Remember what the messages are, for the contents that follow."""
        for part, event in enumerate(events):
            if isinstance(event, ev.Message):
                home = event.seq, part
                self._names[home] = _NAMES.get(event.type, event.type)
                if event.type == "reasoning":
                    self.reasoning.add(home)

    def pieces(self, events: Sequence[ev.Event]) -> Iterator[str]:
        """The text of one frame's events, to be printed as it is."""
        for event in events:
            if isinstance(event, ev.Content):
                yield from self._content(event)
            elif isinstance(event, ev.ToolCall | ev.ToolOutput):
                yield from self._tool(event)
            else:
                for line in lines.text_lines([event]):
                    yield from self.close()
                    yield f"{line}\n"

    def close(self) -> Iterator[str]:
        """End the line that may go on, if there is one."""
        if self._place is not None:
            self._place = None
            yield "\n"

    def _content(self, event: ev.Content) -> Iterator[str]:
        name = self._names.get(event.message_ref, "message")
        if isinstance(event.value, str) and event.kind in ("text", "refusal"):
            place = event.message_ref, event.index, event.kind
            # What is no piece replaces what was printed: it begins anew.
            if place != self._place or not event.delta:
                yield from self.close()
                yield lines.one_line(f"{name} ")
                self._place = place
            yield lines.strip_control_characters(event.value)
        elif not _is_told_by_its_call(name) and event.status != "in_progress":
            yield from self.close()
            shown = value_text(event.value, lines.MAX_TOLD)
            yield lines.one_line(f"{name} {event.kind} {shown}") + "\n"

    def _tool(self, event: ev.ToolCall | ev.ToolOutput) -> Iterator[str]:
        yield from self.close()
        value = event.arguments if isinstance(event, ev.ToolCall) else event.output
        told = (event.kind, event.name, event.call_id, value_text(value, lines.MAX_TOLD))
        yield lines.one_line(" ".join(filter(None, told))) + "\n"


def _is_told_by_its_call(name: str) -> bool:
    return name in constants.CALLS or name in constants.OUTPUTS
