"""Download of a picture that an agent names: GETs under the outbound policy, with narrow limits.

The URL is all that comes from the agent: no credentials, cookies or referrer are sent, and the
type of the picture is read from its bytes.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from urllib.parse import urljoin
from weakref import WeakValueDictionary

from django.conf import settings

from playground.base.jobs import PerLoop
from playground.base.limits import MIB
from playground.base.memory_budget import RunMemory
from playground.engine.calls import Download, get, narrow_transport
from playground.protocols.http import USER_AGENT
from playground.protocols.media import RASTER_TYPES, raster_type
from playground.protocols.problems import Problem, Stage

#: Limits of a picture with its redirects.
LIMITS = {
    "max_bytes": 5 * MIB,
    "connect_timeout": 5.0,
    "idle_timeout": 5.0,
    "total_timeout": 15.0,
}
#: Redirects that are followed; servers of pictures often redirect to others.
MAX_REDIRECTS = 3
#: Downloads of one user at once; further ones wait.
MAX_AT_ONCE = 4

_HEADERS = (("Accept", ", ".join(RASTER_TYPES)), ("User-Agent", USER_AGENT))
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_UNREACHABLE = frozenset({Stage.RESOLVE, Stage.CONNECT, Stage.TLS})

_slots: PerLoop[WeakValueDictionary[int | None, asyncio.Semaphore]] = PerLoop(WeakValueDictionary)


@dataclass(frozen=True, slots=True)
class Picture:
    """A raster image and its media type."""

    media_type: str
    data: bytes


class PictureError(Exception):
    """The picture cannot be shown: a label of a word or two, and the reason as a sentence."""

    def __init__(self, label: str, reason: str) -> None:
        super().__init__(reason)
        self.label = label


async def fetch_picture(url: str, *, owner: int | None = None) -> Picture:
    """Return the picture at `url`. Raises `PictureError`.

    `owner` is the key of the user, None in local mode. At most `MAX_REDIRECTS` redirects are
    followed, each under the outbound policy, and all within the same limits. None leads from a
    public address into a private network.
    """
    slot = _slots().setdefault(owner, asyncio.Semaphore(MAX_AT_ONCE))
    async with slot:
        with contextlib.closing(RunMemory()) as memory:
            found = await _follow(url, memory)
    if isinstance(found, Problem):
        raise _error_of(found)
    if found.status != 200:
        raise PictureError(f"HTTP {found.status}", f"The server returned HTTP {found.status}.")
    if (media_type := raster_type(found.body)) is None:
        raise PictureError("Unsupported", "The file is not a PNG, JPEG, GIF, WebP or AVIF picture.")
    return Picture(media_type, found.body)


async def _follow(url: str, memory: RunMemory) -> Download | Problem:
    """Return the last response of a chain of redirects."""
    # One transport for the chain, which shares its limits of bytes and time.
    transport = narrow_transport(LIMITS)
    for _ in range(MAX_REDIRECTS + 1):
        found = await get(url, _HEADERS, transport, memory)
        if isinstance(found, Problem) or found.status not in _REDIRECTS:
            return found
        try:
            url = urljoin(url, found.headers.get("location", ""))
        except ValueError:
            return found
        transport.follow_redirect()
    raise PictureError("Redirects", f"The server redirects more than {MAX_REDIRECTS} times.")


def _error_of(problem: Problem) -> PictureError:
    if problem.limit == "max_bytes":
        megabytes = min(LIMITS["max_bytes"], settings.RUN_LIMITS.max_bytes) / MIB
        return PictureError("Too large", f"The picture is larger than {megabytes:.3g} MB.")
    if problem.limit and problem.limit.endswith("_timeout"):
        return PictureError("Timeout", problem.cause)
    if problem.stage is Stage.POLICY:
        return PictureError("Denied", problem.cause)
    label = "Unreachable" if problem.stage in _UNREACHABLE else "Not loaded"
    return PictureError(label, problem.cause)
