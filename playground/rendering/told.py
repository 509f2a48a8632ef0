"""What a server told about its work, note by note: its log, or an older server's notes."""

from __future__ import annotations

from dataclasses import dataclass

from playground.models import Run
from playground.protocols.events import Event, Log
from playground.protocols.places import is_told
from playground.reading import readings
from playground.rendering.bar import milliseconds
from playground.rendering.words import words

#: Notes of a run that are listed.
MAX_NOTES = 100
#: Characters of a note that are shown.
MAX_TEXT = 400
#: Members that every note has and that say nothing new.
_COMMON = frozenset({"message_type", "query_id"})


@dataclass(frozen=True, slots=True)
class Note:
    """One note: what the server calls it, what it says, and when it came."""

    name: str
    text: str
    at: str


def notes_of(run: Run) -> tuple[list[Note], bool]:
    """The run's notes in order, and whether there are more than are listed. Reads its frames."""
    found: list[Note] = []
    for frame, events in readings(run):
        for event in events:
            if not is_told(event):
                continue
            if len(found) == MAX_NOTES:
                return found, True
            found.append(Note(*_told(event), milliseconds(frame.at_ms)))
    return found, False


def _told(event: Event) -> tuple[str, str]:
    """What a note is called, and what it says."""
    if isinstance(event, Log):
        name = " · ".join(filter(None, (event.level, event.logger)))
        return name[:80] or "log", words(event.data, MAX_TEXT)
    data = getattr(event, "data", {})
    return data["message_type"][:80], _text(data)


def _text(data: dict[str, object]) -> str:
    said = {name: value for name, value in data.items() if name not in _COMMON}
    if set(said) == {"content"}:
        return words(said["content"], MAX_TEXT)
    parts = (f"{name[:60]}: {words(value, MAX_TEXT)}" for name, value in list(said.items())[:20])
    return " · ".join(parts)[: MAX_TEXT * 2]
