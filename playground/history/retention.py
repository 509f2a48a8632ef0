"""Retention of runs: the limits, a preview of what they delete, and deleting it."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from asgiref.sync import sync_to_async
from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from playground.engine.retention import MAX_DAYS, MAX_RUNS, RetentionLimits, preview, prune
from playground.models import Retention
from playground.models.ownership import owner_of
from playground.models.storage import StorageUsage

#: Seconds that a response waits for the deletion, which then continues in the background.
PATIENCE = 2.0


class RetentionForm(forms.Form):
    """A form of the limits; an empty field is no limit."""

    days = forms.IntegerField(required=False, min_value=1)
    runs = forms.IntegerField(required=False, min_value=1, max_value=MAX_RUNS)

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


def _owner(request: HttpRequest) -> int | None:
    owner = owner_of(request.user)
    return owner.pk if owner else None


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
