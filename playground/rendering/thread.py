"""A run among the runs that belong to it: what stands under each of its entries.

Checks on a promise, actions and answers are runs of their own, shown below the entry they
came of. What stands there is replaced as a whole whenever one of them changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from django.template.loader import get_template

from playground.models import PolledPromise, PollingStatus, Run, RunKind
from playground.protocols import registry
from playground.protocols.events import Elicitation
from playground.rendering import action_panel
from playground.rendering.cards import value_text
from playground.rendering.elicitation import elicitation_view
from playground.rendering.entries import Entry
from playground.rendering.events import payload_of
from playground.rendering.linked_turns import LinkedTurn, answer_values
from playground.rendering.pretty import pretty
from playground.rendering.progress import ProgressLine, progress_of
from playground.rendering.promises import promise_view
from playground.rendering.run_status import RunMetrics, run_metrics
from playground.rendering.thread_reader import ThreadReader
from playground.rendering.tool_calls import PendingToolCall, pending_tool_calls, tool_call_context

EntryRef = tuple[int, int]

#: Entries of a child run that its parent's page shows; its own page shows all.
SHOWN = 20
#: How deep answers are shown within answers: a promise becomes a card with an action, whose
#: reply has an action of its own.
DEPTH = 3
#: Actions that are shown under one card, the newest.
MAX_ACTIONS = 10


@dataclass(frozen=True, slots=True)
class ChildRun:
    """A child run with what its template needs."""

    run: Run
    thread: Thread
    #: The HTML of its first entries.
    cards: Sequence[str]
    #: Whether the same action was run again after it.
    is_outdated: bool = False
    #: How far it is while it goes on, as its agent last told; None for no word.
    progress: ProgressLine | None = None

    @property
    def bar(self) -> RunMetrics:
        """Its state and figures in words."""
        return run_metrics(self.run)

    @property
    def label(self) -> str:
        """What an action is called, as on the button that ran it."""
        return action_panel.readable_name(self.run.text) or "Action"

    @property
    def method(self) -> str:
        """The HTTP method of an action, or else what it travels over."""
        request = self.run.request if isinstance(self.run.request, Mapping) else {}
        return value_text(request.get("method") or request.get("protocol"), 20)

    @property
    def answered(self) -> list[tuple[str, str]]:
        """What it answered of a question of the action before it, empty for none."""
        return answer_values(self.run)

    @property
    def more(self) -> int:
        """Entries that only its own page shows."""
        return max(0, self.run.entries - len(self.cards))


class Thread:
    """A run and the runs that came of its entries, as they are now.

    Two queries; none for a run from `RunQuerySet.with_kin` that nothing came of.
    """

    #: Whether it is only shown: nothing to press, and the JSON of its entries at hand.
    readonly = False

    def __init__(
        self, run: Run, depth: int = 0, page: Run | None = None, *, readonly: bool = False
    ) -> None:
        """A thread at some depth of the page of a run; `readonly` shows, and offers nothing."""
        self.run = run
        self.readonly = readonly
        #: The run whose page it is shown on: itself, or one that it came of.
        self.page = page or run
        self._depth = depth
        self._has_kin: bool = getattr(run, "has_kin", True)
        self._by_place: Mapping[EntryRef, list[Run]] = _by_place(run) if self._has_kin else {}

    @cached_property
    def promise(self) -> PolledPromise | None:
        """The promise of the run that is or was followed."""
        if not self._has_kin:
            return None
        found: PolledPromise | None = (
            PolledPromise.objects.select_related("final_run").filter(run=self.run.pk).first()
        )
        return found

    @cached_property
    def waiting(self) -> Sequence[PendingToolCall]:
        """The calls that its reply, which has ended, leaves to its client."""
        return pending_tool_calls(self.run)

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it is under way: no child, and no promise that is followed."""
        tracker = self.promise
        if tracker and (tracker.status == PollingStatus.POLLING or tracker.is_leased):
            return False
        return all(run.is_final for run in self.child_runs)

    @cached_property
    def child_runs(self) -> list[Run]:
        """The checks, cancellations and actions that came of it, at any depth."""
        runs = [run for runs in self._by_place.values() for run in runs if not run.is_turn]
        return [*runs, *(run for below in self._below.values() for run in below)]

    @cached_property
    def _below(self) -> Mapping[UUID, list[Run]]:
        """The actions below each of its children, at any depth that a page shows."""
        found: dict[UUID, list[Run]] = defaultdict(list)
        children = (run for runs in self._by_place.values() for run in runs)
        tops = {run.pk: run.pk for run in children if not run.is_turn}
        level = list(tops)
        while level and self._depth == 0:
            runs = Run.objects.filter(parent__in=level, kind=RunKind.ACTION)
            level = []
            for run in runs.defer("request", "headers").order_by("created_at"):
                top = tops[run.pk] = tops[run.parent_id]
                found[top].append(run)
                level.append(run.pk)
        return found

    def anchor(self, place: EntryRef) -> str:
        """The id of the entry at a place."""
        return anchor_of(self.run, place, self.page)

    def runs_at(self, place: EntryRef, *kinds: str) -> list[Run]:
        """The runs that came of an entry, oldest first."""
        return [run for run in self._by_place.get(place, ()) if not kinds or run.kind in kinds]

    def promise_at(self, place: EntryRef) -> PolledPromise | None:
        """The tracker of the promise at a place."""
        tracker = self.promise
        return tracker if tracker and (tracker.entry_seq, tracker.entry_part) == place else None

    def stamps(self) -> dict[EntryRef, tuple[object, ...]]:
        """For each place where something stands, a value that changes when that does."""
        stamps: dict[EntryRef, tuple[object, ...]] = {
            place: tuple(
                (each.pk, each.state, each.outcome, each.frames)
                for run in runs
                for each in (run, *self._below.get(run.pk, ()))
            )
            for place, runs in self._by_place.items()
        }
        if tracker := self.promise:
            place = (tracker.entry_seq, tracker.entry_part)
            state = (tracker.status, tracker.polls, tracker.next_poll_at, tracker.polling_seconds)
            words = (tracker.cancel_requested, tracker.status_message)
            stamps[place] = (*stamps.get(place, ()), state, words)
        return stamps

    def render_children(self, place: EntryRef) -> str:
        """The HTML of what stands under an entry, which replaces what is there.

        Templates: `runs/children.html` and those it includes.
        """
        context = {**self.children_context(place), "oob": True}
        return get_template("runs/children.html").render(context)

    def children_context(self, place: EntryRef) -> dict[str, Any]:
        """The context of `runs/children.html`."""
        tracker = self.promise_at(place)
        checks = self.runs_at(place, RunKind.POLL, RunKind.CANCEL)
        return {
            "thread": self,
            "readonly": self.readonly,
            "run": self.run,
            "anchor": self.anchor(place),
            "seq": place[0],
            "part": place[1],
            "tracker": tracker,
            "tracking": promise_view(tracker, checks) if tracker else None,
            "answer": self._answer_at(place),
            "actions": self._actions_at(place),
            "answers": self.runs_at(place, RunKind.ASK, RunKind.ANSWER),
            "replies": [LinkedTurn(run) for run in self.runs_at(place, RunKind.CLIENT_RESPONSE)],
        }

    def _answer_at(self, place: EntryRef) -> ChildRun | None:
        """What the promise at a place has become."""
        tracker = self.promise_at(place)
        return self._child(tracker.final_run) if tracker and tracker.final_run else None

    def _actions_at(self, place: EntryRef) -> list[ChildRun]:
        """The actions of a card that were run, oldest first."""
        runs = self.runs_at(place, RunKind.ACTION)[-MAX_ACTIONS:]
        latest = {action_panel.action_key(run): run.pk for run in runs}
        return [
            replace(self._child(run), is_outdated=latest[action_panel.action_key(run)] != run.pk)
            for run in runs
        ]

    def _child(self, run: Run) -> ChildRun:
        if self._depth >= DEPTH:
            return ChildRun(run, self, [])
        thread = Thread(run, self._depth + 1, self.page, readonly=self.readonly)
        fold = ThreadReader(run)
        entries = fold.read_to(run.frames, SHOWN, run.frames)
        shown = [entry for entry in entries if entry.pinned]
        shown += [entry for entry in entries if not entry.pinned]
        progress = None if run.is_final else progress_of(fold.progress)
        return ChildRun(run, thread, render_entries(shown[:SHOWN], thread), progress=progress)


def anchor_of(run: Run, place: EntryRef, page: Run) -> str:
    """The id of the entry at a place of `run` on the page of `page`."""
    prefix = "" if run.pk == page.pk else f"r{run.pk.hex[:12]}-"
    return f"{prefix}entry-{place[0]}-{place[1]}"


def _by_place(run: Run) -> dict[EntryRef, list[Run]]:
    found: dict[EntryRef, list[Run]] = defaultdict(list)
    for child in run.children.defer("request", "headers").order_by("created_at"):
        if child.parent_entry is not None:
            found[child.parent_entry].append(child)
    return found


def render_entries(entries: Sequence[Entry], thread: Thread, *, follow: bool = False) -> list[str]:
    """The HTML of each entry, autoescaped by its template.

    With `follow` a message that may go on asks for itself again: nothing is pushed to it.
    """
    return [render_entry(entry, thread, follow=follow) for entry in entries]


def render_entry(entry: Entry, thread: Thread, *, follow: bool = False) -> str:
    """The HTML of one entry with what stands under it."""
    place = (entry.seq, entry.part)
    context = {**thread.children_context(place), **entry.context(), "follow": follow}
    if context.get("readonly"):
        value = entry.message.document if entry.message else payload_of(entry.event)
        context["raw"] = pretty(value)
    template = entry.template
    if isinstance(entry.event, Elicitation):
        context["asking"] = elicitation_view(entry.event, thread, place)
    if entry.message is not None:
        context |= tool_call_context(entry.message, thread)
    if template == "card":
        context["offers"] = action_panel.action_buttons(context["event"].item)
        if thread.run.protocol == registry.ACTION and action_panel.is_plain_data(
            context["event"].item
        ):
            template, context["json"] = "data", pretty(context["event"].item)
    return get_template(f"runs/entries/{template}.html").render(context)
