"""WebSocket consumers of runs, shared runs and collection runs: catch up with a page, then follow.

What a run's viewers get comes from a feed (`playground.live.broadcast`); a page of a collection run
has updates of its own. Consumers can neither start nor stop a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID
from weakref import WeakSet

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied

from playground.base import metrics
from playground.base.executors import read_for_viewer
from playground.base.fields import int_param
from playground.base.jobs import PerLoop, start_task
from playground.collection_runs.page import CollectionRunUpdates, StepPage, decode_verdicts
from playground.conversation.updates import RunUpdates
from playground.live.broadcast import RunFeed, run_feeds
from playground.models import CollectionRun, Run, Share
from playground.models.frames import Flush
from playground.notifications import notifier

logger = logging.getLogger(__name__)

#: Seconds between two messages of a collection run.
COLLECTION_RUN_INTERVAL = 0.2
#: Bytes that may wait for a socket: a viewer who does not read them must not fill the memory. With
#: many sockets it is less, down to the second number, so that all have the third.
MAX_UNSENT, MIN_UNSENT, MAX_ALL_UNSENT = 1024 * 1024, 64 * 1024, 128 * 1024 * 1024

#: Close codes. After the last three the page connects again, from its cursor. ASGI servers send
#: codes from 4000 on for the application, so that 1012 (service restart) cannot be used.
ENDED, NOT_FOUND, BEHIND, FAILED, RESTARTING = 1000, 4404, 4408, 4500, 4503
#: Seconds for the last messages and the close frames before the server stops.
CLOSING_SECONDS = 1.0


class LiveConsumer(AsyncWebsocketConsumer, ABC):
    """One viewer of one record that changes, with the messages that wait for its socket."""

    #: Key of the run or collection run; None until it was read.
    pk: UUID | None = None
    #: What access depends on: see `playground.live.broadcast.Viewer`.
    token = ""

    async def connect(self) -> None:
        """Follow the record; close where the user has no such record."""
        self._unsent: deque[tuple[str, int]] = deque()
        self._unsent_bytes = 0
        self._sending: asyncio.Task[None] | None = None
        #: Close code once nothing more is to be sent.
        self._code: int | None = None
        #: Whether sending has failed.
        self._is_gone = False
        user = self.scope.get("user") or AnonymousUser()
        if settings.HOSTED:
            self.token = self.scope["session"].session_key or ""
        # Accepted in any case: the browser takes a refused handshake for a network error and would
        # try again without end. And closed here after an exception: Daphne cannot send 1011, the
        # code of one that is raised.
        try:
            opened = await read_for_viewer(self.open, user, **self.scope["url_route"]["kwargs"])
        except Exception:
            logger.exception("Opening %s failed", self.scope["path"])
            await self.accept()
            await self.close(FAILED)
            return
        await self.accept()
        if open_sockets().is_closing:
            await self.close(RESTARTING)
            return
        open_sockets().add(self)
        if opened is None:
            await self.close(NOT_FOUND)
            return
        self.pk = opened.pk
        try:
            await self.follow(opened)
        except Exception:
            logger.exception("Following %s failed", self.scope["path"])
            self.leave()
            await self.close(FAILED)

    @abstractmethod
    def open(self, user: Any, **kwargs: Any) -> Any:
        """Return the updates of the record that the URL's `kwargs` name.

        None where the user has no such record.
        """

    @abstractmethod
    async def follow(self, updates: Any) -> None:
        """Begin to send what `updates` has."""

    @abstractmethod
    def leave(self) -> None:
        """Stop following; the run itself continues."""

    async def disconnect(self, code: int) -> None:
        open_sockets().discard(self)
        self.leave()
        self._drop()

    def restart(self) -> None:
        """Close the socket because the server stops; the page connects to the next one."""
        self.leave()
        self._end(RESTARTING)

    def send_html(self, html: str) -> None:
        """Send a message after those that wait; close a socket for which too much waits."""
        if self._code is not None or self._is_gone:
            return
        # Without the message itself: however large it is, the first one can be sent.
        if self._unsent_bytes > open_sockets().max_unsent:
            self._fall_behind()
            return
        size = len(html.encode())
        self._unsent.append((html, size))
        self._unsent_bytes += size
        self._start_sending()

    def _fall_behind(self) -> None:
        """Close the socket of a viewer who does not read; the page comes back from its cursor."""
        logger.info("Closing a WebSocket whose viewer does not read its messages")
        self.leave()
        self._drop()
        if self._sending:
            self._sending.cancel()
            self._sending = None
        self._end(BEHIND)

    def end(self, error: BaseException | None = None) -> None:
        """Close the socket after the messages that wait; at once if access has ended."""
        if isinstance(error, PermissionDenied):
            self._drop()
            self._end(NOT_FOUND)
            return
        is_failure = error is not None and not isinstance(error, ObjectDoesNotExist)
        self._end(FAILED if is_failure else ENDED)

    def _end(self, code: int) -> None:
        if self._code is None:
            self._code = code
            self._start_sending()

    def _start_sending(self) -> None:
        if self._sending is None:
            self._sending = start_task(self._send_unsent(), "viewer")

    def _drop(self) -> None:
        self._unsent.clear()
        self._unsent_bytes = 0

    async def _send(self, html: str) -> None:
        try:
            await self.send(text_data=html)
        except Exception:
            # The viewer has disconnected, which is no error; the exception differs from server to
            # server.
            logger.debug("A viewer has disconnected", exc_info=True)
            self._is_gone = True
            self.leave()
            self._drop()

    async def _send_unsent(self) -> None:
        try:
            while self._unsent:
                html, size = self._unsent.popleft()
                await self._send(html)
                self._unsent_bytes = max(0, self._unsent_bytes - size)
            if self._code is not None and not self._is_gone:
                await self.close(self._code)
        except Exception:
            logger.debug("A viewer has disconnected", exc_info=True)
        finally:
            if self._sending is asyncio.current_task():
                self._sending = None


class OpenSockets:
    """The open sockets of an event loop."""

    def __init__(self) -> None:
        # Weak: a consumer that is cancelled is not told that its socket was closed.
        self._viewers: WeakSet[LiveConsumer] = WeakSet()
        self._removed = asyncio.Event()
        #: Whether the server stops: then a socket is closed as soon as it is accepted.
        self.is_closing = False

    def add(self, viewer: LiveConsumer) -> None:
        self._viewers.add(viewer)

    def discard(self, viewer: LiveConsumer) -> None:
        self._viewers.discard(viewer)
        self._removed.set()

    def __len__(self) -> int:
        return len(self._viewers)

    @property
    def max_unsent(self) -> int:
        """Return the bytes that may wait for each of the sockets."""
        share = MAX_ALL_UNSENT // max(1, len(self._viewers))
        return min(MAX_UNSENT, max(MIN_UNSENT, share))

    async def close_all(self, ended: Collection[UUID]) -> None:
        """Close all sockets, so that the pages connect to the next process; return soon.

        Viewers of the runs and collection runs in `ended` get their last messages before.
        """
        await self._wait_while(lambda: any(viewer.pk in ended for viewer in self._viewers))
        self.is_closing = True
        for viewer in tuple(self._viewers):
            viewer.restart()
        await self._wait_while(lambda: bool(self._viewers))

    async def _wait_while(self, condition: Callable[[], bool]) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS):
                while condition():
                    self._removed.clear()
                    await self._removed.wait()


open_sockets = PerLoop(OpenSockets)
metrics.register_gauge(
    "playground_websockets", "Open WebSockets", lambda: sum(map(len, open_sockets.all()))
)


class RunConsumer(LiveConsumer):
    """One viewer of one run, from the frame after the last one that the page has."""

    _feed: RunFeed | None = None

    def open(self, user: Any, **kwargs: Any) -> RunUpdates | None:
        """Return the updates of the run with the key `pk`, from the frame `?after=`."""
        run = Run.objects.owned_by(user).filter(pk=kwargs["pk"]).first()
        return None if run is None else self._updates(run)

    def _updates(self, run: Run, *, readonly: bool = False) -> RunUpdates:
        query = parse_qs(self.scope.get("query_string", b"").decode("latin-1"))
        fields = {name: values[0] for name, values in query.items()}
        after, ended = int_param(fields, "after", 0), bool(int_param(fields, "final", 0))
        updates = RunUpdates(
            run.pk, min(after, run.frames), ended=ended and run.is_final, readonly=readonly
        )
        updates.watch_other_turns(run)
        return updates

    async def follow(self, updates: RunUpdates) -> None:
        self._feed = await run_feeds().join(self, updates)
        if self._is_gone or self._code is not None:
            self.leave()

    def leave(self) -> None:
        if self._feed:
            self._feed.leave(self)


class SharedRunConsumer(RunConsumer):
    """One reader of a shared run: sees what the page of the share shows."""

    def open(self, user: Any, **kwargs: Any) -> RunUpdates | None:
        """Return the updates of the run of a valid link."""
        self.token = kwargs["token"]
        valid = Share.objects.valid().filter(token=self.token)
        run = Run.objects.filter(shares__in=valid).first()
        return None if run is None else self._updates(run, readonly=True)

    def end(self, error: BaseException | None = None) -> None:
        """Close the socket; at once also if the run was deleted."""
        super().end(PermissionDenied() if isinstance(error, ObjectDoesNotExist) else error)


class CollectionRunConsumer(LiveConsumer):
    """One viewer of one page of a collection run's steps."""

    _follower: asyncio.Task[None] | None = None
    _is_watching = False

    def open(self, user: Any, **kwargs: Any) -> CollectionRunUpdates | None:
        """Return the updates of the collection run `pk`; `known` is what the page shows of it."""
        run = CollectionRun.objects.owned_by(user).filter(pk=kwargs["pk"]).first()
        if run is None:
            return None
        page = StepPage.of({"show": kwargs["show"], "page": str(kwargs["page"])})
        self._pk, self._group = run.pk, run.group
        return CollectionRunUpdates(run.pk, page, decode_verdicts(kwargs["known"]))

    async def follow(self, updates: CollectionRunUpdates) -> None:
        """Send the changes of the steps on this page."""
        self._changed = asyncio.Event()
        # Subscribed before the first read, so that no change is missed in between.
        self._is_watching = True
        run_feeds().watch(self, self._pk)
        try:
            await notifier().subscribe(self._group, self._notified)
        except BaseException:
            self.leave()
            raise
        self._follower = start_task(self._follow(updates), f"viewer-{self._group}")

    def leave(self) -> None:
        if self._follower:
            self._follower.cancel()
            self._follower = None
        if self._is_watching:
            self._is_watching = False
            run_feeds().unwatch(self)
            notifier().unsubscribe(self._group, self._notified)

    def _notified(self, _: Flush | None) -> None:
        self._changed.set()

    async def _follow(self, updates: CollectionRunUpdates) -> None:
        try:
            while True:
                self._changed.clear()
                message = await read_for_viewer(updates.advance)
                if message:
                    self.send_html(message.html)
                    if message.final:
                        self.end()
                        return
                    # The same pause after every message: steps change faster than anybody reads.
                    await asyncio.sleep(COLLECTION_RUN_INTERVAL)
                await self._changed.wait()
        except Exception as error:
            if not isinstance(error, ObjectDoesNotExist):
                logger.exception("Sending updates of %s to a viewer failed", self._group)
            self.end(error)
