"""Pictures that agents name: loaded by the playground when the user asks, never by the browser.

Their URLs are signed for the run that names them, so that the view that loads them cannot be used
as a proxy for other URLs.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.core import signing


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
