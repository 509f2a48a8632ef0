"""Environments: list, create, edit, rename, duplicate, delete, activate; variables and secrets."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from playground.environments.forms import EnvironmentForm, NewVariableForm, VariableRows
from playground.models import Agent, Environment, LimitError, Variable
from playground.models.ownership import owner_of
from playground.models.storage import check_rows
from playground.protocols.origins import origin_of
from playground.ui.helpers import (
    is_htmx,
    redirect_with_note,
    save_form,
)

#: Session key of the active environment.
ACTIVE = "environment"


def active_environment(request: HttpRequest) -> Environment | None:
    """Return the environment that the user activated last, None for none or a deleted one."""
    slug = request.session.get(ACTIVE)
    if not isinstance(slug, str) or not slug:
        return None
    return Environment.objects.owned_by(request.user).filter(slug=slug).first()


def activate(request: HttpRequest, slug: str) -> None:
    """Make an environment of the user the active one; "" for none."""
    request.session[ACTIVE] = slug


def choice_context(request: HttpRequest, slug: str | None = None) -> dict[str, Any]:
    """Return the context of `environments/select.html`: environments and the active slug.

    `slug` takes precedence over the active one, where there is an environment of that name.
    """
    found = list(Environment.objects.owned_by(request.user))
    active = slug if slug is not None else request.session.get(ACTIVE)
    known = {each.slug for each in found}
    return {"environments": found, "environment": active if active in known else ""}


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def environments(request: HttpRequest) -> HttpResponse:
    """List the environments (GET), or add one, which becomes active (POST)."""
    if request.method != "POST":
        return _list(request, EnvironmentForm())
    owner = owner_of(request.user)
    form = EnvironmentForm(request.POST, instance=Environment(owner=owner))
    if not form.is_valid() or not (created := save_form(form)):
        return _list(request, form, status=422)
    activate(request, created.slug)
    return redirect(created)


def _list(request: HttpRequest, form: EnvironmentForm, status: int = 200) -> HttpResponse:
    found = Environment.objects.owned_by(request.user).prefetch_related("variables")
    context = {"found": found, "form": form}
    return render(request, "environments/list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def environment(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the table of variables (GET), or save all of it (POST)."""
    found = _get_environment(request, slug)
    if request.method != "POST":
        return _page(request, found, VariableRows(instance=found))
    rows = VariableRows(request.POST, instance=found)
    if not rows.is_valid():
        return _page(request, found, rows, status=422)
    try:
        with transaction.atomic():
            _free_names(rows)
            rows.save()
    except LimitError as error:
        return _page(request, found, rows, status=422, limit_problem=str(error))
    return redirect_with_note(request, found.get_absolute_url(), f"{found.name} was saved.")


def _free_names(rows: Any) -> None:
    """Free every name that changes or is deleted, so that another row can have it."""
    for form in rows.deleted_forms:
        if form.instance.pk:
            form.instance.delete()
    for form in rows.initial_forms:
        if "name" in form.changed_data and form.instance.pk:
            # No valid name contains this character.
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
        # The page itself keeps what was typed; no secret is sent back.
        "keeps_typed": is_htmx(request),
        "name_form": EnvironmentForm(instance=found),
        **context,
    }
    return render(request, "environments/page.html", context, status=status)


@require_POST
def rename(request: HttpRequest, slug: str) -> HttpResponse:
    """Rename an environment; its slug, which saved runs and commands use, stays."""
    found = _get_environment(request, slug)
    form = EnvironmentForm(request.POST, instance=_get_environment(request, slug))
    if not form.is_valid():
        rows = VariableRows(instance=found)
        return _page(request, found, rows, status=422, name_form=form)
    form.save()
    return redirect(found)


@require_POST
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """Duplicate an environment with all variables; of secrets the names and origins only."""
    found = _get_environment(request, slug)
    with transaction.atomic():
        created = Environment.objects.create(owner=found.owner, name=f"{found.name} copy"[:80])
        rows = list(found.variables.all())
        for row in rows:
            row.pk, row.environment, row.secret = None, created, ""
        check_rows(rows, added=len(rows))
        Variable.objects.bulk_create(rows)
    empty = sum(row.is_secret for row in rows)
    secrets = f"{empty} secret{'s' if empty != 1 else ''}"
    note = f" Enter the value of {secrets} again: secrets are not copied."
    messages.success(request, f"{created.name} was created.{note if empty else ''}")
    return redirect(created)


@require_POST
def deletion(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete an environment with its variables. Runs stay; they hold no secret."""
    found = _get_environment(request, slug)
    found.delete()
    messages.success(request, f"{found.name} was deleted.")
    return redirect("environments")


@require_POST
@never_cache
def reveal(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """Return the value of one secret, in local mode only: there the user is the operator."""
    if settings.HOSTED:
        raise Http404
    rows = _get_environment(request, slug).variables.filter(name=name, kind=Variable.Kind.SECRET)
    found = get_object_or_404(rows)
    return JsonResponse({"value": found.secret})


@require_POST
def choice(request: HttpRequest) -> HttpResponse:
    """Activate one of the user's environments; an empty name for none."""
    slug = request.POST.get("environment", "")
    if slug:
        _get_environment(request, slug)
    activate(request, slug)
    return HttpResponse(status=204)


@require_safe
@never_cache
def values(request: HttpRequest) -> HttpResponse:
    """Show the variables of the environment that is chosen in the top bar; secrets are masked."""
    slug = request.GET.get("environment", "")
    found = _get_environment(request, slug) if slug else None
    return render(request, "environments/values.html", {"found": found})


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def variable(request: HttpRequest) -> HttpResponse:
    """Show the form of one variable that a request lacks (GET), or create it (POST).

    A variable without an environment gets a new one. The event `environment:change` tells the page
    which environment has the variable.
    """
    if request.method != "POST":
        initial = {
            "name": request.GET.get("name", ""),
            "environment": request.GET.get("environment", ""),
            "environment_name": ""
            if Environment.objects.owned_by(request.user).exists()
            else "Local",
            "allowed_origins": origin_of(request.GET.get("url", "")),
        }
        return _new_variable(request, NewVariableForm(request.user, initial=initial))
    form = NewVariableForm(request.user, request.POST)
    if not form.is_valid() or not (found := save_form(form)):
        return _new_variable(request, form, status=422)
    activate(request, found.slug)
    response = HttpResponse(status=204)
    event = {"slug": found.slug, "name": found.name, "variable": form.cleaned_data["name"]}
    return trigger_client_event(response, "environment:change", event)


def _new_variable(request: HttpRequest, form: NewVariableForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "environments": Environment.objects.owned_by(request.user)}
    return render(request, "environments/new_variable.html", context, status=status)


def _get_environment(request: HttpRequest, slug: str) -> Environment:
    """Return the user's environment with this slug. Raises `Http404`."""
    found: Environment = get_object_or_404(Environment.objects.owned_by(request.user), slug=slug)
    return found
