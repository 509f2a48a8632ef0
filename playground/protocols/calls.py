"""A call: one HTTP request, described completely and not yet made."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


def origin_of(url: str) -> str:
    """Scheme, host and port of an address, "" for what is none.

    Who logs in there is no part of it: a name before the host could pass for another host.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}" if parts.scheme and host else ""


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request, exactly as it will be sent.

    `headers` are sent in this order and in this spelling; the transport adds only what
    HTTP/1.1 demands (`Host`, `Content-Length`) and, so that what is shown is what came,
    `Accept-Encoding: identity` unless the call names an encoding itself.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    #: True when the caller hopes for a stream.
    streaming: bool = False
    #: Seconds to wait before it is made: what makes calls has a clock, what plans them has none.
    delay: float = 0.0

    @property
    def origin(self) -> str:
        """Scheme, host and port of the target, "" where it has no address."""
        return origin_of(self.url)
