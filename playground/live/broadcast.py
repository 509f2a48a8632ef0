"""Broadcast of a run's updates to its viewers: rendered once for all that are at the same frame.

A feed is the position of those viewers in one run; owner and readers of a share have a feed each.
It goes on with what the engine has just stored and decoded. A viewer who joins it, or whose run is
driven by another process, catches up from the database first, and then gets the same messages as
the others. A feed exists as long as it has viewers.

Everything here must be called on the event loop's thread; messages are rendered in threads.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.db.models import Count
from prometheus_client import Histogram

from playground.base import metrics
from playground.base.executors import read_for_viewer, run_in_reader, run_in_renderer
from playground.base.jobs import PerLoop, start_task
from playground.conversation.updates import RunMessage, RunUpdates, advance_together
from playground.models import CollectionRun, Run, RunState, Share, Step
from playground.models.collection_runs import collection_run_group
from playground.models.driving import local_runs, mark_interrupted
from playground.models.frames import Flush
from playground.models.rows import valid_sessions
from playground.models.runs import group_of
from playground.notifications import Subscriber, notifier

logger = logging.getLogger(__name__)

#: Seconds between two messages of a flood: ten a second are more than a user can read.
FLOOD_INTERVAL = 0.1
#: A message with more frames than this is part of a flood.
FLOOD_FRAMES = 10
#: Seconds below which the pause after sending a message to many viewers is left out.
MIN_PAUSE = 0.01
#: Seconds without a notification after which the database is read all the same: a command that
#: drives a run sends no notifications to this process, and notifications can be lost. Sockets whose
#: session or share has ended are closed at the same interval.
POLL = 1.5
#: Most viewers that catch up, and feeds that read the database, at the same time. They give way to
#: frames that were just stored, which need no reading.
MAX_CATCHING_UP, MAX_READING = 2, 1
#: Runs of other processes that are read by the same queries.
MAX_TOGETHER = 50
#: Most decoded frames, and bytes of them, that wait to be rendered; if there are more, the database
#: is read instead.
MAX_WAITING, MAX_WAITING_BYTES = 10_000, 16 * 1024 * 1024
#: Bytes of what waits of all runs.
MAX_ALL_WAITING_BYTES = 32 * 1024 * 1024
#: Most characters of messages that a viewer has missed while it caught up; if there are more, it
#: catches up once more.
MAX_MISSED = 200_000


class Viewer(Protocol):
    """The socket of one viewer. Neither method waits."""

    #: What access depends on: token of the share, or key of the user's session; "" locally.
    token: str

    def send_html(self, html: str) -> None: ...

    def end(self, error: BaseException | None = None) -> None:
        """Close the socket after the last message, or because of an error."""
        ...

    def leave(self) -> None: ...


@dataclass(slots=True)
class LateViewer:
    """A viewer who is behind the feed, or ahead of it."""

    updates: RunUpdates
    #: Messages of the feed since the viewer began to catch up; None before that.
    missed: list[RunMessage] | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """A task for a thread: the new frames of a feed to render."""

    updates: RunUpdates
    #: What was stored since the last message; None if frames are to be read from the database.
    stored: Sequence[Flush] | None
    #: Whether the run, its child runs and the other turns have to be read.
    reads: bool


class RunFeed:
    """The updates of one run for its viewers of one role in this process."""

    def __init__(self, updates: RunUpdates, feeds: RunFeeds) -> None:
        """Begin at the position of the first viewer."""
        self.pk = updates.pk
        self._updates = updates
        self._feeds = feeds
        self._loop = asyncio.get_running_loop()
        #: Position of the viewers in `_members`. That of `_updates` changes while it is rendered.
        self.cursor, self.ended = updates.cursor, updates.ended
        self._members: dict[Viewer, None] = {}
        self._late: dict[Viewer, LateViewer] = {}
        self._groups: dict[str, Subscriber] = {}
        #: Set once the feed receives notifications.
        self._subscribed = asyncio.Event()
        self._new_turns: dict[UUID, str] = {}
        self._stored: list[Flush] = []
        #: The frames in it, and their bytes.
        self._waiting = self._waiting_bytes = 0
        #: Delays that end with the next message, and with that which is being rendered: metric and
        #: start, in seconds of `time.monotonic`.
        self._delays: list[tuple[Histogram, float]] = []
        self._ending_delays: list[tuple[Histogram, float]] = []
        self._must_read = True
        #: Whether frames were read from the database up to those that this process stores.
        self._is_attached = False
        self._is_busy = False
        self._pause: asyncio.TimerHandle | None = None
        #: State and number of frames of the last message, compared with the database now and then.
        self.stamp: tuple[str, int] = ("", 0)

    @property
    def is_local(self) -> bool:
        """Return whether this process drives the run: then it is notified of everything."""
        return self.pk in local_runs

    @property
    def viewers(self) -> Sequence[Viewer]:
        return (*self._members, *self._late)

    @property
    def has_viewers(self) -> bool:
        return bool(self._members or self._late)

    async def join(self, viewer: Viewer, updates: RunUpdates) -> None:
        """Send the viewer everything after the position of `updates`."""
        is_first = updates is self._updates
        if is_first:
            self._members[viewer] = None
        else:
            self._late[viewer] = LateViewer(updates)
        self._new_turns |= updates.other_turns
        # Subscribed before the database is read, so that no frame is missed in between.
        try:
            if is_first:
                await self._subscribe(group_of(self.pk), self._notified)
            for turn in updates.other_turns:
                await self._subscribe(group_of(turn), self._turn_notified)
        finally:
            if is_first:
                # Viewers that wait for it need it even if this one has disconnected.
                self._subscribed.set()
                self._schedule()
        if is_first:
            return
        await self._subscribed.wait()
        if viewer in self._late:
            self._begin_to_catch_up(viewer)

    async def _subscribe(self, group: str, subscriber: Subscriber) -> None:
        if self.has_viewers and group not in self._groups:
            self._groups[group] = subscriber
            await notifier().subscribe(group, subscriber)

    def leave(self, viewer: Viewer) -> None:
        self._members.pop(viewer, None)
        self._late.pop(viewer, None)
        if not self.has_viewers:
            self.close()

    def close(self) -> None:
        self._feeds.discard(self)
        self._take_stored()
        if self._pause:
            self._pause.cancel()
        groups, self._groups = self._groups, {}
        for group, subscriber in groups.items():
            notifier().unsubscribe(group, subscriber)
        self._subscribed.set()

    def read_again(self) -> None:
        """Read the database: it may have changed without a notification."""
        self._must_read = True
        self._is_attached = self._is_attached and self.is_local
        self._schedule()

    def _notified(self, stored: Flush | None) -> None:
        if stored is None:
            self._must_read = True
            if not self.is_local:
                self._delays.append((metrics.notified_delivery, time.monotonic()))
        else:
            for batch in stored.batches[:1]:
                if batch.arrived_at is not None:
                    self._delays.append((metrics.delivery, batch.arrived_at))
            self._stored.append(stored)
            self._waiting += sum(len(batch.frames) for batch in stored.batches)
            self._waiting_bytes += stored.bytes
            self._feeds.waiting_bytes += stored.bytes
            if (
                self._waiting > MAX_WAITING
                or self._waiting_bytes > MAX_WAITING_BYTES
                or self._feeds.waiting_bytes > MAX_ALL_WAITING_BYTES
            ):
                self._take_stored()
                self._must_read, self._is_attached = True, False
        self._schedule()

    def _turn_notified(self, stored: Flush | None) -> None:
        # The page shows the state of another turn, and none of its events.
        if stored is not None and "state" not in stored.changes:
            return
        self._must_read = True
        self._schedule()

    def _schedule(self) -> None:
        """Render new frames, unless a thread renders already or the next message is not due yet."""
        if not self._is_busy and self._pause is None and self.has_viewers:
            self._is_busy = True
            self._feeds.render(self)

    def take(self) -> Work:
        """Return the task for a thread; the caller must call `publish` or `fail`."""
        stored = self._take_stored()
        self._ending_delays += self._delays
        self._delays = []
        self._updates.other_turns = self._new_turns | self._updates.other_turns
        self._new_turns = {}
        known = stored if self._is_attached else None
        reads = self._must_read or known is None or self._updates.needs_read(known)
        self._must_read = False
        return Work(self._updates, known, reads)

    def _take_stored(self) -> list[Flush]:
        """Return what waits, which waits no longer."""
        self._feeds.waiting_bytes -= self._waiting_bytes
        self._waiting = self._waiting_bytes = 0
        stored, self._stored = self._stored, []
        return stored

    def publish(self, message: RunMessage | None) -> None:
        """Send a message to everybody who is at the position before it."""
        self._is_busy = False
        self._is_attached = self.is_local and not (message and message.more)
        self.stamp = self._updates.stamp
        if message:
            self.cursor, self.ended = message.last, self._updates.ended
            pause = self._send_to_members(message)
            for late in self._late.values():
                if late.missed is not None:
                    late.missed.append(message)
            if message.more and not self._is_attached:
                self._must_read = True
            elif message.frames > FLOOD_FRAMES or pause > MIN_PAUSE:
                pause = FLOOD_INTERVAL if message.frames > FLOOD_FRAMES else pause
                self._pause = self._loop.call_later(pause, self._end_pause)
        if not (message and message.more):
            self._ending_delays.clear()
        for viewer in tuple(self._late):
            self._begin_to_catch_up(viewer)
        if self._stored or self._must_read:
            self._schedule()

    def _send_to_members(self, message: RunMessage) -> float:
        """Send a message, and return the pause after it.

        With many viewers messages are fewer, so that two thirds of the time are left.
        """
        begun, members = time.thread_time(), tuple(self._members)
        for viewer in members:
            self._send(viewer, message)
        pause = min(2 * (time.thread_time() - begun), FLOOD_INTERVAL)
        if members and not message.more:
            now = time.monotonic()
            for histogram, start in self._ending_delays:
                histogram.observe(now - start)
        return pause

    def _send(self, viewer: Viewer, message: RunMessage) -> None:
        """Send one message, and end after the last one; an error ends this viewer and no other."""
        try:
            viewer.send_html(message.html)
        except Exception as error:
            logger.exception("Sending updates of run %s to a viewer failed", self.pk)
            self.leave(viewer)
            viewer.end(error)
            return
        if message.final:
            self.leave(viewer)
            viewer.end()

    def fail(self, error: BaseException) -> None:
        """Close the sockets of all viewers."""
        if not isinstance(error, ObjectDoesNotExist):
            logger.error("Sending updates of run %s failed", self.pk, exc_info=error)
        viewers = self.viewers
        self._members, self._late = {}, {}
        self.close()
        for viewer in viewers:
            viewer.end(error)

    def _end_pause(self) -> None:
        self._pause = None
        if self._stored or self._must_read:
            self._schedule()

    def _begin_to_catch_up(self, viewer: Viewer) -> None:
        late = self._late[viewer]
        if late.missed is not None:
            return
        if late.updates.cursor > self.cursor or (late.updates.ended and not self.ended):
            # The page is newer than the feed's last message, so the feed has to advance first: by
            # a notification, or by reading the database.
            if not self._is_attached:
                self._must_read = True
                self._schedule()
            return
        late.missed = []
        start_task(self._catch_up(viewer, late, self.cursor), "feed-catch-up")

    async def _catch_up(self, viewer: Viewer, late: LateViewer, upto: int) -> None:
        """Send a viewer the stored frames up to `upto`, then the messages that it has missed."""
        more = True
        while more and viewer in self._late:
            try:
                async with self._feeds.catching_up:
                    # The feed announces the end, once.
                    message = await read_for_viewer(
                        late.updates.advance, upto=upto, ends=self.ended
                    )
            except Exception as error:
                if not isinstance(error, ObjectDoesNotExist):
                    logger.exception("Sending updates of run %s to a viewer failed", self.pk)
                self.leave(viewer)
                viewer.end(error)
                return
            if message and viewer in self._late:
                self._send(viewer, message)
            more = message is not None and message.more and message.last < upto
            assert late.missed is not None
            if not more and sum(len(each.html) for each in late.missed) > MAX_MISSED:
                late.missed, upto, more = [], self.cursor, True
        if self._late.pop(viewer, None) is None:
            return
        assert late.missed is not None
        self._members[viewer] = None
        for missed in late.missed:
            if viewer in self._members:
                self._send(viewer, missed)


class RunFeeds:
    """The feeds of an event loop: their rendering, and polling for changes without notification."""

    def __init__(self) -> None:
        #: Viewers of collection runs, and the keys; each page of one has updates of its own.
        self._collection_runs: dict[Viewer, UUID] = {}
        self._feeds: dict[tuple[UUID, bool], RunFeed] = {}
        self._due: list[RunFeed] = []
        #: Bytes of decoded frames that wait to be rendered.
        self.waiting_bytes = 0
        self._rendering: asyncio.Task[None] | None = None
        #: Feeds that read the database together, and the task that does it.
        self._remote: list[tuple[RunFeed, Work]] = []
        self._reading_remote: asyncio.Task[None] | None = None
        self._polling: asyncio.Task[None] | None = None
        self.catching_up = asyncio.Semaphore(MAX_CATCHING_UP)
        self._reading = asyncio.Semaphore(MAX_READING)

    async def join(self, viewer: Viewer, updates: RunUpdates) -> RunFeed:
        """Send the viewer everything after the position of `updates`, until it leaves the feed."""
        key = (updates.pk, updates.readonly)
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = RunFeed(updates, self)
        self._poll_if_needed()
        try:
            await feed.join(viewer, updates)
        except BaseException:
            feed.leave(viewer)
            raise
        return feed

    def discard(self, feed: RunFeed) -> None:
        self._feeds = {key: each for key, each in self._feeds.items() if each is not feed}
        self._poll_if_needed()

    def watch(self, viewer: Viewer, pk: UUID) -> None:
        """Notify this process when the collection run has changed without a notification."""
        self._collection_runs[viewer] = pk
        self._poll_if_needed()

    def unwatch(self, viewer: Viewer) -> None:
        self._collection_runs.pop(viewer, None)
        self._poll_if_needed()

    def _poll_if_needed(self) -> None:
        is_needed = bool(self._feeds or self._collection_runs)
        if is_needed and self._polling is None:
            self._polling = start_task(self._poll(), "feeds-poll")
        elif not is_needed and self._polling:
            self._polling.cancel()
            self._polling = None

    def render(self, feed: RunFeed) -> None:
        """Render new frames of a feed, together with those of other feeds that are due."""
        self._due.append(feed)
        if self._rendering is None or self._rendering.done():
            self._rendering = start_task(self._render_due(), "feeds-rendering")

    async def _render_due(self) -> None:
        while self._due:
            feeds, self._due = self._due, []
            works = [feed.take() for feed in feeds]
            quick = [pair for pair in zip(feeds, works, strict=True) if not pair[1].reads]
            for feed, work in zip(feeds, works, strict=True):
                if work.reads and work.stored is None and work.updates.has_begun:
                    self._remote.append((feed, work))
                elif work.reads:
                    start_task(self._read(feed, work), "feed-reading")
            if self._remote and (self._reading_remote is None or self._reading_remote.done()):
                self._reading_remote = start_task(self._read_together(), "feeds-reading")
            if quick:
                outcomes = await run_in_renderer(_render_all, [work for _, work in quick])
                for (feed, _), outcome in zip(quick, outcomes, strict=True):
                    _conclude(feed, outcome)

    async def _read_together(self) -> None:
        while self._remote:
            feeds, self._remote = self._remote[:MAX_TOGETHER], self._remote[MAX_TOGETHER:]
            updates = [work.updates for _, work in feeds]
            try:
                async with self._reading:
                    outcomes = await read_for_viewer(advance_together, updates)
            except Exception as error:
                outcomes = [error] * len(feeds)
            for (feed, _), outcome in zip(feeds, outcomes, strict=True):
                _conclude(feed, outcome)

    async def _read(self, feed: RunFeed, work: Work) -> None:
        try:
            async with self._reading:
                outcome = await read_for_viewer(work.updates.advance, work.stored)
        except Exception as error:
            feed.fail(error)
        else:
            feed.publish(outcome)

    async def _poll(self) -> None:
        known: dict[UUID, object] = {}
        while True:
            await asyncio.sleep(POLL)
            feeds = list(self._feeds.values())
            watched = [pk for pk in {*self._collection_runs.values()} if pk not in local_runs]
            viewers = [*self._collection_runs, *chain(*(feed.viewers for feed in feeds))]
            tokens = {viewer.token for viewer in viewers if viewer.token}
            try:
                if watched or not all(feed.is_local for feed in feeds):
                    await run_in_reader(mark_interrupted)
                changed = await run_in_reader(_changed, {feed.pk: feed.stamp for feed in feeds})
                before, known = known, await run_in_reader(_collection_run_stamps, watched)
                valid = await run_in_reader(_valid, tokens) if tokens else tokens
            except Exception:
                logger.warning("Reading the changes of runs failed", exc_info=True)
                continue
            for viewer in viewers:
                if viewer.token and viewer.token not in valid:
                    viewer.leave()
                    viewer.end(PermissionDenied())
            for feed in feeds:
                if feed.pk in changed:
                    feed.read_again()
            for pk, stamp in known.items():
                if before.get(pk) != stamp:
                    notifier().deliver(collection_run_group(pk))


def _collection_run_stamps(keys: Sequence[UUID]) -> dict[UUID, object]:
    """Return for each collection run a value that changes with it and its steps."""
    if not keys:
        return {}
    states = CollectionRun.objects.filter(pk__in=keys).values_list("pk", "state")
    found: dict[UUID, list[object]] = {pk: [state] for pk, state in states}
    steps = Step.objects.filter(collection_run__in=found).order_by("collection_run", "verdict")
    counted = steps.values_list("collection_run", "verdict").annotate(n=Count("pk"))
    for pk, *verdicts in counted:
        found[pk].append(verdicts)
    return {pk: found.get(pk) for pk in keys}


def _changed(stamps: dict[UUID, tuple[str, int]]) -> set[UUID]:
    """Return the runs that differ from their stamps, and those whose child runs may have changed.

    A run that has ended is watched only while child runs or a promise are in progress. Of the runs
    that it drives, this process is notified, unless another one has ended them.
    """
    if not stamps:
        return set()
    rows = Run.objects.filter(pk__in=stamps).values_list("pk", "state", "frames")
    found = {pk: (state, frames) for pk, state, frames in rows}
    changed = {pk for pk, stamp in stamps.items() if found.get(pk) != stamp}
    changed = {pk for pk in changed if pk not in local_runs or found[pk][0] in _FINAL}
    return changed | {pk for pk, stamp in stamps.items() if stamp[0] in _FINAL}


_FINAL = frozenset(state.value for state in RunState if state.is_final)


def _valid(tokens: set[str]) -> set[str]:
    """Return the tokens of shares that are neither revoked nor expired, and of sessions in use."""
    shares = Share.objects.valid().filter(token__in=tokens).values_list("token", flat=True)
    return {*shares, *(valid_sessions(tokens) if settings.HOSTED else ())}


def _render_all(works: Sequence[Work]) -> list[RunMessage | Exception | None]:
    outcomes: list[RunMessage | Exception | None] = []
    for work in works:
        try:
            outcomes.append(work.updates.advance(work.stored, reads=False))
        except Exception as error:
            outcomes.append(error)
    return outcomes


def _conclude(feed: RunFeed, outcome: RunMessage | Exception | None) -> None:
    if isinstance(outcome, Exception):
        feed.fail(outcome)
    else:
        feed.publish(outcome)


#: Returns the feeds of the running event loop.
run_feeds = PerLoop(RunFeeds)
