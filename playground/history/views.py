"""History of runs: a page with filters, deletion of selected runs, and the limits of retention."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import Sum
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import replace_url

from playground.base.fields import int_param
from playground.engine.retention import (
    MAX_DAYS,
    MAX_RUNS,
    RetentionLimits,
    RetentionReason,
    delete,
    preview,
    prune,
    retention_reasons_by_id,
    with_descendants,
)
from playground.history.rows import sidebar_rows
from playground.models import Agent, CollectionRun, Retention, Run, RunSource, RunState
from playground.models.driving import mark_interrupted
from playground.models.history import (
    IN_PROGRESS,
    NO_AGENT,
    HistoryCursor,
    HistoryFilters,
    HistoryPage,
    history_page,
    recent_page,
)
from playground.models.rows import owner_of
from playground.models.storage import COUNT_LIFETIME, StorageUsage
from playground.protocols.events import Outcome
from playground.ui.helpers import is_htmx, previous_page

#: Most steps of a collection run that the sidebar lists; its page has all.
MAX_STEPS = 200
#: Maximum number of runs that are deleted at once.
MAX_SELECTED = 200
#: Reasons that prevent a deletion: the run is in use.
IN_USE = frozenset({RetentionReason.IN_PROGRESS, RetentionReason.COLLECTION_RUN})
#: Seconds that a response waits for the deletion, which then continues in the background.
PATIENCE = 2.0


# Filters in the query string

#: Maximum length of a search.
MAX_WORDS = 200
#: In the URL, for runs whose agent was deleted or never saved. It is not a valid slug.
UNSAVED_AGENT = "-"

#: Choices: value and label.
STATES = [
    (IN_PROGRESS, "In progress"),
    *((state.value, str(state.label)) for state in RunState if state.is_final),
]
OUTCOMES = [
    (Outcome.ANSWER, "Answer"),
    (Outcome.ELICITATION, "Input required"),
    (Outcome.PROMISE, "Promise"),
    (Outcome.FAILURE, "Agent error"),
    (Outcome.NONE, "No usable answer"),
]
#: Days whose beginning is a time in every time zone.
_VALID_DAYS = [MinValueValidator(date(2, 1, 1)), MaxValueValidator(date(9998, 12, 31))]


class HistoryForm(forms.Form):
    """A form of the filters, bound to a query string; invalid fields are ignored."""

    q = forms.CharField(required=False)
    #: The slug of an agent, or `UNSAVED_AGENT`.
    agent = forms.CharField(required=False)
    state = forms.ChoiceField(choices=STATES, required=False)
    outcome = forms.ChoiceField(choices=OUTCOMES, required=False)
    made_by = forms.ChoiceField(choices=RunSource.choices, required=False, label="Source")
    #: Days, both included.
    since = forms.DateField(required=False, input_formats=["%Y-%m-%d"], validators=_VALID_DAYS)
    until = forms.DateField(required=False, input_formats=["%Y-%m-%d"], validators=_VALID_DAYS)
    #: "1" to include child runs.
    all = forms.ChoiceField(choices=[("1", "1")], required=False)

    def clean_q(self) -> str:
        return str(self.cleaned_data["q"])[:MAX_WORDS]

    @cached_property
    def texts(self) -> dict[str, str]:
        """The fields that are valid and not empty, as they are written in a URL."""
        self.full_clean()
        return {name: str(value) for name, value in self.cleaned_data.items() if value}

    @property
    def url(self) -> str:
        """Return the URL of the history with these filters, without empty ones."""
        query = self.query
        return f"{reverse('history')}{'?' if query else ''}{query}"

    @property
    def query(self) -> str:
        return urlencode(self.texts)

    @property
    def narrows(self) -> bool:
        """Return whether the filters exclude any runs."""
        return bool(self.texts.keys() - {"all"})

    def filters(self, user: User | AnonymousUser) -> HistoryFilters:
        """Return the filters for the database; an unknown agent matches no run."""
        texts, days = self.texts, self.cleaned_data
        return HistoryFilters(
            search=texts.get("q", ""),
            agent=_agent_key(texts.get("agent", ""), user),
            outcome=texts.get("outcome", ""),
            state=texts.get("state", ""),
            source=texts.get("made_by", ""),
            since=_midnight(days.get("since")),
            until=_midnight(days.get("until"), days=1),
            children="all" in texts,
        )


def _agent_key(slug: str, user: User | AnonymousUser) -> int | None:
    if not slug:
        return None
    if slug == UNSAVED_AGENT:
        return NO_AGENT
    found = Agent.objects.owned_by(user).filter(slug=slug)
    # No agent has the key 0.
    return found.values_list("pk", flat=True).first() or 0


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    """Return the beginning of a day, or of one some days later; None for no day."""
    if day is None:
        return None
    return timezone.make_aware(datetime.combine(day + timedelta(days=days), time.min))


# The list


def _owner(request: HttpRequest) -> int | None:
    owner = owner_of(request.user)
    return owner.pk if owner else None


@require_safe
@ensure_csrf_cookie
def history(request: HttpRequest) -> HttpResponse:
    """Show all runs, newest first. The URL holds the filters: see `HistoryForm`.

    `before` continues from a cursor. An htmx request gets the list alone, or the rows from that
    cursor on.
    """
    asked = HistoryForm(request.GET)
    context = {"asked": asked, **_rows(request, asked)}
    if not is_htmx(request):
        agents = Agent.objects.owned_by(request.user).values_list("slug", "name")
        context["agents"] = [*agents, (UNSAVED_AGENT, "Not saved")]
        if settings.QUOTA:
            context["usage"] = StorageUsage.of(_owner(request), max_age=COUNT_LIFETIME)
        response = render(request, "history/page.html", context)
    elif context["before"]:
        response = render(request, "history/page.html#rows", context)
    else:
        response = render(request, "history/page.html#list", context)
        response = replace_url(response, asked.url)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _rows(request: HttpRequest, asked: HistoryForm) -> dict[str, Any]:
    """Return one page of rows, and the cursor of the next one."""
    mark_interrupted()
    before = HistoryCursor.read(request.GET.get("before", ""))
    found = history_page(Run.objects.owned_by(request.user), asked.filters(request.user), before)
    return {
        "page": found,
        "before": before,
        # The rows shown before, so that the end of a search knows whether there were any.
        "shown": int_param(request.GET, "shown", 0) + len(found.runs),
    }


def list_runs(request: HttpRequest) -> HttpResponse:
    """Render a page of the sidebar's history, or with `collection_run` the runs of one."""
    mark_interrupted()
    if key := request.GET.get("collection_run", ""):
        return _list_steps(request, key)
    query = request.GET.get("q", "").strip()[:MAX_WORDS]
    before = HistoryCursor.read(request.GET.get("before", ""))
    runs = Run.objects.owned_by(request.user)
    page: HistoryPage[Run] | HistoryPage[Run | CollectionRun]
    if query:
        # Single runs in place of groups.
        page = history_page(runs, HistoryFilters(search=query), before)
    else:
        page = recent_page(runs, CollectionRun.objects.owned_by(request.user), before)
    rows = sidebar_rows(page.runs)
    shown = int_param(request.GET, "shown", 0) + len(rows)
    context = {"page": page, "rows": rows, "q": query, "shown": shown}
    return render(request, "history/sidebar.html", context)


def _list_steps(request: HttpRequest, key: str) -> HttpResponse:
    """Render the runs of a collection run as rows of the sidebar."""
    try:
        found = CollectionRun.objects.owned_by(request.user).filter(pk=key).first()
    except ValidationError:
        found = None
    if found is None:
        raise Http404
    # One more than are listed.
    steps = list(found.steps.order_by("number").defer("checks")[: MAX_STEPS + 1])
    context = {"collection_run": found, "steps": steps[:MAX_STEPS], "more": steps[MAX_STEPS:]}
    return render(request, "history/sidebar.html#steps", context)


# Deletion of selected runs


@dataclass(frozen=True, slots=True)
class SelectedRuns:
    """The runs selected for deletion."""

    runs: list[Run]
    #: The keys of the runs and of all their descendants.
    keys: set[UUID]
    #: Counts of runs that are shared, polled or recorded, by the reason.
    retained: Counter[RetentionReason]
    bytes: int

    @property
    def child_runs(self) -> int:
        """Return the number of polls and actions that are deleted with them."""
        return len(self.keys) - len(self.runs)

    @property
    def in_use(self) -> bool:
        """Return whether some of them must not be deleted now."""
        return bool(IN_USE & self.retained.keys())


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
    deleted = delete(selected.keys, also=frozenset(RetentionReason) - IN_USE)
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
    retained = Counter(retention_reasons_by_id(all_keys).values())
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
        if count := selected.retained[reason]:
            subject = "One of them is" if count == 1 else f"{count} of them are"
            if len(selected.keys) == 1:
                subject = "It is"
            found.append((level, sentence.format(subject, "it" if count == 1 else "them")))
    return found


def _back(request: HttpRequest) -> str:
    """Return the URL of the list that was left, with its filters."""
    url = previous_page(request, request.POST.get("back", ""))
    return url if "/history/" in url and "deletion" not in url else "history"


# Retention


class RetentionForm(forms.Form):
    """A form of the limits; an empty field is no limit."""

    days = forms.IntegerField(required=False, min_value=1, help_text="Delete older runs.")
    runs = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_RUNS,
        help_text="Keep the newest. Polls and actions are not counted.",
    )

    def clean_days(self) -> int | None:
        """Return the days, which are at most those of the setting."""
        days: int | None = self.cleaned_data["days"]
        limit = settings.RETENTION_DAYS or MAX_DAYS
        if days is not None and days > limit:
            raise forms.ValidationError(f"Enter at most {limit} days.")
        return days

    @property
    def limits(self) -> RetentionLimits:
        return RetentionLimits(self.cleaned_data["days"], self.cleaned_data["runs"])


async def retention(request: HttpRequest) -> HttpResponse:
    """Show the limits and what they would delete (GET); save and apply them (POST)."""
    if request.method in {"GET", "HEAD"}:
        return await sync_to_async(_page)(request)
    if request.method != "POST":
        return HttpResponseNotAllowed(["GET", "HEAD", "POST"])
    form = await sync_to_async(_save)(request)
    if not form.is_valid():
        return await sync_to_async(_page)(request, form)
    await _prune(request)
    return redirect("history-retention")


@ensure_csrf_cookie
def _page(request: HttpRequest, form: RetentionForm | None = None) -> HttpResponse:
    owner = _owner(request)
    if form is None:
        limits = RetentionLimits.set_by(owner)
        form = RetentionForm({"days": limits.max_days, "runs": limits.max_runs})
    context = {
        "form": form,
        "usage": StorageUsage.of(owner),
        "retention_days": settings.RETENTION_DAYS,
        **_preview(request, form),
    }
    return render(
        request, "history/retention.html", context, status=200 if form.is_valid() else 422
    )


@require_safe
def retention_preview(request: HttpRequest) -> HttpResponse:
    """Show what unsaved limits would delete."""
    context = _preview(request, RetentionForm(request.GET))
    return render(request, "history/deletion_page.html#to_delete", context)


def _preview(request: HttpRequest, form: RetentionForm) -> dict[str, Any]:
    if not form.is_valid():
        return {"form": form}
    limits = form.limits.within_setting()
    return {"form": form, "limits": limits, "going": preview(_owner(request), limits)}


def _save(request: HttpRequest) -> RetentionForm:
    form = RetentionForm(request.POST)
    if form.is_valid():
        values = asdict(form.limits)
        Retention.objects.update_or_create(owner_id=_owner(request), defaults=values)
    return form


async def _prune(request: HttpRequest) -> None:
    owner = await sync_to_async(_owner)(request)
    task = prune(owner)
    done, _ = await asyncio.wait({task}, timeout=PATIENCE)
    if not done:
        text = "Limits saved. Runs are being deleted in the background."
    elif gone := task.result():
        text = f"Limits saved. {gone} run{' was' if gone == 1 else 's were'} deleted."
    else:
        text = "Limits saved. No runs were deleted."
    await sync_to_async(messages.success)(request, text)
