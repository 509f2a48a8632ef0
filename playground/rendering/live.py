"""What a viewer has not seen yet, as one websocket message.

A message carries the figures of the bar, the cards of the window that are new, and the
numbers of the frames that it announces. It never carries a whole flood: beyond the window the
page is told how many entries there are and fetches more as its reader scrolls.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.template.loader import get_template

from playground.models import Run
from playground.protocols.events import Elicitation
from playground.rendering.branches import conversation_branch
from playground.rendering.elicitation import elicitation_view
from playground.rendering.entries import Entry
from playground.rendering.message_updates import MessageUpdates
from playground.rendering.progress import progress_of
from playground.rendering.run_status import status_context
from playground.rendering.speech import usage_rows
from playground.rendering.thread import EntryRef, Thread, render_entries
from playground.rendering.thread_reader import ThreadReader

#: Entries that are pushed to a page; the rest it fetches.
WINDOW = 60
#: Frames read for one message, so that a long catch-up does not hold a thread for seconds.
MAX_FRAMES_PER_MESSAGE = 2_000


@dataclass(frozen=True, slots=True)
class RunMessage:
    """One websocket message and what the consumer has to know about it."""

    html: str
    #: Frames that it announces.
    frames: int
    #: Whether the run and all that came of it have ended and everything was said.
    final: bool
    #: Whether the store holds more than fitted into this message.
    more: bool


class RunUpdates:
    """One viewer's place in one run. Used from one thread at a time."""

    def __init__(self, pk: UUID, after: int, *, ended: bool = False) -> None:
        """A viewer who has seen the frames up to `after`, and perhaps the run's end."""
        self._pk = pk
        self._after = after
        self._fold: ThreadReader | None = None
        self._stamp: tuple[object, ...] = ()
        self._children: dict[EntryRef, tuple[object, ...]] = {}
        self._updates = MessageUpdates(WINDOW)
        #: The questions on the page: an answer may have to come while the call goes on.
        self._asked: list[Entry] = []
        self._ended = ended

    def advance(self) -> RunMessage | None:
        """What is new since the last message; None when nothing is.

        Raises `Run.DoesNotExist` when the run was deleted.
        """
        # The run is read before its frames: a final state must not be announced before the
        # frames that led to it, and frames stored in between come with the next message.
        # What the user composed can be large, and no message shows it.
        runs = Run.objects.with_related().defer("request", "headers", "session_context")
        run = runs.get(pk=self._pk)
        thread = Thread(run)
        if self._fold is None:
            self._fold = self._catch_up(run)
        fold = self._fold
        first = fold.cursor + 1
        before = fold.entries
        added = fold.read_to(run.frames, WINDOW, MAX_FRAMES_PER_MESSAGE)
        self._note_questions(added)
        more = fold.cursor < run.frames
        ended = run.is_final and not more
        settled = ended and thread.is_settled
        stamp = (run.state, run.outcome, run.frames, run.results, run.events, settled)
        changed = self._changed(thread, fold.cursor)
        if first > fold.cursor and stamp == self._stamp and not changed:
            return None
        self._stamp = stamp
        # A state that frames yet to come have led to is not announced before them.
        shown = run if not more else replace_state(run)
        html = get_template("runs/message.html").render(
            {
                **status_context(shown),
                "progress": None if shown.is_final else progress_of(fold.progress),
                "first": first,
                "last": fold.cursor,
                "entries": fold.entries,
                "cards": render_entries(window(added, before), thread),
                "summaries": render_entries([entry for entry in added if entry.pinned], thread),
                # What the next request carries comes with the end, and with what came later.
                "branch": conversation_branch(run) if run.is_final and (ended or changed) else None,
                "updates": self._said(fold, thread, ended and not self._ended),
                "usage": usage_rows(fold.messages.usage),
                "children": [thread.render_children(place) for place in changed],
                "final": ended,
                "settled": settled,
                # Said once: what follows may have the focus of somebody who reads it.
                "ended": ended and not self._ended,
            }
        )
        self._ended = ended
        return RunMessage(html, fold.cursor - first + 1, settled, more)

    def _catch_up(self, run: Run) -> ThreadReader:
        fold = ThreadReader(run)
        self._note_questions(fold.read_to(min(self._after, run.frames), WINDOW, run.frames))
        fold.messages.changed()
        self._updates.note(fold.messages, over=self._ended)
        return fold

    def _said(self, fold: ThreadReader, thread: Thread, ending: bool) -> list[str]:
        """What is new of the messages on the page; at the end none of them stays open."""
        changed = fold.messages.changed()
        said = self._updates.of(fold.messages if ending else changed, thread)
        return said + self._closed(thread) if ending else said

    def _note_questions(self, added: list[Entry]) -> None:
        asked = [entry for entry in added if isinstance(entry.event, Elicitation)]
        self._asked += asked[: WINDOW - len(self._asked)]

    def _closed(self, thread: Thread) -> list[str]:
        """What stands in the place of forms whose call has ended without their answer."""
        found = []
        for entry in self._asked:
            if isinstance(entry.event, Elicitation):
                asking = elicitation_view(entry.event, thread, (entry.seq, entry.part))
                if asking.is_closed and not asking.is_settled:
                    context = {"asking": asking, "closing": True}
                    found.append(get_template("runs/elicitation/body.html").render(context))
        return found

    def _changed(self, thread: Thread, cursor: int) -> list[EntryRef]:
        """The entries under which something has changed since the last message.

        What came of an entry is read after the run, so it can be there before the entry is
        on the page: it waits until frame `cursor` is the entry's or a later one.
        """
        stamps = {place: stamp for place, stamp in thread.stamps().items() if place[0] <= cursor}
        changed = [place for place, stamp in stamps.items() if self._children.get(place) != stamp]
        self._children = stamps
        return changed


def replace_state(run: Run) -> Run:
    """The run as it looked before it ended: what a viewer who is still behind should see."""
    if run.is_final:
        run.state = "streaming"
    return run


def window(added: list[Entry], before: int) -> list[Entry]:
    """Those of the `added` entries that belong to the window, `before` being there already."""
    return [entry for entry in added if not entry.pinned][: max(0, WINDOW - before)]
