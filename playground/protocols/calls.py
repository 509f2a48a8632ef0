"""HTTP calls: one HTTP request, described completely and not yet made."""

from __future__ import annotations

from dataclasses import dataclass

from playground.protocols.origins import origin_of


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One HTTP request, exactly as it will be sent.

    `headers` are sent in this order and in this spelling; the transport adds only what
    HTTP/1.1 requires (`Host`, `Content-Length`) and `Accept-Encoding: identity`, unless the call
    names an encoding itself, so that the bytes shown are the bytes received.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    #: Whether the caller prefers an event stream.
    streaming: bool = False
    #: Seconds to wait before it is made: exchanges have no clock, the caller has one.
    delay: float = 0.0
    #: Name of a limit (`playground.base.limits.RunLimits`): seconds for its response, once
    #: connected.
    time_limit: str = ""

    @property
    def origin(self) -> str:
        """Return scheme, host and port of the URL, "" if it has no origin."""
        return origin_of(self.url)
