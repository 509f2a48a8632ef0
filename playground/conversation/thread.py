"""Thread of a run: its entries as HTML, each with the child runs that belong to it.

Polls, actions and answers are runs of their own, shown below their entry. These children are
replaced as a whole whenever one of them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.template.loader import get_template

from playground.base.credentials import clean_url_template
from playground.conversation.entries import Entry, element_of
from playground.conversation.entry_runs import EntryRuns
from playground.conversation.errors import ErrorCard, error_card
from playground.conversation.status import ProgressLine, RunMetrics, progress_of, run_metrics
from playground.conversation.thread_reader import ThreadReader
from playground.models import Run
from playground.protocols.events import EntryRef
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


class Thread(EntryRuns):
    """A run with the HTML of its child runs as they are now."""

    #: Whether it only shows: no buttons, and with the JSON of its entries.
    readonly = False

    def __init__(
        self, run: Run, depth: int = 0, page: Run | None = None, *, readonly: bool = False
    ) -> None:
        super().__init__(run, depth, page)
        self.readonly = readonly

    def render_children(self, ref: EntryRef) -> str:
        """Return the HTML that replaces the children of an entry.

        Templates: `conversation/response.html#children` and those it includes.
        """
        context = {**self.children_context(ref), "oob": True}
        return get_template("conversation/response.html#children").render(context)

    def children_context(self, ref: EntryRef) -> dict[str, Any]:
        """Return the context of `conversation/response.html#children`."""
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
        entries = reader.read_to(run.frames, SHOWN, run.frames)
        shown = [entry for entry in entries if entry.pinned]
        shown += [entry for entry in entries if not entry.pinned]
        progress = None if run.is_final else progress_of(reader.progress)
        return ChildRun(run, thread, render_entries(shown[:SHOWN], thread), progress=progress)


#: What adds child runs of an entry to the context of `conversation/response.html#children`; filled
#: by `playground.conversation.elements`.
CHILD_RUNS: list[Callable[[Thread, EntryRef], dict[str, Any]]] = []


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
    return get_template(template).render(context)
