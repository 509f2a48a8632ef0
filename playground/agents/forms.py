"""Form of an agent, with write-only secrets and headers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings

from playground.base.fields import check_header, parse_header_templates
from playground.models import Agent
from playground.protocols import registry
from playground.protocols.headers import is_credential
from playground.protocols.mcp import versions as mcp_versions
from playground.protocols.origins import origin_of, same_origin
from playground.transport import check_url
from playground.transport.redaction import MASK


class HeadersField(forms.CharField):
    """A field of headers as a JSON list of pairs; stored credentials among them are masked."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea, **kwargs)

    def clean(self, value: Any) -> Any:
        """Return the pairs, with masks unchanged. Raises `ValidationError` for invalid headers."""
        pairs = parse_header_templates(super().clean(value))
        for name, text in pairs:
            check_header(name, "" if _is_masked(name, text) else text)
        return [list(pair) for pair in pairs]

    def prepare_value(self, value: Any) -> Any:
        """Return the JSON text of stored pairs; typed text is returned unchanged."""
        if isinstance(value, str):
            return value
        return json.dumps(_with_masks(value or []), ensure_ascii=False)


class AgentForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form that adds or edits an agent.

    Its secrets are write-only: an empty field, or a mask in a header, keeps the stored value. They
    belong to the origin that they were entered for, so for another one they have to be entered
    again. Fields that do not apply to the protocol or the binding are ignored. The MCP handshake is
    dropped when the URL, the MCP version or the authentication changes that it was made with.
    """

    version = forms.ChoiceField(
        choices=[(v.name, v.label) for p in registry.PROTOCOLS for v in registry.of(p).versions],
        initial="0.55",
    )
    mcp_version = forms.ChoiceField(
        choices=[("", "Automatic"), *mcp_versions.CHOICES],
        required=False,
        label="MCP version",
        help_text="Automatic tries server/discover first, then initialize.",
    )
    auth_secret = forms.CharField(
        required=False,
        strip=True,
        label="Secret",
        help_text="Token, key or password. Stored encrypted; sent to this agent’s origin only.",
        widget=forms.PasswordInput,
    )
    headers = HeadersField(label="Extra headers")

    class Meta:
        model = Agent
        fields = [
            "name", "url", "protocol", "binding", "version", "ask_tool", "await_tool",
            "mcp_version", "own_ids", "auth", "auth_header", "auth_user", "auth_secret", "headers",
            "load_pictures", "notes",
        ]  # fmt: skip
        help_texts = {
            "binding": "Default transport; can be overridden per request.",
            "own_ids": "Whether the first request of a conversation has a new session_id and"
            " user_id, so that parallel requests don’t collide. Automatic: a session_id only.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("protocol", "binding", "own_ids"):
            self.fields[name].required = False
        if self.instance.auth_secret:
            secret = self.fields["auth_secret"]
            secret.help_text = "Stored encrypted; sent to this agent’s origin only."
            secret.widget.attrs["placeholder"] = "•••••• stored; type to replace"
        if not settings.AGENT_IMAGES:
            del self.fields["load_pictures"]  # As stored, for when pictures are loaded again.
        self._opened_with = self.instance.handshake_key

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"].strip()
        if refusal := check_url(url):
            raise forms.ValidationError(refusal)
        return url

    def clean_protocol(self) -> str:
        """Return the protocol; the stored one where the field is missing, unless it is unknown."""
        protocol = self.cleaned_data["protocol"] or str(self.instance.protocol)
        if protocol not in registry.PROTOCOLS:
            raise forms.ValidationError("Choose a protocol.")
        return protocol

    def clean_binding(self) -> str:
        """Return the binding, as `clean_protocol`; one that the protocol does not have is HTTP."""
        binding = self.cleaned_data["binding"] or str(self.instance.binding)
        has = registry.spec(self.cleaned_data.get("protocol", "")).bindings
        return binding if binding in has else str(Agent.Binding.HTTP)

    def clean_own_ids(self) -> str:
        """Return whether own ids are sent, as `clean_protocol`."""
        return self.cleaned_data["own_ids"] or str(self.instance.own_ids)

    def clean_version(self) -> str:
        version: str = self.cleaned_data["version"]
        protocol = self.cleaned_data.get("protocol", "")
        known = {each.name: each.label for each in registry.spec(protocol).versions}
        if protocol and version not in known:
            raise forms.ValidationError(f"Choose one of {', '.join(known.values())}.")
        return version

    def clean_auth_header(self) -> str:
        name: str = self.cleaned_data["auth_header"].strip()
        if name:
            check_header(name, "")
        return name

    def clean_auth_secret(self) -> str:
        """Return the new secret, or the stored one where none was entered.

        A new one is checked as a header value.
        """
        secret: str = self.cleaned_data["auth_secret"]
        if secret:
            check_header("Authorization", secret)
            return secret
        stored: str = self.instance.auth_secret
        if stored and self.cleaned_data.get("auth") != Agent.Auth.NONE:
            self._refuse_other_origin("The stored secret", "it")
        return stored

    def clean_headers(self) -> list[list[str]]:
        """Return the headers, with stored credentials in place of masks."""
        stored: list[list[str]] = self.instance.headers
        pairs: list[list[str]] = self.cleaned_data["headers"]
        if self.add_prefix("headers") not in self.data:
            pairs = _with_masks(stored)  # As for a model field: a missing field is unchanged.
        if kept := ", ".join(name for name, value in pairs if _is_masked(name, value)):
            self._refuse_other_origin("The stored value", f"the value of {kept}")
        return _without_masks(pairs, stored)

    def _refuse_other_origin(self, subject: str, credential: str) -> None:
        if not self.instance.pk or not (url := self.cleaned_data.get("url")):
            return
        if not same_origin(self.instance.url, url):
            old, new = (origin_of(each) or each for each in (self.instance.url, url))
            raise forms.ValidationError(
                f"{subject} was entered for {old}. Enter {credential} again to allow {new}."
            )

    def clean(self) -> dict[str, Any]:
        """Drop fields that do not apply to the authentication or the binding."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("auth") == Agent.Auth.NONE:
            cleaned |= {"auth_secret": "", "auth_header": "", "auth_user": ""}
        needs_secret = cleaned.get("auth") in (Agent.Auth.BEARER, Agent.Auth.API_KEY)
        if needs_secret and not cleaned.get("auth_secret") and "auth_secret" not in self.errors:
            self.add_error("auth_secret", "Enter a token or key.")
        if cleaned.get("binding") != Agent.Binding.MCP:
            cleaned |= {"ask_tool": "", "await_tool": "", "mcp_version": ""}
        return cleaned

    def save(self, commit: bool = True) -> Agent:
        """Save the agent; drop its handshake if it was made with other settings."""
        if self.instance.handshake_key != self._opened_with:
            self.instance.handshake = {}
        agent: Agent = super().save(commit)
        return agent


def _is_masked(name: str, value: str) -> bool:
    return value == MASK and is_credential(name)


def _with_masks(pairs: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[name, MASK if value and is_credential(name) else value] for name, value in pairs]


def _without_masks(
    pairs: Sequence[Sequence[str]], stored: Sequence[Sequence[str]]
) -> list[list[str]]:
    """Return headers with the stored values in place of masks.

    Of several headers with one name each keeps its own, as long as there are as many as before.
    Raises `ValidationError` for a mask without a stored value.
    """

    def values(name: str, among: Sequence[Sequence[str]]) -> list[str]:
        return [value for other, value in among if other.lower() == name.lower()]

    found: list[list[str]] = []
    for name, value in pairs:
        if _is_masked(name, value):
            before = values(name, stored)
            place = len(values(name, found))
            if len(before) != len(values(name, pairs)) or not before[place]:
                raise forms.ValidationError(f"No stored value for {name}. Enter it.")
            value = before[place]
        found.append([name, value])
    return found
