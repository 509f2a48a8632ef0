"""The word for what an event is: the page tells kinds apart by it, by colour and by shape."""

from __future__ import annotations

from playground.protocols.events import Event, ToolCall, ToolOutput

#: Where it is not simply the name of the class.
_WORDS: dict[type[Event], str] = {ToolCall: "tool call", ToolOutput: "tool output"}


def event_label(event: Event) -> str:
    """What an event is, in a word or two."""
    kind = type(event)
    if kind not in _WORDS:
        _WORDS[kind] = kind.__name__.lower()
    return _WORDS[kind]
