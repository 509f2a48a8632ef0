"""Placement of events: whether an event is an entry of the thread, above the entries, or not shown.

Defined here and not in the rendering, because the engine counts events by placement: with the
counts a viewer skips the part of a flood that is not shown without reading it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Any

from playground.protocols import lenient
from playground.protocols.events import (
    Completed,
    Content,
    Event,
    Handshake,
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
    if not isinstance(item, Mapping):
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
