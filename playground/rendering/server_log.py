"""What a server told about its work, note by note: its log, or an older server's notes."""

from __future__ import annotations

from dataclasses import dataclass

from playground.models import Run
from playground.protocols.events import Event, Log
from playground.protocols.placement import is_server_log
from playground.reading import read_events
from playground.rendering.run_status import milliseconds
from playground.rendering.words import value_text

#: Notes of a run that are listed.
MAX_NOTES = 100
#: Characters of a note that are shown.
MAX_TEXT = 400
#: Members that every note has and that say nothing new.
_COMMON = frozenset({"message_type", "query_id"})


@dataclass(frozen=True, slots=True)
class LogLine:
    """One note: what the server calls it, what it says, and when it came."""

    name: str
    text: str
    at: str


def log_lines(run: Run) -> tuple[list[LogLine], bool]:
    """The run's notes in order, and whether there are more than are listed. Reads its frames."""
    found: list[LogLine] = []
    for frame, events in read_events(run):
        for event in events:
            if not is_server_log(event):
                continue
            if len(found) == MAX_NOTES:
                return found, True
            found.append(LogLine(*_told(event), milliseconds(frame.at_ms)))
    return found, False


def _told(event: Event) -> tuple[str, str]:
    """What a note is called, and what it says."""
    if isinstance(event, Log):
        name = " · ".join(filter(None, (event.level, event.logger)))
        return name[:80] or "log", value_text(event.data, MAX_TEXT)
    data = getattr(event, "data", {})
    return data["message_type"][:80], _text(data)


def _text(data: dict[str, object]) -> str:
    said = {name: value for name, value in data.items() if name not in _COMMON}
    if set(said) == {"content"}:
        return value_text(said["content"], MAX_TEXT)
    parts = (
        f"{name[:60]}: {value_text(value, MAX_TEXT)}" for name, value in list(said.items())[:20]
    )
    return " · ".join(parts)[: MAX_TEXT * 2]
