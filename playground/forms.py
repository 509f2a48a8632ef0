"""Forms: an agent, and what the compose pane sends."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from django import forms
from django.conf import settings

from playground.models import Agent
from playground.protocols import jsontext, registry
from playground.transport import check_url

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Headers that HTTP itself or the transport sets, or that would carry the browser's identity.
REFUSED_HEADERS = frozenset(
    "host content-length transfer-encoding connection keep-alive te trailer upgrade "
    "proxy-connection proxy-authenticate cookie expect".split()
)


def read_document(text: str) -> dict[str, Any]:
    """A request document from its JSON text.

    Raises `forms.ValidationError` with a sentence for what is not a JSON object, or what could
    not be written as JSON again when it is sent and stored.
    """
    if jsontext.exceeds_depth(text, settings.RUN_LIMITS.max_depth):
        raise forms.ValidationError(
            f"The document is nested more than {settings.RUN_LIMITS.max_depth} deep."
        )
    try:
        document = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except json.JSONDecodeError as error:
        place = f"Line {error.lineno}, column {error.colno}"
        raise forms.ValidationError(f"{place}: {error.msg}.") from None
    except (ValueError, RecursionError):
        raise forms.ValidationError(
            "The document holds a number that JSON does not have."
        ) from None
    if not isinstance(document, dict):
        raise forms.ValidationError("The request must be a JSON object.")
    return document


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def read_headers(text: str) -> list[tuple[str, str]]:
    """Headers from their JSON form, `[[name, value], ...]`, rows without a name left out.

    Raises `forms.ValidationError` with a sentence for what cannot be sent.
    """
    try:
        rows = json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise forms.ValidationError("The headers are not valid JSON.") from None
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)
        for row in rows
    ):
        raise forms.ValidationError("Headers are a list of [name, value] pairs.")
    pairs = [(name.strip(), value.strip()) for name, value in rows if name.strip()]
    for name, value in pairs:
        _check_header(name, value)
    return pairs


def _check_header(name: str, value: str) -> None:
    if not _TOKEN.fullmatch(name):
        raise forms.ValidationError(f"“{name}” is not a header name.")
    if name.lower() in REFUSED_HEADERS:
        raise forms.ValidationError(f"{name} is set by the playground and cannot be given.")
    if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
        raise forms.ValidationError(f"The value of {name} has a control character in it.")
    if not value.isascii():
        raise forms.ValidationError(f"The value of {name} has characters outside ASCII.")


class HeadersField(forms.CharField):
    """Headers as a JSON list of pairs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea, **kwargs)

    def clean(self, value: Any) -> Any:
        """The pairs; raises `ValidationError` for what cannot be sent."""
        return [list(pair) for pair in read_headers(super().clean(value))]

    def prepare_value(self, value: Any) -> Any:
        """The JSON text of stored pairs; text stays as it was typed."""
        return value if isinstance(value, str) else json.dumps(value or [])


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """Add or edit an agent. The secret is write-only: an empty field keeps the stored one."""

    version = forms.ChoiceField(
        choices=[(v.name, v.label) for v in registry.versions("nlweb")], initial="0.55"
    )
    auth_secret = forms.CharField(
        required=False, strip=True, label="Secret", widget=forms.PasswordInput
    )
    headers = HeadersField(label="Extra headers")

    class Meta:
        model = Agent
        fields = [
            "name", "url", "version", "auth", "auth_header", "auth_user", "auth_secret",
            "headers", "notes",
        ]  # fmt: skip

    def clean_url(self) -> str:
        """The address, which must be one that a request can go to."""
        url: str = self.cleaned_data["url"].strip()
        if refusal := check_url(url):
            raise forms.ValidationError(refusal)
        return url

    def clean_auth_header(self) -> str:
        """A header name that may carry a key."""
        name: str = self.cleaned_data["auth_header"].strip()
        if name:
            _check_header(name, "")
        return name

    def clean_auth_secret(self) -> str:
        """The new secret, or the stored one where none was typed. Checked as a header value."""
        secret: str = self.cleaned_data["auth_secret"]
        if secret:
            _check_header("Authorization", secret)
        return secret or self.instance.auth_secret

    def clean(self) -> dict[str, Any]:
        """Drop a stored secret when the agent no longer authenticates."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("auth") == Agent.Auth.NONE:
            cleaned |= {"auth_secret": "", "auth_header": "", "auth_user": ""}
        needs_secret = cleaned.get("auth") in (Agent.Auth.BEARER, Agent.Auth.API_KEY)
        if needs_secret and not cleaned.get("auth_secret"):
            self.add_error("auth_secret", "A token or key is needed for this.")
        return cleaned
