"""Pictures that agents name: loaded by the playground when the user asks, never by the browser.

Their URLs are signed for the run that names them, so that the view that loads them cannot be used
as a proxy for other URLs.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET, require_safe

from playground.conversation.media import MediaView, content_view, item_view
from playground.conversation.thread_reader import ThreadReader
from playground.engine.pictures import PictureError, fetch_picture
from playground.protocols.events import Result
from playground.protocols.media import raster_type
from playground.stored_runs import event_at
from playground.ui.helpers import get_run, make_download, make_sandboxed


@dataclass(frozen=True, slots=True)
class PictureLink:
    """A picture as its template shows it before it is loaded."""

    url: str
    #: The URL as the view that loads it takes it; "" where it may only be a link.
    signed_url: str

    @property
    def host(self) -> str:
        """Return host and port of its URL."""
        return urlsplit(self.url).netloc


def picture_link(url: str, run: UUID, *, readonly: bool) -> PictureLink:
    """Return the picture at `url`, which the response of `run` names.

    A `readonly` page is that of a share: its readers must not cause requests of the owner.
    """
    may_load = settings.AGENT_IMAGES and not readonly
    return PictureLink(url, _signer(run).sign(url) if may_load else "")


def picture_url(signed_url: str, run: UUID) -> str | None:
    """Return the URL of a picture of `run`; None unless it was signed for this run."""
    try:
        return _signer(run).unsign(signed_url)
    except signing.BadSignature:
        return None


def _signer(run: UUID) -> signing.Signer:
    return signing.Signer(salt=f"playground.pictures.{run}")


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


#: Seconds that the browser keeps a picture, and a failure, in local mode. The playground keeps
#: neither.
MAX_AGE, FAILURE_MAX_AGE = 86_400, 60


@require_GET
async def picture(request: HttpRequest, pk: str) -> HttpResponse:
    """Return the picture `url` of a run, which has the signature of a page with that run.

    A picture that cannot be shown is a JSON object: `label` of a word or two, and `reason`.
    """
    run = await sync_to_async(get_run)(request, pk)
    url = picture_url(request.GET.get("url", ""), run.pk)
    if url is None or not settings.AGENT_IMAGES:
        raise Http404
    response: HttpResponse
    try:
        found = await fetch_picture(url, owner=run.owner_id)
    except PictureError as error:
        response = JsonResponse({"label": error.label, "reason": str(error)}, status=422)
        return _with_max_age(response, FAILURE_MAX_AGE)
    response = HttpResponse(found.data, content_type=found.media_type)
    # It may be opened as a page of its own.
    response["Content-Disposition"] = "inline"
    # Compressed already: gzip would take a thread's time for nothing.
    response["Content-Encoding"] = "identity"
    return _with_max_age(make_sandboxed(response), MAX_AGE)


def _with_max_age(response: HttpResponse, seconds: int) -> HttpResponse:
    if not settings.HOSTED:  # There the middleware lets browsers keep nothing.
        response["Cache-Control"] = f"private, max-age={seconds}"
    return response
