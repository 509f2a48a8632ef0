"""The composer's form: the one reader of its fields, for what sends, saves or shows a request.

A form holds texts; its cleaned data is what they stand for. Nothing is put in for `{{name}}` here,
and no document is checked against its protocol: that is up to whoever prepares the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.models import AnonymousUser, User

from playground.expectations import check_captures, check_schema
from playground.forms import read_document, read_pairs, read_value
from playground.models import Agent, Collection, Environment, SavedRequest
from playground.protocols.exchange import RequestProblem

#: The code of an error: the value could be read, and is not what belongs there.
WRONG = "wrong"


class TextField(forms.Field):
    """The text as it was sent, spaces and all; "" where the field is missing."""

    def __init__(self) -> None:
        super().__init__(required=False)

    def to_python(self, value: Any) -> str:
        """The text."""
        return value or ""


class ParsedField(TextField):
    """A field parsed by `parse`, which raises `ValidationError` for a text that it cannot read.

    A blank text is what `empty` makes; without it, it is parsed as any other.
    """

    def __init__(self, parse: Callable[[str], Any], empty: Callable[[], Any] | None = None) -> None:
        super().__init__()
        self._parse = parse
        self._empty = empty

    def clean(self, value: Any) -> Any:
        """The parsed value."""
        text = self.to_python(value)
        if self._empty is not None and not text.strip():
            return self._empty()
        return self._parse(text)


class ComposerForm(forms.Form):
    """Where a request goes, its document, and what belongs to it.

    Of an agent that the user does not have, `agent` is None. `auth` and `expectations` may be any
    JSON value: see `SendForm` and `SaveForm`.
    """

    #: The slug of one of the user's agents.
    agent = TextField()
    #: Where it goes without an agent.
    address = TextField()
    protocol = TextField()
    version = TextField()
    binding = TextField()
    document = ParsedField(read_document)
    headers = ParsedField(read_pairs, list)
    auth = ParsedField(read_value, dict)
    expectations = ParsedField(read_value, list)

    def __init__(self, data: Mapping[str, str], user: User | AnonymousUser) -> None:
        super().__init__(data)
        self.user = user
        self.agents = Agent.objects.owned_by(user)

    def clean_agent(self) -> Agent | None:
        """The agent of that name."""
        found: Agent | None = self.agents.filter(slug=self.cleaned_data["agent"]).first()
        return found

    def clean_address(self) -> str:
        """The address, without spaces around it."""
        return str(self.cleaned_data["address"].strip())

    def clean_expectations(self) -> Any:
        """A list of expectations that can be judged."""
        found = self.cleaned_data["expectations"]
        _refuse("Expectations", check_schema(found))
        return found


class SendForm(ComposerForm):
    """A request that is to be sent, or shown as it would be."""

    #: The slug of one of the user's environments, "" for none.
    environment = TextField()
    #: The saved request that is open, "collection/request"; None for one that is gone.
    saved = TextField()

    field_order = ("address", "agent")

    def clean_agent(self) -> Agent | None:
        """The agent; without one there has to be an address, and no agent be named."""
        found = super().clean_agent()
        if found is None and (self.cleaned_data["agent"] or not self.cleaned_data["address"]):
            raise forms.ValidationError("Choose an agent to send the request to.")
        return found

    def clean_environment(self) -> Environment | None:
        """The environment of that name."""
        slug = self.cleaned_data["environment"]
        found: Environment | None = (
            Environment.objects.owned_by(self.user).filter(slug=slug).first() if slug else None
        )
        if slug and found is None:
            message = f"The environment “{slug[:80]}” is gone. Choose another one."
            raise forms.ValidationError(message)
        return found

    def clean_saved(self) -> SavedRequest | None:
        """The saved request of that name."""
        collection, slash, slug = self.cleaned_data["saved"].partition("/")
        if not slash:
            return None
        owned = Collection.objects.owned_by(self.user).filter(slug=collection)
        found: SavedRequest | None = SavedRequest.objects.filter(
            collection__in=owned, slug=slug
        ).first()
        return found


class SaveForm(ComposerForm):
    """A request that is to be kept, even if it could not be sent yet."""

    captures = ParsedField(read_value, dict)

    def clean_auth(self) -> dict[str, Any]:
        """How it authenticates, an object."""
        found: dict[str, Any] = self._of_kind("auth", dict, "an object")
        return found

    def clean_expectations(self) -> Any:
        """A list of expectations that can be judged."""
        self._of_kind("expectations", list, "a list")
        return super().clean_expectations()

    def clean_captures(self) -> Any:
        """Paths by the names of variables."""
        found = self._of_kind("captures", dict, "an object")
        _refuse("Captures", check_captures(found))
        return found

    @property
    def mistake(self) -> str:
        """The first thing that is wrong, as a sentence; "" for a valid form."""
        for name, errors in self.errors.as_data().items():
            error = errors[0]
            # A message about a document says where in it; of other fields it does not say which.
            named = name in ("auth", "expectations", "captures") and error.code != WRONG
            said = f"The {name} cannot be read. " if named else ""
            return f"{said}{error.messages[0]}"
        return ""

    def _of_kind(self, name: str, kind: type, said: str) -> Any:
        found = self.cleaned_data[name]
        if not isinstance(found, kind):
            raise forms.ValidationError(f"The {name} have to be {said}.", code=WRONG)
        return found


def _refuse(what: str, problems: list[RequestProblem]) -> None:
    if problems:
        first = problems[0]
        raise forms.ValidationError(f"{what}, {first.pointer}: {first.message}", code=WRONG)
