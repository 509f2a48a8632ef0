"""Forms: an agent, and what the compose pane sends."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings

from playground.models import Agent
from playground.protocols import headers as header_rules
from playground.protocols import json_decoder, json_errors, registry
from playground.protocols.origins import origin_of, same_origin
from playground.transport import check_url
from playground.transport.redaction import MASK, is_credential


def read_document(text: str) -> dict[str, Any]:
    """A request document from its JSON text.

    Raises `forms.ValidationError` as `read_value`, and for what is not an object.
    """
    document = read_value(text)
    if not isinstance(document, dict):
        raise forms.ValidationError("The request must be a JSON object.")
    return document


def read_value(text: str, max_depth: int | None = None) -> Any:
    """Any JSON value from its text, nested up to `max_depth` (that of a reply, if not given).

    Raises `forms.ValidationError` with a sentence for what is no JSON, or what could not be
    written as JSON again when it is sent and stored. Its code is `repeated` for a name that
    stands twice in an object, `deep` for nesting and `number` for a number.
    """
    deepest = settings.RUN_LIMITS.max_depth if max_depth is None else max_depth
    if json_decoder.exceeds_depth(text, deepest):
        at = _placed(text, json_errors.too_deep_at(text, deepest))
        message = f"{at}The document is nested more than {deepest} deep."
        raise forms.ValidationError(message, code="deep")
    try:
        return json.loads(
            text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        message = f"{_placed(text, error.pos)}{json_errors.said(error)}."
        raise forms.ValidationError(message) from None
    except ValueError:
        at = _placed(text, json_errors.number_at(text))
        message = f"{at}The document holds a number that JSON does not have."
        raise forms.ValidationError(message, code="number") from None


def _placed(text: str, position: int | None) -> str:
    """How a message about a place begins; empty where the place is not known."""
    if position is None:
        return ""
    line, column = json_errors.place(text, position)
    return f"Line {line}, column {column}: "


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, each of whose names stands there once: of two, only one could be sent."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            message = f"“{name}” is given twice in the same object."
            raise forms.ValidationError(message, code="repeated")
        found[name] = value
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def read_headers(text: str) -> list[tuple[str, str]]:
    """Headers from their JSON form, `[[name, value], ...]`, rows without a name left out.

    Raises `forms.ValidationError` with a sentence for what cannot be sent.
    """
    pairs = read_pairs(text)
    for name, value in pairs:
        _check_header(name, value)
    return pairs


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Headers as `read_headers`, unchecked: names in them may have no value yet."""
    try:
        rows = json.loads(text or "[]")
    except (ValueError, RecursionError):
        raise forms.ValidationError("The headers are not valid JSON.") from None
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and len(row) == 2 and all(isinstance(part, str) for part in row)
        for row in rows
    ):
        raise forms.ValidationError("Headers are a list of [name, value] pairs.")
    return [(name.strip(), value.strip()) for name, value in rows if name.strip()]


def _check_header(name: str, value: str) -> None:
    if refusal := header_rules.header_error(name, value):
        raise forms.ValidationError(refusal)


def _is_masked(name: str, value: str) -> bool:
    return value == MASK and is_credential(name)


def _masked(pairs: Sequence[Sequence[str]]) -> list[list[str]]:
    """Headers as they are shown: dots for the values of those that carry credentials."""
    return [[name, MASK if value and is_credential(name) else value] for name, value in pairs]


def _unmasked(pairs: Sequence[Sequence[str]], stored: Sequence[Sequence[str]]) -> list[list[str]]:
    """Headers with the stored values where dots came back.

    Of several headers with one name each keeps its own, as long as there are as many as before.
    Raises `forms.ValidationError` for dots that stand for no stored value.
    """

    def values(name: str, among: Sequence[Sequence[str]]) -> list[str]:
        return [value for other, value in among if other.lower() == name.lower()]

    found: list[list[str]] = []
    for name, value in pairs:
        if _is_masked(name, value):
            before = values(name, stored)
            place = len(values(name, found))
            if len(before) != len(values(name, pairs)) or not before[place]:
                raise forms.ValidationError(f"There is no stored value of {name}. Type it.")
            value = before[place]
        found.append([name, value])
    return found


class HeadersField(forms.CharField):
    """Headers as a JSON list of pairs; stored credentials among them are shown as dots."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea, **kwargs)

    def clean(self, value: Any) -> Any:
        """The pairs, dots where they came back; `ValidationError` for what cannot be sent."""
        pairs = read_pairs(super().clean(value))
        for name, text in pairs:
            _check_header(name, "" if _is_masked(name, text) else text)
        return [list(pair) for pair in pairs]

    def prepare_value(self, value: Any) -> Any:
        """The JSON text of stored pairs; text stays as it was typed."""
        if isinstance(value, str):
            return value
        return json.dumps(_masked(value or []), ensure_ascii=False)


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """Add or edit an agent.

    Its secrets are write-only: an empty field, or dots for a header, keeps what is stored. They
    belong to the origin that they were given for, so for another one they are asked for again.
    What does not apply to the protocol or the binding is ignored, and what was found out over
    MCP is forgotten with the address or the authentication that it was found out with.
    """

    version = forms.ChoiceField(
        choices=[(v.name, v.label) for p in registry.PROTOCOLS for v in registry.versions(p)],
        initial="0.55",
    )
    auth_secret = forms.CharField(
        required=False, strip=True, label="Secret", widget=forms.PasswordInput
    )
    headers = HeadersField(label="Extra headers")

    class Meta:
        model = Agent
        fields = [
            "name", "url", "protocol", "binding", "version", "ask_tool", "await_tool", "auth",
            "auth_header", "auth_user", "auth_secret", "headers", "notes",
        ]  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("protocol", "binding"):
            self.fields[name].required = False
        self._opened_with = self.instance.handshake_key

    def clean_url(self) -> str:
        """The address, which must be one that a request can go to."""
        url: str = self.cleaned_data["url"].strip()
        if refusal := check_url(url):
            raise forms.ValidationError(refusal)
        return url

    def clean_protocol(self) -> str:
        """The protocol; left out, it is left alone."""
        return self.cleaned_data["protocol"] or str(self.instance.protocol)

    def clean_binding(self) -> str:
        """The binding, as `clean_protocol`. MCP carries NLWeb only."""
        if self.cleaned_data.get("protocol") != Agent.Protocol.NLWEB:
            return str(Agent.Binding.HTTP)
        return self.cleaned_data["binding"] or str(self.instance.binding)

    def clean_version(self) -> str:
        """A version of the protocol."""
        version: str = self.cleaned_data["version"]
        protocol = self.cleaned_data.get("protocol", Agent.Protocol.NLWEB)
        known = {each.name: each.label for each in registry.versions(protocol)}
        if version not in known:
            raise forms.ValidationError(f"Choose one of {', '.join(known.values())}.")
        return version

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
            return secret
        stored: str = self.instance.auth_secret
        if stored and self.cleaned_data.get("auth") != Agent.Auth.NONE:
            self._refuse_elsewhere("The stored secret", "it")
        return stored

    def clean_headers(self) -> list[list[str]]:
        """The headers, with stored credentials where dots came back."""
        stored: list[list[str]] = self.instance.headers
        pairs: list[list[str]] = self.cleaned_data["headers"]
        if self.add_prefix("headers") not in self.data:
            pairs = _masked(stored)  # As the model's field has it: left out is left alone.
        if kept := ", ".join(name for name, value in pairs if _is_masked(name, value)):
            self._refuse_elsewhere("What is stored", f"the value of {kept}")
        return _unmasked(pairs, stored)

    def _refuse_elsewhere(self, what: str, again: str) -> None:
        """Raise `ValidationError` when the address is of another origin than the stored one."""
        if not self.instance.pk or not (url := self.cleaned_data.get("url")):
            return
        if not same_origin(self.instance.url, url):
            old, new = (origin_of(each) or each for each in (self.instance.url, url))
            raise forms.ValidationError(
                f"{what} was given for {old}. Type {again} again if {new} may have it."
            )

    def clean(self) -> dict[str, Any]:
        """Drop a stored secret when the agent no longer authenticates."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("auth") == Agent.Auth.NONE:
            cleaned |= {"auth_secret": "", "auth_header": "", "auth_user": ""}
        needs_secret = cleaned.get("auth") in (Agent.Auth.BEARER, Agent.Auth.API_KEY)
        if needs_secret and not cleaned.get("auth_secret") and "auth_secret" not in self.errors:
            self.add_error("auth_secret", "A token or key is needed for this.")
        if cleaned.get("binding") != Agent.Binding.MCP:
            cleaned |= {"ask_tool": "", "await_tool": ""}
        return cleaned

    def save(self, commit: bool = True) -> Agent:
        """Save, without what was found out at another address or as somebody else."""
        if self.instance.handshake_key != self._opened_with:
            self.instance.handshake = {}
        agent: Agent = super().save(commit)
        return agent
