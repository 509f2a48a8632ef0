"""Form of the composer: the one reader of its fields, for Send, Save and preview.

A form holds texts; its cleaned data holds the parsed values. `{{name}}` is not substituted here,
and the document is not validated against its protocol: that is the preparation's task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User

from playground.base.credentials import clean_auth
from playground.base.fields import (
    parse_document,
    parse_document_anyway,
    parse_header_templates,
    parse_json_value,
)
from playground.expectations import check_captures, check_schema
from playground.models import Agent, Collection, Environment, SavedRequest
from playground.models.agents import detected_settings
from playground.protocols.exchange import RequestProblem

#: The code of an error: the value is valid JSON of another type or content than expected.
WRONG_TYPE = "wrong"


class TextField(forms.Field):
    """A field of the text as it was sent, spaces included; "" where the field is missing."""

    def __init__(self) -> None:
        super().__init__(required=False)

    def to_python(self, value: Any) -> str:
        return value or ""


class ParsedField(TextField):
    """A field parsed by `parse`, which raises `ValidationError` for invalid text.

    A blank text becomes the result of `empty`; without `empty`, it is parsed as any other.
    """

    def __init__(self, parse: Callable[[str], Any], empty: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self._parse = parse
        self._empty = empty

    def clean(self, value: Any) -> Any:
        text = self.to_python(value)
        if self._empty is not None and not text.strip():
            return self._empty()
        return self._parse(text)


class ComposerForm(forms.Form):
    """A form of a request template: target, document, headers and what belongs to them.

    `agent` is None for an agent that the user does not have. `auth` and `expectations` may be any
    JSON value: see `SendForm` and `SaveForm`.
    """

    #: The slug of one of the user's agents.
    agent = TextField()
    #: The URL without an agent.
    address = TextField()
    protocol = TextField()
    version = TextField()
    binding = TextField()
    document = ParsedField(parse_document)
    headers = ParsedField(parse_header_templates, list)
    auth = ParsedField(parse_json_value, dict)
    expectations = ParsedField(parse_json_value, list)

    def __init__(self, data: Mapping[str, str], user: User | AnonymousUser) -> None:
        super().__init__(data)
        self.user = user
        self.agents = Agent.objects.owned_by(user)

    def clean_agent(self) -> Agent | None:
        found: Agent | None = self.agents.filter(slug=self.cleaned_data["agent"]).first()
        return found

    def clean_address(self) -> str:
        """Return the URL without surrounding spaces."""
        return str(self.cleaned_data["address"].strip())

    def clean_expectations(self) -> Any:
        found = self.cleaned_data["expectations"]
        _raise_first("Expectations", check_schema(found))
        return found


class SendForm(ComposerForm):
    """A form of a request to send or to preview."""

    #: What was detected at the URL: see `Agent.detected`.
    detected = ParsedField(parse_json_value, dict)
    #: The slug of one of the user's environments, "" for none.
    environment = TextField()
    #: The saved request that is open, "collection/request"; None for one that was deleted.
    saved = TextField()
    #: Whether to send an invalid document, or a text that is none.
    anyway = forms.BooleanField(required=False)

    field_order = ("address", "agent")

    def __init__(self, data: Mapping[str, str], user: User | AnonymousUser) -> None:
        super().__init__(data, user)
        if data.get("anyway"):
            self.fields["document"] = ParsedField(parse_document_anyway)

    def clean_agent(self) -> Agent | None:
        """Return the agent; None only with a URL and without the name of an agent."""
        found = super().clean_agent()
        if found is None and (self.cleaned_data["agent"] or not self.cleaned_data["address"]):
            raise forms.ValidationError("Enter a URL or choose an agent.")
        if found is not None:
            self.cleaned_data["address"] = ""
        return found

    def clean_auth(self) -> dict[str, str]:
        return clean_auth(self.cleaned_data["auth"])

    def clean_detected(self) -> dict[str, str] | None:
        """Return the detected settings; None for anything else."""
        return detected_settings(self.cleaned_data["detected"])

    def clean_environment(self) -> Environment | None:
        slug = self.cleaned_data["environment"]
        found: Environment | None = (
            Environment.objects.owned_by(self.user).filter(slug=slug).first() if slug else None
        )
        if slug and found is None:
            message = f"The environment “{slug[:80]}” was deleted. Select another one."
            raise forms.ValidationError(message)
        return found

    def clean_saved(self) -> SavedRequest | None:
        collection, slash, slug = self.cleaned_data["saved"].partition("/")
        if not slash:
            return None
        owned = Collection.objects.owned_by(self.user).filter(slug=collection)
        found: SavedRequest | None = SavedRequest.objects.filter(
            collection__in=owned, slug=slug
        ).first()
        return found


class SaveForm(ComposerForm):
    """A form of a request to save, even if it could not be sent yet."""

    captures = ParsedField(parse_json_value, dict)

    def clean_auth(self) -> dict[str, Any]:
        found: dict[str, Any] = self._of_type("auth", dict, "an object")
        return found

    def clean_expectations(self) -> Any:
        self._of_type("expectations", list, "a list")
        return super().clean_expectations()

    def clean_captures(self) -> Any:
        """Return JSONPaths by the names of variables."""
        found = self._of_type("captures", dict, "an object")
        _raise_first("Captures", check_captures(found))
        return found

    @property
    def first_error(self) -> str:
        """Return the first error as a sentence; "" for a valid form."""
        for name, errors in self.errors.as_data().items():
            error = errors[0]
            # A message about a document has a position in it; of other fields it has not.
            named = name in ("auth", "expectations", "captures") and error.code != WRONG_TYPE
            prefix = f"Invalid {name}. " if named else ""
            return f"{prefix}{error.messages[0]}"
        return ""

    def _of_type(self, name: str, type_: type, type_label: str) -> Any:
        found = self.cleaned_data[name]
        if not isinstance(found, type_):
            raise forms.ValidationError(f"The {name} must be {type_label}.", code=WRONG_TYPE)
        return found


def _raise_first(label: str, problems: list[RequestProblem]) -> None:
    if problems:
        first = problems[0]
        place = f"{label}, {first.pointer}: " if first.pointer else ""
        raise forms.ValidationError(f"{place}{first.message}", code=WRONG_TYPE)
