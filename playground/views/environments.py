"""Environments: list, create, edit, duplicate, delete, choose; a secret on request."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST

from playground.models import Agent, Environment, Variable
from playground.models.ownership import owner_of
from playground.protocols.origins import origin_of
from playground.views.environment_choice import activate
from playground.views.environment_forms import EnvironmentForm, VariableRows


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def environments(request: HttpRequest) -> HttpResponse:
    """GET lists the environments; POST adds one, which becomes the active one."""
    if request.method != "POST":
        return _list(request, EnvironmentForm())
    owner = owner_of(request.user)
    form = EnvironmentForm(request.POST, instance=Environment(owner=owner))
    if not form.is_valid():
        return _list(request, form, status=422)
    made = form.save()
    activate(request, made.slug)
    return redirect(made)


def _list(request: HttpRequest, form: EnvironmentForm, status: int = 200) -> HttpResponse:
    found = Environment.objects.owned_by(request.user).prefetch_related("variables")
    context = {"found": found, "form": form}
    return render(request, "environments/list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def environment(request: HttpRequest, slug: str) -> HttpResponse:
    """GET shows the table of variables; POST saves it as a whole."""
    found = _owned(request, slug)
    if request.method != "POST":
        return _page(request, found, VariableRows(instance=found))
    rows = VariableRows(request.POST, instance=found)
    with transaction.atomic():
        if not rows.is_valid():
            return _page(request, found, rows, status=422)
        _free_names(rows)
        rows.save()
    messages.success(request, f"{found.name} was saved.")
    return redirect(found)


def _free_names(rows: Any) -> None:
    """Take back every name that changes or goes, so that another row can have it."""
    for form in rows.deleted_forms:
        if form.instance.pk:
            form.instance.delete()
    for form in rows.initial_forms:
        if "name" in form.changed_data and form.instance.pk:
            # No name has such a character in it.
            Variable.objects.filter(pk=form.instance.pk).update(name=f"~{form.instance.pk}")


def _page(
    request: HttpRequest, found: Environment, rows: Any, status: int = 200, **context: Any
) -> HttpResponse:
    agents = Agent.objects.owned_by(request.user).values_list("url", flat=True)
    context = {
        "found": found,
        "rows": rows,
        "origins": sorted({origin_of(url) for url in agents} - {""}),
        "can_reveal": not settings.HOSTED,
        "name_form": EnvironmentForm(instance=found),
        **context,
    }
    return render(request, "environments/page.html", context, status=status)


@require_POST
def rename(request: HttpRequest, slug: str) -> HttpResponse:
    """Give it another name; its slug, which saved runs and commands name, stays."""
    found = _owned(request, slug)
    form = EnvironmentForm(request.POST, instance=_owned(request, slug))
    if not form.is_valid():
        rows = VariableRows(instance=found)
        return _page(request, found, rows, status=422, name_form=form)
    form.save()
    return redirect(found)


@require_POST
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """A copy with all variables, of secrets the names and origins only."""
    found = _owned(request, slug)
    with transaction.atomic():
        made = Environment.objects.create(owner=found.owner, name=f"{found.name} copy"[:80])
        rows = list(found.variables.all())
        for row in rows:
            row.pk, row.environment, row.secret = None, made, ""
        Variable.objects.bulk_create(rows)
    without = sum(row.is_secret for row in rows)
    note = f" {without} secret{'s' if without != 1 else ''} came without a value: type it again."
    messages.success(request, f"{made.name} was made.{note if without else ''}")
    return redirect(made)


@require_POST
def deletion(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete it with its variables. Runs stay; they hold no secret."""
    found = _owned(request, slug)
    found.delete()
    messages.success(request, f"{found.name} was deleted.")
    return redirect("environments")


@require_POST
@never_cache
def reveal(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """The value of one secret, in local mode only: there the user is the operator."""
    if settings.HOSTED:
        raise Http404
    rows = _owned(request, slug).variables.filter(name=name, kind=Variable.Kind.SECRET)
    found = get_object_or_404(rows)
    return JsonResponse({"value": found.secret})


@require_POST
def choice(request: HttpRequest) -> HttpResponse:
    """Make one of the user's environments the active one; an empty name for none."""
    slug = request.POST.get("environment", "")
    if slug:
        _owned(request, slug)
    activate(request, slug)
    return HttpResponse(status=204)


def _owned(request: HttpRequest, slug: str) -> Environment:
    found: Environment = get_object_or_404(Environment.objects.owned_by(request.user), slug=slug)
    return found
