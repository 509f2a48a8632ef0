"""Resumption of an event stream that a server closed before the response (up to 2025-11-25).

A server may close a stream after an event with an id, and expects GET with `Last-Event-ID` after
the milliseconds of `retry`. A server may do so for ever, so there are limits.
"""

from __future__ import annotations

from playground.protocols import sse
from playground.protocols.headers import header_error

LAST_EVENT_ID = "Last-Event-ID"

#: Resumptions of one stream in a row that bring no message, and resumptions of one stream.
MAX_WITHOUT_MESSAGE, MAX_RESUMPTIONS = 10, 100
#: Milliseconds to wait if the server names none, and the most that are waited.
DEFAULT_RETRY, MAX_RETRY = 1_000, 60_000
#: Characters of an id that is sent back.
MAX_ID = 4_096


class StreamPosition:
    """The position in the event stream of one call, over all resumptions of it."""

    def __init__(self) -> None:
        #: The id of the last event that has one, "" for none.
        self.last_event_id = ""
        #: Milliseconds to wait before the next resumption.
        self.retry = DEFAULT_RETRY
        self.resumption_count = 0
        #: Resumptions since the last message.
        self._count_without_message = 0

    def read(self, event: sse.ServerSentEvent, *, is_message: bool) -> None:
        """Read the id and the waiting time of an event, which may be all that it has."""
        if event.id is not None:
            self.last_event_id = event.id
        if event.retry is not None:
            self.retry = event.retry
        if is_message:
            self._count_without_message = 0

    def resume(self) -> None:
        self.resumption_count += 1
        self._count_without_message += 1

    @property
    def refusal(self) -> str:
        """Return why the stream is not resumed although it has an id, a sentence; else ""."""
        if self._count_without_message >= MAX_WITHOUT_MESSAGE:
            return f"{MAX_WITHOUT_MESSAGE} resumptions in a row brought no message."
        if self.resumption_count >= MAX_RESUMPTIONS:
            return f"The stream was resumed {MAX_RESUMPTIONS} times."
        if self.retry > MAX_RETRY:
            return (
                f"The server asks to wait {self.retry / 1_000:,.0f} seconds; "
                f"the limit is {MAX_RETRY // 1_000}."
            )
        if len(self.last_event_id) > MAX_ID:
            return f"The event id is longer than {MAX_ID:,} characters."
        return header_error(LAST_EVENT_ID, self.last_event_id) or ""
