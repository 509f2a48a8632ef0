"""Thread of a run: its entries as HTML, each with the child runs that belong to it.

Polls, actions and answers are runs of their own, shown below their entry. These children are
replaced as a whole whenever one of them changes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from playground.base.credentials import clean_url_template
from playground.conversation.entries import Entry, element_of
from playground.conversation.errors import ErrorCard, error_card
from playground.conversation.status import ProgressLine, RunMetrics, progress_of, run_metrics
from playground.conversation.thread_reader import ThreadReader
from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind, RunState
from playground.protocols.events import EntryRef, ToolCall
from playground.ui import compiled
from playground.ui.formatting import label_text, pretty, value_text

#: Entries of a child run on the page of its parent; its own page shows all.
SHOWN = 20
#: Characters of the label of an action.
MAX_LABEL = 70
#: How deep child runs are nested: a promise becomes a card with an action, whose response has an
#: action of its own.
DEPTH = 3


@dataclass(frozen=True)
class ChildRun:
    """A child run as its template shows it."""

    run: Run
    thread: Thread
    #: HTML of its first entries.
    cards: Sequence[str]
    #: Whether the same action was run again later.
    is_outdated: bool = False
    #: Latest progress while it is in progress; None if the agent sent none.
    progress: ProgressLine | None = None

    @property
    def bar(self) -> RunMetrics:
        """Return its status label and figures."""
        return run_metrics(self.run)

    @property
    def error(self) -> ErrorCard | None:
        return error_card(self.run) if self.run.problem else None

    @property
    def label(self) -> str:
        return label_text(self.run.text, MAX_LABEL) or "Action"

    @property
    def method(self) -> str:
        """Return the HTTP method of an action, else its protocol."""
        request = self.run.request if isinstance(self.run.request, Mapping) else {}
        return value_text(request.get("method") or request.get("protocol"), 20)

    @property
    def url(self) -> str:
        """Return the URL that it was sent to, on a read-only page without credentials."""
        return clean_url_template(self.run.url) if self.thread.readonly else self.run.url

    @property
    def more(self) -> int:
        """Return the number of entries that only its own page shows."""
        return max(0, self.run.entries - len(self.cards))


class Thread:
    """A run with its child runs as they are now, and the HTML of these.

    Takes two queries; none for a run from `RunQuerySet.with_related` without child runs.
    """

    def __init__(
        self, run: Run, depth: int = 0, page: Run | None = None, *, readonly: bool = False
    ) -> None:
        """Read the child runs of `run`, shown at some depth of the page of another run."""
        self.run = run
        #: Whether it only shows: no buttons, and with the JSON of its entries.
        self.readonly = readonly
        #: The run on whose page it is shown: itself or an ancestor.
        self.page = page or run
        self._depth = depth
        self._has_related: bool = getattr(run, "has_related", True)
        self._by_entry: Mapping[EntryRef, list[Run]] = _by_entry(run) if self._has_related else {}

    @cached_property
    def promise(self) -> PolledPromise | None:
        if not self._has_related:
            return None
        promise: PolledPromise | None = (
            PolledPromise.objects.select_related("final_run").filter(run=self.run.pk).first()
        )
        return promise

    @cached_property
    def waiting(self) -> Sequence[PendingToolCall]:
        """Return the tool calls that its complete response leaves to the client."""
        return pending_tool_calls(self.run)

    @property
    def is_settled(self) -> bool:
        """Return whether no child run is in progress and no promise is polled."""
        promise = self.promise
        if promise and (promise.status == PollingStatus.POLLING or promise.is_leased):
            return False
        return all(run.is_final for run in self.child_runs)

    @cached_property
    def child_runs(self) -> list[Run]:
        """Return its polls, cancellations and actions, at any depth."""
        runs = [run for runs in self._by_entry.values() for run in runs if not run.is_turn]
        return [*runs, *(run for nested in self._nested_actions.values() for run in nested)]

    @cached_property
    def _nested_actions(self) -> Mapping[UUID, list[Run]]:
        """Return the actions below each child run, at any depth that a page shows."""
        found: dict[UUID, list[Run]] = defaultdict(list)
        children = (run for runs in self._by_entry.values() for run in runs)
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

    def anchor(self, ref: EntryRef) -> str:
        return anchor_of(self.run, ref, self.page)

    def runs_at(self, ref: EntryRef, *kinds: str) -> list[Run]:
        """Return the child runs of an entry, oldest first; with `kinds` only of these kinds."""
        return [run for run in self._by_entry.get(ref, ()) if not kinds or run.kind in kinds]

    def stamps(self) -> dict[EntryRef, tuple[object, ...]]:
        """Return for each entry with child runs a value that changes whenever these do."""
        stamps: dict[EntryRef, tuple[object, ...]] = {
            ref: tuple(
                (each.pk, each.state, each.outcome, each.frames)
                for run in runs
                for each in (run, *self._nested_actions.get(run.pk, ()))
            )
            for ref, runs in self._by_entry.items()
        }
        if promise := self.promise:
            ref = (promise.entry_seq, promise.entry_part)
            state = (promise.status, promise.polls, promise.next_poll_at, promise.polling_seconds)
            message = (promise.cancel_requested, promise.status_message)
            stamps[ref] = (*stamps.get(ref, ()), state, message)
        return stamps

    def render_children(self, ref: EntryRef) -> str:
        """Return the HTML that replaces the children of an entry.

        Templates: `conversation/response.html#children` and those it includes.
        """
        context = {**self.children_context(ref), "oob": True}
        return compiled.render("conversation/response.html#children", context)

    def children_context(self, ref: EntryRef) -> dict[str, Any]:
        """Return the context of `conversation/response.html#children`."""
        from playground.conversation.elements import CHILD_RUNS  # Its modules import this one.

        context = {
            "thread": self,
            "readonly": self.readonly,
            "run": self.run,
            "anchor": self.anchor(ref),
            "seq": ref[0],
            "part": ref[1],
        }
        for child_runs in CHILD_RUNS:
            context |= child_runs(self, ref)
        return context

    def child(self, run: Run) -> ChildRun:
        if self._depth >= DEPTH:
            return ChildRun(run, self, [])
        thread = Thread(run, self._depth + 1, self.page, readonly=self.readonly)
        reader = ThreadReader(run)
        entries = reader.read_to(run.frames, SHOWN)
        shown = [entry for entry in entries if entry.pinned]
        shown += [entry for entry in entries if not entry.pinned]
        progress = None if run.is_final else progress_of(reader.progress)
        return ChildRun(run, thread, render_entries(shown[:SHOWN], thread), progress=progress)


def anchor_of(run: Run, ref: EntryRef, page: Run) -> str:
    prefix = "" if run.pk == page.pk else f"r{run.pk.hex[:12]}-"
    return f"{prefix}entry-{ref[0]}-{ref[1]}"


def _by_entry(run: Run) -> dict[EntryRef, list[Run]]:
    found: dict[EntryRef, list[Run]] = defaultdict(list)
    for child in run.children.defer("request", "headers").order_by("created_at"):
        if child.parent_entry is not None:
            found[child.parent_entry].append(child)
    return found


@dataclass(frozen=True, slots=True)
class PendingToolCall:
    """A tool call without an output."""

    entry_ref: EntryRef
    event: ToolCall
    #: Name among the pending calls of the response, unique.
    label: str


@dataclass(frozen=True)
class Question:
    """What an agent asks at an entry of a run, for later turns to answer."""

    thread: Thread
    entry_ref: EntryRef

    @property
    def run(self) -> Run:
        return self.thread.run

    @property
    def agent(self) -> Agent | None:
        """Return the agent; None if it was deleted, and then no answer can be sent."""
        return self.run.target_agent

    @property
    def anchor(self) -> str:
        return self.thread.anchor(self.entry_ref)

    @property
    def key(self) -> str:
        """Return its entry as one word, unique in its run."""
        return f"{self.entry_ref[0]}-{self.entry_ref[1]}"

    @property
    def answers(self) -> list[Run]:
        """Return the turns that answered, oldest first."""
        return self.thread.runs_at(self.entry_ref, RunKind.ASK, RunKind.ANSWER)


def pending_tool_calls(run: Run) -> Sequence[PendingToolCall]:
    """Return the pending tool calls of a run, in order; reads all of its frames.

    Empty unless the response is complete: a missing output may have been on its way.
    """
    if run.state != RunState.COMPLETED or not run.is_turn:
        return ()
    pending: list[PendingToolCall] = []
    labels: set[str] = set()
    counts: Counter[str] = Counter()
    reader = ThreadReader(run)
    reader.read_all()
    for joined in reader.messages:
        if (call := joined.pending_call) and joined.number is not None:
            label = name = call.name or call.call_id or "call"
            while label in labels:
                counts[name] += 1
                label = f"{name} ({counts[name] + 1})"
            labels.add(label)
            pending.append(PendingToolCall(joined.ref, call, label))
    return pending


def render_entries(entries: Sequence[Entry], thread: Thread, *, follow: bool = False) -> list[str]:
    """Return the HTML of each entry, autoescaped by its template.

    With `follow` an unfinished message fetches itself again, because no update is pushed to it.
    """
    return [render_entry(entry, thread, follow=follow) for entry in entries]


def render_entry(entry: Entry, thread: Thread, *, follow: bool = False) -> str:
    element = element_of(entry.event)
    assert element.show is not None
    template, own = element.show(entry, thread)
    context = {
        **thread.children_context(entry.ref),
        "entry": entry,
        "event": entry.event,
        "follow": follow,
        **own,
    }
    if thread.readonly:
        value = entry.message.document if entry.message else element.payload(entry.event)
        context["raw"] = pretty(value)
    return compiled.render(template, context)


def render_started(request: HttpRequest, page: Run, ref: EntryRef) -> HttpResponse:
    """Show the child runs of an entry after one was started, and open the page's websocket."""
    context = {"children": Thread(page).render_children(ref), "run": page, "live": True}
    return render(request, "conversation/response.html#started", context)
