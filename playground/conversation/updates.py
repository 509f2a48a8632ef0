"""The response pane of a run, and live updates of runs.

An update is a websocket message with HTML to swap in. A message about a run carries the figures of
the status bar, the new cards of the window, and the numbers of the frames that it announces. It
never carries a whole flood: beyond the window the page gets the number of entries, and fetches more
when the user scrolls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from playground.conversation.entries import Entry, element_of
from playground.conversation.messages import MessageUpdates, usage_rows
from playground.conversation.status import polling_label, progress_of, status_context
from playground.conversation.thread import Thread, render_entries
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.transcript import transcript_of
from playground.models import FrameBatch, Run, RunState
from playground.models.frames import Flush
from playground.protocols.events import EntryRef
from playground.ui import compiled

#: Entries that are pushed to a page; the others it fetches.
WINDOW = 60
#: Frames read for one message, so that a long catch-up does not block a thread for seconds.
MAX_FRAMES_PER_MESSAGE = 2_000
#: New frames of a run that is read together with others.
MAX_FRAMES_TOGETHER = 100


@dataclass(frozen=True, slots=True)
class RunMessage:
    """A websocket message about a run, with what the sender needs to know about it."""

    html: str
    #: Numbers of the first and the last frame that it announces; none if `last` is the smaller.
    first: int
    last: int
    #: Whether the run and its child runs have ended and everything was sent.
    final: bool
    #: Whether more frames are stored than fitted into this message.
    more: bool

    @property
    def frames(self) -> int:
        """Return the number of frames that it announces."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class ReadRun:
    """A run that was read from the database, and then its rows of frames after some frame."""

    run: Run
    rows: Sequence[FrameBatch]


def _shown_runs() -> QuerySet[Run]:
    """Return the runs as messages show them: without the request, which can be large."""
    return Run.objects.with_related().defer("request", "headers", "session_context")


def advance_together(every: Sequence[RunUpdates]) -> list[RunMessage | Exception | None]:
    """Return the message of each position, as `advance` does, or the exception that it raises.

    For runs that other processes drive: two queries read the new frames of all of them. Those with
    child runs, or with many new frames, are read one by one.
    """
    found: dict[UUID, Run] = _shown_runs().in_bulk([updates.pk for updates in every])
    read_alone = {
        pk
        for pk, run in found.items()
        if run.has_related  # type: ignore[attr-defined]
        or any(run.frames - each.cursor > MAX_FRAMES_TOGETHER for each in every if each.pk == pk)
    }
    together = [each for each in every if each.pk in found and each.pk not in read_alone]
    after: dict[UUID, int] = {}
    for each in together:
        after[each.pk] = min(each.cursor, after.get(each.pk, each.cursor))
    rows: dict[UUID, list[FrameBatch]] = defaultdict(list)
    if after:
        new = [Q(run=pk, last__gt=cursor) for pk, cursor in after.items()]
        for row in FrameBatch.objects.filter(reduce(or_, new)).order_by("run", "first"):
            rows[row.run_id].append(row)
    messages: list[RunMessage | Exception | None] = []
    for each in every:
        read = ReadRun(found[each.pk], rows[each.pk]) if each in together else None
        try:
            messages.append(each.advance(read=read))
        except Exception as error:
            messages.append(error)
    return messages


class RunUpdates:
    """Position in one run, of one viewer or of all that are at the same frame.

    Used from one thread at a time.
    """

    def __init__(
        self, pk: UUID, after: int, *, ended: bool = False, readonly: bool = False
    ) -> None:
        """Begin after frame `after`; `ended` if the page shows the end of the run already.

        A `readonly` page is that of a share: it has nothing that only the owner may do or see.
        """
        self.pk = pk
        self.readonly = readonly
        self._restart(after, ended, {})

    def _restart(self, after: int, ended: bool, turns: Mapping[UUID, str]) -> None:
        self._after = after
        self._run: Run | None = None
        self._thread: Thread | None = None
        self._reader: ThreadReader | None = None
        #: Whether the reader's exchange has missed frames that were received decoded.
        self._has_gap = False
        self._shown: tuple[object, ...] = ()
        #: What the parts of the status of the last message have shown, by template.
        self._status: dict[str, object] = {}
        self._child_stamps: dict[EntryRef, tuple[object, ...]] = {}
        self._message_updates = MessageUpdates(WINDOW)
        #: Entries on the page of which a part is replaced when the run has ended.
        self._closing: list[Entry] = []
        #: Whether the end of the run was announced.
        self.ended = ended
        #: Status by key of the other turns of the transcript that were in progress.
        self.other_turns = dict(turns)

    @property
    def cursor(self) -> int:
        """Return the number of the last frame that was announced."""
        return self._reader.cursor if self._reader else self._after

    @property
    def stamp(self) -> tuple[str, int]:
        """Return the state and the number of frames of the run when it was read last."""
        return (self._run.state, self._run.frames) if self._run else ("", 0)

    def watch_other_turns(self, run: Run) -> None:
        """Announce the end of the turns that are in progress in the same conversation."""
        if run.conversation_id is not None and run.is_turn and not self.readonly:
            others = Run.objects.turns().unfinished().filter(conversation=run.conversation_id)
            self.other_turns = dict(others.exclude(pk=run.pk).values_list("pk", "state"))

    def needs_read(self, stored: Sequence[Flush]) -> bool:
        """Return whether the database has to be read to go on with what was stored.

        That is so at the beginning and at the end of a run, and where frames are missing.
        """
        is_open = self._run is not None and not self._run.is_final
        is_ending = any(name in each.changes for each in stored for name in _ENDING)
        return not is_open or is_ending or self._new(stored) is None

    @property
    def has_begun(self) -> bool:
        """Return whether a message was made from the database."""
        return self._reader is not None and not self._has_gap

    def advance(
        self,
        stored: Sequence[Flush] | None = None,
        upto: int | None = None,
        *,
        ends: bool = True,
        read: ReadRun | None = None,
        reads: bool = True,
    ) -> RunMessage | None:
        """Return the message with everything new since the last one; None if nothing is.

        Reads the run, and its frames unless they were just `stored`; at most to frame `upto`.
        Nothing of that is read if it was `read` already. Unless it `reads`, the message is made
        without the database, which `needs_read` must permit: child runs are shown as they were
        when it was read last. Unless it `ends`, the end of the run is left to a later message.
        Raises `Run.DoesNotExist` if the run was deleted. After an exception the position is the
        same as before.
        """
        cursor, turns, had_ended = self.cursor, self.other_turns, self.ended
        try:
            if not reads:
                return self._go_on(stored or ())
            return self._read(stored, upto, ends=ends, read=read)
        except Exception:
            self._restart(cursor, had_ended, turns)
            raise

    def _go_on(self, stored: Sequence[Flush]) -> RunMessage | None:
        run, thread, reader, new = self._run, self._thread, self._reader, self._new(stored)
        assert run is not None
        assert thread is not None
        assert reader is not None
        assert new is not None
        for each in new:
            vars(run).update(each.columns)
        return self._message(run, thread, reader, new)

    def _read(
        self, stored: Sequence[Flush] | None, upto: int | None, *, ends: bool, read: ReadRun | None
    ) -> RunMessage | None:
        # The run is read before its frames: a final state must not be announced before the
        # frames that led to it, and frames stored in between come with the next message.
        run = read.run if read else _shown_runs().get(pk=self.pk)
        new = None if stored is None else self._new(stored)
        last = run.frames if upto is None else min(upto, run.frames)
        if self._reader is None:
            self._reader, new = self._catch_up(run, self._after), None
        elif new is None and self._has_gap and last > self.cursor:
            self._reader = self._catch_up(run, self.cursor)
        self._run, self._thread = run, Thread(run, readonly=self.readonly)
        rows = read.rows if read else None
        return self._message(
            run, self._thread, self._reader, new, last, rows, is_read=True, ends=ends
        )

    def _new(self, stored: Sequence[Flush]) -> Sequence[Flush] | None:
        """Return what of `stored` was not announced yet.

        None if that cannot be shown: frames are missing in between, or events of them.
        """
        new, last = [], self.cursor
        for each in stored:
            # The run's columns without frames are those of its start.
            if each.batches[-1].last <= last if each.batches else last:
                continue
            is_next = not each.batches or each.batches[0].first == last + 1
            if not is_next or any(batch.events is None for batch in each.batches):
                return None
            last = each.batches[-1].last if each.batches else last
            new.append(each)
        return new

    def _message(
        self,
        run: Run,
        thread: Thread,
        reader: ThreadReader,
        stored: Sequence[Flush] | None,
        upto: int = 0,
        rows: Sequence[FrameBatch] | None = None,
        *,
        is_read: bool = False,
        ends: bool = True,
    ) -> RunMessage | None:
        """Return the message with frames from `stored`, or else from the database to `upto`.

        `rows` are those of the database, if they were read already. Child runs and other turns are
        compared where the database was read (`is_read`).
        """
        before, first = reader.entries, reader.cursor + 1
        if stored is None:
            added = reader.read_to(upto, WINDOW, MAX_FRAMES_PER_MESSAGE, rows)
        else:
            added = reader.read((batch for each in stored for batch in each.batches), WINDOW)
            self._has_gap = self._has_gap or first <= reader.cursor
        self._note_closing(added)
        turns = self._changed_turns() if is_read else set()
        changed = self._changed_entries(thread, reader.cursor) if is_read else []
        more = reader.cursor < run.frames or (run.is_final and not ends)
        ended = run.is_final and not more
        settled = ended and thread.is_settled and not self.other_turns
        showing = (run.state, run.outcome, run.frames, run.results, run.events, settled)
        if first > reader.cursor and showing == self._shown and not changed and not turns:
            return None
        self._shown = showing
        # A state is not announced before the frames that led to it.
        if more and run.is_final:
            run.state = RunState.STREAMING
        # The context of the next request changes with the end, and with later changes.
        is_new = run.is_final and (ended or changed) and not self.readonly
        transcript = transcript_of(run) if is_new or turns else None
        turns_shown = transcript.rows if transcript else []
        context = _entries_context(run, reader, thread, added, before)
        template = (
            "shares/run.html#message" if self.readonly else "conversation/response.html#message"
        )
        html = compiled.render(
            template,
            {
                **context,
                "status": self._changed_status(context),
                "readonly": self.readonly,
                "is_read": is_read,
                "first": first,
                "last": reader.cursor,
                "transcript": transcript,
                "rows": [row for row in turns_shown if row.run.pk in turns],
                "updates": self._update_messages(reader, thread, ended and not self.ended),
                "children": [thread.render_children(ref) for ref in changed],
                "final": ended,
                "settled": settled,
                "more_results": WINDOW if reader.entries > WINDOW else None,
                # Announced once: a later message must not take the focus from its reader.
                "ended": ended and not self.ended,
            },
        )
        self.ended = ended
        return RunMessage(html, first, reader.cursor, settled, more)

    def _changed_status(self, context: dict[str, Any]) -> list[str]:
        """Return the parts of the status that differ from those of the last message."""
        run, metrics = context["run"], context["metrics"]
        state = (run.state, run.outcome, run.terminated, bool(run.entries), metrics.status_label)
        states = {
            "badge": (*state, bool(run.failures), run.outcome == "promise" and polling_label(run)),
            # A clock that stops at the time that was shown last is a change.
            "stats_now": (
                *(run.status, metrics.elapsed, metrics.size, context["progress"]),
                metrics.ticking_ms is None,
            ),
            "stats_counts": (metrics.first, metrics.counts),
            "phase": context["phase"],
            "failures": (run.failures, run.entries > 1),
        }
        if self.readonly:
            states = {name: states[name] for name in _READONLY_STATUS}
        changed = [name for name, state in states.items() if self._status.get(name) != state]
        self._status = states
        shown = {**context, "oob": True}
        return [compiled.render(f"conversation/status.html#{name}", shown) for name in changed]

    def _catch_up(self, run: Run, upto: int) -> ThreadReader:
        """Return a reader of the frames that were announced already."""
        reader = ThreadReader(run)
        self._closing, self._has_gap = [], False
        self._note_closing(reader.read_to(min(upto, run.frames), WINDOW))
        reader.messages.changed()
        self._message_updates.note(reader.messages, over=self.ended)
        return reader

    def _update_messages(self, reader: ThreadReader, thread: Thread, ending: bool) -> list[str]:
        """Return updates of the messages on the page; at the end none of them stays open."""
        changed = reader.messages.changed()
        updates = self._message_updates.of(reader.messages if ending else changed, thread)
        if ending and not self.readonly:
            for entry in self._closing:
                close = element_of(entry.event).close
                if close and (html := close(entry, thread)):
                    updates.append(html)
        return updates

    def _note_closing(self, added: list[Entry]) -> None:
        found = [entry for entry in added if element_of(entry.event).close]
        self._closing += found[: WINDOW - len(self._closing)]

    def _changed_turns(self) -> set[UUID]:
        if not self.other_turns:
            return set()
        known = self.other_turns
        states = dict(Run.objects.filter(pk__in=known).values_list("pk", "state"))
        self.other_turns = {
            pk: state for pk, state in states.items() if not RunState(state).is_final
        }
        return {pk for pk, state in states.items() if known[pk] != state}

    def _changed_entries(self, thread: Thread, cursor: int) -> list[EntryRef]:
        """Return the entries whose child runs have changed since the last message.

        Child runs are read after the run, so they can exist before their entry is on the page:
        they wait until `cursor` has reached its frame.
        """
        stamps = {ref: stamp for ref, stamp in thread.stamps().items() if ref[0] <= cursor}
        changed = [ref for ref, stamp in stamps.items() if self._child_stamps.get(ref) != stamp]
        self._child_stamps = stamps
        return changed


#: Parts of the status that the page of a share has.
_READONLY_STATUS = ("badge", "stats_now", "stats_counts")
#: Columns that change when a run ends; the end is read from the database.
_ENDING = ("problem", "ended_us")


def response_context(run: Run | None, *, onward: bool = True) -> dict[str, Any]:
    """Return the context of `conversation/response.html`: everything about a run up to now.

    Without `onward` its transcript ends at its turn, which a follow-up then follows.
    """
    if run is None:
        return {"run": None}
    reader = ThreadReader(run)
    thread = Thread(run)
    entries = reader.read_to(run.frames, WINDOW)
    settled = run.is_final and thread.is_settled
    transcript = transcript_of(run, onward=onward)
    is_waiting = any(not row.run.is_final for row in transcript.rows)
    return {
        **_entries_context(run, reader, thread, entries),
        "cursor": reader.cursor,
        "transcript": transcript,
        "loads_pictures": run.loads_pictures,
        "settled": settled,
        "live": not settled or is_waiting,
    }


def _entries_context(
    run: Run, reader: ThreadReader, thread: Thread, added: list[Entry], before: int = 0
) -> dict[str, Any]:
    """Return the status of a run and the `added` entries, after `before` earlier ones."""
    return {
        **status_context(run),
        "progress": None if run.is_final else progress_of(reader.progress),
        "entries": reader.entries,
        "cards": render_entries(window(added, before), thread),
        "summaries": render_entries([entry for entry in added if entry.pinned], thread),
        "usage": usage_rows(reader.messages.usage),
    }


def window(added: list[Entry], before: int) -> list[Entry]:
    """Return the `added` entries that belong to the window, after `before` earlier ones."""
    return [entry for entry in added if not entry.pinned][: max(0, WINDOW - before)]
