"""Thread of a run: its entries as HTML, each with the child runs that belong to it.

Polls, actions and answers are runs of their own, shown below their entry. These children are
replaced as a whole whenever one of them changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.template.loader import get_template

from playground.collections.credentials import clean_url_template
from playground.models import Run, RunKind
from playground.protocols import registry
from playground.protocols.events import Elicitation, EntryRef
from playground.rendering import action_buttons
from playground.rendering.elicitation import elicitation_view
from playground.rendering.entries import Entry
from playground.rendering.entry_runs import EntryRuns
from playground.rendering.error_card import ErrorCard, error_card
from playground.rendering.events import payload_of
from playground.rendering.formatting import label_text, pretty, value_text
from playground.rendering.linked_turns import LinkedTurn, answer_values
from playground.rendering.progress import ProgressLine, progress_of
from playground.rendering.promises import promise_view
from playground.rendering.run_status import RunMetrics, run_metrics
from playground.rendering.thread_reader import ThreadReader
from playground.rendering.tool_calls import tool_call_context

#: Entries of a child run on the page of its parent; its own page shows all.
SHOWN = 20
#: How deep child runs are nested: a promise becomes a card with an action, whose response has an
#: action of its own.
DEPTH = 3
#: Actions below one card, the newest.
MAX_ACTIONS = 10


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
        """Return its error card, None without a problem."""
        return error_card(self.run) if self.run.problem else None

    @property
    def label(self) -> str:
        """Return the label of an action, the same as on its button."""
        return label_text(self.run.text, action_buttons.MAX_LABEL) or "Action"

    @property
    def method(self) -> str:
        """Return the HTTP method of an action, else its protocol."""
        request = self.run.request if isinstance(self.run.request, Mapping) else {}
        return value_text(request.get("method") or request.get("protocol"), 20)

    @property
    def url(self) -> str:
        """Return the URL that it was sent to, on a read-only page without credentials."""
        return clean_url_template(self.run.url) if self.thread.readonly else self.run.url

    @cached_property
    def answered(self) -> list[tuple[str, str]]:
        """Return its answers to a question of the action before it, empty for none."""
        return answer_values(self.run)

    @property
    def more(self) -> int:
        """Return the number of entries that only its own page shows."""
        return max(0, self.run.entries - len(self.cards))


class Thread(EntryRuns):
    """A run with the HTML of its child runs as they are now."""

    #: Whether it only shows: no buttons, and with the JSON of its entries.
    readonly = False

    def __init__(
        self, run: Run, depth: int = 0, page: Run | None = None, *, readonly: bool = False
    ) -> None:
        """Read the child runs of `run`, shown at some depth of the page of another run."""
        super().__init__(run, depth, page)
        self.readonly = readonly

    def render_children(self, ref: EntryRef) -> str:
        """Return the HTML that replaces the children of an entry.

        Templates: `runs/children.html` and those it includes.
        """
        context = {**self.children_context(ref), "oob": True}
        return get_template("runs/children.html").render(context)

    def children_context(self, ref: EntryRef) -> dict[str, Any]:
        """Return the context of `runs/children.html`."""
        promise = self.promise_at(ref)
        polls = self.runs_at(ref, RunKind.POLL, RunKind.CANCEL)
        return {
            "thread": self,
            "readonly": self.readonly,
            "run": self.run,
            "anchor": self.anchor(ref),
            "seq": ref[0],
            "part": ref[1],
            "promise": promise,
            "promise_view": promise_view(promise, polls) if promise else None,
            "answer": self._final_run_at(ref),
            "actions": self._actions_at(ref),
            "answers": self.runs_at(ref, RunKind.ASK, RunKind.ANSWER),
            "client_responses": [
                LinkedTurn(run) for run in self.runs_at(ref, RunKind.CLIENT_RESPONSE)
            ],
        }

    def _final_run_at(self, ref: EntryRef) -> ChildRun | None:
        """Return the run with the final response of an entry's promise."""
        promise = self.promise_at(ref)
        return self._child(promise.final_run) if promise and promise.final_run else None

    def _actions_at(self, ref: EntryRef) -> list[ChildRun]:
        """Return the actions of a card that were run, oldest first."""
        runs = self.runs_at(ref, RunKind.ACTION)[-MAX_ACTIONS:]
        latest = {action_buttons.action_key(run): run.pk for run in runs}
        return [
            replace(self._child(run), is_outdated=latest[action_buttons.action_key(run)] != run.pk)
            for run in runs
        ]

    def _child(self, run: Run) -> ChildRun:
        if self._depth >= DEPTH:
            return ChildRun(run, self, [])
        thread = Thread(run, self._depth + 1, self.page, readonly=self.readonly)
        reader = ThreadReader(run)
        entries = reader.read_to(run.frames, SHOWN, run.frames)
        shown = [entry for entry in entries if entry.pinned]
        shown += [entry for entry in entries if not entry.pinned]
        progress = None if run.is_final else progress_of(reader.progress)
        return ChildRun(run, thread, render_entries(shown[:SHOWN], thread), progress=progress)


def render_entries(entries: Sequence[Entry], thread: Thread, *, follow: bool = False) -> list[str]:
    """Return the HTML of each entry, autoescaped by its template.

    With `follow` an unfinished message fetches itself again, because no update is pushed to it.
    """
    return [render_entry(entry, thread, follow=follow) for entry in entries]


def render_entry(entry: Entry, thread: Thread, *, follow: bool = False) -> str:
    """Return the HTML of one entry with its children."""
    ref = (entry.seq, entry.part)
    context = {**thread.children_context(ref), **entry.context(), "follow": follow}
    if context.get("readonly"):
        value = entry.message.document if entry.message else payload_of(entry.event)
        context["raw"] = pretty(value)
    template = entry.template
    if isinstance(entry.event, Elicitation):
        context["elicitation"] = elicitation_view(entry.event, thread, ref)
    if entry.message is not None:
        context |= tool_call_context(entry.message, thread)
    if template == "card":
        item = context["event"].item
        context["action_buttons"] = action_buttons.action_buttons(item)
        if thread.run.protocol == registry.ACTION and action_buttons.is_plain_data(item):
            template, context["json"] = "data", pretty(item)
    return get_template(f"runs/entries/{template}.html").render(context)
