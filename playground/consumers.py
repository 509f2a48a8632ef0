"""WebSocket consumers of runs and collection runs: catch up with a page, then follow.

A consumer subscribes first, then reads, then follows: what is stored between the subscription and
the first read is read, and its notification finds nothing new. Consumers import models and
rendering only; they can neither start nor stop a run.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from typing import Any, Protocol
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ObjectDoesNotExist

from playground.executors import run_in_reader
from playground.models import CollectionRun, Run
from playground.models.liveness import mark_interrupted
from playground.models.runs import group_of
from playground.query_params import int_param
from playground.rendering.collection_runs import StepPage, decode_verdicts
from playground.rendering.live import CollectionRunUpdates, RunUpdates

logger = logging.getLogger(__name__)

#: Seconds between two messages of a flood: nobody can read more than ten messages a second.
FLOOD_INTERVAL = 0.1
#: A message with more frames than this is part of a flood.
FLOOD_FRAMES = 10
#: Seconds between two messages of a collection run.
COLLECTION_RUN_INTERVAL = 0.2
#: Seconds without a notification after which the database is read all the same: another process
#: that drives a run (the command line) sends no notifications to this one.
POLL = 2.0

#: Close codes: the browser's extension connects again after FAILED, and not after the others.
ENDED, FAILED, NOT_FOUND = 1000, 1011, 4404


#: Groups of the channel layer, the first one that of the record itself.
Groups = tuple[str, ...]


class LiveMessage(Protocol):
    """One message to a viewer."""

    @property
    def html(self) -> str:
        """Elements that replace, or join, those of the page."""
        ...

    @property
    def final(self) -> bool:
        """Return whether this is the last message."""
        ...


class LiveUpdates(Protocol):
    """The position of one viewer in a run or collection run."""

    def advance(self) -> LiveMessage | None:
        """Return the changes since the last call, None without any.

        Raises `ObjectDoesNotExist` once the record was deleted.
        """
        ...


class LiveConsumer(AsyncWebsocketConsumer, ABC):
    """One viewer of one record that changes. Notifications carry no data: the database has it."""

    async def connect(self) -> None:
        """Join the groups of the record and follow it; close where the user has no such record."""
        self._changed = asyncio.Event()
        self._follower: asyncio.Task[None] | None = None
        self._groups: Groups = ()
        user = self.scope.get("user") or AnonymousUser()
        opened = await run_in_reader(
            lambda: self.open_updates(user, **self.scope["url_route"]["kwargs"])
        )
        if opened is None:
            # Accepted first: the browser takes a refused handshake for a network error and
            # would try again without end.
            await self.accept()
            await self.close(NOT_FOUND)
            return
        # Accepted before the groups are joined: where it fails, no channel stays in a group.
        await self.accept()
        self._groups, updates = opened
        for group in self._groups:
            await self.channel_layer.group_add(group, self.channel_name)
        self._follower = asyncio.create_task(
            self._follow(updates), name=f"viewer-{self._groups[0]}"
        )

    @abstractmethod
    def open_updates(self, user: Any, **kwargs: Any) -> tuple[Groups, LiveUpdates] | None:
        """Return the groups and the updates of the record that the URL's `kwargs` name.

        None where the user has no such record.
        """

    def pause(self, message: Any) -> float | None:
        """Return the seconds to wait after a message; None if the next one is already due."""
        return 0

    async def disconnect(self, code: int) -> None:
        """Leave the groups and stop following; the run itself continues."""
        if self._follower:
            self._follower.cancel()
        for group in self._groups:
            await self.channel_layer.group_discard(group, self.channel_name)

    async def notified(self, _: dict[str, Any]) -> None:
        """Handle a notification that something was stored."""
        self._changed.set()

    async def _follow(self, updates: LiveUpdates) -> None:
        try:
            while True:
                self._changed.clear()
                message = await run_in_reader(updates.advance)
                if message:
                    if not await self._send_html(message.html):
                        return
                    if message.final:
                        await self.close(ENDED)
                        return
                    pause = self.pause(message)
                    if pause is None:
                        continue
                    await asyncio.sleep(pause)
                await self._wait()
        except ObjectDoesNotExist:
            await self.close(ENDED)
        except Exception:
            logger.exception("Sending updates of %s to a viewer failed", self._groups[0])
            await self.close(FAILED)

    async def _send_html(self, html: str) -> bool:
        """Send HTML; return False where the viewer has disconnected, which is no error."""
        try:
            await self.send(text_data=html)
        except Exception:
            # The exception differs from server to server.
            logger.debug("Viewer of %s has disconnected", self._groups[0], exc_info=True)
            return False
        return True

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(POLL):
                await self._changed.wait()
        except TimeoutError:
            # No notification for a while: the process that drives the run may have died.
            await run_in_reader(mark_interrupted)


class RunConsumer(LiveConsumer):
    """One viewer of one run, from the frame after the last one that the page has."""

    run_changed = LiveConsumer.notified

    def open_updates(self, user: Any, **kwargs: Any) -> tuple[Groups, LiveUpdates] | None:
        """Return the updates of the run with the key `pk`, from the frame `?after=`."""
        run = Run.objects.owned_by(user).filter(pk=kwargs["pk"]).first()
        if run is None:
            return None
        query = parse_qs(self.scope.get("query_string", b"").decode("latin-1"))
        fields = {name: values[0] for name, values in query.items()}
        after, ended = int_param(fields, "after", 0), bool(int_param(fields, "final", 0))
        updates = RunUpdates(kwargs["pk"], after, ended=ended)
        updates.watch_other_turns(run)
        groups = (run.group, *(group_of(pk) for pk in updates.other_turns))
        return groups, updates

    def pause(self, message: Any) -> float | None:
        """Return a short pause during a flood, None where frames are left over."""
        if message.more:
            return None
        return FLOOD_INTERVAL if message.frames > FLOOD_FRAMES else 0


class CollectionRunConsumer(LiveConsumer):
    """One viewer of one page of a collection run's steps."""

    collection_run_changed = LiveConsumer.notified

    def open_updates(self, user: Any, **kwargs: Any) -> tuple[Groups, LiveUpdates] | None:
        """Return the updates of the collection run `pk`; `known` is what the page shows of it."""
        run = CollectionRun.objects.owned_by(user).filter(pk=kwargs["pk"]).first()
        if run is None:
            return None
        page = StepPage.of({"show": kwargs["show"], "page": str(kwargs["page"])})
        return (run.group,), CollectionRunUpdates(run.pk, page, decode_verdicts(kwargs["known"]))

    def pause(self, message: Any) -> float | None:
        """Return the same pause after every message: steps change faster than anybody reads."""
        return COLLECTION_RUN_INTERVAL
