"""Where an event stands in the thread of a run: in it, above it, or not at all.

Known here and not in the rendering, because the engine counts with it: the counts let a
viewer pass over the part of a flood that nobody looks at without reading it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Any

from playground.protocols.events import (
    Completed,
    Content,
    Event,
    Log,
    Message,
    Note,
    Progress,
    Result,
    Started,
    Status,
    Text,
    ToolCall,
    ToolOutput,
    Tools,
)

#: Summaries that a run can have pinned; later ones stand in the thread like everything else.
MAX_PINNED = 10
#: How often what a run says of its format can change.
MAX_ASIDES = 5


class Placement(enum.IntEnum):
    """Where an event is shown. A number, because every event is counted by it."""

    #: Marks progress and is shown in the bar and the Events list only.
    NONE = 0
    #: An entry of the thread.
    ENTRY = 1
    #: Sums the others up, and stands above them wherever it came in the stream
    #: (NLWeb 0.55 section 4.1.1).
    PINNED = 2
    #: Says how the entries are meant, and stands above them without being one of them.
    ASIDE = 3


class PlacementAssigner:
    """Gives the events of one run their places, in order."""

    def __init__(self) -> None:
        self._pinned = self._asides = 0
        self._told = False
        self._format: Mapping[str, Any] = {}

    def assign(self, event: Event) -> Placement:
        """Where `event`, which follows those asked for before, is shown."""
        kind = type(event)
        if kind is Started or kind is Completed:
            return self._beside(event.meta)  # type: ignore[attr-defined]
        if kind is Note:
            return self._note(event)  # type: ignore[arg-type]
        if kind is Log:
            return self._tell()
        if kind is Tools:
            return self._aside()
        if kind in _WITHIN or (kind is Message and event.type == _HEARTBEAT):  # type: ignore[attr-defined]
            return Placement.NONE
        if self._pinned < MAX_PINNED and is_summary(event):
            self._pinned += 1
            return Placement.PINNED
        return Placement.ENTRY

    def _note(self, note: Note) -> Placement:
        """What a server tells about its work stands above the results, all of it in one entry."""
        if note.name == "redirect":
            return Placement.ENTRY
        return self._tell() if is_server_log(note) else Placement.NONE

    def _tell(self) -> Placement:
        if self._told:
            return Placement.NONE
        self._told = True
        return Placement.ASIDE

    def _aside(self) -> Placement:
        if self._asides == MAX_ASIDES:
            return Placement.NONE
        self._asides += 1
        return Placement.ASIDE

    def _beside(self, meta: Mapping[str, Any]) -> Placement:
        """Metadata has something to show where its format has members of its own."""
        facts = format_facts(meta)
        if not facts or facts == self._format:
            return Placement.NONE
        self._format = facts
        return self._aside()


def is_server_log(event: Event) -> bool:
    """Whether the event is a server's word about its own work.

    A line of its log (MCP), or a note of the older NLWeb server.
    """
    if type(event) is Log:
        return True
    if type(event) is not Note:
        return False
    data = event.data
    return isinstance(data, Mapping) and data.get("message_type") == event.name


def format_facts(meta: Mapping[str, Any]) -> dict[str, Any]:
    """What a meta block says of a format other than the default (NLWeb 0.55 section 4)."""
    facts = {name: value for name, value in meta.items() if name.startswith(_FORMAT_PREFIX)}
    named = meta.get("response_format")
    if named is not None and named != _DEFAULT_FORMAT:
        facts["response_format"] = named
    return facts


#: What becomes of a message stands in the message's own entry, how far the agent is in the bar.
_WITHIN = frozenset({Content, Status, ToolCall, ToolOutput, Progress})
_HEARTBEAT = "heartbeat"
_FORMAT_PREFIX, _DEFAULT_FORMAT = "openai/", "conversational_search"
_SUMMARIES = frozenset({"searchsummary", "summary"})
_KNOWN = frozenset({"SearchSummary", "Summary"})
#: Types of one item that are looked at.
_MAX_TYPES = 10


def is_summary(event: Event) -> bool:
    """Whether the event sums up the results rather than being one."""
    kind = type(event)
    if kind is Result:
        return _sums_up(event.item)  # type: ignore[attr-defined]
    return kind is Text and event.kind == "summary"  # type: ignore[attr-defined]


def _sums_up(item: Any) -> bool:
    if not isinstance(item, Mapping):
        return False
    kind = item.get("@type")
    if type(kind) is list:
        return any(_is_summary_type(part) for part in kind[:_MAX_TYPES])
    return _is_summary_type(kind)


def _is_summary_type(kind: Any) -> bool:
    """Whether a type's name says summary: in any namespace and capitalisation."""
    if type(kind) is not str:
        return False
    # Nearly every item of a flood has another type, and is told by its end alone.
    return kind in _KNOWN or (
        kind[-7:].lower() == "summary" and _NAMESPACE.split(kind)[-1].lower() in _SUMMARIES
    )


_NAMESPACE = re.compile(r"[/#:]")
