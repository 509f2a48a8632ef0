"""The websocket of a run: catch up from a cursor, then follow.

Subscribe first, then read, then follow: a frame that is stored between the subscription and
the first read is read, and its nudge merely finds nothing new. Knows models and rendering
only; it can neither start nor stop a run.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import parse_qs

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser

from playground.models import Run
from playground.models.liveness import mark_interrupted
from playground.rendering.live import LiveView
from playground.threads import in_reader

logger = logging.getLogger(__name__)

#: Seconds between two messages of a flood: ten messages a second are as many as anyone sees.
FLOOD_INTERVAL = 0.1
#: A message with more frames than this is part of a flood.
CALM = 10
#: Seconds without a nudge after which the store is read all the same: runs that another
#: process drives (the command line) nudge nobody here.
POLL = 2.0

#: Close codes: the browser's extension connects again after FAILED, and not after the others.
ENDED, FAILED, NOT_FOUND = 1000, 1011, 4404


class RunConsumer(AsyncWebsocketConsumer):
    """One viewer of one run."""

    async def connect(self) -> None:
        """Join the run's group and start to follow; refuse a run that is not the user's."""
        self._dirty = asyncio.Event()
        self._follower: asyncio.Task[None] | None = None
        pk = self.scope["url_route"]["kwargs"]["pk"]
        user = self.scope.get("user") or AnonymousUser()
        run = await in_reader(lambda: Run.objects.owned_by(user).filter(pk=pk).first())
        if run is None:
            # Accepted first: a refused handshake looks like a network fault to the browser,
            # which would try again for ever.
            await self.accept()
            await self.close(NOT_FOUND)
            return
        self._group = run.group
        await self.channel_layer.group_add(self._group, self.channel_name)
        await self.accept()
        view = LiveView(pk, self._number("after"), ended=bool(self._number("final")))
        self._follower = asyncio.create_task(self._follow(view), name=f"viewer-{pk}")

    async def disconnect(self, code: int) -> None:
        """Leave. The run goes on."""
        if self._follower:
            self._follower.cancel()
            await self.channel_layer.group_discard(self._group, self.channel_name)

    async def run_nudge(self, _: dict[str, Any]) -> None:
        """Frames were stored."""
        self._dirty.set()

    def _number(self, name: str) -> int:
        query = parse_qs(self.scope.get("query_string", b"").decode("latin-1"))
        value = query.get(name, ["0"])[0]
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0

    async def _follow(self, view: LiveView) -> None:
        try:
            while True:
                self._dirty.clear()
                message = await in_reader(view.advance)
                if message:
                    if not await self._tell(message.html):
                        return
                    if message.final:
                        await self.close(ENDED)
                        return
                if message and message.more:
                    continue
                if message and message.frames > CALM:
                    await asyncio.sleep(FLOOD_INTERVAL)
                await self._wait()
        except Run.DoesNotExist:
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
            await in_reader(mark_interrupted)
