"""Deletion of selected runs, with a confirmation that shows what belongs to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods

from playground.engine import retention
from playground.engine.retention import RetentionReason, retention_reasons_by_id, with_descendants
from playground.models import Run
from playground.models.liveness import mark_interrupted
from playground.ui.helpers import is_htmx

#: Maximum number of runs that are deleted at once.
MAX_SELECTED = 200
#: Reasons that prevent a deletion: the run is in use.
IN_USE = frozenset({RetentionReason.IN_PROGRESS, RetentionReason.COLLECTION_RUN})


@dataclass(frozen=True, slots=True)
class SelectedRuns:
    """The runs selected for deletion."""

    runs: list[Run]
    #: The keys of the runs and of all their descendants.
    keys: set[UUID]
    #: Counts of runs that are shared, polled or recorded, by the reason.
    retained: dict[RetentionReason, int]
    bytes: int

    @property
    def child_runs(self) -> int:
        """Return the number of polls and actions that are deleted with them."""
        return len(self.keys) - len(self.runs)

    @property
    def in_use(self) -> bool:
        """Return whether some of them must not be deleted now."""
        return bool(IN_USE & self.retained.keys())

    def has(self, reason: RetentionReason) -> int:
        """Return the number of runs that are retained for a reason."""
        return self.retained.get(reason, 0)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def deletion(request: HttpRequest) -> HttpResponse:
    """Ask for confirmation to delete the runs named by `run` (GET), or delete them (POST)."""
    fields = request.POST if request.method == "POST" else request.GET
    selected = _selected(request, fields.getlist("run")[:MAX_SELECTED])
    if request.method != "POST" or selected.in_use:
        template = "history/deletion_page.html" + ("#sheet" if is_htmx(request) else "")
        context = {"chosen": selected, "holds": _warnings(selected), "back": _back(request)}
        status = 409 if request.method == "POST" else 200
        return render(request, template, context, status=status)
    deleted = retention.delete(selected.keys, also=frozenset(RetentionReason) - IN_USE)
    messages.success(request, f"{deleted} run{' was' if deleted == 1 else 's were'} deleted.")
    return redirect(_back(request))


def _selected(request: HttpRequest, keys: list[str]) -> SelectedRuns:
    """Return the user's runs with these keys. Raises `Http404` without any."""
    mark_interrupted()
    try:
        found = Run.objects.owned_by(request.user).filter(pk__in=keys)
        runs = list(found.only("text", "agent_name", "state", "kind", "created_at"))
    except (ValidationError, ValueError):
        raise Http404 from None
    if not runs:
        raise Http404
    all_keys = with_descendants(run.pk for run in runs)
    retained = dict(Counter(retention_reasons_by_id(all_keys).values()))
    size = Run.objects.filter(pk__in=all_keys).aggregate(size=Sum("bytes"))["size"] or 0
    return SelectedRuns(runs, all_keys, retained, size)


def _warnings(selected: SelectedRuns) -> list[tuple[str, str]]:
    """Return what to know before these are deleted: (level, sentence)."""
    sentences = {
        RetentionReason.IN_PROGRESS: ("error", "{} in progress. Stop {} first, or wait."),
        RetentionReason.COLLECTION_RUN: ("error", "{} part of a collection run in progress."),
        RetentionReason.POLLED: (
            "warning",
            "{} waiting for a promise. Polling will stop.",
        ),
        RetentionReason.HAS_ACTIVE_FOLLOW_UP: (
            "warning",
            "{} continued by a turn in progress, which will lose its earlier turns.",
        ),
        RetentionReason.SHARED: ("warning", "{} shared with a link, which will stop working."),
        RetentionReason.RECORDED: (
            "warning",
            "{} shown as the recorded response of a saved request. The recording itself is "
            "not deleted.",
        ),
    }
    found = []
    for reason, (level, sentence) in sentences.items():
        if count := selected.has(reason):
            subject = "One of them is" if count == 1 else f"{count} of them are"
            if len(selected.keys) == 1:
                subject = "It is"
            found.append((level, sentence.format(subject, "it" if count == 1 else "them")))
    return found


def _back(request: HttpRequest) -> str:
    """Return the URL of the list that was left, with its filters."""
    url = request.POST.get("back") or request.headers.get("HX-Current-URL", "")
    url = url or request.headers.get("Referer", "")
    safe = url_has_allowed_host_and_scheme(url, {request.get_host()}, request.is_secure())
    return url if safe and "/history/" in url and "deletion" not in url else "history"
