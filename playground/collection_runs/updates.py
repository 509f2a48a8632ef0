"""Live updates of collection runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.template.loader import get_template

from playground.collection_runs.page import BAD, RunProgress, StepPage, header_context
from playground.models import CollectionRun


@dataclass(frozen=True, slots=True)
class CollectionRunMessage:
    """A websocket message about a collection run."""

    html: str
    #: Whether the run has ended and everything was sent.
    final: bool


class CollectionRunUpdates:
    """Position of one viewer in one collection run. Used from one thread at a time."""

    def __init__(self, pk: UUID, page: StepPage, known: Mapping[int, str]) -> None:
        """Begin with a page of the steps that shows the verdicts `known`, by step number."""
        self.pk = pk
        self._page = page
        self._known = dict(known)
        self._stamp: object = None

    def advance(self) -> CollectionRunMessage | None:
        """Return the message with everything new since the last one; None if nothing is.

        Raises `CollectionRun.DoesNotExist` if the run was deleted.
        """
        # Before its steps: the end must not be announced before what led to it.
        run = CollectionRun.objects.select_related("collection").get(pk=self.pk)
        verdicts = self._page.verdicts(run)
        changed = [n for n, verdict in verdicts.items() if self._known.get(n) != verdict]
        progress = RunProgress.of(run)
        stamp = (run.state, progress.tally)
        if not changed and stamp == self._stamp:
            return None
        rows = self._page.rows(run, changed)
        is_list = self._page.show == BAD
        html = get_template("collection_runs/page.html#message").render(
            {
                **header_context(run, progress),
                "replaced": [row for row in rows if row.number in self._known],
                "added": [row for row in rows if row.number not in self._known] if is_list else [],
            }
        )
        self._known.update({row.number: row.step.verdict for row in rows})
        self._stamp = stamp
        return CollectionRunMessage(html, run.is_final)
