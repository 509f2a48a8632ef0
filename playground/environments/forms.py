"""Forms of environments: a name, and a table of variables with write-only secrets."""

from __future__ import annotations

import json
import re
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import ValidationError

from playground.base.json_input import parse_json_value
from playground.models import Environment, Variable
from playground.models.ownership import owner_of
from playground.protocols.origins import origin_of
from playground.transport import check_url
from playground.transport.redaction import SHORTEST
from playground.variables import is_name

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
        """Return the name, unique among the owner's environments."""
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
        """Return whether the row holds a secret."""
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
        """Return a name that is valid in `{{ }}`."""
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
        """Add an error to each row whose name is a duplicate."""
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
