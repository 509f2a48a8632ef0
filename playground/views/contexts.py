"""Contexts that several pages share."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from playground.models import Run
from playground.models.history import Cursor, Filters, page_of
from playground.models.liveness import mark_interrupted
from playground.rendering.bar import ago, context_of, word_of
from playground.rendering.fold import Fold
from playground.rendering.live import WINDOW, window
from playground.rendering.progress import progress_of
from playground.rendering.speech import usage_of
from playground.rendering.thread import Thread, render_entries
from playground.rendering.turns import branch_of


def history_context(
    user: User | AnonymousUser, words: str = "", before: str = "", shown: int = 0
) -> dict[str, Any]:
    """One page of the history, newest first, and where the next one begins.

    `before` is a `Cursor` as text, anything else the beginning; `shown` is how many were shown
    above.
    """
    mark_interrupted()
    page = page_of(Run.objects.owned_by(user), Filters(words=words), Cursor.read(before))
    for run in page.runs:
        run.word, run.ago = word_of(run), ago(run.created_at)  # type: ignore[attr-defined]
    return {"history": page, "shown": shown + len(page.runs), "q": words}


def response_context(run: Run | None) -> dict[str, Any]:
    """The context of `runs/response.html`: everything about a run up to now."""
    if run is None:
        return {"run": None}
    fold = Fold(run)
    thread = Thread(run)
    entries = fold.follow(run.frames, WINDOW, run.frames)
    settled = run.is_final and thread.is_settled
    return {
        **context_of(run),
        "progress": None if run.is_final else progress_of(fold.progress),
        "cursor": fold.cursor,
        "entries": fold.entries,
        "cards": render_entries(window(entries, 0), thread),
        "summaries": render_entries([entry for entry in entries if entry.pinned], thread),
        "usage": usage_of(fold.messages.usage),
        "branch": branch_of(run),
        "settled": settled,
        "live": not settled,
    }
