"""Server log: log notifications of MCP, and notes of NLWeb servers before 0.54."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from playground.models import Run
from playground.protocols.events import Event, Log
from playground.protocols.placement import is_server_log
from playground.stored_runs import read_events
from playground.ui.formatting import milliseconds, value_text
from playground.ui.helpers import get_run

#: Lines of a run that are listed.
MAX_NOTES = 100
#: Characters of a line that are shown.
MAX_TEXT = 400
#: Members that every note has.
_COMMON = frozenset({"message_type", "query_id"})


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log: level and logger or type, text, and time."""

    name: str
    text: str
    at: str


def log_lines(run: Run) -> tuple[list[LogLine], bool]:
    """Return the lines of a run in order, and whether there are more; reads its frames."""
    lines: list[LogLine] = []
    for frame, events in read_events(run):
        for event in events:
            if not is_server_log(event):
                continue
            if len(lines) == MAX_NOTES:
                return lines, True
            lines.append(LogLine(*_name_and_text(event), milliseconds(frame.at_ms)))
    return lines, False


def _name_and_text(event: Event) -> tuple[str, str]:
    if isinstance(event, Log):
        name = " · ".join(filter(None, (event.level, event.logger)))
        return name[:80] or "log", value_text(event.data, MAX_TEXT)
    data = getattr(event, "data", {})
    return data["message_type"][:80], _note_text(data)


def _note_text(data: dict[str, object]) -> str:
    members = {name: value for name, value in data.items() if name not in _COMMON}
    if set(members) == {"content"}:
        return value_text(members["content"], MAX_TEXT)
    parts = (
        f"{name[:60]}: {value_text(value, MAX_TEXT)}" for name, value in list(members.items())[:20]
    )
    return " · ".join(parts)[: MAX_TEXT * 2]


@require_safe
def server_log(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the run's log lines and informational messages, in order of arrival."""
    run = get_run(request, pk)
    notes, more = log_lines(run)
    return render(request, "conversation/notes.html#log_lines", {"notes": notes, "more": more})
