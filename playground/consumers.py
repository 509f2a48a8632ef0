"""The websockets: catch up with what a page shows, then follow.

Subscribe first, then read, then follow: what is stored between the subscription and the first
read is read, and its nudge merely finds nothing new. Knows models and rendering only; it can
neither start nor stop a run.
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
from playground.models import Run
from playground.models.liveness import mark_interrupted
from playground.query_params import int_param
from playground.rendering.live import RunUpdates

logger = logging.getLogger(__name__)

#: Seconds between two messages of a flood: ten messages a second are as many as anyone sees.
FLOOD_INTERVAL = 0.1
#: A message with more frames than this is part of a flood.
FLOOD_FRAMES = 10
#: Seconds without a nudge after which the store is read all the same: runs that another
#: process drives (the command line) nudge nobody here.
POLL = 2.0

#: Close codes: the browser's extension connects again after FAILED, and not after the others.
ENDED, FAILED, NOT_FOUND = 1000, 1011, 4404


class LiveMessage(Protocol):
    """What a viewer is told at once."""

    @property
    def html(self) -> str:
        """Elements that replace, or join, those of the page."""
        ...

    @property
    def final(self) -> bool:
        """Whether nothing will follow."""
        ...


class LiveUpdates(Protocol):
    """What one viewer has seen so far."""

    def advance(self) -> LiveMessage | None:
        """What is new since the last time, None for nothing. Raises where it is gone."""
        ...


class LiveConsumer(AsyncWebsocketConsumer, ABC):
    """One viewer of one thing that goes on. Nudges carry no data: the store has it all."""

    async def connect(self) -> None:
        """Join the group of what is looked at and follow it; refuse what is not the user's."""
        self._dirty = asyncio.Event()
        self._follower: asyncio.Task[None] | None = None
        self._group = ""
        user = self.scope.get("user") or AnonymousUser()
        found = await run_in_reader(
            lambda: self.open_updates(user, **self.scope["url_route"]["kwargs"])
        )
        if found is None:
            # Accepted first: a refused handshake looks like a network fault to the browser,
            # which would try again for ever.
            await self.accept()
            await self.close(NOT_FOUND)
            return
        # First of all: where it fails, nobody is left behind in the group.
        await self.accept()
        self._group, view = found
        await self.channel_layer.group_add(self._group, self.channel_name)
        self._follower = asyncio.create_task(self._follow(view), name=f"viewer-{self._group}")

    @abstractmethod
    def open_updates(self, user: Any, **place: Any) -> tuple[str, LiveUpdates] | None:
        """The group of what is at an address, and a view of it; None where the user has none."""

    def pause(self, message: Any) -> float | None:
        """Seconds to let pass after a message; None where the next one is waiting already."""
        return 0

    async def disconnect(self, code: int) -> None:
        """Leave. What is looked at goes on."""
        if self._follower:
            self._follower.cancel()
        if self._group:
            await self.channel_layer.group_discard(self._group, self.channel_name)

    async def notified(self, _: dict[str, Any]) -> None:
        """Something was stored."""
        self._dirty.set()

    async def _follow(self, view: LiveUpdates) -> None:
        try:
            while True:
                self._dirty.clear()
                message = await run_in_reader(view.advance)
                if message:
                    if not await self._tell(message.html):
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
            logger.exception("a viewer could not be served")
            await self.close(FAILED)

    async def _tell(self, html: str) -> bool:
        """Send; False where the viewer has gone, which is no failure of anybody's."""
        try:
            await self.send(text_data=html)
        except Exception:
            # What the server raises then is its own affair, and differs from server to server.
            logger.debug("a viewer has gone", exc_info=True)
            return False
        return True

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(POLL):
                await self._dirty.wait()
        except TimeoutError:
            # Nobody has said anything for a while: is there anybody left who could?
            await run_in_reader(mark_interrupted)


class RunConsumer(LiveConsumer):
    """One viewer of one run, from the frame after the last one that the page has."""

    run_changed = LiveConsumer.notified

    def open_updates(self, user: Any, **place: Any) -> tuple[str, LiveUpdates] | None:
        """The run with the key `pk`."""
        run = Run.objects.owned_by(user).filter(pk=place["pk"]).first()
        if run is None:
            return None
        query = parse_qs(self.scope.get("query_string", b"").decode("latin-1"))
        fields = {name: values[0] for name, values in query.items()}
        after, ended = int_param(fields, "after", 0), bool(int_param(fields, "final", 0))
        return run.group, RunUpdates(place["pk"], after, ended=ended)

    def pause(self, message: Any) -> float | None:
        """Between the messages of a flood: some time, or none where frames were left over."""
        if message.more:
            return None
        return FLOOD_INTERVAL if message.frames > FLOOD_FRAMES else 0
