"""The websocket of a collection run: see `playground.consumers`."""

from __future__ import annotations

from typing import Any

from playground.consumers import View, Viewer
from playground.models import CollectionRun
from playground.rendering.collection_live import CollectionLive
from playground.rendering.collection_runs import Window, known_from_text

#: Seconds between two messages.
INTERVAL = 0.2


class CollectionRunConsumer(Viewer):
    """One viewer of one page of a collection run's steps."""

    collection_run_nudge = Viewer.nudged

    def find(self, user: Any, **place: Any) -> tuple[str, View] | None:
        """The collection run with the key `pk`; `known` is what of it the page shows."""
        run = CollectionRun.objects.owned_by(user).filter(pk=place["pk"]).first()
        if run is None:
            return None
        window = Window.of({"show": place["show"], "page": str(place["page"])})
        return run.group, CollectionLive(run.pk, window, known_from_text(place["known"]))

    def pause(self, message: Any) -> float | None:
        """The same after each: steps change more often than anybody looks."""
        return INTERVAL
