"""A run among the runs that belong to it: what stands under each of its entries.

Checks on a promise, actions and answers are runs of their own, shown below the entry they
came of. What stands there is replaced as a whole whenever one of them changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.template.loader import get_template

from playground.models import Run, RunKind, Tracker, TrackerStatus
from playground.rendering.bar import context_of
from playground.rendering.entries import Entry
from playground.rendering.fold import Fold

Place = tuple[int, int]

#: Entries of a child run that its parent's page shows; its own page shows all.
SHOWN = 20
#: How deep answers are shown within answers: a promise can become a card with an action.
DEPTH = 2


@dataclass(frozen=True, slots=True)
class Child:
    """A child run with what its template needs."""

    run: Run
    thread: Thread
    #: The HTML of its first entries.
    cards: Sequence[str]

    @property
    def context(self) -> dict[str, Any]:
        """The figures of its bar."""
        return context_of(self.run)

    @property
    def more(self) -> int:
        """Entries that only its own page shows."""
        return max(0, self.run.entries - len(self.cards))


class Thread:
    """A run and the runs that came of its entries, as they are now. Two queries."""

    def __init__(self, run: Run, depth: int = 0) -> None:
        self.run = run
        self._depth = depth
        self._by_place: Mapping[Place, list[Run]] = _by_place(run)

    @cached_property
    def tracker(self) -> Tracker | None:
        """The promise of the run that is or was followed."""
        found: Tracker | None = (
            Tracker.objects.select_related("answer").filter(run=self.run.pk).first()
        )
        return found

    @property
    def prefix(self) -> str:
        """What tells the ids of its entries from those of the page's own run."""
        return f"r{self.run.pk.hex[:12]}-" if self._depth else ""

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it is under way: no child, and no promise that is followed."""
        tracker = self.tracker
        if tracker and tracker.status == TrackerStatus.FOLLOWING:
            return False
        runs = (run for runs in self._by_place.values() for run in runs)
        return all(run.is_final or run.is_turn for run in runs)

    def anchor(self, place: Place) -> str:
        """The id of the entry at a place."""
        return f"{self.prefix}entry-{place[0]}-{place[1]}"

    def runs_at(self, place: Place, *kinds: str) -> list[Run]:
        """The runs that came of an entry, oldest first."""
        return [run for run in self._by_place.get(place, ()) if not kinds or run.kind in kinds]

    def tracker_at(self, place: Place) -> Tracker | None:
        """The tracker of the promise at a place."""
        tracker = self.tracker
        return tracker if tracker and (tracker.seq, tracker.part) == place else None

    def stamps(self) -> dict[Place, tuple[object, ...]]:
        """For each place where something stands, a value that changes when that does."""
        stamps: dict[Place, tuple[object, ...]] = {
            place: tuple((run.pk, run.state, run.outcome, run.frames) for run in runs)
            for place, runs in self._by_place.items()
        }
        if tracker := self.tracker:
            place = (tracker.seq, tracker.part)
            state = (tracker.status, tracker.checks, tracker.next_at, tracker.patience)
            words = (tracker.cancelling, tracker.note)
            stamps[place] = (*stamps.get(place, ()), state, words)
        return stamps

    def render_children(self, place: Place, *, oob: bool = False) -> str:
        """The HTML of what stands under an entry; with `oob` it replaces what is there.

        Templates: `runs/children.html` and those it includes.
        """
        context = {**self.children_context(place), "oob": oob}
        return get_template("runs/children.html").render(context)

    def children_context(self, place: Place) -> dict[str, Any]:
        """The context of `runs/children.html`."""
        return {
            "thread": self,
            "run": self.run,
            "anchor": self.anchor(place),
            "seq": place[0],
            "part": place[1],
            "tracker": self.tracker_at(place),
            "answer": self._answer_at(place),
            "actions": [self._child(run) for run in self.runs_at(place, RunKind.ACTION)],
            "checks": self.runs_at(place, RunKind.CHECK, RunKind.CANCEL),
            "answers": self.runs_at(place, RunKind.ASK, RunKind.ANSWER),
        }

    def _answer_at(self, place: Place) -> Child | None:
        """What the promise at a place has become."""
        tracker = self.tracker_at(place)
        return self._child(tracker.answer) if tracker and tracker.answer else None

    def _child(self, run: Run) -> Child:
        if self._depth >= DEPTH:
            return Child(run, self, [])
        thread = Thread(run, self._depth + 1)
        entries = Fold(run).follow(run.frames, SHOWN, run.frames)
        shown = [entry for entry in entries if entry.pinned]
        shown += [entry for entry in entries if not entry.pinned]
        return Child(run, thread, render_entries(shown[:SHOWN], thread))


def _by_place(run: Run) -> dict[Place, list[Run]]:
    found: dict[Place, list[Run]] = defaultdict(list)
    for child in run.children.defer("request", "headers").order_by("created_at"):
        if child.cause is not None:
            found[child.cause].append(child)
    return found


def render_entries(entries: Sequence[Entry], thread: Thread) -> list[str]:
    """The HTML of each entry, autoescaped by its template."""
    return [render_entry(entry, thread) for entry in entries]


def render_entry(entry: Entry, thread: Thread) -> str:
    """The HTML of one entry with what stands under it."""
    place = (entry.seq, entry.part)
    context = {**thread.children_context(place), **entry.context()}
    return get_template(f"runs/entries/{entry.template}.html").render(context)
