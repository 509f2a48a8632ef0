"""Contexts that several pages share."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from playground.models import Run
from playground.models.history import HistoryCursor, HistoryFilters, history_page
from playground.models.liveness import mark_interrupted
from playground.rendering.branches import conversation_branch
from playground.rendering.live import WINDOW, window
from playground.rendering.progress import progress_of
from playground.rendering.run_status import ago, status_context, status_label
from playground.rendering.speech import usage_rows
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader


def history_context(
    user: User | AnonymousUser, words: str = "", before: str = "", shown: int = 0
) -> dict[str, Any]:
    """One page of the history, newest first, and where the next one begins.

    `before` is a `Cursor` as text, anything else the beginning; `shown` is how many were shown
    above.
    """
    mark_interrupted()
    page = history_page(
        Run.objects.owned_by(user), HistoryFilters(search=words), HistoryCursor.read(before)
    )
    for run in page.runs:
        run.word, run.ago = status_label(run), ago(run.created_at)  # type: ignore[attr-defined]
    return {"history": page, "shown": shown + len(page.runs), "q": words}


def response_context(run: Run | None) -> dict[str, Any]:
    """The context of `runs/response.html`: everything about a run up to now."""
    if run is None:
        return {"run": None}
    fold = ThreadReader(run)
    thread = Thread(run)
    entries = fold.read_to(run.frames, WINDOW, run.frames)
    settled = run.is_final and thread.is_settled
    return {
        **status_context(run),
        "progress": None if run.is_final else progress_of(fold.progress),
        "cursor": fold.cursor,
        "entries": fold.entries,
        "cards": render_entries(window(entries, 0), thread),
        "summaries": render_entries([entry for entry in entries if entry.pinned], thread),
        "usage": usage_rows(fold.messages.usage),
        "branch": conversation_branch(run),
        "settled": settled,
        "live": not settled,
    }
