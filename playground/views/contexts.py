"""Contexts that several pages share."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.dateparse import parse_datetime

from playground.models import Run
from playground.models.liveness import mark_interrupted
from playground.rendering.bar import ago, context_of, word_of
from playground.rendering.fold import Fold
from playground.rendering.live import WINDOW, window
from playground.rendering.progress import progress_of
from playground.rendering.speech import usage_of
from playground.rendering.thread import Thread, render_entries
from playground.rendering.turns import branch_of

PAGE = 40


def history_context(
    user: AbstractBaseUser | AnonymousUser, words: str = "", before: str = ""
) -> dict[str, Any]:
    """One page of the history, newest first, and where the next one begins."""
    mark_interrupted()
    found = Run.objects.turns().owned_by(user).search(words).defer("request", "session_context")
    found = found.select_related("tracker")
    moment = parse_datetime(before) if before else None
    if moment and moment.tzinfo:
        found = found.filter(created_at__lt=moment)
    page = list(found[: PAGE + 1])
    for run in page:
        run.word, run.ago = word_of(run), ago(run.created_at)
    older = page[PAGE - 1].created_at.isoformat() if len(page) > PAGE else ""
    return {"history": page[:PAGE], "older": older, "q": words}


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
