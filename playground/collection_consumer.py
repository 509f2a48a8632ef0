"""The websocket of a collection run: catch up with what the page shows, then follow.

As that of a run: subscribe, read, follow. Nudges carry no data. Knows models and rendering
only; it can neither start nor stop anything.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser

from playground.consumers import ENDED, FAILED, NOT_FOUND, POLL
from playground.models import CollectionRun
from playground.models.liveness import mark_interrupted
from playground.rendering.collection_live import CollectionLive
from playground.rendering.collection_runs import Window, known_from_text
from playground.threads import in_reader

logger = logging.getLogger(__name__)

#: Seconds between two messages.
INTERVAL = 0.2


class CollectionRunConsumer(AsyncWebsocketConsumer):
    """One viewer of one collection run."""

    async def connect(self) -> None:
        """Join the run's group and start to follow; refuse a run that is not the user's."""
        self._dirty = asyncio.Event()
        self._follower: asyncio.Task[None] | None = None
        place = self.scope["url_route"]["kwargs"]
        user = self.scope.get("user") or AnonymousUser()
        mine = CollectionRun.objects.owned_by(user).filter(pk=place["pk"])
        run = await in_reader(mine.first)
        if run is None:
            # Accepted first: see `RunConsumer`.
            await self.accept()
            await self.close(NOT_FOUND)
            return
        self._group = run.group
        await self.channel_layer.group_add(self._group, self.channel_name)
        await self.accept()
        window = Window.of({"show": place["show"], "page": str(place["page"])})
        view = CollectionLive(run.pk, window, known_from_text(place["known"]))
        self._follower = asyncio.create_task(self._follow(view), name=f"viewer-{run.pk}")

    async def disconnect(self, code: int) -> None:
        """Leave. The run goes on."""
        if self._follower:
            self._follower.cancel()
            await self.channel_layer.group_discard(self._group, self.channel_name)

    async def collection_run_nudge(self, _: dict[str, Any]) -> None:
        """Steps were stored."""
        self._dirty.set()

    async def _follow(self, view: CollectionLive) -> None:
        try:
            while True:
                self._dirty.clear()
                message = await in_reader(view.advance)
                if message:
                    await self.send(text_data=message.html)
                    if message.final:
                        await self.close(ENDED)
                        return
                    await asyncio.sleep(INTERVAL)
                await self._wait()
        except CollectionRun.DoesNotExist:
            await self.close(ENDED)
        except Exception:
            logger.exception("a viewer of a collection run could not be served")
            await self.close(FAILED)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(POLL):
                await self._dirty.wait()
        except TimeoutError:
            # Nobody has said anything for a while: is there anybody left who could?
            await in_reader(mark_interrupted)
