"""A call: one HTTP request, described completely and not yet made."""

from __future__ import annotations

from dataclasses import dataclass

from playground.protocols.origins import origin_of


@dataclass(frozen=True, slots=True)
class HttpCall:
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
