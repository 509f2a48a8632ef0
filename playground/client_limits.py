"""Limits of the clients of the playground's own server: time for a request, for reading, body size.

Pure: the modules of the servers report what a client has sent and read, and close its connection.
"""

from __future__ import annotations

#: Most bytes of a request body; the largest upload is 32 MiB.
MAX_BODY = 40 * 1024 * 1024
#: Most bytes of the body of a request without a session, in hosted mode: that of the log-in.
MAX_BODY_WITHOUT_SESSION = 64 * 1024
#: Bytes of a request body that extend the time for it by a second.
MIN_RATE = 1024
#: Seconds between two checks of all connections.
CHECK_INTERVAL = 1.0
#: Responses to a request that took too long, and to a body that is too large.
REQUEST_TIMEOUT = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
CONTENT_TOO_LARGE = (
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
)


class ClientTimeout:
    """Timeouts of one connection.

    A request has to begin within `seconds` of the last response. Its head has to be complete within
    `seconds` of its first byte, and its body within `seconds` and one more for each `MIN_RATE`
    bytes. There is no limit for the response: the demo agent streams as long as its client reads.
    But a client that accepts no byte for `seconds` while some wait for it is too slow. All times
    are in seconds of one monotonic clock.
    """

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._deadline: float | None = now + seconds
        #: Whether a request has begun and is not complete.
        self.is_receiving = False
        #: Bytes of the body so far.
        self.body_bytes = 0
        #: Bytes that the client has accepted so far, and when that number changed.
        self._accepted, self._accepted_at = 0, now

    def begin_head(self, now: float) -> None:
        """Note the first byte of a request."""
        self.is_receiving = True
        self._deadline = now + self._seconds

    def begin_body(self, now: float) -> None:
        """Note the end of the head."""
        self.body_bytes = 0
        self._deadline = now + self._seconds

    def add_body(self, size: int) -> bool:
        """Note bytes of the body; return whether all of it so far is within `MAX_BODY`."""
        self.body_bytes += size
        if self._deadline is not None:
            self._deadline += size / MIN_RATE
        return self.body_bytes <= MAX_BODY

    def begin_response(self) -> None:
        """Note the end of the request."""
        self.is_receiving = False
        self._deadline = None

    def end_response(self, now: float) -> None:
        """Note that the response was written, and the next request may come."""
        self.is_receiving = False
        self._deadline = now + self._seconds

    def is_over(self, now: float, accepted: int, unsent: int) -> bool:
        """Return whether the client has taken too long.

        `accepted` is the number of bytes that it has been sent so far, `unsent` of those that wait.
        """
        if accepted != self._accepted or not unsent:
            self._accepted, self._accepted_at = accepted, now
        if unsent:
            if self._deadline is not None and not self.is_receiving:
                self._deadline = now + self._seconds  # It still reads the response.
            if now - self._accepted_at > self._seconds:
                return True
        return self._deadline is not None and now > self._deadline
