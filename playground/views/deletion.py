"""Deleting runs that somebody has chosen: what goes with them is said first."""

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
from playground.engine.families import RetentionReason, retention_reasons_by_id, with_descendants
from playground.models import Run
from playground.models.liveness import mark_interrupted
from playground.views.helpers import is_htmx

#: Runs that are deleted at once by hand.
MAX_CHOSEN = 200
#: What is nobody's business to delete: it is in use at this moment.
IN_USE = frozenset({RetentionReason.UNDER_WAY, RetentionReason.COLLECTION_RUN})


@dataclass(frozen=True, slots=True)
class SelectedRuns:
    """What somebody has chosen to delete."""

    runs: list[Run]
    #: The keys of the runs and of all that goes with them.
    keys: set[UUID]
    #: Runs that are shared, followed or recorded, by the reason.
    retained: dict[RetentionReason, int]
    bytes: int

    @property
    def child_runs(self) -> int:
        """How many checks and actions go along."""
        return len(self.keys) - len(self.runs)

    @property
    def in_use(self) -> bool:
        """Whether some of it must not be deleted now."""
        return bool(IN_USE & self.retained.keys())

    def has(self, hold: RetentionReason) -> int:
        """How many are held for a reason."""
        return self.retained.get(hold, 0)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def deletion(request: HttpRequest) -> HttpResponse:
    """GET asks whether the runs named by `run` are to go; POST deletes them."""
    fields = request.POST if request.method == "POST" else request.GET
    chosen = _chosen(request, fields.getlist("run")[:MAX_CHOSEN])
    if request.method != "POST" or chosen.in_use:
        template = "sheet" if is_htmx(request) else "page"
        context = {"chosen": chosen, "holds": _holds(chosen), "back": _back(request)}
        status = 409 if request.method == "POST" else 200
        return render(request, f"history/deletion_{template}.html", context, status=status)
    gone = retention.delete(chosen.keys, also=frozenset(RetentionReason) - IN_USE)
    messages.success(request, f"{gone} run{' was' if gone == 1 else 's were'} deleted.")
    return redirect(_back(request))


def _chosen(request: HttpRequest, keys: list[str]) -> SelectedRuns:
    """The runs that are meant and the user's own. Raises `Http404` where there is none."""
    mark_interrupted()
    try:
        found = Run.objects.owned_by(request.user).filter(pk__in=keys)
        runs = list(found.only("text", "agent_name", "state", "kind", "created_at"))
    except (ValidationError, ValueError):
        raise Http404 from None
    if not runs:
        raise Http404
    everything = with_descendants(run.pk for run in runs)
    held = dict(Counter(retention_reasons_by_id(everything).values()))
    size = Run.objects.filter(pk__in=everything).aggregate(size=Sum("bytes"))["size"] or 0
    return SelectedRuns(runs, everything, held, size)


def _holds(chosen: SelectedRuns) -> list[tuple[str, str]]:
    """What is to be known before these are deleted: (level, sentence)."""
    said = {
        RetentionReason.UNDER_WAY: ("error", "{} under way. Stop {} first, or wait."),
        RetentionReason.COLLECTION_RUN: ("error", "{} part of a collection run that is under way."),
        RetentionReason.POLLED: (
            "warning",
            "{} waiting for a promise. It is followed no longer then.",
        ),
        RetentionReason.HAS_ACTIVE_FOLLOW_UP: (
            "warning",
            "{} carried on by a later turn that is not done yet, which loses what was said before.",
        ),
        RetentionReason.SHARED: ("warning", "{} shared by a link, which stops working."),
        RetentionReason.RECORDED: (
            "warning",
            "{} shown as the recorded reply of a saved request. The recording itself stays.",
        ),
    }
    found = []
    for hold, (level, sentence) in said.items():
        if count := chosen.has(hold):
            words = "One of them is" if count == 1 else f"{count} of them are"
            if len(chosen.keys) == 1:
                words = "It is"
            found.append((level, sentence.format(words, "it" if count == 1 else "them")))
    return found


def _back(request: HttpRequest) -> str:
    """The list that was left, with its filters."""
    came = request.POST.get("back") or request.headers.get("HX-Current-URL", "")
    came = came or request.headers.get("Referer", "")
    safe = url_has_allowed_host_and_scheme(came, {request.get_host()}, request.is_secure())
    return came if safe and "/history/" in came and "deletion" not in came else "history"
