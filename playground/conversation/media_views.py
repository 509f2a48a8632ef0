"""Inline pictures, sounds and files of responses, saved as files."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from playground.conversation.media import MediaView, content_view, item_view
from playground.conversation.thread_reader import ThreadReader
from playground.protocols.events import Result
from playground.protocols.media import raster_type
from playground.stored_runs import event_at
from playground.ui.helpers import get_run, make_download, make_sandboxed


@require_safe
def content(request: HttpRequest, pk: str, seq: int, part: int) -> HttpResponse:
    """Download the data in a result that is a content of a tool."""
    event = event_at(get_run(request, pk), (seq, part))
    return _download(item_view(event.item) if isinstance(event, Result) else None)


@require_safe
def message_content(
    request: HttpRequest, pk: str, seq: int, part: int, number: int
) -> HttpResponse:
    """Download the data in a part of a message."""
    entry = ThreadReader(get_run(request, pk)).entry_at((seq, part))
    parts = entry.message.parts.values() if entry and entry.message else ()
    found = next((each for each in parts if each.number == number), None)
    return _download(content_view(found.kind, found.value) if found else None)


def _download(view: MediaView | None) -> HttpResponse:
    """Return the data as a file, of a type that browsers execute nowhere."""
    data = view.media.read() if view and view.media.has_data else None
    if view is None or data is None:
        raise Http404
    media_type = raster_type(data) or "application/octet-stream"
    response = HttpResponse(data, content_type=media_type)
    return make_sandboxed(make_download(response, view.file_name))
