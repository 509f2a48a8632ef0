"""Pictures, sounds and files in responses, as pages and lines of text show them.

A raster image that is inline and small enough is shown where it is; anything else is named, with
its type and size, and can be saved. SVG can contain script and is never shown as a picture.
"""

from __future__ import annotations

import base64
import mimetypes
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET, require_safe

from playground.base.limits import MIB
from playground.conversation.thread_reader import message_part
from playground.engine.calls import PictureError, fetch_picture
from playground.protocols.events import Result
from playground.protocols.media import Media, content_media, media_of, raster_type
from playground.protocols.text import shorten
from playground.stored_runs import event_at
from playground.ui.formatting import safe_url, size, value_text
from playground.ui.helpers import get_run, make_download, make_sandboxed

#: Bytes of a picture that is shown inline; larger ones can be saved.
MAX_INLINE = MIB
#: Characters of the text of a file that are shown.
MAX_TEXT = 20_000
#: Bytes of the beginning that tell the type of a picture.
_HEAD = 64
#: Extensions of common types that `mimetypes` does not know.
_EXTENSIONS = {"audio/wav": ".wav", "audio/mp3": ".mp3", "audio/webm": ".webm"}


@dataclass(frozen=True, slots=True)
class MediaView:
    """A picture, a sound, a file or a link as its template shows it."""

    media: Media

    @property
    def name(self) -> str:
        """Return its name, "" without one."""
        return value_text(self.media.name, 200)

    @property
    def facts(self) -> str:
        """Return type and size, as far as known: "image/png, 12.3 KB"."""
        known = None if self.media.size is None else size(self.media.size)
        return ", ".join(filter(None, (value_text(self.media.media_type, 100), known)))

    @property
    def picture_url(self) -> str:
        """Return the picture as a `data:` URL, "" if it is not shown inline."""
        media_type = self._raster_type
        if not media_type or self.is_too_large:
            return ""
        data = self.media.read()
        # Encoded again: an agent's base64 may contain anything.
        return f"data:{media_type};base64,{base64.b64encode(data).decode()}" if data else ""

    @property
    def is_too_large(self) -> bool:
        return self._is_image and (self.media.size or 0) > MAX_INLINE

    @property
    def can_be_saved(self) -> bool:
        """Return whether there is inline data, and its beginning is not damaged."""
        return self.media.has_data and self.media.read(MAX_INLINE) is not None

    @property
    def reason(self) -> str:
        """Return why inline data is not shown or saved, "" if it is, or if there is none."""
        if not self.media.has_data:
            return ""
        if not self.can_be_saved:
            return "The data is not valid base64."
        if not self._is_image or (self._raster_type and not self.is_too_large):
            return ""
        if self._raster_type:
            return f"Pictures of up to {size(MAX_INLINE)} are shown."
        if "svg" in self.media.media_type.lower():
            return "SVG can contain scripts, so it is not shown."
        return "The data is not a PNG, JPEG, GIF, WebP or AVIF picture."

    @property
    def remote_picture(self) -> str | None:
        is_picture = self._is_image or self.media.media_type.lower().startswith("image/")
        if not is_picture or self.media.has_data or "svg" in self.media.media_type.lower():
            return None
        return self.url

    @property
    def url(self) -> str | None:
        """Return its URL if that may be a link, else None."""
        return safe_url(self.media.url)

    @property
    def url_text(self) -> str:
        return value_text(self.media.url, 300)

    @property
    def text(self) -> str:
        """Return the beginning of the text of a file, "" if it is none."""
        return shorten(self.media.text or "", MAX_TEXT)

    @property
    def file_name(self) -> str:
        name = "".join(each if each.isalnum() or each in "-_. " else "_" for each in self.name)
        if name.strip("._ "):
            return name.strip()
        media_type = self._raster_type or self.media.media_type.partition(";")[0]
        extension = _EXTENSIONS.get(media_type) or mimetypes.guess_extension(media_type) or ""
        return self.media.kind + extension

    @property
    def _is_image(self) -> bool:
        return self.media.kind == "image"

    @property
    def _raster_type(self) -> str:
        """Return the media type of its inline picture by the first bytes, "" for anything else."""
        head = self.media.read(_HEAD) if self._is_image and self.media.has_data else None
        return (raster_type(head) or "") if head else ""


def media_line(media: Media) -> str:
    """Return media in one line: `[image image/png, 12.3 KB] chart.png`."""
    view = MediaView(media)
    named = " ".join(filter(None, (media.kind, view.facts)))
    where = view.url_text if view.url_text != view.name else ""
    return " ".join(filter(None, (f"[{named}]", view.name, where)))


def picture_link(url: str, run: UUID, *, readonly: bool) -> dict[str, str]:
    """Return the picture at `url`, which the response of `run` names, as its template shows it.

    `signed_url` is what the view that loads it takes; "" where it may only be a link. A `readonly`
    page is that of a share: its readers must not cause requests of the owner.
    """
    may_load = settings.AGENT_IMAGES and not readonly
    signed_url = _signer(run).sign(url) if may_load else ""
    return {
        "url": url,
        "host": urlsplit(url).netloc,
        "hint": shorten(url, 300),
        "signed_url": signed_url,
    }


@lru_cache(maxsize=1_000)
def _signer(run: UUID) -> signing.Signer:
    return signing.Signer(salt=f"playground.pictures.{run}")


@require_safe
def content(request: HttpRequest, pk: str, seq: int, part: int) -> HttpResponse:
    """Download the data in a result that is a content of a tool."""
    event = event_at(get_run(request, pk), (seq, part))
    return _download(media_of(event.item) if isinstance(event, Result) else None)


@require_safe
def message_content(
    request: HttpRequest, pk: str, seq: int, part: int, number: int
) -> HttpResponse:
    """Download the data in a part of a message."""
    found = message_part(get_run(request, pk), (seq, part), number)
    return _download(content_media(found.kind, found.value))


def _download(media: Media | None) -> HttpResponse:
    """Return the data as a file, of a type that browsers execute nowhere."""
    data = media.read() if media and media.has_data else None
    if media is None or data is None:
        raise Http404
    media_type = raster_type(data) or "application/octet-stream"
    response = HttpResponse(data, content_type=media_type)
    return make_sandboxed(make_download(response, MediaView(media).file_name))


#: Seconds that the browser keeps a picture, and a failure, in local mode. The playground keeps
#: neither.
MAX_AGE, FAILURE_MAX_AGE = 86_400, 60


@require_GET
async def picture(request: HttpRequest, pk: str) -> HttpResponse:
    """Return the picture `url` of a run, which has the signature of a page with that run.

    A picture that cannot be shown is a JSON object: `label` of a word or two, and `reason`.
    """
    run = await sync_to_async(get_run)(request, pk)
    if not settings.AGENT_IMAGES:
        raise Http404
    response: HttpResponse
    try:
        url = _signer(run.pk).unsign(request.GET.get("url", ""))
        found = await fetch_picture(url, owner=run.owner_id)
    except signing.BadSignature as error:
        raise Http404 from error
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
