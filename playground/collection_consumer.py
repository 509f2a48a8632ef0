"""The websocket of a collection run: see `playground.consumers`."""

from __future__ import annotations

from typing import Any

from playground.consumers import LiveConsumer, LiveUpdates
from playground.models import CollectionRun
from playground.rendering.collection_live import CollectionRunUpdates
from playground.rendering.collection_runs import StepPage, decode_verdicts

#: Seconds between two messages.
INTERVAL = 0.2


class CollectionRunConsumer(LiveConsumer):
    """One viewer of one page of a collection run's steps."""

    collection_run_changed = LiveConsumer.notified

    def open_updates(self, user: Any, **place: Any) -> tuple[str, LiveUpdates] | None:
        """The collection run with the key `pk`; `known` is what of it the page shows."""
        run = CollectionRun.objects.owned_by(user).filter(pk=place["pk"]).first()
        if run is None:
            return None
        window = StepPage.of({"show": place["show"], "page": str(place["page"])})
        return run.group, CollectionRunUpdates(run.pk, window, decode_verdicts(place["known"]))

    def pause(self, message: Any) -> float | None:
        """The same after each: steps change more often than anybody looks."""
        return INTERVAL
