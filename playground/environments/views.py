"""Environments and their variables: list, forms, secrets, and the active one."""

from __future__ import annotations

import json
import re
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from playground.base.fields import parse_json_value
from playground.models import Agent, Environment, LimitError, Variable
from playground.models.rows import owner_of
from playground.models.storage import check_rows
from playground.protocols.origins import origin_of
from playground.transport import check_url
from playground.transport.redaction import SHORTEST
from playground.ui.helpers import (
    is_htmx,
    redirect_with_note,
    save_form,
)
from playground.variables.names import is_name

#: Session key of the slug of the active environment; "" for none.
ACTIVE = "environment"


def active_environment(request: HttpRequest) -> Environment | None:
    """Return the environment that the user activated last, None for none or a deleted one."""
    slug = request.session.get(ACTIVE)
    if not isinstance(slug, str) or not slug:
        return None
    return Environment.objects.owned_by(request.user).filter(slug=slug).first()


def choice_context(request: HttpRequest, slug: str | None = None) -> dict[str, Any]:
    """Return the context of `environments/page.html#select`: environments and the active slug.

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
    request.session[ACTIVE] = created.slug
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
    request.session[ACTIVE] = slug
    return HttpResponse(status=204)


@require_safe
@never_cache
def values(request: HttpRequest) -> HttpResponse:
    """Show the variables of the environment that is chosen in the top bar; secrets are masked."""
    slug = request.GET.get("environment", "")
    found = _get_environment(request, slug) if slug else None
    return render(request, "environments/page.html#values", {"found": found})


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
    request.session[ACTIVE] = found.slug
    response = HttpResponse(status=204)
    event = {"slug": found.slug, "name": found.name, "variable": form.cleaned_data["name"]}
    return trigger_client_event(response, "environment:change", event)


def _new_variable(request: HttpRequest, form: NewVariableForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "environments": Environment.objects.owned_by(request.user)}
    return render(request, "environments/page.html#new_variable", context, status=status)


def _get_environment(request: HttpRequest, slug: str) -> Environment:
    """Return the user's environment with this slug. Raises `Http404`."""
    found: Environment = get_object_or_404(Environment.objects.owned_by(request.user), slug=slug)
    return found


#: Variables of one environment, and characters of one value.
MAX_VARIABLES, MAX_VALUE = 200, 20_000
#: Origins of one secret.
MAX_ORIGINS = 20


class EnvironmentForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form of the name of an environment."""

    class Meta:
        model = Environment
        fields = ["name"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        others = Environment.objects.filter(owner=self.instance.owner_id, name__iexact=name)
        if others.exclude(pk=self.instance.pk).exists():
            raise ValidationError(f"An environment “{name}” already exists.")
        return name


class VariableForm(forms.ModelForm):  # type: ignore[type-arg]
    """A row of the table: name, kind and value. The value of a secret is never shown again."""

    value = forms.CharField(required=False, strip=False, max_length=MAX_VALUE)
    allowed_origins = forms.CharField(required=False, label="Allowed origins")

    class Meta:
        model = Variable
        fields = ["name", "kind", "value", "allowed_origins"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["allowed_origins"] = " ".join(self.instance.allowed_origins or ())
        self._stored = self.instance.secret if self.instance.is_secret else ""

    @property
    def is_secret(self) -> bool:
        return str(self["kind"].value()) == Variable.Kind.SECRET

    @property
    def shown_value(self) -> str:
        """Return the content of the value field: empty for a secret, also after an error."""
        return "" if self.is_secret else str(self["value"].value() or "")

    @property
    def has_stored(self) -> bool:
        """Return whether a secret is stored that an empty field keeps."""
        return bool(self._stored)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if not is_name(name):
            raise ValidationError("Use at most 80 letters, digits, “_”, “-” and “.”.")
        return name

    def clean_allowed_origins(self) -> list[str]:
        """Return normalised, unique origins; URLs are reduced to their origins."""
        given = re.split(r"[\s,]+", self.cleaned_data["allowed_origins"].strip())
        found = [_origin(each) for each in given if each]
        if len(found) > MAX_ORIGINS:
            raise ValidationError(f"Enter at most {MAX_ORIGINS} origins.")
        return list(dict.fromkeys(found))

    def clean(self) -> dict[str, Any]:
        """Check the value by its kind: valid JSON, or a secret that can be redacted."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        check = {Variable.Kind.JSON: self._clean_json, Variable.Kind.SECRET: self._clean_secret}
        if (found := check.get(cleaned.get("kind", ""))) is not None:
            found(cleaned)
        else:
            cleaned["allowed_origins"] = []
        return cleaned

    def _clean_json(self, cleaned: dict[str, Any]) -> None:
        cleaned["allowed_origins"] = []
        try:
            value = parse_json_value(cleaned.get("value", ""))
        except ValidationError as error:
            self.add_error("value", f"Not valid JSON. {error.messages[0]}")
            return
        cleaned["value"] = json.dumps(value, ensure_ascii=False)

    def _clean_secret(self, cleaned: dict[str, Any]) -> None:
        # Spaces at its ends would be cut off in a header.
        typed = cleaned.get("value", "").strip()
        secret = typed or self._stored
        cleaned["value"] = ""
        if not secret:
            self.add_error("value", "Enter the secret. No value is stored.")
        elif len(secret) < SHORTEST:
            self.add_error(
                "value",
                f"Enter at least {SHORTEST} characters: shorter secrets cannot be masked "
                "reliably in responses. Use the kind Text if the value may be visible.",
            )
        if not cleaned.get("allowed_origins") and "allowed_origins" not in self.errors:
            self.add_error(
                "allowed_origins", "Enter an allowed origin, such as https://example.com."
            )
        self.instance.secret = secret

    def save(self, commit: bool = True) -> Variable:
        """Save the row; one that is no longer a secret drops the stored value."""
        if not self.instance.is_secret:
            self.instance.secret = ""
        saved: Variable = super().save(commit)
        return saved


class NewVariableForm(forms.Form):
    """A form of one variable, for an environment of the user or a new one."""

    #: The slug of an environment; "" for a new one with the name `environment_name`.
    environment = forms.CharField(required=False)
    environment_name = forms.CharField(required=False, max_length=80)
    name = forms.CharField(max_length=80)
    value = forms.CharField(required=False, strip=False, max_length=MAX_VALUE)
    secret = forms.BooleanField(required=False)
    allowed_origins = forms.CharField(required=False)

    def __init__(self, user: User | AnonymousUser, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user
        self._rows: list[forms.ModelForm[Any]] = []

    def clean(self) -> dict[str, Any]:
        """Check environment and variable by their own forms."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        owned = Environment.objects.owned_by(self.user)
        found = owned.filter(slug=cleaned.get("environment", "")).first()
        if cleaned.get("environment") and found is None:
            self.add_error("environment", "This environment was deleted. Select another one.")
        if found is None:
            data = {"name": cleaned.get("environment_name", "")}
            self._add(EnvironmentForm(data, instance=Environment(owner=owner_of(self.user))))
        elif found.variables.filter(name=cleaned.get("name", "")).exists():
            self.add_error("name", f"{found.name} already has this variable.")
        data = {name: cleaned.get(name, "") for name in ("name", "value", "allowed_origins")}
        data["kind"] = Variable.Kind.SECRET if cleaned.get("secret") else Variable.Kind.TEXT
        self._add(VariableForm(data, instance=Variable(environment=found)))
        return cleaned

    def _add(self, form: forms.ModelForm[Any]) -> None:
        self._rows.append(form)
        renamed = {"name": "environment_name"} if isinstance(form, EnvironmentForm) else {}
        for name, errors in form.errors.items():
            if (own := renamed.get(name, name)) not in self.errors:
                self.add_error(own, list(errors))

    def save(self) -> Environment:
        """Save the variable, and before it a new environment; return the environment."""
        *new, variable = self._rows
        for form in new:
            variable.instance.environment = form.save()
        variable.save()
        found: Environment = variable.instance.environment
        return found


class _UniqueNamesFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """A formset without duplicate names."""

    def clean(self) -> None:
        super().clean()
        seen: set[str] = set()
        for form in self.forms:
            name = form.cleaned_data.get("name") if hasattr(form, "cleaned_data") else None
            if not name or form.cleaned_data.get("DELETE"):
                continue
            if name in seen:
                form.add_error("name", f"“{name}” is defined twice.")
            seen.add(name)

    def validate_unique(self) -> None:
        """Do nothing: `clean` reports duplicates at their row."""


VariableRows = forms.inlineformset_factory(
    Environment,
    Variable,
    form=VariableForm,
    formset=_UniqueNamesFormSet,
    extra=1,
    max_num=MAX_VARIABLES,
    validate_max=True,
)


def _origin(text: str) -> str:
    """Return the origin of a URL or host. Raises `ValidationError` for an invalid one."""
    address = text if "://" in text else f"https://{text}"
    if refusal := check_url(address):
        raise ValidationError(f"{text[:80]}: {refusal}")
    return origin_of(address)
