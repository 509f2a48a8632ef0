"""What a viewer of a collection run has not been told yet, as HTML to be swapped in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.template.loader import get_template

from playground.models import CollectionRun
from playground.rendering.collection_runs import BAD, RunProgress, StepPage, header_context


@dataclass(frozen=True, slots=True)
class CollectionRunMessage:
    """One websocket message."""

    html: str
    #: Whether the run has ended and everything was said.
    final: bool


class CollectionRunUpdates:
    """One viewer's place in one collection run. Used from one thread at a time."""

    def __init__(self, pk: UUID, window: StepPage, known: Mapping[int, str]) -> None:
        """A viewer of a part of the steps, whose page shows the verdicts in `known`."""
        self._pk = pk
        self._window = window
        self._known = dict(known)
        self._stamp: object = None

    def advance(self) -> CollectionRunMessage | None:
        """What is new since the last message; None when nothing is.

        Raises `CollectionRun.DoesNotExist` when the run was deleted.
        """
        # Before its steps: an end must not be announced before what led to it.
        run = CollectionRun.objects.select_related("collection").get(pk=self._pk)
        verdicts = self._window.verdicts(run)
        changed = [n for n, verdict in verdicts.items() if self._known.get(n) != verdict]
        standing = RunProgress.of(run)
        stamp = (run.state, standing.tally)
        if not changed and stamp == self._stamp:
            return None
        rows = self._window.rows(run, changed)
        is_list = self._window.show == BAD
        html = get_template("collection_runs/message.html").render(
            {
                **header_context(run, standing),
                "replaced": [row for row in rows if row.number in self._known],
                "added": [row for row in rows if row.number not in self._known] if is_list else [],
            }
        )
        self._known.update({row.number: row.step.verdict for row in rows})
        self._stamp = stamp
        return CollectionRunMessage(html, run.is_final)
