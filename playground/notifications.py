"""Notifications that something of a run or collection run was stored.

Every record is a group. A subscriber in this process is called at once, with what was stored where
the caller has it. Other processes are sent the name of the group through the channel layer, and
read the database. A process joins a group once, however many viewers it has: large groups are slow
and lose messages. A notification that is lost loses nothing, because the database has everything.

Everything here must be called on the event loop's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer

from playground.base.jobs import PerLoop, log_errors, start_task
from playground.models import CollectionRun, Run
from playground.models.frames import Flush

logger = logging.getLogger(__name__)

#: Seconds until the channel layer is read again after an error.
RETRY = 1.0
#: Seconds after which sending one notification is given up.
SEND_TIMEOUT = 2.0

#: Called with what was stored; with None the database has to be read.
Subscriber = Callable[[Flush | None], None]


class Notifier:
    """The subscribers of one event loop, and its membership in groups of the channel layer."""

    def __init__(self) -> None:
        self._subscribers: dict[str, list[Subscriber]] = {}
        layer = get_channel_layer()
        # No other process can be reached through memory.
        self._layer: Any = None if isinstance(layer, InMemoryChannelLayer) else layer
        self._channel = ""
        #: Groups of the channel layer that this process has joined.
        self._joined: set[str] = set()
        self._membership = asyncio.Lock()
        self._receiver: asyncio.Task[None] | None = None
        #: Groups of which other processes are still to be notified, in order.
        self._outgoing: dict[str, None] = {}
        #: Notifications that were queued, and sent, since the start.
        self._queued = self._sent = 0
        #: Callers of `flush`, with the number of notifications that they wait for.
        self._flushing: list[tuple[int, asyncio.Future[None]]] = []
        self._sender: asyncio.Task[None] | None = None

    async def subscribe(self, group: str, subscriber: Subscriber) -> None:
        """Call `subscriber` at every notification; return when no later one can be missed.

        Errors of the channel layer are logged only: feeds of runs of other processes compare
        themselves with the database every few seconds.
        """
        self._subscribers.setdefault(group, []).append(subscriber)
        await self._update_membership()

    def unsubscribe(self, group: str, subscriber: Subscriber) -> None:
        left = self._subscribers.get(group, [])
        with contextlib.suppress(ValueError):
            left.remove(subscriber)
        if not left:
            self._subscribers.pop(group, None)
            if self._layer:
                start_task(self._update_membership(), "notifications-membership")

    def has_subscribers(self, group: str) -> bool:
        return group in self._subscribers

    def notify(self, groups: Sequence[str], stored: Flush | None = None) -> None:
        """Notify the subscribers of these groups; `stored` is for those of the first one."""
        for group in groups:
            self.deliver(group, stored)
            stored = None
        if self._layer:
            before = len(self._outgoing)
            self._outgoing.update(dict.fromkeys(groups))
            self._queued += len(self._outgoing) - before
            if self._sender is None or self._sender.done():
                self._sender = start_task(self._send(), "notifications-sender")

    async def flush(self) -> None:
        """Wait until other processes are notified of everything before this call."""
        if self._sent < self._queued:
            sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._flushing.append((self._queued, sent))
            await sent

    def deliver(self, group: str, stored: Flush | None = None) -> None:
        """Notify the subscribers of this process only."""
        for subscriber in tuple(self._subscribers.get(group, ())):
            # An error in one must not keep the others waiting.
            with log_errors(f"Handling a notification of {group}"):
                subscriber(stored)

    async def _send(self) -> None:
        while self._outgoing:
            group = next(iter(self._outgoing))
            del self._outgoing[group]
            with log_errors(f"Notifying other processes of {group}"):
                message = {"type": "stored", "group": group, "sender": self._channel}
                async with asyncio.timeout(SEND_TIMEOUT):
                    await self._layer.group_send(group, message)
            self._sent += 1
            while self._flushing and self._flushing[0][0] <= self._sent:
                _, waiting = self._flushing.pop(0)
                if not waiting.done():
                    waiting.set_result(None)

    async def _update_membership(self) -> None:
        if not self._layer:
            return
        # One at a time: groups that were left while they were joined are left after that.
        async with self._membership:
            with log_errors("Joining a group of the channel layer"):
                self._channel = self._channel or await self._layer.new_channel()
                while missing := self._subscribers.keys() - self._joined:
                    group = missing.pop()
                    await self._layer.group_add(group, self._channel)
                    self._joined.add(group)
                while left := self._joined - self._subscribers.keys():
                    group = left.pop()
                    self._joined.discard(group)
                    await self._layer.group_discard(group, self._channel)
            if not self._joined and self._receiver:
                self._receiver.cancel()
                self._receiver = None
                self._channel = ""
            elif self._joined and (self._receiver is None or self._receiver.done()):
                self._receiver = start_task(self._receive(), "notifications-receiver")

    async def _receive(self) -> None:
        while True:
            try:
                message = await self._layer.receive(self._channel)
            except Exception:
                logger.warning("Receiving notifications failed", exc_info=True)
                await asyncio.sleep(RETRY)
                continue
            # Another version of the playground may send other messages.
            if message.get("sender") != self._channel and "group" in message:
                self.deliver(message["group"])


#: Returns the notifier of the running event loop.
notifier = PerLoop(Notifier)


async def notify_viewers(record: Run | CollectionRun) -> None:
    """Notify the viewers of a record that it has changed, those of other processes included."""
    notifier().notify(record.viewer_groups)
    await notifier().flush()
